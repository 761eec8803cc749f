"""What a value is only moved from: movement and literals are made again rather than kept."""

from __future__ import annotations

from collections.abc import Collection

from tinychain_compile.ir.graph import Operation, Value
from tinychain_compile.operators import Slice


def movement_chain(value: Value, free: Collection[Value]) -> list[Operation]:
    """Return the operations that move a value, the last one first; none if it is computed.

    A chain ends where something is computed, at what is there anyway, or with a literal. A slice is
    a part of what it was cut from, and smaller to keep: it is computed, unless it is of a literal.

    Args:
        value: A value of a graph.
        free: What is there anyway.
    """
    chain: list[Operation] = []
    cut: int | None = None
    while value not in free and isinstance(value, Operation):
        operator = value.operator
        if isinstance(operator, Slice):
            cut = len(chain) if cut is None else cut
        elif operator.is_literal:
            return [*chain, value]
        elif not operator.is_movement:
            break
        chain.append(value)
        (value,) = value.inputs
    return chain if cut is None else chain[:cut]
