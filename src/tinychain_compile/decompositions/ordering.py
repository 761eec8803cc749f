"""Order through ranks: every element is compared with every other of its axis."""

from __future__ import annotations

from tinychain_compile import namespace as xp
from tinychain_compile.ir.dtypes import I64
from tinychain_compile.ir.operator import Operator
from tinychain_compile.operators import ArgMax, ArgMin, ArgSort, Gather, Iota, Sort, TopK
from tinychain_compile.protocols import Decomposition
from tinychain_compile.tensor import Tensor


def argmax(op: ArgMax, x: Tensor) -> Tensor:
    """The smallest position whose element is not below the largest, or is NaN."""
    largest = x.max(op.axis, keepdims=True)
    return _first(op.axis, x, ~(x < largest) if not x.type.is_floating else _equal(x, largest))


def argmin(op: ArgMin, x: Tensor) -> Tensor:
    """The smallest position whose element is not above the smallest, or is NaN."""
    smallest = xp.min(x, axis=op.axis, keepdims=True)
    return _first(op.axis, x, ~(smallest < x) if not x.type.is_floating else _equal(x, smallest))


def _equal(x: Tensor, extreme: Tensor) -> Tensor:
    """Return whether x is the extreme; where that is NaN, whether x is."""
    return xp.equal(x, extreme) | xp.isnan(x)


def _first(axis: int, x: Tensor, holds: Tensor) -> Tensor:
    size = x.shape[axis]
    shape = tuple(size if i == axis else 1 for i in range(x.ndim))
    position = x.emit_literal(Iota(shape, axis))
    return xp.min(xp.where(holds, position, position.size_literal(size)), axis=axis)


def argsort(op: ArgSort, x: Tensor) -> Tensor:
    """The position of the element of each rank: the sum of positions where the rank is right."""
    axis = op.axis
    ranks = _ranks(axis, x, op.descending).expand_dims(axis + 1)
    shape = tuple(x.shape[axis] if i in (axis, axis + 1) else 1 for i in range(ranks.ndim))
    position, rank = (x.emit_literal(Iota(shape, i)) for i in (axis, axis + 1))
    return xp.where(ranks == rank, position, 0).sum(axis)


def _ranks(axis: int, x: Tensor, descending: bool) -> Tensor:
    """Return how many elements stand before each one once in order."""
    mine, theirs = x.expand_dims(axis), x.expand_dims(axis + 1)
    shape = tuple(x.shape[axis] if i in (axis, axis + 1) else 1 for i in range(mine.ndim))
    their_place, my_place = (x.emit_literal(Iota(shape, i)) for i in (axis, axis + 1))
    below, above = _below(theirs, mine), _below(mine, theirs)
    precedes = above if descending else below
    is_tie = ~below & ~above & (their_place < my_place)
    return (precedes | is_tie).astype(I64).sum(axis)


def _below(a: Tensor, b: Tensor) -> Tensor:
    """Return whether a stands before b; NaN stands last."""
    if not a.type.is_floating:
        return a < b
    return (a < b) | (xp.isnan(b) & ~xp.isnan(a))


def sort(op: Sort, x: Tensor) -> Tensor:
    """The elements at the sorted positions."""
    return x.emit(Gather(op.axis, along=True), x.emit(ArgSort(op.axis, op.descending)))


def top_k(op: TopK, x: Tensor) -> Tensor:
    """The elements at the first k of the positions sorted descending."""
    order = x.emit(ArgSort(op.axis, True)).slice_axis(op.axis, 0, op.k)
    return x.emit(Gather(op.axis, along=True), order)


DECOMPOSITIONS: dict[type[Operator], Decomposition] = {
    ArgMax: argmax,
    ArgMin: argmin,
    ArgSort: argsort,
    Sort: sort,
    TopK: top_k,
}
