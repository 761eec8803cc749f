"""Values, operations and graphs. All frozen; identity is the object, ids are for people."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import NamedTuple, TypeAlias

from tinychain_compile.ir.frozen import Frozen, new, unfrozen
from tinychain_compile.ir.operator import Operator
from tinychain_compile.ir.origin import Origin
from tinychain_compile.ir.types import TensorType

IdSource: TypeAlias = Iterator[str]
"""The counter of one compilation; every value takes its id from it."""


def fresh_ids() -> IdSource:
    """Return the counter of one compilation: ``v0``, ``v1``, ..."""
    return map("v{}".format, count())


class Value(Frozen):
    """A tensor of a program: an input of it, unless it is an ``Operation``, which makes itself.

    Args:
        id: The value's name in printed programs and for handlers, such as ``v7``; unique in the
            compilation.
        type: Its dtype and shape.
    """

    __slots__ = ("id", "type")

    id: str
    type: TensorType

    def __new__(cls, id: str, type: TensorType) -> Value:
        """Make an input."""
        return Value.of(id, type)

    @staticmethod
    def of(id: str, type: TensorType) -> Value:
        """Return what the constructor returns, at half its cost."""
        made = new(_UnfrozenValue)
        made.id = id
        made.type = type
        made.__class__ = Value
        return made

    def __repr__(self) -> str:
        return f"<{self.id}: {self.type}>"


_UnfrozenValue = unfrozen(Value)


class Operation(Value):
    """One use of an operator, and the value that it computes from its operands.

    It has the type that the operator infers, so an ill-typed operation cannot exist.

    Args:
        operator: The operator with its attributes.
        inputs: The operands; one used twice stands twice.
        id: The id of the value.
        origin: Where the operation comes from.

    Raises:
        CompilationError: The operands do not fit the operator.
    """

    __slots__ = ("inputs", "operator", "origin")

    operator: Operator
    inputs: tuple[Value, ...]
    origin: Origin | None

    def __new__(
        cls,
        operator: Operator,
        inputs: tuple[Value, ...],
        id: str,
        origin: Origin | None = None,
    ) -> Operation:
        """Make an operation of the type that its operator infers."""
        type = operator.infer(*[value.type for value in inputs])
        return Operation.of_type(type, operator, inputs, id, origin)

    @staticmethod
    def of_type(
        type: TensorType,
        operator: Operator,
        inputs: tuple[Value, ...],
        id: str,
        origin: Origin | None,
    ) -> Operation:
        """Return an operation of which it is known what the operator infers."""
        made = new(_UnfrozenOperation)
        made.id = id
        made.type = type
        made.operator = operator
        made.inputs = inputs
        made.origin = origin
        made.__class__ = Operation
        return made

    def with_inputs(self, inputs: tuple[Value, ...], id: str | None = None) -> Operation:
        """Return the operation, under its id or another, reading other values than its own."""
        id = self.id if id is None else id
        for mine, other in zip(self.inputs, inputs, strict=True):
            if other.type is not mine.type and other.type != mine.type:
                return Operation(self.operator, inputs, id, self.origin)
        return Operation.of_type(self.type, self.operator, inputs, id, self.origin)

    @property
    def node_id(self) -> str:
        """Its name as a node of a program, such as ``n7`` where the value is ``v7``."""
        return "n" + self.id.removeprefix("v")

    def __repr__(self) -> str:
        operands = ", ".join(value.id for value in self.inputs)
        return f"<{self.id} = {self.operator.name}({operands}): {self.type}>"


_UnfrozenOperation = unfrozen(Operation)


def described(value: Value) -> str:
    """Return a value with the line that made it, for errors."""
    if isinstance(value, Operation):
        return f"{value!r}, made at {value.origin}"
    return f"{value!r}, an input"


class NamedValue(NamedTuple):
    """An input or an output of a graph."""

    name: str
    value: Value


class Graph(Frozen):
    """A program: named inputs, operations in a topological order, named outputs.

    An input may be a value that another graph makes: a derivative reads the forward graph's values
    so. What a graph makes itself is what its ``operations`` make.
    """

    __slots__ = ("inputs", "name", "operations", "outputs")

    name: str
    inputs: tuple[NamedValue, ...]
    operations: tuple[Operation, ...]
    outputs: tuple[NamedValue, ...]

    def __new__(
        cls,
        name: str,
        inputs: tuple[NamedValue, ...],
        operations: tuple[Operation, ...],
        outputs: tuple[NamedValue, ...],
    ) -> Graph:
        """Make a graph; ``verify`` checks one."""
        made = new(_UnfrozenGraph)
        made.name = name
        made.inputs = inputs
        made.operations = operations
        made.outputs = outputs
        made.__class__ = Graph
        return made

    @property
    def input_ids(self) -> dict[str, str]:
        """The id of each input, by name, in order."""
        return {name: value.id for name, value in self.inputs}

    @property
    def output_ids(self) -> dict[str, str]:
        """The id of each output, by name, in order."""
        return {name: value.id for name, value in self.outputs}

    def input(self, name: str) -> Value:
        """Return the input of this name."""
        return dict(self.inputs)[name]

    def output(self, name: str) -> Value:
        """Return the output of this name."""
        return dict(self.outputs)[name]

    def __repr__(self) -> str:
        return f"<graph {self.name}: {len(self.operations)} operations>"


_UnfrozenGraph = unfrozen(Graph)
