"""Any reset leaves the backend's slots filled and its settings set; no class keeps an override."""

from __future__ import annotations

from types import MappingProxyType

import pytest
from dependency_injector import providers

from reference import ReferenceContainer
from tests.container.modes import LEVELS, WARMTHS, at
from tinychain_backends.numpy import NumpyContainer
from tinychain_compile import NO_FUSION
from tinychain_compile.container import TrainingStepContainer
from tinychain_compile.inspection import overridden_providers
from tinychain_compile.testing import RecordingRegistry


class Own(TrainingStepContainer):
    default_config = MappingProxyType({"policies": {"nan_guard": False}})
    handler_registry = providers.Singleton(RecordingRegistry)
    fusion_hook = providers.Object(NO_FUSION)


RESETS = {
    "reset_override": lambda container: [p.reset_override() for p in container.providers.values()],
    "reset_last_overriding": lambda container: [
        p.reset_last_overriding() for p in container.providers.values() if p.overridden
    ],
    "container": lambda container: container.reset_override(),
    "singletons": lambda container: [
        p.reset() for p in container.traverse(types=[providers.BaseSingleton])
    ],
}


@pytest.mark.parametrize("reset", RESETS)
@LEVELS
@WARMTHS
def test_the_slots_are_filled_and_the_settings_set_after_any_reset(level, warmth, reset):
    container = at(level, warmth, Own)
    fake = providers.Object(RecordingRegistry([]))
    if reset == "container" and level == "class":
        Own.override(fakes := type("Fakes", (TrainingStepContainer,), {"handler_registry": fake}))
        assert fakes
    elif reset != "singletons":
        container.handler_registry.override(fake)
    RESETS[reset](container)
    assert overridden_providers(container) == ()
    compiler = container.compiler()
    assert compiler.lowerer.open_target().handlers.supported_types()
    assert compiler.defaults.options.nan_guard is False


@pytest.mark.parametrize(
    "backend", [TrainingStepContainer, NumpyContainer, ReferenceContainer, Own]
)
def test_no_class_has_an_override(backend):
    assert overridden_providers(backend) == ()


@pytest.fixture(scope="session", autouse=True)
def no_override_is_left_when_the_suite_ends():
    yield
    for backend in (TrainingStepContainer, NumpyContainer, ReferenceContainer):
        assert overridden_providers(backend) == ()
