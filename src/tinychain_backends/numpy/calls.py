"""What each operator is in NumPy: a function, and the keywords that its attributes become.

One table serves the evaluator, which calls the function, and the handlers, which write the call.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tinychain_backends.numpy import gradients
from tinychain_compile import functions
from tinychain_compile import operators as o
from tinychain_compile.functions.arrays import widened
from tinychain_compile.functions.attention import attention_of_arrays
from tinychain_compile.functions.convolution import conv_of_arrays, pad_spatial
from tinychain_compile.functions.indexing import descending_order
from tinychain_compile.functions.pooling import max_of_windows, sum_of_windows
from tinychain_compile.functions.random import bits_of_array, dropout_of_array, uniform_of_array
from tinychain_compile.operators import IntegerPow, MatMul, Operator

Array = NDArray[Any]


class Call(NamedTuple):
    """A NumPy call.

    Attributes:
        function: Takes the operands, then the keywords.
        keywords: By name; a shape among them may hold symbols.
    """

    function: Callable[..., Any]
    keywords: Mapping[str, Any] = MappingProxyType({})


def call_for(operator: Operator) -> Call:
    """Return the NumPy call that an operator is."""
    return CALLS[type(operator)](operator)


def _plain(function: Callable[..., Any]) -> Callable[[Any], Call]:
    call = Call(function)
    return lambda _: call


def _reduction(function: Callable[..., Any]) -> Callable[[Any], Call]:
    return lambda op: Call(function, {"axis": op.axes, "keepdims": op.keepdims})


def _sum(x: Array, axis: tuple[int, ...], keepdims: bool) -> Any:
    return np.sum(x, axis=axis, keepdims=keepdims, dtype=x.dtype)


def _integer_pow(op: IntegerPow) -> Call:
    if op.exponent == 2:
        return Call(np.square)
    return Call(_power, {"exponent": op.exponent})


def _power(x: Array, exponent: int) -> Any:
    if exponent < 0:
        return np.divide(x.dtype.type(1), np.power(x, -exponent))
    return np.power(x, exponent)


def _matmul(op: MatMul) -> Call:
    return Call(_MATMUL_BY_FLAGS[op.transpose_a, op.transpose_b])


def _matmul_nn(a: Array, b: Array, out: Array | None = None) -> Any:
    if out is not None:
        return np.matmul(a, b, out=out)
    return np.matmul(a, b).astype(a.dtype, copy=False)  # of bf16, NumPy gives f32


def _matmul_tn(a: Array, b: Array, out: Array | None = None) -> Any:
    return _matmul_nn(a.swapaxes(-1, -2), b, out)


def _matmul_nt(a: Array, b: Array, out: Array | None = None) -> Any:
    return _matmul_nn(a, b.swapaxes(-1, -2), out)


def _matmul_tt(a: Array, b: Array, out: Array | None = None) -> Any:
    return _matmul_nn(a.swapaxes(-1, -2), b.swapaxes(-1, -2), out)


_MATMUL_BY_FLAGS: Mapping[tuple[bool, bool], Callable[..., Any]] = {
    (False, False): _matmul_nn,
    (True, False): _matmul_tn,
    (False, True): _matmul_nt,
    (True, True): _matmul_tt,
}


PRODUCTS: frozenset[Callable[..., Any]] = frozenset(_MATMUL_BY_FLAGS.values())
"""The functions of matrix products; of f32 and f64 they take ``out``."""


def _gather(op: o.Gather) -> Call:
    return Call(np.take_along_axis if op.along else np.take, {"axis": op.axis})


def _scatter_add(op: o.ScatterAdd) -> Call:
    function = _scatter_add_along if op.along else _scatter_add_slices
    return Call(function, {"axis": op.axis, "size": (op.size,)})


def _scatter_add_slices(updates: Array, indices: Array, axis: int, size: tuple[int]) -> Array:
    shape = updates.shape[:axis] + size + updates.shape[axis + indices.ndim :]
    result = np.zeros(shape, updates.dtype)
    first = tuple(range(axis, axis + indices.ndim))
    added = np.moveaxis(updates, first, range(indices.ndim))
    np.add.at(np.moveaxis(result, axis, 0), indices, added)
    return result


def _scatter_add_along(updates: Array, indices: Array, axis: int, size: tuple[int]) -> Array:
    result = np.zeros(updates.shape[:axis] + size + updates.shape[axis + 1 :], updates.dtype)
    if updates.shape[axis] == 1:  # no index can repeat, so assignment is addition
        np.put_along_axis(result, indices, updates, axis)
        return result
    grid = list(np.ogrid[tuple(map(slice, updates.shape))])
    grid[axis] = indices
    np.add.at(result, tuple(grid), updates)
    return result


def _cast(x: Array, dtype: np.dtype[Any]) -> Array:
    return x.astype(dtype)


def _iota(shape: tuple[int, ...], axis: int, dtype: np.dtype[Any]) -> Array:
    along = [1] * len(shape)
    along[axis] = shape[axis]
    return np.broadcast_to(np.arange(shape[axis], dtype=dtype).reshape(along), shape)


def _size(shape: tuple[int], dtype: np.dtype[Any]) -> Array:
    return np.asarray(shape[0], dtype)


def _constant(value: Array) -> Array:
    return value


def _annihilate(factor: Array, product: Array) -> Any:
    return np.where(factor == 0, factor, product)


def _mul_no_nan(factor: Array, x: Array) -> Any:
    return np.where(factor == 0, factor, factor * x)


def _clip(x: Array, low: Array, high: Array) -> Any:
    return np.minimum(np.maximum(x, low), high)


def _rsqrt(x: Array) -> Any:
    return np.divide(x.dtype.type(1), np.sqrt(x))


def _prod(x: Array, axis: tuple[int, ...], keepdims: bool) -> Any:
    return np.prod(x, axis=axis, keepdims=keepdims, dtype=x.dtype)


def _norm(x: Array, axis: tuple[int, ...], keepdims: bool) -> Any:
    wide = widened(x)
    return np.sqrt(np.sum(np.square(wide), axis=axis, keepdims=keepdims)).astype(x.dtype)


def _mean(x: Array, axis: tuple[int, ...], keepdims: bool) -> Any:
    return np.mean(widened(x), axis=axis, keepdims=keepdims).astype(x.dtype, copy=False)


def _spread(function: Callable[..., Any]) -> Callable[[Any], Call]:
    def call(op: o.Var | o.Std) -> Call:
        keywords = {"axis": op.axes, "keepdims": op.keepdims, "ddof": op.correction}
        return Call(function, keywords)

    return call


def _var(x: Array, axis: tuple[int, ...], keepdims: bool, ddof: float) -> Any:
    with warnings.catch_warnings():  # over nothing there is NaN, which the caller asked for
        warnings.simplefilter("ignore", RuntimeWarning)
        variance = np.var(widened(x), axis=axis, keepdims=keepdims, ddof=ddof)
    return variance.astype(x.dtype)


def _std(x: Array, axis: tuple[int, ...], keepdims: bool, ddof: float) -> Any:
    return np.sqrt(_var(widened(x), axis, keepdims, ddof)).astype(x.dtype)


def _running(function: Callable[..., Any]) -> Callable[[Any], Call]:
    return lambda op: Call(_run, {"function": function, "axis": op.axis, "reverse": op.reverse})


def _run(x: Array, function: Callable[..., Any], axis: int, reverse: bool) -> Any:
    if reverse:
        return np.flip(function(np.flip(x, axis), axis=axis, dtype=x.dtype), axis)
    return function(x, axis=axis, dtype=x.dtype)


def _sort(x: Array, axis: int, descending: bool) -> Any:
    return np.flip(np.sort(x, axis=axis), axis) if descending else np.sort(x, axis=axis)


def _argsort(x: Array, axis: int, descending: bool) -> Any:
    if descending:
        return descending_order(x, axis)
    return np.argsort(x, axis=axis, kind="stable")


def _top_k(x: Array, axis: int, k: int) -> Any:
    return functions.top_k(x, k, axis)[0]


def _slice(x: Array, start: tuple[int, ...], stop: tuple[int, ...], step: tuple[int, ...]) -> Any:
    return x[tuple(map(slice, start, stop, step))]


def _pad(
    x: Array,
    low: tuple[int, ...],
    high: tuple[int, ...],
    interior: tuple[int, ...],
    value: float,
) -> Array:
    """Write the operand into an array of the value, what is cut off left out."""
    wide = [n + max(n - 1, 0) * gap for n, gap in zip(x.shape, interior, strict=True)]
    shape = [n + a + b for n, a, b in zip(wide, low, high, strict=True)]
    result = np.full(shape, value, x.dtype)
    source: list[slice] = []
    target: list[slice] = []
    for size, count, first, gap in zip(shape, x.shape, low, interior, strict=True):
        step = gap + 1
        begin = max(-(first // step), 0) if first < 0 else 0
        end = max(min(count, -((first - size) // step)), begin)
        source.append(slice(begin, end))
        place = first + begin * step
        target.append(
            slice(place, place + (end - begin - 1) * step + 1 if end > begin else place, step)
        )
    result[tuple(target)] = x[tuple(source)]
    return result


def _concat(*parts: Array, axis: int) -> Any:
    return np.concatenate(parts, axis=axis)


def _einsum(op: o.Einsum) -> Call:
    return Call(_einsum_of, {"subscripts": f"{','.join(op.operands)}->{op.result}"})


def _einsum_of(*operands: Array, subscripts: str) -> Any:
    wide = [widened(operand) for operand in operands]
    return np.einsum(subscripts, *wide, optimize=True).astype(operands[0].dtype, copy=False)


def _window_max_gradient(x: Array, g: Array, operator: o.WindowMaxGradient) -> Array:
    """Add, place by place of the window, what the windows give whose first largest it is."""
    low = tuple(pair[0] for pair in operator.padding)
    padded = pad_spatial(x, operator.padding, -np.inf)
    largest = max_of_windows(x, operator)
    result = np.zeros_like(padded)
    is_open = np.ones(g.shape, bool)
    for place in np.ndindex(operator.window):
        rows = zip(place, g.shape[2:], operator.strides, strict=True)
        part: Any = (..., *(slice(at, at + (n - 1) * step + 1, step) for at, n, step in rows))
        wins = is_open & ~(padded[part] < largest)
        is_open &= ~wins
        result[part] += np.where(wins, g, g.dtype.type(0))
    inside: Any = (..., *(slice(b, b + n) for b, n in zip(low, x.shape[2:], strict=True)))
    cut: Array = result[inside]
    return cut


def _attribute(function: Callable[..., Any]) -> Callable[[Any], Call]:
    """Return the call of a function that takes the operator itself."""
    return lambda op: Call(function, {"operator": op})


def _attention(*operands: Array, operator: o.Attention) -> Array:
    return attention_of_arrays(*operands, operator=operator)


def _batch_norm(op: o.BatchNorm) -> Call:
    return Call(functions.batch_norm, {"axis": op.axis, "epsilon": op.epsilon})


def _uniform(op: o.RandomUniform) -> Call:
    return Call(uniform_of_array, {"shape": op.shape, "dtype": op.dtype})


CALLS: Mapping[type[Operator], Callable[[Any], Call]] = MappingProxyType(
    {
        o.Constant: lambda op: Call(_constant, {"value": op.value}),
        o.Iota: lambda op: Call(_iota, {"shape": op.shape, "axis": op.axis, "dtype": op.dtype}),
        o.DimensionSize: lambda op: Call(_size, {"shape": (op.dimension,), "dtype": op.dtype}),
        o.Add: _plain(np.add),
        o.Sub: _plain(np.subtract),
        o.Mul: _plain(np.multiply),
        o.Div: _plain(np.divide),
        o.Neg: _plain(np.negative),
        o.IntegerPow: _integer_pow,
        o.Abs: _plain(np.abs),
        o.Sign: _plain(np.sign),
        o.Pow: _plain(np.power),
        o.Exp: _plain(np.exp),
        o.Expm1: _plain(np.expm1),
        o.Log: _plain(np.log),
        o.Log1p: _plain(np.log1p),
        o.Sqrt: _plain(np.sqrt),
        o.Rsqrt: _plain(_rsqrt),
        o.Tanh: _plain(np.tanh),
        o.Sigmoid: _plain(functions.sigmoid),
        o.Sin: _plain(np.sin),
        o.Cos: _plain(np.cos),
        o.Atan2: _plain(np.arctan2),
        o.Erf: _plain(functions.erf),
        o.Floor: _plain(np.floor),
        o.Ceil: _plain(np.ceil),
        o.Round: _plain(np.rint),
        o.IsFinite: _plain(np.isfinite),
        o.Less: _plain(np.less),
        o.LessEqual: _plain(np.less_equal),
        o.Equal: _plain(np.equal),
        o.Maximum: _plain(np.maximum),
        o.Minimum: _plain(np.minimum),
        o.Clip: _plain(_clip),
        o.Not: _plain(np.logical_not),
        o.And: _plain(np.logical_and),
        o.Or: _plain(np.logical_or),
        o.Where: _plain(np.where),
        o.Annihilate: _plain(_annihilate),
        o.MulNoNan: _plain(_mul_no_nan),
        o.ReduceSum: _reduction(_sum),
        o.ReduceMax: _reduction(np.max),
        o.ReduceMin: _reduction(np.min),
        o.ReduceProd: _reduction(_prod),
        o.Mean: _reduction(_mean),
        o.Norm: _reduction(_norm),
        o.Var: _spread(_var),
        o.Std: _spread(_std),
        o.CumSum: _running(np.cumsum),
        o.CumProd: _running(np.cumprod),
        o.ArgMax: lambda op: Call(np.argmax, {"axis": op.axis}),
        o.ArgMin: lambda op: Call(np.argmin, {"axis": op.axis}),
        o.Sort: lambda op: Call(_sort, {"axis": op.axis, "descending": op.descending}),
        o.ArgSort: lambda op: Call(_argsort, {"axis": op.axis, "descending": op.descending}),
        o.TopK: lambda op: Call(_top_k, {"axis": op.axis, "k": op.k}),
        o.Reshape: lambda op: Call(np.reshape, {"shape": op.shape}),
        o.Transpose: lambda op: Call(np.transpose, {"axes": op.permutation}),
        o.BroadcastTo: lambda op: Call(np.broadcast_to, {"shape": op.shape}),
        o.Slice: lambda op: Call(_slice, {"start": op.start, "stop": op.stop, "step": op.step}),
        o.Pad: lambda op: Call(_pad, dict(op.params)),
        o.Concat: lambda op: Call(_concat, {"axis": op.axis}),
        o.Reverse: lambda op: Call(np.flip, {"axis": op.axes}),
        o.Gather: _gather,
        o.ScatterAdd: _scatter_add,
        o.OneHot: lambda op: Call(functions.one_hot, {"depth": op.depth, "dtype": op.dtype}),
        o.MatMul: _matmul,
        o.Einsum: _einsum,
        o.Conv: _attribute(conv_of_arrays),
        o.ConvInputGradient: _attribute(gradients.conv_input_gradient),
        o.ConvKernelGradient: _attribute(gradients.conv_kernel_gradient),
        o.WindowMax: _attribute(max_of_windows),
        o.WindowMaxGradient: _attribute(_window_max_gradient),
        o.WindowSum: _attribute(sum_of_windows),
        o.Relu: _plain(functions.relu),
        o.LeakyRelu: lambda op: Call(functions.leaky_relu, {"slope": op.slope}),
        o.Elu: lambda op: Call(functions.elu, {"alpha": op.alpha}),
        o.Gelu: lambda op: Call(functions.gelu, {"approximate": op.approximate}),
        o.Silu: _plain(functions.silu),
        o.Softplus: _plain(functions.softplus),
        o.TanhGradient: _plain(gradients.tanh_gradient),
        o.SigmoidGradient: _plain(gradients.sigmoid_gradient),
        o.ReluGradient: _plain(gradients.relu_gradient),
        o.GeluGradient: lambda op: Call(gradients.gelu_gradient, {"approximate": op.approximate}),
        o.Softmax: lambda op: Call(functions.softmax, {"axis": op.axis}),
        o.LogSoftmax: lambda op: Call(functions.log_softmax, {"axis": op.axis}),
        o.LogSumExp: lambda op: Call(
            functions.logsumexp, {"axis": op.axes, "keepdims": op.keepdims}
        ),
        o.SoftmaxCrossEntropy: _plain(functions.softmax_cross_entropy),
        o.SoftmaxGradient: lambda op: Call(gradients.softmax_gradient, {"axis": op.axis}),
        o.LogSoftmaxGradient: lambda op: Call(gradients.log_softmax_gradient, {"axis": op.axis}),
        o.SoftmaxCrossEntropyGradient: _plain(gradients.softmax_cross_entropy_gradient),
        o.LayerNorm: lambda op: Call(functions.layer_norm, {"epsilon": op.epsilon}),
        o.RmsNorm: lambda op: Call(functions.rms_norm, {"epsilon": op.epsilon}),
        o.BatchNorm: _batch_norm,
        o.Attention: _attribute(_attention),
        o.Standardize: lambda op: Call(gradients.standardize, dict(op.params)),
        o.StandardizeGradient: lambda op: Call(gradients.standardize_gradient, dict(op.params)),
        o.AttentionWeights: _attribute(gradients.attention_weights),
        o.Axpy: lambda op: Call(gradients.axpy, {"is_negative": op.is_negative}),
        o.Lerp: _plain(gradients.lerp),
        o.AdamDirection: _plain(gradients.adam_direction),
        o.RandomBits: lambda op: Call(bits_of_array, {"shape": op.shape}),
        o.RandomUniform: _uniform,
        o.Dropout: lambda op: Call(dropout_of_array, {"rate": op.rate}),
        o.Cast: lambda op: Call(_cast, {"dtype": op.dtype}),
    }
)
"""The call of every operator that is left after differentiation."""
