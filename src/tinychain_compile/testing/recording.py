"""A registry that has every operator and writes down what it is asked to lower."""

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


class RecordingHandler:
    """Lowers an operation to ``v3 = add(v1, v2)`` and records its context."""

    def __init__(self, operator_type: type[Operator], contexts: list[OperationContext]) -> None:
        self.operator_type = operator_type
        self._contexts = contexts

    def lower(self, context: OperationContext) -> str:
        """Return the operation as text."""
        self._contexts.append(context)
        operands = ", ".join(context.input_value_ids)
        return f"{context.output_value_id} = {context.operator.name}({operands})"
