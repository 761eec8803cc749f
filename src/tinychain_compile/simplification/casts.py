"""Casts after casts that lose nothing. Exact: the dtype between holds every value there was."""

from __future__ import annotations

from typing import cast

import numpy as np

from tinychain_compile.ir.dtypes import BF16, BOOL, F16, F32, F64, I32, I64, U8, U32, DType
from tinychain_compile.ir.graph import Value
from tinychain_compile.ir.operator import Operator
from tinychain_compile.operators import Cast
from tinychain_compile.simplification.rules import Offer, Rules, Writer

_HELD: dict[DType, frozenset[DType]] = {
    F64: frozenset({BOOL, U8, U32, I32, F16, BF16, F32}),
    F32: frozenset({BOOL, U8, F16, BF16}),
    I64: frozenset({BOOL, U8, U32, I32}),
    I32: frozenset({BOOL, U8}),
    U32: frozenset({BOOL, U8}),
    F16: frozenset({BOOL, U8}),
    BF16: frozenset({BOOL, U8}),
    U8: frozenset({BOOL}),
}
"""Whose values a dtype holds, each of them."""


def _after_lossless(writer: Writer, operator: Operator, inputs: tuple[Value, ...]) -> Value | None:
    """``cast(cast(x, wide), d)`` is ``cast(x, d)``, and ``x`` itself where ``d`` is its dtype."""
    made = writer.maker_of(inputs[0])
    if made is None or type(made.operator) is not Cast:
        return None
    (x,) = made.inputs
    between, target = inputs[0].type.dtype, cast(Cast, operator).dtype
    if x.type.dtype not in _HELD.get(between, ()):
        return None
    if target == x.type.dtype:
        return x
    if target == BOOL or (np.issubdtype(target, np.integer) and x.type.is_floating):
        return None  # how a backend converts these is its own
    return writer.write(operator, x)


RULES: Rules = {Cast: (Offer(_after_lossless, frozenset({Cast})),)}
