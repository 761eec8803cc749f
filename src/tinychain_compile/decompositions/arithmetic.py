"""Arithmetic in terms of add, mul, div and choice."""

from __future__ import annotations

from tinychain_compile import namespace as xp
from tinychain_compile.decompositions.approximation import Approximation
from tinychain_compile.ir.operator import Operator
from tinychain_compile.operators import Abs, IntegerPow, Neg, Pow, Sign, Sub
from tinychain_compile.protocols import Decomposition
from tinychain_compile.tensor import Tensor


def neg(op: Neg, x: Tensor) -> Tensor:
    """``x * -1``; for an unsigned x, times the number that wraps round to the same."""
    minus_one = -1 if x.type.is_floating or x.dtype.kind == "i" else 2 ** (8 * x.dtype.itemsize) - 1
    return x * minus_one


def sub(op: Sub, a: Tensor, b: Tensor) -> Tensor:
    """``a + -b``."""
    return a + -b


def integer_pow(op: IntegerPow, x: Tensor) -> Tensor:
    """Repeated squaring: at most two multiplications per bit of the exponent."""
    n = op.exponent if op.exponent >= 0 else -op.exponent
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


def abs(op: Abs, x: Tensor) -> Tensor:
    """``x`` above 0, else ``0 - x``, which is +0 for -0."""
    return xp.where(x.full(0) < x, x, 0 - x)


def sign(op: Sign, x: Tensor) -> Tensor:
    """1 above 0, -1 below, else x itself: 0 or NaN."""
    one = x.full(1)
    if x.dtype.kind == "u":
        return xp.where(x.full(0) < x, one, x)
    return xp.where(x.full(0) < x, one, xp.where(x < 0, -one, x))


def pow(op: Pow, base: Tensor, exponent: Tensor) -> Tensor:
    """``exp(exponent * log(abs(base)))``, with the sign of an odd power; 1 for exponent 0.

    Approximate: the relative error grows with ``exponent * log(base)``, half a unit in the last
    place for each unit of it. A negative base to a power that is no whole number is NaN.
    """
    magnitude = xp.abs(base)
    power = xp.exp(exponent * xp.log(magnitude))
    half = exponent * 0.5
    is_whole, is_even = xp.floor(exponent) == exponent, xp.floor(half) == half
    below = xp.where(is_even, power, xp.where(is_whole, -power, float("nan")))
    signed = xp.where(base < 0.0, below, power)
    is_one = magnitude == 1.0
    at_one = xp.where(base < 0.0, xp.where(is_even, 1.0, xp.where(is_whole, -1.0, signed)), 1.0)
    return xp.where(exponent == 0.0, 1.0, xp.where(is_one, at_one, signed))


DECOMPOSITIONS: dict[type[Operator], Decomposition] = {
    Neg: neg,
    Sub: sub,
    IntegerPow: integer_pow,
    Abs: abs,
    Sign: sign,
    Pow: pow,
}

APPROXIMATE: dict[type[Operator], Approximation] = {
    Pow: Approximation(64, "where abs(exponent * log(base)) is at most 64; it grows with that"),
}
