"""Elementwise arithmetic. Operands of a binary operator have equal dtype and shape."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tinychain_compile.errors import DtypeMismatchError
from tinychain_compile.ir.operator import Operator
from tinychain_compile.ir.types import TensorType
from tinychain_compile.operators.type_rules import floating, numeric, same


@dataclass(frozen=True, slots=True)
class Neg(Operator):
    """``-x``: ``T[s] -> T[s]``."""

    name: ClassVar[str] = "neg"

    def infer(self, x: TensorType) -> TensorType:
        return numeric(self.name, x)


@dataclass(frozen=True, slots=True)
class Add(Operator):
    """``a + b``: ``T[s], T[s] -> T[s]``."""

    name: ClassVar[str] = "add"

    def infer(self, a: TensorType, b: TensorType) -> TensorType:
        return same(self.name, numeric(self.name, a), b)


@dataclass(frozen=True, slots=True)
class Sub(Operator):
    """``a - b``: ``T[s], T[s] -> T[s]``."""

    name: ClassVar[str] = "sub"

    def infer(self, a: TensorType, b: TensorType) -> TensorType:
        return same(self.name, numeric(self.name, a), b)


@dataclass(frozen=True, slots=True)
class Mul(Operator):
    """``a * b``: ``T[s], T[s] -> T[s]``."""

    name: ClassVar[str] = "mul"

    def infer(self, a: TensorType, b: TensorType) -> TensorType:
        return same(self.name, numeric(self.name, a), b)


@dataclass(frozen=True, slots=True)
class Div(Operator):
    """``a / b``, floating: ``F[s], F[s] -> F[s]``."""

    name: ClassVar[str] = "div"

    def infer(self, a: TensorType, b: TensorType) -> TensorType:
        return same(self.name, floating(self.name, a), b)


@dataclass(frozen=True, slots=True)
class IntegerPow(Operator):
    """``x ** exponent`` with an exponent known when compiling: ``T[s] -> T[s]``.

    Args:
        exponent: Any integer; a negative one needs a floating operand.
    """

    name: ClassVar[str] = "integer_pow"
    exponent: int

    def infer(self, x: TensorType) -> TensorType:
        if self.exponent < 0 and not x.is_floating:
            raise DtypeMismatchError(
                self.name,
                expected="a floating tensor for a negative exponent",
                got=f"{x} ** {self.exponent}",
                hint="Convert it with .astype(...) first.",
            )
        return numeric(self.name, x)


@dataclass(frozen=True, slots=True)
class Abs(Operator):
    """The magnitude, +0 for -0: ``T[s] -> T[s]``."""

    name: ClassVar[str] = "abs"

    def infer(self, x: TensorType) -> TensorType:
        return numeric(self.name, x)


@dataclass(frozen=True, slots=True)
class Sign(Operator):
    """-1, 0 or 1, NaN where the operand is NaN: ``T[s] -> T[s]``."""

    name: ClassVar[str] = "sign"

    def infer(self, x: TensorType) -> TensorType:
        return numeric(self.name, x)


@dataclass(frozen=True, slots=True)
class Pow(Operator):
    """``base ** exponent``, floating: ``F[s], F[s] -> F[s]``."""

    name: ClassVar[str] = "pow"

    def infer(self, base: TensorType, exponent: TensorType) -> TensorType:
        return same(self.name, floating(self.name, base), exponent)
