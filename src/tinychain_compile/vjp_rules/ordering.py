"""Derivatives of order: what came from a place goes back to it."""

from __future__ import annotations

from tinychain_compile.ir.operator import Operator
from tinychain_compile.operators import ArgMax, ArgMin, ArgSort, ScatterAdd, Sort, TopK
from tinychain_compile.protocols import VJPRule
from tinychain_compile.tensor import Tensor
from tinychain_compile.vjp_rules.statements import Kink


def sort(op: Sort, g: Tensor, y: Tensor, x: Tensor) -> tuple[Tensor]:
    """``g``, added at the positions that the elements came from."""
    order = x.emit(ArgSort(op.axis, op.descending))
    return (g.emit(ScatterAdd(op.axis, x.shape[op.axis], along=True), order),)


def top_k(op: TopK, g: Tensor, y: Tensor, x: Tensor) -> tuple[Tensor]:
    """``g``, added at the positions of the k largest."""
    order = x.emit(ArgSort(op.axis, True)).slice_axis(op.axis, 0, op.k)
    return (g.emit(ScatterAdd(op.axis, x.shape[op.axis], along=True), order),)


RULES: dict[type[Operator], VJPRule] = {Sort: sort, TopK: top_k}

WITHOUT_DERIVATIVE: dict[type[Operator], str] = dict.fromkeys(
    (ArgMax, ArgMin, ArgSort), "a position has no derivative"
)

KINKS: dict[type[Operator], tuple[Kink, ...]] = {
    Sort: (Kink("sort and top_k of equal numbers", "each place to the one it took, in order"),),
}
