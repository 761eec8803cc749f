"""Whether a backend can take an operation: asked for each one, answered with a reason."""

from __future__ import annotations

from tinychain_compile.errors import CompilationError, HandlerContractError
from tinychain_compile.ir.graph import Operation
from tinychain_compile.protocols import HandlerRegistry


def why_unsupported(handlers: HandlerRegistry, operation: Operation) -> str | None:
    """Return why a registry cannot take an operation, ``None`` if it can.

    Raises:
        HandlerContractError: The handler's ``supports`` raised, or returned neither ``True`` nor a
            reason.
    """
    operator = operation.operator
    if not handlers.has_handler(operator):
        return "there is no handler"
    supports = getattr(handlers.lookup(operator), "supports", None)
    if supports is None:
        return None
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
