"""Arithmetic in terms of add, mul and div."""

from __future__ import annotations

from tinychain_compile.ir.operator import Operator
from tinychain_compile.operators import IntegerPow, Neg, Sub
from tinychain_compile.protocols import Decomposition
from tinychain_compile.tensor import Tensor


def neg(op: Neg, x: Tensor) -> Tensor:
    """``x * -1``; for an unsigned x, times the number that wraps round to the same."""
    minus_one = -1 if x.type.is_floating or x.dtype.kind == "i" else 2 ** (8 * x.dtype.itemsize) - 1
    return x * minus_one


def sub(op: Sub, a: Tensor, b: Tensor) -> Tensor:
    return a + -b


def integer_pow(op: IntegerPow, x: Tensor) -> Tensor:
    """Repeated squaring: at most two multiplications per bit of the exponent."""
    n = abs(op.exponent)
    if n == 0:
        return x.full(1)
    power: Tensor | None = None
    square = x
    while True:
        if n & 1:
            power = square if power is None else power * square
        n >>= 1
        if not n:
            break
        square = square * square
    assert power is not None
    return 1.0 / power if op.exponent < 0 else power


DECOMPOSITIONS: dict[type[Operator], Decomposition] = {Neg: neg, Sub: sub, IntegerPow: integer_pow}
