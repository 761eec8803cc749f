"""What each operator is in JAX."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from tinychain_compile import operators as o
from tinychain_compile.operators import Operator


def _plain(function: Callable[..., Any]) -> Callable[[Any], Callable[..., Any]]:
    return lambda op: function


def _reduction(function: Callable[..., Any]) -> Callable[[Any], Callable[..., Any]]:
    return lambda op: lambda x: function(x, axis=op.axes, keepdims=op.keepdims)


def _spread(function: Callable[..., Any]) -> Callable[[Any], Callable[..., Any]]:
    return lambda op: lambda x: function(x, axis=op.axes, keepdims=op.keepdims, ddof=op.correction)


def _running(function: Callable[..., Any]) -> Callable[[Any], Callable[..., Any]]:
    return lambda op: lambda x: function(x, axis=op.axis, reverse=op.reverse)


def _matmul(op: Any) -> Callable[..., Any]:
    def product(a: Any, b: Any) -> Any:
        left = a.swapaxes(-1, -2) if op.transpose_a else a
        right = b.swapaxes(-1, -2) if op.transpose_b else b
        return left @ right

    return product


def _gather(op: Any) -> Callable[..., Any]:
    if op.along:
        return lambda x, i: jnp.take_along_axis(x, i, axis=op.axis)
    return lambda x, i: jnp.take(x, i, axis=op.axis)


def _conv(op: Any) -> Callable[..., Any]:
    return lambda x, k: lax.conv_general_dilated(
        x, k, op.strides, op.padding, rhs_dilation=op.dilations, feature_group_count=op.groups
    )


def _pool(initial: float, function: Any) -> Callable[[Any], Callable[..., Any]]:
    def pooled(op: Any) -> Callable[..., Any]:
        window, strides = (1, 1, *op.window), (1, 1, *op.strides)
        pads = ((0, 0), (0, 0), *op.padding)
        return lambda x: lax.reduce_window(x, initial, function, window, strides, pads)

    return pooled


def _sort(op: Any) -> Callable[..., Any]:
    return lambda x: jnp.sort(x, axis=op.axis, descending=op.descending)


def _top_k(op: Any) -> Callable[..., Any]:
    def largest(x: Any) -> Any:
        return jnp.moveaxis(lax.top_k(jnp.moveaxis(x, op.axis, -1), op.k)[0], -1, op.axis)

    return largest


def _layer_norm(op: Any) -> Callable[..., Any]:
    def normalize(x: Any, scale: Any, bias: Any) -> Any:
        axes = tuple(range(x.ndim - scale.ndim, x.ndim))
        return jax.nn.standardize(x, axis=axes, epsilon=op.epsilon) * scale + bias

    return normalize


def _rms_norm(op: Any) -> Callable[..., Any]:
    def normalize(x: Any, scale: Any) -> Any:
        axes = tuple(range(x.ndim - scale.ndim, x.ndim))
        return x * lax.rsqrt(jnp.mean(x * x, axes, keepdims=True) + op.epsilon) * scale

    return normalize


def _batch_norm(op: Any) -> Callable[..., Any]:
    def normalize(x: Any, scale: Any, bias: Any) -> Any:
        axes = tuple(axis for axis in range(x.ndim) if axis != op.axis)
        kept = tuple(size if axis == op.axis else 1 for axis, size in enumerate(x.shape))
        unit = jax.nn.standardize(x, axis=axes, epsilon=op.epsilon)
        return unit * scale.reshape(kept) + bias.reshape(kept)

    return normalize


def _cross_entropy(scores: Any, labels: Any) -> Any:
    logs = jax.nn.log_softmax(scores, axis=-1)
    return -jnp.take_along_axis(logs, labels[..., None], axis=-1)[..., 0]


def _pad(op: Any) -> Callable[..., Any]:
    rows = tuple(zip(op.low, op.high, op.interior, strict=True))
    return lambda x: lax.pad(x, jnp.asarray(op.value, x.dtype), rows)


def _pulled(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda g, x: jax.vjp(function, x)[1](g)[0]


JAX_OPERATORS: Mapping[type[Operator], Callable[[Any], Callable[..., Any]]] = {
    o.Neg: _plain(jnp.negative),
    o.Add: _plain(jnp.add),
    o.Sub: _plain(jnp.subtract),
    o.Mul: _plain(jnp.multiply),
    o.Div: _plain(jnp.divide),
    o.IntegerPow: lambda op: lambda x: lax.integer_pow(x, op.exponent),
    o.Abs: _plain(jnp.abs),
    o.Sign: _plain(jnp.sign),
    o.Pow: _plain(jnp.power),
    o.Exp: _plain(jnp.exp),
    o.Expm1: _plain(jnp.expm1),
    o.Log: _plain(jnp.log),
    o.Log1p: _plain(jnp.log1p),
    o.Sqrt: _plain(jnp.sqrt),
    o.Rsqrt: _plain(lax.rsqrt),
    o.Tanh: _plain(jnp.tanh),
    o.Sigmoid: _plain(jax.nn.sigmoid),
    o.Sin: _plain(jnp.sin),
    o.Cos: _plain(jnp.cos),
    o.Atan2: _plain(jnp.arctan2),
    o.Erf: _plain(jax.scipy.special.erf),
    o.Floor: _plain(jnp.floor),
    o.Ceil: _plain(jnp.ceil),
    o.Round: _plain(jnp.round),
    o.IsFinite: _plain(jnp.isfinite),
    o.Less: _plain(jnp.less),
    o.LessEqual: _plain(jnp.less_equal),
    o.Equal: _plain(jnp.equal),
    o.Maximum: _plain(jnp.maximum),
    o.Minimum: _plain(jnp.minimum),
    o.Clip: _plain(jnp.clip),
    o.Not: _plain(jnp.logical_not),
    o.And: _plain(jnp.logical_and),
    o.Or: _plain(jnp.logical_or),
    o.Where: _plain(jnp.where),
    o.ReduceSum: _reduction(jnp.sum),
    o.ReduceMax: _reduction(jnp.max),
    o.ReduceMin: _reduction(jnp.min),
    o.ReduceProd: _reduction(jnp.prod),
    o.Mean: _reduction(jnp.mean),
    o.Norm: lambda op: lambda x: jnp.sqrt(jnp.sum(x * x, axis=op.axes, keepdims=op.keepdims)),
    o.Var: _spread(jnp.var),
    o.Std: _spread(jnp.std),
    o.CumSum: _running(lax.cumsum),
    o.CumProd: _running(lax.cumprod),
    o.ArgMax: lambda op: lambda x: jnp.argmax(x, axis=op.axis),
    o.ArgMin: lambda op: lambda x: jnp.argmin(x, axis=op.axis),
    o.Sort: _sort,
    o.TopK: _top_k,
    o.Reshape: lambda op: lambda x: jnp.reshape(x, op.shape),
    o.Transpose: lambda op: lambda x: jnp.transpose(x, op.permutation),
    o.BroadcastTo: lambda op: lambda x: jnp.broadcast_to(x, op.shape),
    o.Slice: lambda op: lambda x: lax.slice(x, op.start, op.stop, op.step),
    o.Pad: _pad,
    o.Concat: lambda op: lambda *x: jnp.concatenate(x, axis=op.axis),
    o.Reverse: lambda op: lambda x: jnp.flip(x, op.axes),
    o.Gather: _gather,
    o.OneHot: lambda op: lambda i: jax.nn.one_hot(i, op.depth, dtype=op.dtype),
    o.MatMul: _matmul,
    o.Einsum: lambda op: lambda *x: jnp.einsum(f"{','.join(op.operands)}->{op.result}", *x),
    o.Conv: _conv,
    o.WindowMax: _pool(-jnp.inf, lax.max),
    o.WindowSum: _pool(0.0, lax.add),
    o.Relu: _plain(jax.nn.relu),
    o.LeakyRelu: lambda op: lambda x: jax.nn.leaky_relu(x, op.slope),
    o.Elu: lambda op: lambda x: jax.nn.elu(x, op.alpha),
    o.Gelu: lambda op: lambda x: jax.nn.gelu(x, approximate=op.approximate),
    o.Silu: _plain(jax.nn.silu),
    o.Softplus: _plain(jax.nn.softplus),
    o.Softmax: lambda op: lambda x: jax.nn.softmax(x, axis=op.axis),
    o.LogSoftmax: lambda op: lambda x: jax.nn.log_softmax(x, axis=op.axis),
    o.LogSumExp: lambda op: (
        lambda x: jax.scipy.special.logsumexp(x, axis=op.axes, keepdims=op.keepdims)
    ),
    o.SoftmaxCrossEntropy: _plain(_cross_entropy),
    o.LayerNorm: _layer_norm,
    o.RmsNorm: _rms_norm,
    o.BatchNorm: _batch_norm,
    o.TanhGradient: _plain(lambda g, y: g * (1 - y * y)),
    o.SigmoidGradient: _plain(lambda g, y: g * y * (1 - y)),
    o.ReluGradient: _plain(lambda g, y: g * (y > 0)),
    o.GeluGradient: lambda op: _pulled(lambda x: jax.nn.gelu(x, approximate=op.approximate)),
    o.SoftmaxCrossEntropyGradient: _plain(
        lambda g, scores, labels: _pulled(lambda s: _cross_entropy(s, labels))(g, scores)
    ),
    o.Standardize: lambda op: lambda x: jax.nn.standardize(x, axis=op.axes, epsilon=op.epsilon),
    o.StandardizeGradient: lambda op: _pulled(
        lambda x: jax.nn.standardize(x, axis=op.axes, epsilon=op.epsilon)
    ),
    o.Axpy: lambda op: lambda alpha, x, y: y + (-alpha if op.is_negative else alpha) * x,
    o.Lerp: _plain(lambda decay, old, new: decay * old + (1 - decay) * new),
    o.Cast: lambda op: lambda x: x.astype(op.dtype),
}

WITHOUT_COUNTERPART: Mapping[type[Operator], str] = {
    o.Constant: "a literal",
    o.Iota: "a literal",
    o.DimensionSize: "a literal",
    o.Named: "the value is the operand",
    o.StopGradient: "the value is the operand; that nothing passes is tested apart",
    o.Annihilate: "JAX has no such guard",
    o.MulNoNan: "JAX has no such guard",
    o.ArgSort: "JAX's descending order of ties differs; the conformance cases state ours",
    o.ScatterAdd: "it is the derivative of gather, which is compared",
    o.WindowMaxGradient: "it is the derivative of window_max, which is compared",
    o.ConvInputGradient: "it is the derivative of conv, which is compared",
    o.ConvKernelGradient: "it is the derivative of conv, which is compared",
    o.SoftmaxGradient: "it is the derivative of softmax, which is compared",
    o.LogSoftmaxGradient: "it is the derivative of log_softmax, which is compared",
    o.AttentionWeights: "a part of attention",
    o.AdamDirection: "compared with Optax",
    o.Attention: "compared in the transformer of W3, and below with a mask",
    o.RandomBits: "compared below",
    o.RandomUniform: "made of random_bits in another way than JAX's",
    o.Dropout: "made of random_uniform",
}
