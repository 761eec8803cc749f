"""Backends of installed packages, found by entry point and imported only when asked for."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import EntryPoint, entry_points
from types import MappingProxyType
from typing import Any, NamedTuple, cast

from tinychain_compile.container import TrainingStepContainer
from tinychain_compile.errors import BackendError

GROUP = "tinychain_compile.backends"
"""The entry-point group: ``name = "package.module:Container"``."""


class FoundBackend(NamedTuple):
    """A backend that is installed, not imported.

    Attributes:
        name: What it is called.
        path: ``package.module:Container``.
        package: The distribution that brings it.
    """

    name: str
    path: str
    package: str


def backends() -> Mapping[str, FoundBackend]:
    """Return the installed backends by name, in alphabetical order; none is imported.

    Raises:
        BackendError: Two distributions bring a backend of one name.
    """
    found: dict[str, FoundBackend] = {}
    for entry in sorted(_entries(), key=lambda entry: entry.name):
        backend = FoundBackend(entry.name, entry.value, entry.dist.name if entry.dist else "")
        if found.setdefault(entry.name, backend) != backend:
            raise BackendError(
                f"backend {entry.name!r}",
                expected="one package that brings it",
                got=f"{found[entry.name].package} and {backend.package}",
            )
    return MappingProxyType(found)


def load_backend(name: str) -> type[TrainingStepContainer]:
    """Import one backend and return its container class.

    Raises:
        BackendError: There is none of this name, it is not importable, or no container class.
    """
    known = backends()
    if name not in known:
        raise BackendError(
            f"backend {name!r}",
            expected=f"an installed one: {', '.join(known) or 'there is none'}",
            hint=f"A package brings one by an entry point in the group {GROUP!r}.",
        )
    (entry,) = {(e.name, e.value): e for e in _entries() if e.name == name}.values()
    try:
        found: Any = entry.load()
    except Exception as error:
        raise BackendError(
            f"backend {name!r} of {known[name].package}",
            expected=f"{entry.value} to be importable",
            got=f"{type(error).__name__}: {error}",
        ) from error
    is_container = isinstance(found, type) and issubclass(found, TrainingStepContainer)
    if not is_container:
        raise BackendError(
            f"backend {name!r} of {known[name].package}",
            expected="a class that derives from TrainingStepContainer",
            got=repr(cast(object, found)),
        )
    return cast("type[TrainingStepContainer]", found)


def _entries() -> tuple[EntryPoint, ...]:
    return tuple(entry_points(group=GROUP))
