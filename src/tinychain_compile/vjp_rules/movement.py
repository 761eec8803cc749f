"""Derivatives of movement. The one of ``broadcast_to`` is the only rule that sums."""

from __future__ import annotations

from tinychain_compile.ir.operator import Operator
from tinychain_compile.operators import BroadcastTo, Reshape, Transpose
from tinychain_compile.protocols import VJPRule
from tinychain_compile.tensor import Tensor


def reshape(op: Reshape, g: Tensor, y: Tensor, x: Tensor) -> tuple[Tensor]:
    """``g``, reshaped back."""
    return (g.reshape(x.shape),)


def transpose(op: Transpose, g: Tensor, y: Tensor, x: Tensor) -> tuple[Tensor]:
    """``g`` with the inverse permutation."""
    inverse = sorted(range(x.ndim), key=op.permutation.__getitem__)
    return (g.transpose(inverse),)


def broadcast_to(op: BroadcastTo, g: Tensor, y: Tensor, x: Tensor) -> tuple[Tensor]:
    """The sum of ``g`` over the axes that were repeated."""
    new = g.ndim - x.ndim
    repeated = [new + i for i, size in enumerate(x.shape) if size == 1 and g.shape[new + i] != 1]
    axes = (*range(new), *repeated)
    return ((g.sum(axes) if axes else g).reshape(x.shape),)


RULES: dict[type[Operator], VJPRule] = {
    Reshape: reshape,
    Transpose: transpose,
    BroadcastTo: broadcast_to,
}
