"""The way to write a program: appends operations, gives ids, records where each comes from."""

from __future__ import annotations

from typing import NoReturn

from tinychain_compile.errors import ExpiredTraceError
from tinychain_compile.ir.graph import IdSource, Operation, Value, described
from tinychain_compile.ir.operator import Operator
from tinychain_compile.ir.origin import Origin, calling_line
from tinychain_compile.ir.types import TensorType


class GraphBuilder:
    """Collects the operations of one program, in the order they are made.

    Args:
        ids: The counter of the compilation.
        origin: Where the operations come from; ``None`` records the user's calling line for each.
    """

    __slots__ = ("_ids", "is_closed", "operations", "origin")

    def __init__(self, ids: IdSource, origin: Origin | None = None) -> None:
        self._ids = ids
        self.operations: list[Operation] = []
        self.origin = origin
        self.is_closed = False

    def input(self, type: TensorType) -> Value:
        """Make a value that nothing in the program makes."""
        return Value.of(next(self._ids), type)

    def emit(self, operator: Operator, *inputs: Value) -> Operation:
        """Append one operation and return it."""
        if self.is_closed:
            self.refuse_expired(operator.name, *inputs)
        type = operator.infer(*[value.type for value in inputs])
        origin = self.origin or calling_line()
        operation = Operation.of_type(type, operator, inputs, next(self._ids), origin)
        self.operations.append(operation)
        return operation

    def append(self, type: TensorType, operator: Operator, inputs: tuple[Value, ...]) -> Operation:
        """Append one operation of which the type is known; the origin is the builder's."""
        operation = Operation.of_type(type, operator, inputs, next(self._ids), self.origin)
        self.operations.append(operation)
        return operation

    def refuse_expired(self, what: str, *values: Value) -> NoReturn:
        """Raise the error of using a tensor whose trace has ended."""
        raise ExpiredTraceError(
            f"{what} on a tensor whose trace has ended",
            got=", ".join(map(described, values)) or None,
            hint="Do not keep traced tensors beyond the function that was traced; "
            "return what you need from it.",
        )

    def close(self) -> None:
        """End the trace: nothing can be emitted any more."""
        self.is_closed = True
