"""Literals depend on nothing, so there is nothing to differentiate by."""

from __future__ import annotations

from tinychain_compile.ir.operator import Operator
from tinychain_compile.operators import Constant, DimensionSize, Iota

WITHOUT_DERIVATIVE: dict[type[Operator], str] = {
    Constant: "a literal depends on nothing",
    Iota: "a literal depends on nothing",
    DimensionSize: "a size depends on no element",
}
