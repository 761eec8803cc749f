"""The table a backend author fills: one handler per operator class."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias, TypeVar, cast

from tinychain_compile.artifacts import TargetValue
from tinychain_compile.errors import HandlerContractError
from tinychain_compile.ir.graph import Operation
from tinychain_compile.ir.operator import Operator
from tinychain_compile.protocols import OperationContext, OperationHandler

LowerFunction: TypeAlias = Callable[[OperationContext], TargetValue]
Supports: TypeAlias = Callable[[Operation], "bool | str"]
"""Returns ``True`` for an operation that a handler can take, else the reason why not."""

Decorated = TypeVar("Decorated")


class FunctionHandler:
    """A handler made from a plain function."""

    def __init__(
        self, operator_type: type[Operator], lower: LowerFunction, supports: Supports | None = None
    ) -> None:
        self.operator_type = operator_type
        self.supports = supports
        self._lower = lower

    def lower(self, context: OperationContext) -> TargetValue:
        """Call the function."""
        return self._lower(context)


class OperationHandlerRegistry:
    """Handlers keyed by the exact concrete operator class.

    Example:
        >>> from tinychain_compile.operators import Add
        >>> registry = OperationHandlerRegistry()
        >>> @registry.handler(Add)
        ... def lower_add(context):
        ...     left, right = context.inputs
        ...     return f"({left} + {right})"
        >>> registry.has_handler(Add)
        True
    """

    def __init__(self) -> None:
        self._handlers: dict[type[Operator], OperationHandler] = {}

    def register(self, handler: OperationHandler) -> None:
        """Add a handler.

        Raises:
            HandlerContractError: Its operator class is none, or has a handler already.
        """
        kind = cast(object, getattr(handler, "operator_type", None))
        if not isinstance(kind, type) or not issubclass(kind, Operator) or kind is Operator:
            raise HandlerContractError(
                f"handler {handler!r}",
                expected="operator_type, a concrete operator class",
                got=f"{kind}",
                hint="Operator classes are in tinychain_compile.operators.",
            )
        if not callable(getattr(handler, "lower", None)):
            raise HandlerContractError(
                f"handler {handler!r}", expected="a method lower(context)", got="none"
            )
        if kind in self._handlers:
            raise HandlerContractError(
                f"operator {kind.__name__}",
                expected="one handler",
                got=f"a second one, {handler!r}, beside {self._handlers[kind]!r}",
                hint="Make another registry for another behaviour.",
            )
        self._handlers[kind] = handler

    def handler(
        self, operator_type: type[Operator], *, supports: Supports | None = None
    ) -> Callable[[Decorated], Decorated]:
        """Return a decorator that registers a class (made without arguments) or a function.

        A class has ``lower(context)``, and ``supports(operation)`` if it cannot take every
        operation; a function is the former, and ``supports`` is given here.
        """

        def decorate(decorated: Decorated) -> Decorated:
            if isinstance(decorated, type):
                made = decorated()
                lower = cast(LowerFunction | None, getattr(made, "lower", None))
                own = getattr(made, "operator_type", operator_type)
                if lower is None or own is not operator_type:
                    raise HandlerContractError(
                        f"handler {decorated.__name__}",
                        expected=f"a method lower(context), for {operator_type.__name__}",
                        got=f"operator_type {own!r}" if lower else "none",
                    )
                own_supports = cast(Supports | None, getattr(made, "supports", supports))
            else:
                lower, own_supports = cast(LowerFunction, decorated), supports
            self.register(FunctionHandler(operator_type, lower, own_supports))
            return decorated

        return decorate

    def lookup(self, operator: Operator) -> OperationHandler:
        """Return the handler of an operator's class.

        Raises:
            HandlerContractError: There is none; ask ``has_handler`` first.
        """
        try:
            return self._handlers[type(operator)]
        except KeyError:
            raise HandlerContractError(
                f"operator {type(operator).__name__}", expected="a handler", got="none"
            ) from None

    def has_handler(self, operator: Operator | type[Operator]) -> bool:
        """Return whether there is a handler for this operator."""
        kind = operator if isinstance(operator, type) else type(operator)
        return kind in self._handlers

    def supported_types(self) -> tuple[type[Operator], ...]:
        """Return the operator classes that have a handler, in the order they were registered."""
        return tuple(self._handlers)
