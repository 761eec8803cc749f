"""Derivatives of reading and adding at indices: each is the other's."""

from __future__ import annotations

from tinychain_compile.ir.operator import Operator
from tinychain_compile.operators import Gather, OneHot, ScatterAdd
from tinychain_compile.protocols import VJPRule
from tinychain_compile.tensor import Tensor


def gather(op: Gather, g: Tensor, y: Tensor, x: Tensor, i: Tensor) -> tuple[Tensor, None]:
    """``g``, added at the indices."""
    return g.emit(ScatterAdd(op.axis, x.shape[op.axis], op.along), i), None


def scatter_add(
    op: ScatterAdd, g: Tensor, y: Tensor, updates: Tensor, i: Tensor
) -> tuple[Tensor, None]:
    """``g`` at the indices."""
    return g.emit(Gather(op.axis, op.along), i), None


RULES: dict[type[Operator], VJPRule] = {Gather: gather, ScatterAdd: scatter_add}

WITHOUT_DERIVATIVE: dict[type[Operator], str] = {OneHot: "an index has no derivative"}
