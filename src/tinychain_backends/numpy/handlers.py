"""Handlers whose target values are instructions: a NumPy call with the ids it reads."""

from __future__ import annotations

from typing import NamedTuple

from tinychain_backends.numpy.calls import CALLS, Call, call_for
from tinychain_compile import OperationContext, OperationHandlerRegistry


class Instruction(NamedTuple):
    """One line of a program.

    Attributes:
        call: The NumPy function and its keywords.
        operands: The ids it reads.
        source: The user's line, for a reader of the program.
    """

    call: Call
    operands: tuple[str, ...]
    source: str


def lower_call(context: OperationContext) -> Instruction:
    """Return the instruction of one operation."""
    line = context.source
    source = f"{line.line}: {line.text}" if line else ""
    return Instruction(call_for(context.operator), context.input_value_ids, source)


def numpy_registry() -> OperationHandlerRegistry:
    """Return a registry with a handler for every operator that NumPy has."""
    registry = OperationHandlerRegistry()
    for operator_type in CALLS:
        registry.handler(operator_type)(lower_call)
    return registry
