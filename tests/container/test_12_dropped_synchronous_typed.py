"""A dropped container is collected, the graph is synchronous for good, fakes and spies fit."""

from __future__ import annotations

import asyncio
import gc
import weakref

import numpy as np
import pytest
from dependency_injector import providers

from tests.container.modes import LEVELS, WARMTHS, at
from tests.support.losses import LOSSES, REGRESSION_TYPES
from tinychain_backends.numpy import NumpyContainer, NumpySession
from tinychain_compile import SGD, testing
from tinychain_compile.conformity import why_unfit
from tinychain_compile.container import TrainingStepContainer
from tinychain_compile.errors import BackendError
from tinychain_compile.protocols import HandlerRegistry
from tinychain_compile.settings import STAGES
from tinychain_compile.testing import RecordingRegistry, Spy, TextRegistry, scoped_overrides

LOSS, TYPES, PARAMETERS = LOSSES["regression"]


def compile_it(container):
    return container.compiler().compile_training_step(
        LOSS, inputs=TYPES, parameters=PARAMETERS, optimizer=SGD()
    )


@WARMTHS
def test_a_dropped_container_is_collected(warmth):
    container = at("instance", warmth, NumpyContainer)
    reference = weakref.ref(container)
    del container
    gc.collect()
    assert reference() is None


@LEVELS
@WARMTHS
def test_an_asynchronous_fake_is_refused_and_the_graph_stays_synchronous(level, warmth):
    container = at(level, warmth, NumpyContainer)

    async def resolve():
        future = asyncio.get_running_loop().create_future()
        with (
            scoped_overrides(container, handler_registry=providers.Callable(lambda: future)),
            pytest.raises(BackendError, match=r"HandlerRegistry.*Future.*no lookup"),
        ):
            container.compiler().lowerer.open_target()

    asyncio.run(resolve())
    assert not isinstance(container.compiler(), asyncio.Future)
    compile_it(container)


# Fakes and spies.


FAKES = {
    "declaration_checker": testing.FakeDeclarationChecker,
    "tracer": testing.FakeTracer,
    "vjp_engine": testing.FakeVJPEngine,
    "gradient_transformer": testing.FakeGradientTransformer,
    "capture_planner": testing.FakeCapturePlanner,
    "dependency_classifier": testing.FakeDependencyClassifier,
    "optimizer_tracer": testing.FakeOptimizerTracer,
    "simplifier": testing.FakeSimplifier,
    "legalizer": testing.FakeLegalizer,
    "pass_runner": testing.FakePassRunner,
    "lowerer": testing.FakeLowerer,
}


def test_there_is_a_ready_fake_for_every_stage():
    assert set(FAKES) == set(STAGES)
    for name, fake in FAKES.items():
        assert why_unfit(fake(), STAGES[name]) == ()


@LEVELS
@pytest.mark.parametrize("stage", FAKES)
def test_each_fake_stands_in_for_its_stage_alone(level, stage):
    container = at(level, "warm", NumpyContainer)
    with scoped_overrides(container, **{stage: FAKES[stage]()}):
        assert [row.name for row in compile_it(container).parameters] == PARAMETERS


def test_all_fakes_together_compile_the_sum_of_all_inputs():
    container = TrainingStepContainer()
    with scoped_overrides(container, **{stage: fake() for stage, fake in FAKES.items()}):
        step = compile_it(container)
        function = container.compiler().compile_function(LOSS, inputs=TYPES)
    for program in (step.forward, function.program):
        lines = [operation.value for operation in program.operations]
        assert sum("add(" in line for line in lines) == len(REGRESSION_TYPES) - 1


@pytest.mark.parametrize("stage", ["declaration_checker", "tracer", "vjp_engine"])
def test_a_fake_answers_with_what_it_is_given(stage):
    method = {"declaration_checker": "check", "tracer": "trace_loss", "vjp_engine": "derive"}[stage]
    container = NumpyContainer()
    spy = Spy(container.providers[stage]())
    with scoped_overrides(container, **{stage: spy}):
        compile_it(container)
    ((answer,),) = [[call.result for call in spy.called(method)]]
    fake = FAKES[stage](answer)
    arguments = spy.called(method)[0]
    assert getattr(fake, method)(*arguments.arguments, **arguments.keywords) is answer


@LEVELS
@pytest.mark.parametrize("stage", STAGES)
def test_a_spy_passes_calls_on_and_keeps_them(level, stage):
    container = at(level, "warm", NumpyContainer)
    plain = compile_it(container)
    spy = Spy(container.providers[stage]())
    with scoped_overrides(container, **{stage: spy}):
        spied = compile_it(container)
    assert spied.provenance.graph_id == plain.provenance.graph_id
    assert spy.calls
    with pytest.raises(AttributeError):
        spy.nonsense  # noqa: B018


def test_a_spy_shows_arguments_and_results():
    container = NumpyContainer()
    spy = Spy(container.tracer())
    with scoped_overrides(container, tracer=spy):
        step = compile_it(container)
    (call,) = spy.called("trace_loss")
    assert call.arguments[0] is LOSS
    assert call.result is step.source_forward_graph


@pytest.mark.parametrize("registry", [TextRegistry(), RecordingRegistry()])
def test_text_registries_fit_and_give_readable_lines(registry):
    assert why_unfit(registry, HandlerRegistry) == ()
    container = NumpyContainer()
    with scoped_overrides(container, handler_registry=registry):
        step = compile_it(container)
    lines = [operation.value for operation in step.forward.operations]
    assert any("f64[7, 1] = matmul(v0, v4, transpose_a=False" in line for line in lines)


def test_the_fake_classifier_captures_an_output_without_repeating_it():
    container = NumpyContainer()
    with scoped_overrides(container, dependency_classifier=testing.FakeDependencyClassifier()):
        step = container.compiler().compile_training_step(
            lambda w: np.exp(w.sum()), inputs={"w": np.ones(3)}, parameters=["w"], optimizer=SGD()
        )
    assert [name for name, _ in step.lowered_forward_graph.outputs] == ["loss"]
    assert NumpySession(step, {"w": np.ones(3)}).step({}, learning_rate=0.1)["loss"] == np.exp(3.0)
