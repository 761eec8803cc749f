"""A factory gives each lowered program a registry of its own, a singleton one to all."""

from __future__ import annotations

import pytest
from dependency_injector import providers

from tests.container.modes import LEVELS, THREADS, WARMTHS, at, in_threads
from tests.support.losses import LOSSES
from tinychain_compile import NO_FUSION, SGD
from tinychain_compile.container import TrainingStepContainer
from tinychain_compile.testing import RecordingRegistry

MADE: list[RecordingRegistry] = []


def made():
    MADE.append(RecordingRegistry())
    return MADE[-1]


class Fresh(TrainingStepContainer):
    handler_registry = providers.Factory(made)
    fusion_hook = providers.Object(NO_FUSION)


class Shared(TrainingStepContainer):
    handler_registry = providers.Singleton(made)
    fusion_hook = providers.Object(NO_FUSION)


def compile_it(container):
    loss, types, parameters = LOSSES["regression"]
    return container.compiler().compile_training_step(
        loss, inputs=types, parameters=parameters, optimizer=SGD()
    )


@LEVELS
@WARMTHS
def test_each_program_has_a_registry_of_its_own_or_one_serves_all(level, warmth):
    MADE.clear()
    step = compile_it(at(level, warmth, Fresh))
    programs = 2 + len(step.shared_updates)  # the forward run, the derivative, the updates
    assert len(MADE) == programs
    assert all(registry.contexts for registry in MADE)
    container = at(level, warmth, Shared)
    container.handler_registry()
    MADE.clear()
    compile_it(container)
    compile_it(container)
    assert MADE == []


@THREADS
@LEVELS
def test_compilations_in_threads_do_not_share_fresh_registries(level, threads):
    MADE.clear()
    container = at(level, "warm", Fresh)
    steps = in_threads(threads, lambda: compile_it(container))
    assert len(MADE) == threads * (2 + len(steps[0].shared_updates))
    assert len({id(registry) for registry in MADE}) == len(MADE)


@pytest.mark.parametrize("backend", [Fresh, Shared])
def test_the_compiler_itself_is_made_anew(backend):
    container = backend()
    assert container.compiler() is not container.compiler()
