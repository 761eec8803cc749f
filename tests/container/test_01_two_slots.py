"""A class that assigns only the two slots yields a compiler that uses exactly those two."""

from __future__ import annotations

import pytest
from dependency_injector import providers

from tests.container.modes import LEVELS, THREADS, WARMTHS, at, in_threads
from tests.support.hooks import MultiplySubtract
from tests.support.losses import LOSSES
from tinychain_compile import NO_FUSION, SGD
from tinychain_compile.container import TrainingStepContainer
from tinychain_compile.testing import RecordingRegistry

FIRST, SECOND = RecordingRegistry(), RecordingRegistry()
HOOK = MultiplySubtract()


class Backend(TrainingStepContainer):
    handler_registry = providers.Object(FIRST)
    fusion_hook = providers.Object(HOOK)


class Derived(Backend):
    handler_registry = providers.Object(SECOND)


class Mixin:
    def helper(self):
        return "helped"


class WithMixin(Mixin, Derived):
    fusion_hook = providers.Object(NO_FUSION)


def target_of(container):
    return container.compiler().lowerer.open_target()


@LEVELS
@WARMTHS
@THREADS
@pytest.mark.parametrize(
    ("backend", "registry", "hook"),
    [(Backend, FIRST, HOOK), (Derived, SECOND, HOOK), (WithMixin, SECOND, NO_FUSION)],
)
def test_the_inherited_compiler_uses_the_backends_slots(
    backend, registry, hook, level, warmth, threads
):
    container = at(level, warmth, backend)
    for target in in_threads(threads, lambda: target_of(container)):
        assert target.handlers is registry
        assert target.fusion is hook


def test_a_step_is_compiled_through_the_backends_handlers():
    loss, types, parameters = LOSSES["regression"]
    registry = RecordingRegistry()

    class Recording(TrainingStepContainer):
        handler_registry = providers.Object(registry)
        fusion_hook = providers.Object(NO_FUSION)

    Recording().compiler().compile_training_step(
        loss, inputs=types, parameters=parameters, optimizer=SGD()
    )
    assert registry.contexts


def test_deriving_changes_nothing_in_the_base():
    assert target_of(Backend()).handlers is FIRST
    assert not TrainingStepContainer.handler_registry.is_defined
    assert Backend.providers["compiler"] is not TrainingStepContainer.providers["compiler"]


def test_a_factory_gives_each_program_its_own_registry_and_a_singleton_one_to_all():
    class Fresh(TrainingStepContainer):
        handler_registry = providers.Factory(RecordingRegistry)
        fusion_hook = providers.Object(NO_FUSION)

    class Shared(TrainingStepContainer):
        handler_registry = providers.Singleton(RecordingRegistry)
        fusion_hook = providers.Object(NO_FUSION)

    fresh, shared = Fresh().compiler().lowerer, Shared().compiler().lowerer
    assert fresh.open_target().handlers is not fresh.open_target().handlers
    assert shared.open_target().handlers is shared.open_target().handlers


def test_a_backends_own_provider_refers_to_the_slot_and_sees_a_fake():
    class WithExtra(TrainingStepContainer):
        handler_registry = providers.Object(FIRST)
        fusion_hook = providers.Object(NO_FUSION)
        pair = providers.List(handler_registry, fusion_hook)

    container = WithExtra()
    assert container.pair() == [FIRST, NO_FUSION]
    with container.handler_registry.override(providers.Object(SECOND)):
        assert container.pair() == [SECOND, NO_FUSION]
