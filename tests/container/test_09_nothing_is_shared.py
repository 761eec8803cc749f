"""Two containers share no singleton, configuration or override, also from eight threads at once."""

from __future__ import annotations

import itertools

from dependency_injector import providers

from tests.container.modes import THREADS, in_threads
from tests.support.losses import LOSSES, REGRESSION_TYPES, arrays_for
from tinychain_backends.numpy import NumpyContainer, NumpySession
from tinychain_compile import NO_FUSION, SGD
from tinychain_compile.container import TrainingStepContainer
from tinychain_compile.testing import RecordingRegistry, scoped_overrides


class Own(TrainingStepContainer):
    handler_registry = providers.Singleton(RecordingRegistry)
    fusion_hook = providers.Object(NO_FUSION)
    options = providers.Singleton(dict)


class Further(Own):
    pass


@THREADS
def test_singletons_are_each_containers_own(threads):
    def both():
        container = Own()
        return container.handler_registry(), container.options()

    found = in_threads(threads, lambda: [both() for _ in range(20)])
    found = [*itertools.chain(*found), (Own.handler_registry(), Own.options())]
    found.append((Further.handler_registry(), Further.options()))
    for kind in zip(*found, strict=True):
        assert len({id(item) for item in kind}) == len(found)


@THREADS
def test_configuration_is_each_containers_own(threads):
    numbers = itertools.count()

    def own():
        number = next(numbers)
        container = NumpyContainer(config={"backend": {"number": number}})
        return [container.config.backend.number() == number for _ in range(50)]

    assert all(itertools.chain(*in_threads(threads, own)))
    assert NumpyContainer.config.backend() == {}


@THREADS
def test_an_override_on_one_is_not_seen_by_another(threads):
    numbers = itertools.count()
    own = NumpyContainer().compiler().lowerer.open_target().handlers.supported_types()

    def alternating():
        container = NumpyContainer()
        if next(numbers) % 2:
            fake = RecordingRegistry([])
            with scoped_overrides(container, handler_registry=fake):
                return all(container.handler_registry() is fake for _ in range(50))
        return all(container.handler_registry().supported_types() == own for _ in range(50))

    assert all(in_threads(threads, alternating))


@THREADS
def test_whole_compilations_in_threads_agree(threads):
    container = NumpyContainer()
    loss, types, parameters = LOSSES["regression"]
    arrays = arrays_for(REGRESSION_TYPES)
    batch = {name: a for name, a in arrays.items() if name not in parameters}

    def trained():
        step = container.compiler().compile_training_step(
            loss, inputs=types, parameters=parameters, optimizer=SGD()
        )
        session = NumpySession(step, {name: arrays[name] for name in parameters})
        return [float(session.step(batch, learning_rate=0.1)["loss"]) for _ in range(3)]

    results = in_threads(threads, trained)
    assert results == [results[0]] * threads
