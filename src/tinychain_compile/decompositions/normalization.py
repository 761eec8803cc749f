"""Normalization in terms of means."""

from __future__ import annotations

from tinychain_compile import namespace as xp
from tinychain_compile.ir.operator import Operator
from tinychain_compile.operators import BatchNorm, LayerNorm, RmsNorm
from tinychain_compile.protocols import Decomposition
from tinychain_compile.tensor import Tensor


def layer_norm(op: LayerNorm, x: Tensor, scale: Tensor, bias: Tensor) -> Tensor:
    """The mean taken out, divided by the spread, over the axes of the scale."""
    axes = tuple(range(x.ndim - scale.ndim, x.ndim))
    return _normalized(x, axes, op.epsilon) * scale + bias


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
    return _normalized(x, axes, op.epsilon) * scale.reshape(kept) + bias.reshape(kept)


def _normalized(x: Tensor, axes: tuple[int, ...], epsilon: float) -> Tensor:
    wide = x.widened()
    centred = wide - wide.mean(axes, keepdims=True)
    unit = centred / xp.sqrt((centred * centred).mean(axes, keepdims=True) + epsilon)
    return unit.astype(x.dtype)


DECOMPOSITIONS: dict[type[Operator], Decomposition] = {
    LayerNorm: layer_norm,
    RmsNorm: rms_norm,
    BatchNorm: batch_norm,
}
