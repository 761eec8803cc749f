"""A stage that writes down how it is called, and passes the calls on."""

from __future__ import annotations

from typing import Any, NamedTuple


class Call(NamedTuple):
    """One call of one method.

    Attributes:
        method: Its name.
        arguments: What it was given by position.
        keywords: What it was given by keyword.
        result: What it returned.
    """

    method: str
    arguments: tuple[Any, ...]
    keywords: dict[str, Any]
    result: Any


class Spy:
    """Stands in for an object, passes every call on and keeps it.

    Args:
        real: What to pass calls on to: ``Spy(container.tracer())``.

    Attributes:
        calls: Those that returned, in order.
    """

    def __init__(self, real: Any) -> None:
        self._real = real
        self.calls: list[Call] = []

    def __getattr__(self, name: str) -> Any:
        member = getattr(self._real, name)
        if not callable(member):
            return member

        def recorded(*arguments: Any, **keywords: Any) -> Any:
            result = member(*arguments, **keywords)
            self.calls.append(Call(name, arguments, keywords, result))
            return result

        return recorded

    def called(self, method: str) -> list[Call]:
        """Return the calls of one method, in order."""
        return [call for call in self.calls if call.method == method]
