"""Whether an object can serve where a Protocol is asked for: members, signatures, no bare class."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from functools import lru_cache
from types import CodeType
from typing import Any

from tinychain_compile.errors import BackendError

_MISSING = object()


def why_unfit(candidate: object, protocol: type) -> tuple[str, ...]:
    """Return what keeps an object from serving as a Protocol; nothing if it can.

    A method fits if it can be called as the Protocol's is: it may take more, by whatever names for
    what is passed by position. Proxies and mocks are asked for their members like anything else.
    """
    if isinstance(candidate, type):
        return (f"the class {candidate.__name__} in place of an instance",)
    members = protocol_members(protocol)
    own = getattr(candidate, "__dict__", {})
    if own.keys().isdisjoint(members):
        kind: Any = type(candidate)
        verdict = _verdict_on_class(kind, protocol)
        if verdict is not None:
            return verdict
    return _problems([(name, getattr(candidate, name, _MISSING)) for name in members], protocol)


@lru_cache(maxsize=512)
def _verdict_on_class(kind: type, protocol: type) -> tuple[str, ...] | None:
    """Return the problems of every instance of a class; ``None`` if instances must be asked."""
    members = protocol_members(protocol)
    if not all(hasattr(kind, name) for name in members):
        return None
    bound: list[tuple[str, Any]] = []
    for name in members:
        static = inspect.getattr_static(kind, name)
        is_function = inspect.isfunction(static)
        bound.append((name, _bound(static) if is_function else getattr(kind, name)))
    return _problems(bound, protocol)


def _bound(function: Any) -> Any:
    """Return a function as its method looks from an instance."""
    return function.__get__(object())


def check_fits(candidate: object, protocol: type, place: str) -> None:
    """Check that an object can serve as a Protocol.

    Raises:
        BackendError: It cannot; place, Protocol, type and reasons are named.
    """
    problems = why_unfit(candidate, protocol)
    if problems:
        is_class = isinstance(candidate, type)
        raise BackendError(
            place,
            expected=f"a {protocol.__name__}",
            got=f"{candidate!r} of type {type(candidate).__name__}: {'; '.join(problems)}",
            hint="Wrap a class in providers.Factory, or make an instance of it."
            if is_class
            else f"See {protocol.__name__} in tinychain_compile.protocols.",
        )


@lru_cache(maxsize=64)
def protocol_members(protocol: type) -> tuple[str, ...]:
    """Return the names of a Protocol's methods and properties, inherited ones included."""
    names: dict[str, None] = {}
    for base in protocol.__mro__:
        if getattr(base, "_is_protocol", False):
            names |= dict.fromkeys(name for name in vars(base) if not name.startswith("_"))
    return tuple(names)


def _problems(members: Sequence[tuple[str, Any]], protocol: type) -> tuple[str, ...]:
    found = (_problem(name, member, protocol) for name, member in members)
    return tuple(problem for problem in found if problem is not None)


def _problem(name: str, found: Any, protocol: type) -> str | None:
    """Return what is wrong with one member."""
    wanted: Any = inspect.getattr_static(protocol, name)
    if found is _MISSING:
        return f"it has no {name}"
    if isinstance(wanted, property):
        return None
    if not callable(found):
        return f"its {name} is no method"
    code: Any = getattr(found, "__code__", None)
    if type(code) is CodeType and code.co_flags & inspect.CO_COROUTINE:  # a mock has another
        return f"its {name} is asynchronous"
    try:
        signature = inspect.signature(found)
    except (TypeError, ValueError):
        return None  # a builtin that does not tell
    positional, keywords = _call_of(wanted)
    try:
        signature.bind(*positional, **keywords)
    except TypeError as error:
        called = ", ".join([*positional, *(f"{keyword}=..." for keyword in keywords)])
        return f"its {name}{signature} cannot be called as {name}({called}): {error}"
    return None


def _call_of(method: Any) -> tuple[list[str], dict[str, str]]:
    """Return the fullest call of a Protocol's method: by position what can be, else by keyword."""
    parameters = list(inspect.signature(method).parameters.values())[1:]
    by_position = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    positional = [p.name for p in parameters if p.kind in by_position]
    keywords = {p.name: p.name for p in parameters if p.kind is inspect.Parameter.KEYWORD_ONLY}
    return positional, keywords
