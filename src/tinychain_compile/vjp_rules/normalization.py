"""Derivatives of normalization, from the operand: statistics are cheaper to make than to keep."""

from __future__ import annotations

from tinychain_compile.ir.operator import Operator
from tinychain_compile.operators import (
    BatchNorm,
    LayerNorm,
    RmsNorm,
    Rsqrt,
    Standardize,
    StandardizeGradient,
)
from tinychain_compile.protocols import VJPRule
from tinychain_compile.tensor import Tensor


def layer_norm(
    op: LayerNorm, g: Tensor, y: Tensor, x: Tensor, scale: Tensor, bias: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """See Ba, Kiros and Hinton, 2016."""
    leading = tuple(range(x.ndim - scale.ndim))
    trailing = tuple(range(x.ndim - scale.ndim, x.ndim))
    return _centred_rule(op.epsilon, g, x, scale.broadcast_to(x.shape), trailing, leading)


def batch_norm(
    op: BatchNorm, g: Tensor, y: Tensor, x: Tensor, scale: Tensor, bias: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """See Ioffe and Szegedy, 2015."""
    others = tuple(axis for axis in range(x.ndim) if axis != op.axis)
    kept = tuple(size if axis == op.axis else 1 for axis, size in enumerate(x.shape))
    wide = scale.reshape(kept).broadcast_to(x.shape)
    return _centred_rule(op.epsilon, g, x, wide, others, others)


def _centred_rule(
    epsilon: float,
    g: Tensor,
    x: Tensor,
    scale: Tensor,
    normalized: tuple[int, ...],
    shared: tuple[int, ...],
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the cotangents of x, scale and bias.

    Args:
        epsilon: Added to the variance.
        g: The cotangent of the output.
        x: The operand.
        scale: Repeated to the shape of x.
        normalized: The axes of mean and variance.
        shared: The axes along which the scale is repeated.
    """
    dtype = x.dtype
    g, x, scale = g.widened(), x.widened(), scale.widened()
    unit = x.emit(Standardize(normalized, epsilon))
    to_x = (g * scale).emit(StandardizeGradient(normalized, epsilon), x)
    results = (to_x, (g * unit).sum(shared), g.sum(shared))
    return results[0].astype(dtype), results[1].astype(dtype), results[2].astype(dtype)


def standardize(op: Standardize, g: Tensor, y: Tensor, x: Tensor) -> tuple[Tensor]:
    """``g`` without its mean and its part along ``x``, divided by the spread."""
    return (g.emit(StandardizeGradient(op.axes, op.epsilon), x),)


def standardize_gradient(
    op: StandardizeGradient, h: Tensor, z: Tensor, g: Tensor, x: Tensor
) -> tuple[Tensor, Tensor]:
    """It is its own derivative by ``g``; to ``x`` through the direction and through the spread."""
    axes = op.axes
    unit = x.emit(Standardize(axes, op.epsilon))
    centred = x - x.mean(axes, keepdims=True)
    spread = ((centred * centred).mean(axes, keepdims=True) + op.epsilon).emit(Rsqrt())
    along_g, along_h = ((v * unit).mean(axes, keepdims=True) for v in (g, h))
    to_unit = (h * along_g + g * along_h) * spread
    by_spread = unit * spread * (h * z).mean(axes, keepdims=True)
    return h.emit(op, x), -to_unit.emit(op, x) - by_spread


def rms_norm(op: RmsNorm, g: Tensor, y: Tensor, x: Tensor, scale: Tensor) -> tuple[Tensor, Tensor]:
    """See Zhang and Sennrich, 2019."""
    leading = tuple(range(x.ndim - scale.ndim))
    trailing = tuple(range(x.ndim - scale.ndim, x.ndim))
    dtype = x.dtype
    g, x, scale = g.widened(), x.widened(), scale.widened()
    spread = ((x * x).mean(trailing, keepdims=True) + op.epsilon).emit(Rsqrt())
    unit = x * spread
    inner = g * scale
    along = (inner * unit).mean(trailing, keepdims=True)
    to_x = (inner - unit * along) * spread
    return to_x.astype(dtype), (g * unit).sum(leading).astype(dtype)


RULES: dict[type[Operator], VJPRule] = {
    LayerNorm: layer_norm,
    RmsNorm: rms_norm,
    BatchNorm: batch_norm,
    Standardize: standardize,
    StandardizeGradient: standardize_gradient,
}
