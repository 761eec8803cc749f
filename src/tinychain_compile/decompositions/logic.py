"""Logic in terms of choice between the numbers 1 and 0, and a comparison with 0."""

from __future__ import annotations

from tinychain_compile.ir.dtypes import I32
from tinychain_compile.ir.operator import Operator
from tinychain_compile.operators import And, Less, Not, Or, Where
from tinychain_compile.protocols import Decomposition
from tinychain_compile.tensor import Tensor


def not_(op: Not, x: Tensor) -> Tensor:
    """0 where it holds, else 1."""
    one, zero = _numbers(x)
    return _holds(x.emit(Where(), zero, one), zero)


def and_(op: And, a: Tensor, b: Tensor) -> Tensor:
    """Whether b, where a holds; else 0."""
    one, zero = _numbers(a)
    return _holds(a.emit(Where(), b.emit(Where(), one, zero), zero), zero)


def or_(op: Or, a: Tensor, b: Tensor) -> Tensor:
    """1 where a holds, else whether b."""
    one, zero = _numbers(a)
    return _holds(a.emit(Where(), one, b.emit(Where(), one, zero)), zero)


def _numbers(x: Tensor) -> tuple[Tensor, Tensor]:
    one, zero = (x.literal(number, I32).broadcast_to(x.shape) for number in (1, 0))
    return one, zero


def _holds(number: Tensor, zero: Tensor) -> Tensor:
    return zero.emit(Less(), number)


DECOMPOSITIONS: dict[type[Operator], Decomposition] = {Not: not_, And: and_, Or: or_}
