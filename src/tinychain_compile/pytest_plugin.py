"""A pytest plugin: containers for one test, and a failure for the test that leaves an override.

Installed with the package; it does nothing, and imports nothing, for a test that does not ask for
its fixture.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from importlib import import_module
from typing import Any

import pytest


@pytest.fixture
def fresh_container() -> Generator[Callable[..., Any]]:
    """Give a function that makes containers: ``fresh_container(Backend, config={...})``.

    An override that a test leaves on one of them, or on its class, fails the test by name.
    """
    overridden_providers = import_module("tinychain_compile.inspection").overridden_providers
    made: list[Any] = []
    classes: list[type] = []

    def make(container: type, **settings: Any) -> Any:
        classes.append(container)
        made.append(container(**settings))
        return made[-1]

    yield make
    left = {
        f"{kind.__name__}.{name}": None
        for instance, kind in zip(made, classes, strict=True)
        for name in (*overridden_providers(instance), *overridden_providers(kind))
    }
    if left:
        pytest.fail(
            f"overrides left behind on {', '.join(left)}: use scoped_overrides, or a with block",
            pytrace=False,
        )
