"""Derivatives of random numbers: there are none; of dropout, the same elements dropped."""

from __future__ import annotations

from tinychain_compile.ir.operator import Operator
from tinychain_compile.operators import Dropout, RandomBits, RandomUniform
from tinychain_compile.protocols import VJPRule
from tinychain_compile.tensor import Tensor


def dropout(op: Dropout, g: Tensor, y: Tensor, x: Tensor, key: Tensor) -> tuple[Tensor, None]:
    """``g`` with the same elements dropped: the key alone decides which."""
    return g.emit(op, key), None


RULES: dict[type[Operator], VJPRule] = {Dropout: dropout}

WITHOUT_DERIVATIVE: dict[type[Operator], str] = dict.fromkeys(
    (RandomBits, RandomUniform), "random numbers depend on a key alone"
)
