"""Overrides of a container's providers that end with a block."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, TypeVar

from dependency_injector import providers

from tinychain_compile.errors import BackendError

Container = TypeVar("Container")


@contextmanager
def scoped_overrides(container: Container, **fakes: Any) -> Iterator[Container]:
    """Put fakes on a container's providers for the length of a ``with`` block.

    Args:
        container: A container, warm or cold.
        fakes: By provider name: a provider, or the object that it shall give.

    Raises:
        BackendError: A name is no provider's; nothing has been changed.

    Example:
        with scoped_overrides(container, tracer=FakeTracer()):
            container.compiler()
    """
    known: dict[str, providers.Provider[Any]] = container.providers  # type: ignore[attr-defined]
    unknown = [name for name in fakes if name not in known]
    if unknown:
        raise BackendError(
            "scoped_overrides", expected=f"names among {', '.join(known)}", got=", ".join(unknown)
        )
    with ExitStack() as stack:
        for name, fake in fakes.items():
            is_provider = isinstance(fake, providers.Provider)
            stack.enter_context(known[name].override(fake if is_provider else _Fixed(fake)))
        yield container


class _Fixed(providers.Object):  # type: ignore[misc,type-arg]
    """A provider of one object, whatever it is."""
