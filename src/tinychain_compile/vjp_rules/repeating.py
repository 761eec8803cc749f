"""What the rules of all reductions share."""

from __future__ import annotations

from tinychain_compile.ir.dimensions import size_of
from tinychain_compile.tensor import Tensor


def repeated(reduced: Tensor, x: Tensor, axes: tuple[int, ...]) -> Tensor:
    """Return what a reduction gave, repeated to the shape of its operand.

    Leading axes that are gone need no axis of size 1 in their place: broadcasting adds them.
    """
    if axes == tuple(range(len(axes))) and reduced.ndim == x.ndim - len(axes):
        return reduced.broadcast_to(x.shape)
    kept = tuple(1 if axis in axes else size for axis, size in enumerate(x.shape))
    return reduced.reshape(kept).broadcast_to(x.shape)


def element_count(like: Tensor, x: Tensor, axes: tuple[int, ...]) -> Tensor:
    """Return how many elements x has over axes, as a scalar of the dtype of ``like``."""
    return like.size_literal(size_of(x.shape[axis] for axis in axes))
