"""Overrides of a container's providers that end with a block."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from typing import Any, TypeVar, cast

from dependency_injector import providers

from tinychain_compile.errors import BackendError

Container = TypeVar("Container")


@contextmanager
def scoped_overrides(container: Container, **fakes: Any) -> Generator[Container]:
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
    known = cast(dict[str, Any], getattr(container, "providers"))  # noqa: B009
    unknown = [name for name in fakes if name not in known]
    if unknown:
        raise BackendError(
            "scoped_overrides", expected=f"names among {', '.join(known)}", got=", ".join(unknown)
        )
    with ExitStack() as stack:
        for name, fake in fakes.items():
            is_provider = isinstance(fake, providers.Provider)
            provider = cast(Any, fake) if is_provider else providers.Object(fake)
            stack.enter_context(known[name].override(provider))
        yield container
