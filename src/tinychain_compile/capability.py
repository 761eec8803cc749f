"""Whether a backend can take an operation: asked for each one, answered with a reason."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tinychain_compile.errors import CompilationError, HandlerContractError
from tinychain_compile.ir.graph import Operation
from tinychain_compile.ir.operator import Operator
from tinychain_compile.protocols import HandlerRegistry


class Capability:
    """Why a registry cannot take an operation; a class whose handler takes all is asked for once.

    Args:
        handlers: The registry.
    """

    def __init__(self, handlers: HandlerRegistry) -> None:
        self._handlers = handlers
        self._whole: set[type[Operator]] = set()

    def why_not(self, operation: Operation) -> str | None:
        """Return why the registry cannot take an operation, ``None`` if it can.

        Raises:
            HandlerContractError: The handler's ``supports`` raised, or returned neither ``True``
                nor a reason.
        """
        operator = operation.operator
        if type(operator) in self._whole:
            return None
        if not self._handlers.has_handler(operator):
            return "there is no handler"
        supports = getattr(self._handlers.lookup(operator), "supports", None)
        if supports is None:
            self._whole.add(type(operator))
            return None
        return _answer(supports, operation)

    def missing(self, operations: Iterable[Operation]) -> list[tuple[Operation, str]]:
        """Return the operations that the registry cannot take, each with the reason."""
        whole = self._whole
        return [
            (operation, reason)
            for operation in operations
            if type(operation.operator) not in whole
            and (reason := self.why_not(operation)) is not None
        ]


def _answer(supports: Callable[[Operation], object], operation: Operation) -> str | None:
    """Return what a handler says of an operation, checked."""
    operator = operation.operator
    try:
        answer: object = supports(operation)
    except CompilationError:
        raise
    except Exception as error:
        raise HandlerContractError(
            f"supports of the handler of {operator.name}",
            expected="True, or the reason why not",
            got=f"{type(error).__name__}: {error}",
            location=operation.origin,
        ) from error
    if answer is True:
        return None
    if isinstance(answer, str) and answer:
        return answer
    raise HandlerContractError(
        f"supports of the handler of {operator.name}",
        expected="True, or the reason why not",
        got=repr(answer),
        location=operation.origin,
    )
