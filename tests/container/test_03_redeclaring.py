"""A backend may add providers; redeclaring others, or two bases, fails with the class."""

from __future__ import annotations

import pytest
from dependency_injector import containers, providers

from tests.container.modes import THREADS, at, in_threads
from tinychain_backends.numpy import NumpyContainer
from tinychain_compile.container import TrainingStepContainer
from tinychain_compile.errors import BackendError


def test_a_new_provider_is_welcome_and_inherited():
    class Extended(NumpyContainer):
        device = providers.Object("cpu")

    class Further(Extended):
        pass

    for level in ("class", "instance"):
        assert at(level, "cold", Extended).device() == "cpu"
        assert at(level, "warm", Further).device() == "cpu"


@THREADS
def test_classes_may_be_defined_in_several_threads_at_once(threads):
    def define():
        class Own(NumpyContainer):
            device = providers.Singleton(object)

        return Own

    classes = in_threads(threads, define)
    assert len({id(kind.compiler) for kind in classes}) == threads
    devices = [kind.device() for kind in classes]
    assert len(set(devices)) == threads
    assert all(not provider.overridden for provider in NumpyContainer.providers.values())


@pytest.mark.parametrize("name", ["tracer", "compiler", "lowerer", "vjp_engine"])
def test_redeclaring_a_stage_fails_when_the_class_is_defined(name):
    with pytest.raises(BackendError, match=rf"Broken\.{name}"):
        type(NumpyContainer)("Broken", (NumpyContainer,), {name: providers.Object(None)})


def test_redeclaring_an_inherited_addition_fails_too():
    class Extended(NumpyContainer):
        device = providers.Object("cpu")

    with pytest.raises(BackendError, match=r"Broken\.device"):
        type(Extended)("Broken", (Extended,), {"device": providers.Object("gpu")})


def test_two_container_bases_fail_when_the_class_is_defined():
    class Other(containers.DeclarativeContainer):
        extra = providers.Object(1)

    with pytest.raises(BackendError, match="NumpyContainer, Other"):
        type(NumpyContainer)("Broken", (NumpyContainer, Other), {})
    with pytest.raises(BackendError, match="one container base"):
        type(NumpyContainer)("Broken", (NumpyContainer, TrainingStepContainer), {})
