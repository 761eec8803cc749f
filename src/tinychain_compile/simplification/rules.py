"""What a rule is given, what it answers, and what many rules ask."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np

from tinychain_compile.ir.dimensions import Shape
from tinychain_compile.ir.dtypes import Array
from tinychain_compile.ir.graph import Operation, Value
from tinychain_compile.ir.operator import Operator
from tinychain_compile.operators import BroadcastTo, Constant


class Writer(Protocol):
    """The graph that is being written."""

    def maker_of(self, value: Value) -> Operation | None:
        """Return the operation of this graph that makes a value; ``None`` for an input."""
        ...

    def is_used_once(self, value: Value) -> bool:
        """Return whether at most one operation reads a value, and no output is it."""
        ...

    def write(self, operator: Operator, *inputs: Value) -> Value:
        """Append an operation, simplified in turn, and return its value."""
        ...

    def append(self, operator: Operator, *inputs: Value) -> Value:
        """Append an operation as it is, unless there is an equal one, and return its value."""
        ...


Rule: TypeAlias = Callable[[Writer, Operator, tuple[Value, ...]], Value | None]
"""Returns what an operation's value is instead, of the same type; ``None`` to leave it."""


class Offer(NamedTuple):
    """A rule, and what must have made the operands for it to have anything to say.

    Most operands are made by nothing that a rule looks into, and are not offered.

    Attributes:
        rule: What is asked.
        of: The operators that one operand is made by, at least; ``None`` for whatever it is.
        each: Whether every operand must be.
    """

    rule: Rule
    of: frozenset[type[Operator]] | None = None
    each: bool = False


Rules: TypeAlias = Mapping[type[Operator], tuple[Offer, ...]]
"""The offers of each operator class, in the order in which they are made."""

LITERAL: frozenset[type[Operator]] = frozenset({Constant})
"""A literal, or one that is repeated: the walk takes a repeated one for what it repeats."""


def number_of(writer: Writer, value: Value) -> Array | None:
    """Return the one number that a value repeats, as an array of rank 0; ``None`` if it is none."""
    made = writer.maker_of(value)
    if made is not None and type(made.operator) is BroadcastTo:
        made = writer.maker_of(made.inputs[0])
    if made is None or not isinstance(made.operator, Constant):
        return None
    constant = made.operator.value
    return constant if constant.ndim == 0 else None


def is_number(writer: Writer, value: Value, wanted: float) -> bool:
    """Return whether a value repeats this number, the sign of zero included."""
    found = number_of(writer, value)
    return (
        found is not None
        and bool(found == wanted)
        and bool(np.signbit(found.astype(np.float64))) == bool(np.signbit(wanted))
    )


def repeated(writer: Writer, number: Array, shape: Shape) -> Value:
    """Write one number, repeated to a shape."""
    scalar = writer.write(Constant(number))
    return writer.write(BroadcastTo(shape), scalar) if shape else scalar
