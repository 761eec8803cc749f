"""Identities of arithmetic that hold for every number: zeros of either sign, infinities and NaN."""

from __future__ import annotations

from tinychain_compile.ir.graph import Value
from tinychain_compile.ir.operator import Operator
from tinychain_compile.operators import (
    Abs,
    Add,
    And,
    Div,
    Floor,
    Maximum,
    Minimum,
    Mul,
    MulNoNan,
    Neg,
    Not,
    Or,
    Relu,
    Round,
    Sub,
    Where,
)
from tinychain_compile.simplification.rules import LITERAL, Offer, Rules, Writer, is_number


def _times_one(writer: Writer, operator: Operator, inputs: tuple[Value, ...]) -> Value | None:
    """``x * 1`` is ``x``, ``x * -1`` is ``-x``."""
    for x, other in (inputs, inputs[::-1]):
        if is_number(writer, other, 1.0):
            return x
        if is_number(writer, other, -1.0):
            return writer.write(Neg(), x)
    return None


def _by_one(writer: Writer, operator: Operator, inputs: tuple[Value, ...]) -> Value | None:
    """``x / 1`` is ``x``, and ``x * 1`` where ``x`` annihilates."""
    return inputs[0] if is_number(writer, inputs[1], 1.0) else None


def _plus_nothing(writer: Writer, operator: Operator, inputs: tuple[Value, ...]) -> Value | None:
    """``x + -0.0`` is ``x``, and ``x + 0`` where there is one zero only."""
    for x, other in (inputs, inputs[::-1]):
        nothing = -0.0 if x.type.is_floating else 0.0
        if is_number(writer, other, nothing):
            return x
    return None


def _minus_nothing(writer: Writer, operator: Operator, inputs: tuple[Value, ...]) -> Value | None:
    """``x - 0`` is ``x``."""
    return inputs[0] if is_number(writer, inputs[1], 0.0) else None


def _plus_negative(writer: Writer, operator: Operator, inputs: tuple[Value, ...]) -> Value | None:
    """``a + -b`` is ``a - b``."""
    for a, other in (inputs, inputs[::-1]):
        made = writer.maker_of(other)
        if made is not None and type(made.operator) is Neg:
            return writer.write(Sub(), a, made.inputs[0])
    return None


def _minus_negative(writer: Writer, operator: Operator, inputs: tuple[Value, ...]) -> Value | None:
    """``a - -b`` is ``a + b``."""
    made = writer.maker_of(inputs[1])
    if made is None or type(made.operator) is not Neg:
        return None
    return writer.write(Add(), inputs[0], made.inputs[0])


def _undone(writer: Writer, operator: Operator, inputs: tuple[Value, ...]) -> Value | None:
    """``--x`` is ``x``, ``~~x`` is ``x``."""
    made = writer.maker_of(inputs[0])
    return made.inputs[0] if made is not None and type(made.operator) is type(operator) else None


def _done_already(writer: Writer, operator: Operator, inputs: tuple[Value, ...]) -> Value | None:
    """``abs(abs(x))`` is ``abs(x)``, and so are relu and what rounds."""
    made = writer.maker_of(inputs[0])
    is_same = made is not None and type(made.operator) is type(operator)
    return inputs[0] if is_same else None


def _of_equals(writer: Writer, operator: Operator, inputs: tuple[Value, ...]) -> Value | None:
    """``maximum(x, x)`` is ``x``; so are minimum, and, or."""
    return inputs[0] if inputs[0] is inputs[1] else None


def _of_equal_branches(
    writer: Writer, operator: Operator, inputs: tuple[Value, ...]
) -> Value | None:
    """``where(c, x, x)`` is ``x``."""
    return inputs[1] if inputs[1] is inputs[2] else None


RULES: Rules = {
    Mul: (Offer(_times_one, LITERAL),),
    **dict.fromkeys((Div, MulNoNan), (Offer(_by_one, LITERAL),)),
    Add: (Offer(_plus_nothing, LITERAL), Offer(_plus_negative, frozenset({Neg}))),
    Sub: (Offer(_minus_nothing, LITERAL), Offer(_minus_negative, frozenset({Neg}))),
    Where: (Offer(_of_equal_branches),),
    **{kind: (Offer(_undone, frozenset({kind})),) for kind in (Neg, Not)},
    **{kind: (Offer(_done_already, frozenset({kind})),) for kind in (Abs, Relu, Floor, Round)},
    **dict.fromkeys((Maximum, Minimum, And, Or), (Offer(_of_equals),)),
}
