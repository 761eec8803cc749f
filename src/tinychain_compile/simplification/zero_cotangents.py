"""What comes of a cotangent that is known to be zero everywhere.

Exact: only operators that give +0 of a cotangent of +0 whatever the other operand is.
"""

from __future__ import annotations

import numpy as np

from tinychain_compile.ir.graph import Value
from tinychain_compile.ir.operator import Operator
from tinychain_compile.operators import (
    Annihilate,
    MulNoNan,
    Pad,
    ReduceSum,
    ReluGradient,
    ScatterAdd,
    Slice,
)
from tinychain_compile.simplification.rules import (
    LITERAL,
    Offer,
    Rules,
    Writer,
    is_number,
    repeated,
)


def _of_zero(writer: Writer, operator: Operator, inputs: tuple[Value, ...]) -> Value | None:
    """Zero, in the shape of the result."""
    cotangent = inputs[0]
    if not is_number(writer, cotangent, 0.0):
        return None
    if isinstance(operator, Pad) and (operator.value != 0 or np.signbit(operator.value)):
        return None
    type = operator.infer(*[value.type for value in inputs])
    return repeated(writer, np.zeros((), type.dtype), type.shape)


RULES: Rules = dict.fromkeys(
    (Annihilate, MulNoNan, ReluGradient, ReduceSum, ScatterAdd, Slice, Pad),
    (Offer(_of_zero, LITERAL),),
)
