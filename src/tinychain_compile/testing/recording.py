"""Registries whose handlers return readable text, and one that writes down what it is asked."""

from __future__ import annotations

from collections.abc import Collection

from tinychain_compile.ir.operator import Operator
from tinychain_compile.operators import OPERATORS
from tinychain_compile.protocols import OperationContext


class RecordingRegistry:
    """Lowers each operation to readable text, and keeps the contexts in order.

    Args:
        supported: The operator classes that have a handler; all by default.
    """

    def __init__(self, supported: Collection[type[Operator]] = OPERATORS) -> None:
        self._supported = tuple(supported)
        self.contexts: list[OperationContext] = []

    def has_handler(self, operator: Operator | type[Operator]) -> bool:
        """Return whether the operator is among the supported ones."""
        kind = operator if isinstance(operator, type) else type(operator)
        return kind in self._supported

    def supported_types(self) -> tuple[type[Operator], ...]:
        """Return the supported operator classes."""
        return self._supported

    def lookup(self, operator: Operator) -> RecordingHandler:
        """Return a handler that records."""
        return RecordingHandler(type(operator), self.contexts)


class TextHandler:
    """Lowers an operation to a line such as ``v3: f32[4] = add(v1, v2)``.

    Args:
        operator_type: The operator class it serves.
    """

    def __init__(self, operator_type: type[Operator]) -> None:
        self.operator_type = operator_type

    def lower(self, context: OperationContext) -> str:
        """Return the operation as text, with its attributes."""
        attributes = [f"{name}={value}" for name, value in context.op_params.items()]
        arguments = ", ".join([*context.input_value_ids, *attributes])
        type = context.output_typespec
        return f"{context.output_value_id}: {type} = {context.operator.name}({arguments})"


class RecordingHandler(TextHandler):
    """Does so and records the context."""

    def __init__(self, operator_type: type[Operator], contexts: list[OperationContext]) -> None:
        super().__init__(operator_type)
        self._contexts = contexts

    def lower(self, context: OperationContext) -> str:
        """Return the operation as text."""
        self._contexts.append(context)
        return super().lower(context)


class TextRegistry:
    """Lowers each operation to readable text, for tests that look at what a backend is given.

    Args:
        supported: The operator classes that have a handler; all by default.
    """

    def __init__(self, supported: Collection[type[Operator]] = OPERATORS) -> None:
        self._handlers = {kind: TextHandler(kind) for kind in supported}

    def has_handler(self, operator: Operator | type[Operator]) -> bool:
        """Return whether the operator is among the supported ones."""
        kind = operator if isinstance(operator, type) else type(operator)
        return kind in self._handlers

    def supported_types(self) -> tuple[type[Operator], ...]:
        """Return the supported operator classes."""
        return tuple(self._handlers)

    def lookup(self, operator: Operator) -> TextHandler:
        """Return the handler of an operator's class."""
        return self._handlers[type(operator)]
