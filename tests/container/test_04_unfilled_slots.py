"""Unfilled or misspelt slots raise one error naming all of them, before any stage runs."""

from __future__ import annotations

import re

import pytest
from dependency_injector import providers

from tests.container.modes import LEVELS, THREADS, at, in_threads
from tinychain_compile import NO_FUSION
from tinychain_compile.container import TrainingStepContainer
from tinychain_compile.errors import BackendError
from tinychain_compile.testing import RecordingRegistry


def test_the_base_names_both_slots():
    for container in (TrainingStepContainer, TrainingStepContainer()):
        with pytest.raises(BackendError) as caught:
            container.compiler().lowerer.open_target()
        text = str(caught.value)
        assert "TrainingStepContainer.handler_registry" in text
        assert "TrainingStepContainer.fusion_hook" in text


@LEVELS
@THREADS
def test_resolving_the_compiler_is_enough_to_raise(level, threads):
    container = at(level, "cold", TrainingStepContainer)

    def resolve():
        with pytest.raises(BackendError) as caught:
            container.compiler()
        return str(caught.value)

    for text in in_threads(threads, resolve):
        assert re.search(r"none for \w+\.handler_registry, \w+\.fusion_hook", text)


def test_a_misspelt_slot_is_named_beside_the_empty_one():
    class Misspelt(TrainingStepContainer):
        handler_registri = providers.Factory(RecordingRegistry)
        fusion_hook = providers.Object(NO_FUSION)

    with pytest.raises(BackendError) as caught:
        Misspelt().compiler()
    text = str(caught.value)
    assert "none for Misspelt.handler_registry" in text
    assert "Is 'handler_registri' meant to be 'handler_registry'?" in text
    assert "none for Misspelt.handler_registry, " not in text


def test_a_misspelt_keyword_is_refused_by_name():
    with pytest.raises(BackendError, match=r"TrainingStepContainer\.handlers"):
        TrainingStepContainer(handlers=providers.Object(None))


def test_filling_an_instance_is_enough():
    container = TrainingStepContainer()
    container.override_providers(
        handler_registry=providers.Factory(RecordingRegistry),
        fusion_hook=providers.Object(NO_FUSION),
    )
    container.compiler()
