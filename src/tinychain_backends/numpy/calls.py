"""What each operator is in NumPy: a function, and the keywords that its attributes become.

One table serves the evaluator, which calls the function, and the handlers, which write the call.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tinychain_compile import functions
from tinychain_compile.operators import (
    Add,
    BroadcastTo,
    Cast,
    Constant,
    DimensionSize,
    Div,
    Exp,
    Gather,
    IntegerPow,
    Iota,
    Less,
    Log,
    LogSoftmax,
    MatMul,
    Maximum,
    Mean,
    Mul,
    Neg,
    Operator,
    ReduceMax,
    ReduceSum,
    Relu,
    Reshape,
    ScatterAdd,
    Sqrt,
    Sub,
    Tanh,
    Transpose,
    Where,
)

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
    function = _MATMUL_BY_FLAGS[op.transpose_a, op.transpose_b]
    return Call(function)


def _matmul_tn(a: Array, b: Array) -> Any:
    return np.matmul(a.swapaxes(-1, -2), b)


def _matmul_nt(a: Array, b: Array) -> Any:
    return np.matmul(a, b.swapaxes(-1, -2))


def _matmul_tt(a: Array, b: Array) -> Any:
    return np.matmul(a.swapaxes(-1, -2), b.swapaxes(-1, -2))


_MATMUL_BY_FLAGS: Mapping[tuple[bool, bool], Callable[..., Any]] = {
    (False, False): np.matmul,
    (True, False): _matmul_tn,
    (False, True): _matmul_nt,
    (True, True): _matmul_tt,
}


def _gather(op: Gather) -> Call:
    return Call(np.take_along_axis if op.along else np.take, {"axis": op.axis})


def _scatter_add(op: ScatterAdd) -> Call:
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


CALLS: Mapping[type[Operator], Callable[[Any], Call]] = MappingProxyType(
    {
        Constant: lambda op: Call(_constant, {"value": op.value}),
        Iota: lambda op: Call(_iota, {"shape": op.shape, "axis": op.axis, "dtype": op.dtype}),
        DimensionSize: lambda op: Call(_size, {"shape": (op.dimension,), "dtype": op.dtype}),
        Add: _plain(np.add),
        Sub: _plain(np.subtract),
        Mul: _plain(np.multiply),
        Div: _plain(np.divide),
        Neg: _plain(np.negative),
        IntegerPow: _integer_pow,
        Exp: _plain(np.exp),
        Log: _plain(np.log),
        Sqrt: _plain(np.sqrt),
        Tanh: _plain(np.tanh),
        Less: _plain(np.less),
        Maximum: _plain(np.maximum),
        Where: _plain(np.where),
        ReduceSum: _reduction(_sum),
        ReduceMax: _reduction(np.max),
        Mean: _reduction(np.mean),
        Reshape: lambda op: Call(np.reshape, {"shape": op.shape}),
        Transpose: lambda op: Call(np.transpose, {"axes": op.permutation}),
        BroadcastTo: lambda op: Call(np.broadcast_to, {"shape": op.shape}),
        MatMul: _matmul,
        Gather: _gather,
        ScatterAdd: _scatter_add,
        Relu: _plain(functions.relu),
        LogSoftmax: lambda op: Call(functions.log_softmax, {"axis": op.axis}),
        Cast: lambda op: Call(_cast, {"dtype": op.dtype}),
    }
)
"""The call of every operator that is left after differentiation."""
