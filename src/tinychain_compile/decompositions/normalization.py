"""Normalization in terms of means."""

from __future__ import annotations

from tinychain_compile import namespace as xp
from tinychain_compile.ir.operator import Operator
from tinychain_compile.operators import (
    BatchNorm,
    LayerNorm,
    RmsNorm,
    Rsqrt,
    Standardize,
    StandardizeGradient,
)
from tinychain_compile.protocols import Decomposition
from tinychain_compile.tensor import Tensor


def layer_norm(op: LayerNorm, x: Tensor, scale: Tensor, bias: Tensor) -> Tensor:
    """The mean taken out, divided by the spread, over the axes of the scale."""
    axes = tuple(range(x.ndim - scale.ndim, x.ndim))
    return x.emit(Standardize(axes, op.epsilon)) * scale + bias


def rms_norm(op: RmsNorm, x: Tensor, scale: Tensor) -> Tensor:
    """Divided by the root of the mean of squares, over the axes of the scale."""
    axes = tuple(range(x.ndim - scale.ndim, x.ndim))
    wide = x.widened()
    unit = wide / xp.sqrt((wide * wide).mean(axes, keepdims=True) + op.epsilon)
    return unit.astype(x.dtype) * scale


def batch_norm(op: BatchNorm, x: Tensor, scale: Tensor, bias: Tensor) -> Tensor:
    """The mean taken out, divided by the spread, over all axes but that of channels."""
    axes = tuple(axis for axis in range(x.ndim) if axis != op.axis)
    kept = tuple(size if axis == op.axis else 1 for axis, size in enumerate(x.shape))
    return x.emit(Standardize(axes, op.epsilon)) * scale.reshape(kept) + bias.reshape(kept)


def standardize(op: Standardize, x: Tensor) -> Tensor:
    """The mean taken out, divided by the spread."""
    wide = x.widened()
    centred = wide - wide.mean(op.axes, keepdims=True)
    unit = centred / xp.sqrt((centred * centred).mean(op.axes, keepdims=True) + op.epsilon)
    return unit.astype(x.dtype)


def standardize_gradient(op: StandardizeGradient, g: Tensor, x: Tensor) -> Tensor:
    """``g`` without its mean and its part along ``x``, divided by the spread."""
    axes, dtype = op.axes, x.dtype
    g, x = g.widened(), x.widened()
    centred = x - x.mean(axes, keepdims=True)
    spread = ((centred * centred).mean(axes, keepdims=True) + op.epsilon).emit(Rsqrt())
    unit = centred * spread
    along = (g * unit).mean(axes, keepdims=True)
    return ((g - g.mean(axes, keepdims=True) - unit * along) * spread).astype(dtype)


DECOMPOSITIONS: dict[type[Operator], Decomposition] = {
    LayerNorm: layer_norm,
    RmsNorm: rms_norm,
    BatchNorm: batch_norm,
    Standardize: standardize,
    StandardizeGradient: standardize_gradient,
}
