"""What dependency-injector does that ours works around: an upgrade that changes one shows here."""

from __future__ import annotations

import asyncio
import copy
import gc
import sys
import threading
import weakref
from typing import Protocol, runtime_checkable

import pytest
from dependency_injector import containers, errors, providers


class Base(containers.DeclarativeContainer):
    slot = providers.Object("base")
    compiler = providers.Factory(lambda slot: slot, slot)


def test_a_plain_subclass_keeps_the_bases_slot_silently():
    class Sub(Base):
        slot = providers.Object("sub")

    assert Sub.slot() == "sub"
    assert Sub.compiler() == "base"
    assert Sub().compiler() == "base"
    with Sub.slot.override("fake"):
        assert Sub.compiler() == "base"


def test_containers_copy_takes_the_slot_and_then_ignores_a_fake():
    @containers.copy(Base)
    class Sub(Base):
        slot = providers.Object("sub")

    assert Sub.compiler() == "sub"
    with Sub.slot.override("fake"):
        assert Sub.compiler() == "sub"


def test_an_instance_overridden_by_a_derived_one_keeps_the_base():
    class Sub(Base):
        slot = providers.Object("sub")

    container = Base()
    container.override(Sub())
    assert container.compiler() == "base"


def test_assigning_a_provider_to_an_instance_changes_nothing():
    container = Base()
    container.slot = providers.Object("assigned")
    assert container.compiler() == "base"


def test_overriding_a_class_holds_for_the_whole_process():
    class Fakes(containers.DeclarativeContainer):
        slot = providers.Object("fake")

    Base.override(Fakes)
    try:
        assert Base().compiler() == "fake"
        made_meanwhile = Base()
    finally:
        Base.reset_override()
    assert Base().compiler() == "base"
    assert made_meanwhile.compiler() == "fake"


def test_override_ignores_a_misspelt_name():
    class Fakes(containers.DeclarativeContainer):
        slott = providers.Object("fake")

    container = Base()
    container.override(Fakes)
    assert container.compiler() == "base"


def test_override_providers_can_be_half_applied():
    container = Base()
    with pytest.raises(AttributeError):
        container.override_providers(slot=providers.Object("fake"), nonsense=providers.Object(1))
    assert container.slot() == "fake"


def test_an_override_that_ends_pops_the_top_and_not_its_own():
    container = Base()
    first = container.slot.override("first")
    container.slot.override("second")
    first.__exit__(None, None, None)
    assert container.slot() == "first"


def test_a_warm_singleton_hides_a_fake_and_a_cold_one_keeps_it():
    class Holding(containers.DeclarativeContainer):
        slot = providers.Object("real")
        holder = providers.Singleton(lambda slot: slot, slot)

    warm, cold = Holding(), Holding()
    warm.holder()
    with warm.slot.override("fake"):
        assert warm.holder() == "real"
    with cold.slot.override("fake"):
        assert cold.holder() == "fake"
    assert cold.holder() == "fake"


def test_a_singleton_that_gives_none_is_made_each_time():
    calls = []
    singleton = providers.Singleton(lambda: calls.append(1))
    singleton()
    singleton()
    assert len(calls) == 2


def test_literal_arguments_are_copied_into_each_instance():
    table = {"key": 1}

    class Holding(containers.DeclarativeContainer):
        plain = providers.Callable(lambda given: given, table)
        wrapped = providers.Callable(lambda given: given, providers.Object(table))

    assert Holding().plain() is not table
    assert Holding().plain() == copy.deepcopy(table)
    assert Holding().wrapped() is table


def test_a_misspelt_option_is_none_unless_the_configuration_is_strict():
    assert providers.Configuration().nonsense() is None
    with pytest.raises(errors.Error):
        providers.Configuration(strict=True).nonsense()


def test_a_constructors_config_replaces_and_from_dict_merges():
    class Configured(containers.DeclarativeContainer):
        config = providers.Configuration(default={"a": 1, "b": 2})

    assert Configured(config={"b": 3}).config() == {"b": 3}
    merged = Configured()
    merged.config.from_dict({"b": 3})
    assert merged.config() == {"a": 1, "b": 3}
    with pytest.raises(ValueError, match="empty"):
        providers.Configuration(strict=True).from_dict({})


def test_a_selector_fails_only_when_it_is_resolved():
    selector = providers.Selector(lambda: "nonsense", known=providers.Object(1))
    with pytest.raises(errors.Error):
        selector()


def test_instance_of_sees_the_names_of_members_only_and_takes_a_class():
    @runtime_checkable
    class Greets(Protocol):
        def greet(self, name): ...

    class TakesNothing:
        def greet(self): ...

    slot = providers.Dependency(instance_of=Greets, default=providers.Object(TakesNothing()))
    assert slot().greet() is None
    assert isinstance(TakesNothing, Greets)


def test_abstract_factories_are_not_seen_by_the_check_of_dependencies():
    class Abstract(containers.DeclarativeContainer):
        slot = providers.AbstractFactory(object)

    Abstract().check_dependencies()
    with pytest.raises(errors.Error):
        Abstract().slot()


def test_one_asynchronous_provider_makes_futures_of_the_graph():
    async def later():
        return "later"

    class Asynchronous(containers.DeclarativeContainer):
        slot = providers.Coroutine(later)
        compiler = providers.Factory(lambda slot: slot, slot)

    async def resolve():
        future = Asynchronous().compiler()
        assert isinstance(future, asyncio.Future)
        return await future

    assert asyncio.run(resolve()) == "later"


def test_overrides_are_seen_in_all_threads_of_one_container():
    container = Base()
    seen = []
    with container.slot.override("fake"):
        thread = threading.Thread(target=lambda: seen.append(container.compiler()))
        thread.start()
        thread.join()
    assert seen == ["fake"]


def test_a_context_local_singleton_keeps_what_it_made():
    class Made:
        pass

    singleton = providers.ContextLocalSingleton(Made)
    reference = weakref.ref(singleton())
    gc.collect()
    assert reference() is not None
    singleton.reset()
    gc.collect()
    assert reference() is None


def test_importing_the_framework_brings_asyncio():
    assert "asyncio" in sys.modules
