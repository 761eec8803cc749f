"""Conditions have no derivative."""

from __future__ import annotations

from tinychain_compile.ir.operator import Operator
from tinychain_compile.operators import And, Not, Or

WITHOUT_DERIVATIVE: dict[type[Operator], str] = dict.fromkeys(
    (Not, And, Or), "a condition has no derivative"
)
