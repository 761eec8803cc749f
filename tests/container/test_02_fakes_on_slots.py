"""A fake put on any slot reaches the compiler; afterwards the backend's own is back."""

from __future__ import annotations

import pytest
from dependency_injector import providers

from tests.container.modes import THREADS, at, in_threads
from tinychain_backends.numpy import NumpyContainer
from tinychain_compile.errors import BackendError
from tinychain_compile.testing import RecordingRegistry, scoped_overrides

FAKE = RecordingRegistry()


def registry_of(container):
    return container.compiler().lowerer.open_target().handlers


@pytest.fixture(params=["instance-cold", "instance-warm", "class-cold", "class-warm"])
def container(request):
    level, warmth = request.param.split("-")

    class Own(NumpyContainer):  # a class of the test's own, so that it may override it
        pass

    return at(level, warmth, Own)


@THREADS
def test_by_override(container, threads):
    own = registry_of(NumpyContainer()).supported_types()
    with container.handler_registry.override(providers.Object(FAKE)):
        seen = in_threads(threads, lambda: registry_of(container))
        assert all(registry is FAKE for registry in seen)
    seen = in_threads(threads, lambda: registry_of(container))
    assert all(registry.supported_types() == own for registry in seen)


def test_by_override_providers(container):
    if isinstance(container, type):
        container = container()  # the library has it for instances only
    with container.override_providers(handler_registry=providers.Object(FAKE)):
        assert registry_of(container) is FAKE
    assert registry_of(container) is not FAKE


def test_by_constructor_keyword():
    container = NumpyContainer(handler_registry=providers.Object(FAKE))
    assert registry_of(container) is FAKE
    container.handler_registry.reset_override()
    assert registry_of(container) is not FAKE
    assert registry_of(NumpyContainer()) is not FAKE


def test_by_the_scoped_helper_with_an_object_or_a_provider(container):
    for fake in (FAKE, providers.Object(FAKE)):
        with scoped_overrides(container, handler_registry=fake):
            assert registry_of(container) is FAKE
        assert registry_of(container) is not FAKE


def test_the_scoped_helper_restores_after_an_exception(container):
    with pytest.raises(ZeroDivisionError), scoped_overrides(container, handler_registry=FAKE):
        raise ZeroDivisionError
    assert registry_of(container) is not FAKE


def test_nested_fakes_come_off_in_turn(container):
    other = RecordingRegistry()
    with scoped_overrides(container, handler_registry=FAKE):
        with scoped_overrides(container, handler_registry=other):
            assert registry_of(container) is other
        assert registry_of(container) is FAKE


def test_an_unknown_name_changes_nothing(container):
    with (
        pytest.raises(BackendError, match="handlers"),
        scoped_overrides(container, handler_registry=FAKE, handlers=FAKE),
    ):
        raise AssertionError("the block must not run")
    assert registry_of(container) is not FAKE


def test_there_is_one_provider_object_per_name():
    container = NumpyContainer()
    for name, provider in container.providers.items():
        assert getattr(container, name) is provider
    reached = set(map(id, container.traverse()))
    assert {id(provider) for provider in container.providers.values()} <= reached


def test_a_backend_is_no_override():
    assert all(not p.overridden for p in NumpyContainer().providers.values())
    assert all(not p.overridden for p in NumpyContainer.providers.values())
