"""Elementwise operators before movement, so that movement meets movement and less is computed.

Exact: each element is computed from the same elements by the same operator.
"""

from __future__ import annotations

from tinychain_compile.ir.dimensions import Shape
from tinychain_compile.ir.graph import Operation, Value
from tinychain_compile.ir.operator import Operator
from tinychain_compile.operators import ELEMENTWISE, BroadcastTo, Constant, Reshape, Transpose
from tinychain_compile.simplification.rules import Offer, Rules, Writer


def _sunk(writer: Writer, operator: Operator, inputs: tuple[Value, ...]) -> Value | None:
    """``f(move(a), move(b))`` is ``move(f(a, b))`` where both are moved alike."""
    makers: list[Operation] = []
    for value in inputs:
        made = writer.maker_of(value)
        if made is None or not isinstance(made.operator, (BroadcastTo, Reshape, Transpose)):
            return None
        makers.append(made)
    leading = max(makers, key=_rank)
    movement, shape = leading.operator, leading.inputs[0].type.shape
    sources: list[Value] = []
    freed = 0
    for value, made in zip(inputs, makers, strict=True):
        source = made.inputs[0]
        if made.operator == movement and source.type.shape == shape:
            freed += writer.is_used_once(value)
        elif _can_be_elsewhere(made, movement, shape):
            source = writer.write(BroadcastTo(shape), source)
        else:
            return None
        sources.append(source)
    if not freed and not isinstance(movement, BroadcastTo):
        return None  # the movement stays for others: there would be one more
    return writer.write(movement, writer.append(operator, *sources))


def _rank(made: Operation) -> tuple[bool, int]:
    """Return what decides which operand's movement is kept: a number repeated follows others."""
    return not isinstance(made.operator, BroadcastTo), made.inputs[0].type.rank


def _can_be_elsewhere(made: Operation, movement: Operator, shape: Shape) -> bool:
    """Return whether what is repeated can be repeated to the shape before a movement instead.

    One number always can. Else the axes that it has must be the last ones of both shapes, which a
    transpose would not leave where they are.
    """
    if not isinstance(made.operator, BroadcastTo):
        return False
    rank = made.inputs[0].type.rank
    if not rank or isinstance(movement, Transpose):
        return not rank
    return len(shape) >= rank and shape[-rank:] == made.operator.shape[-rank:]


_MOVES = frozenset({BroadcastTo, Reshape, Transpose, Constant})

RULES: Rules = dict.fromkeys(ELEMENTWISE, (Offer(_sunk, _MOVES, each=True),))
