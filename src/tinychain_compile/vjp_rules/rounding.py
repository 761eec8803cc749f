"""Rounding has no derivative: it is constant between its jumps."""

from __future__ import annotations

from tinychain_compile.ir.operator import Operator
from tinychain_compile.operators import Ceil, Floor, IsFinite, Round
from tinychain_compile.vjp_rules.statements import Kink

WITHOUT_DERIVATIVE: dict[type[Operator], str] = {
    Floor: "it is constant between whole numbers",
    Ceil: "it is constant between whole numbers",
    Round: "it is constant between its jumps",
    IsFinite: "a condition has no derivative",
}

KINKS: dict[type[Operator], tuple[Kink, ...]] = {
    Round: (Kink("floor, ceil and round, everywhere", "0", "JAX and PyTorch 0"),),
}
