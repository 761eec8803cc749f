"""What a rule wrote, to be written again for other operands of the same types."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import NamedTuple

from tinychain_compile.ir.builder import GraphBuilder
from tinychain_compile.ir.graph import Operation, Value
from tinychain_compile.ir.operator import Operator
from tinychain_compile.ir.traversal import reachable
from tinychain_compile.ir.types import TensorType


class Step(NamedTuple):
    """One operation of a template.

    Attributes:
        type: What the operator infers.
        operator: The operator with its attributes.
        operands: Picks its operands, of the template's operands and what the steps before made.
    """

    type: TensorType
    operator: Operator
    operands: Callable[[list[Value]], tuple[Value, ...]]


class Template(NamedTuple):
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
    ) -> Template:
        """Return what was written for operands of which none stands twice, as a template."""
        places = {value: place for place, value in enumerate(operands)}
        steps: list[Step] = []
        read: set[int | None] = set()
        for operation in reachable(operations, [v for v in results if v is not None]):
            own = [places[value] for value in operation.inputs]
            places[operation] = len(places)
            read.update(own)
            steps.append(Step(operation.type, operation.operator, _picking(own)))
        returned = tuple([None if value is None else places[value] for value in results])
        read.update(returned)
        reads = tuple([place for place in range(len(operands)) if place in read])
        return Template(tuple(steps), returned, reads)

    def write(self, builder: GraphBuilder, operands: Sequence[Value]) -> list[Value | None]:
        """Append the operations for these operands and return the results."""
        values = list(operands)
        append = builder.append
        for type, operator, operands_of in self.steps:
            values.append(append(type, operator, operands_of(values)))
        return [None if place is None else values[place] for place in self.results]

    def write_one(self, builder: GraphBuilder, operands: Sequence[Value]) -> Value:
        """Append the operations for these operands and return the one result."""
        (result,) = self.write(builder, operands)
        if result is None:
            raise ValueError("the template has no result")
        return result


class Templates(dict[object, Template]):
    """What a stage keeps, by operator, types and whatever else decides what a rule writes."""

    MOST = 4096
    """How many; beyond it the stage begins anew."""

    def keep(self, key: object, template: Template) -> Template:
        """Keep a template and return it."""
        if len(self) >= self.MOST:
            self.clear()
        self[key] = template
        return template


def _picking(places: Sequence[int]) -> Callable[[list[Value]], tuple[Value, ...]]:
    """Return what picks the values at these places."""
    if len(places) > 1:
        return itemgetter(*places)
    return lambda values: tuple([values[place] for place in places])
