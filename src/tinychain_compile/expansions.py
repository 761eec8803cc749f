"""What a rule wrote, to be written again for other operands of the same types."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tinychain_compile.ir.builder import GraphBuilder
from tinychain_compile.ir.graph import Operation, Value
from tinychain_compile.ir.operator import Operator
from tinychain_compile.ir.traversal import reachable
from tinychain_compile.ir.types import TensorType


class Step(NamedTuple):
    """One operation of an expansion.

    Attributes:
        operator: The operator with its attributes.
        places: Where its operands stand, among the expansion's operands and what its steps make.
        type: What the operator infers.
    """

    operator: Operator
    places: tuple[int, ...]
    type: TensorType


class Expansion(NamedTuple):
    """The operations that a rule writes for operands of certain types, and what it returns.

    Attributes:
        steps: The operations that the results need, in order.
        results: Where each result stands; ``None`` where there is none.
        reads: The positions of the operands that are read at all.
    """

    steps: tuple[Step, ...]
    results: tuple[int | None, ...]
    reads: tuple[int, ...]

    @staticmethod
    def of(
        operands: Sequence[Value],
        operations: Sequence[Operation],
        results: Sequence[Value | None],
    ) -> Expansion:
        """Return what was written for operands of which none stands twice, as an expansion."""
        places = {value: place for place, value in enumerate(operands)}
        steps: list[Step] = []
        for operation in reachable(operations, [v for v in results if v is not None]):
            own = tuple([places[value] for value in operation.inputs])
            places[operation] = len(places)
            steps.append(Step(operation.operator, own, operation.type))
        returned = tuple([None if value is None else places[value] for value in results])
        read = {*returned, *(place for step in steps for place in step.places)}
        reads = tuple([place for place in range(len(operands)) if place in read])
        return Expansion(tuple(steps), returned, reads)

    def write(self, builder: GraphBuilder, operands: Sequence[Value]) -> list[Value | None]:
        """Append the operations for these operands and return the results."""
        values = list(operands)
        for operator, places, type in self.steps:
            values.append(builder.append(type, operator, tuple([values[i] for i in places])))
        return [None if place is None else values[place] for place in self.results]
