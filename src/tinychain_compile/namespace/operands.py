"""How operands of a function of tensors are found and how operators are appended to them."""

from __future__ import annotations

from typing import Any, TypeAlias

from tinychain_compile.errors import UnsupportedFunctionError
from tinychain_compile.ir.operator import Operator
from tinychain_compile.tensor import Tensor

Operand: TypeAlias = Any
"""A traced tensor, an array or a scalar."""


def first_tensor(*operands: object) -> Tensor:
    """Return the first traced tensor among the operands."""
    for operand in operands:
        if isinstance(operand, Tensor):
            return operand
    raise UnsupportedFunctionError(
        "a function of traced tensors",
        expected="at least one traced tensor",
        got=", ".join(map(repr, operands)),
        hint="Use NumPy's function on arrays.",
    )


def binary(operator: Operator, left: Operand, right: Operand) -> Tensor:
    """Append a binary operator, of which one operand is a tensor."""
    if isinstance(left, Tensor):
        return left.binary(operator, right)
    return first_tensor(right).reversed_binary(operator, left)


def floating_binary(operator: Operator, left: Operand, right: Operand) -> Tensor:
    """Append a binary operator on floating operands; integers meet in f64."""
    a, b = meet(left, right)
    return a.as_floating().emit(operator, b.as_floating())


def unary(operator: Operator, x: Operand) -> Tensor:
    """Append a unary operator on a floating operand; an integer one becomes f64."""
    return first_tensor(x).as_floating().emit(operator)


def meet(left: Operand, right: Operand) -> tuple[Tensor, Tensor]:
    """Return both operands as tensors of one dtype and one shape."""
    if isinstance(left, Tensor):
        return left.meet(right)
    b, a = first_tensor(right).meet(left)
    return a, b
