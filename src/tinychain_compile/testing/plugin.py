"""A pytest plugin: containers for one test, and a failure for the test that leaves an override.

Installed with the package; it does nothing for a test that does not ask for its fixture.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any, TypeVar

import pytest

from tinychain_compile.container import TrainingStepContainer
from tinychain_compile.inspection import overridden_providers

Container = TypeVar("Container", bound=TrainingStepContainer)


@pytest.fixture
def fresh_container() -> Generator[Callable[..., Any]]:
    """Give a function that makes containers: ``fresh_container(Backend, config={...})``.

    An override that a test leaves on one of them, or on its class, fails the test by name.
    """
    made: list[TrainingStepContainer] = []
    classes: list[type[TrainingStepContainer]] = []

    def make(container: type[Container], **settings: Any) -> Any:
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
