"""What the rules say beside their formulas: values at kinks, and where a factor may be infinite.

Guards are for elementwise rules only, whose cotangents have the type of the output's.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tinychain_compile.ir.graph import Operation, Value
from tinychain_compile.operators import Cast, Constant, Neg


class Kink(NamedTuple):
    """The derivative that is given where there is none, or where others give NaN.

    Attributes:
        case: Where.
        value: What this project gives.
        peers: What others give.
    """

    case: str
    value: str
    peers: str = ""


def always(_: object, *operands: Value) -> tuple[bool, ...]:
    """Return that the factor may be infinite whatever the operands are."""
    return (True,) * len(operands)


def by_the_other(_: object, a: Value, b: Value) -> tuple[bool, bool]:
    """Return, for a factor that is the other operand, whether it is known to be finite."""
    return not is_finite_literal(b), not is_finite_literal(a)


def by_the_divisor(_: object, a: Value, b: Value) -> tuple[bool, bool]:
    """Return, for a quotient, whether the divisor is known to be finite and not zero."""
    return not is_finite_literal(b, nonzero=True), True


def is_finite_literal(value: Value, nonzero: bool = False) -> bool:
    """Return whether a value is made of numbers known now to be finite, or of integers."""
    while isinstance(value, Operation):
        operator = value.operator
        if isinstance(operator, Constant):
            array = operator.value
            return bool(np.all(np.isfinite(array))) and (not nonzero or bool(np.all(array)))
        if operator.is_literal:
            return not nonzero
        if not (operator.is_movement or isinstance(operator, (Cast, Neg))):
            return False
        (value,) = value.inputs
        if not value.type.is_floating and not nonzero:
            return True
    return not value.type.is_floating and not nonzero
