"""Each stage can be replaced by a fake on a warm container, and is restored when the block ends."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.container.modes import LEVELS, THREADS, at, in_threads
from tests.support.losses import LOSSES, REGRESSION_TYPES, arrays_for
from tinychain_backends.numpy import NumpyContainer, NumpySession
from tinychain_compile import SGD
from tinychain_compile.testing import scoped_overrides

STAGES = {
    "declaration_checker": "check",
    "tracer": "trace_loss",
    "vjp_engine": "derive",
    "gradient_transformer": "append",
    "capture_planner": "plan",
    "dependency_classifier": "classify_derivative",
    "optimizer_tracer": "trace",
    "simplifier": "simplify",
    "legalizer": "legalize",
    "pass_runner": "run_graph",
    "lowerer": "lower",
}


class StopError(Exception):
    """What a fake raises when it is reached."""


class Fake:
    """Does what the real stage does, but stops at one method."""

    def __init__(self, real: Any, method: str) -> None:
        self._real, self._method = real, method

    def __getattr__(self, name: str) -> Any:
        if name == self._method:
            return self._stop
        return getattr(self._real, name)

    def _stop(self, *args: Any, **kwargs: Any) -> None:
        raise StopError(self._method)


def train_once(container):
    loss, types, parameters = LOSSES["regression"]
    step = container.compiler().compile_training_step(
        loss, inputs=types, parameters=parameters, optimizer=SGD()
    )
    arrays = arrays_for(REGRESSION_TYPES)
    session = NumpySession(step, {name: arrays.pop(name) for name in parameters})
    return float(session.step(arrays, learning_rate=0.1)["loss"])


class Own(NumpyContainer):
    """A class of the tests' own, so that they may override it."""


@LEVELS
@THREADS
@pytest.mark.parametrize(("stage", "method"), STAGES.items())
def test_a_fake_is_seen_and_then_the_real_one_again(stage, method, level, threads):
    container = at(level, "warm", Own)
    before = train_once(container)
    fake = Fake(container.providers[stage](), method)

    def stopped():
        with pytest.raises(StopError, match=method):
            train_once(container)

    with scoped_overrides(container, **{stage: fake}):
        in_threads(threads, stopped)
    assert set(in_threads(threads, lambda: train_once(container))) == {before}


@pytest.mark.parametrize(("stage", "method"), STAGES.items())
def test_the_real_one_is_back_after_an_exception(stage, method):
    container = at("instance", "warm", Own)
    fake = Fake(container.providers[stage](), method)
    with pytest.raises(StopError, match=method), scoped_overrides(container, **{stage: fake}):
        train_once(container)
    assert not isinstance(container.providers[stage](), Fake)


def test_every_stage_of_the_compiler_is_listed_here():
    others = {"handler_registry", "fusion_hook", "compiler", "config", "step_defaults"}
    others |= {"conformance_adapter"}  # NumPy's own
    assert set(NumpyContainer.providers) == set(STAGES) | others


def test_a_fake_that_answers_changes_the_result():
    class HalfTheLoss:
        def __init__(self, real):
            self.real = real

        def trace_loss(self, loss, inputs, ids):
            return self.real.trace_loss(lambda **k: loss(**k) * 0.5, inputs, ids)

        def trace_function(self, function, inputs, ids):
            raise NotImplementedError

    container = NumpyContainer()
    whole = train_once(container)
    with scoped_overrides(container, tracer=HalfTheLoss(container.tracer())):
        np.testing.assert_allclose(train_once(container), whole / 2, rtol=1e-15)
    assert train_once(container) == whole


def test_every_stage_can_be_built_by_hand_without_the_framework():
    from tinychain_compile.autodiff import ReverseModeEngine
    from tinychain_compile.captures.planner import PolicyPlanner
    from tinychain_compile.compiler import TrainingStepCompiler
    from tinychain_compile.declaration.checker import StrictDeclarationChecker
    from tinychain_compile.decompositions import DECOMPOSITIONS
    from tinychain_compile.dependencies import StructuralClassifier
    from tinychain_compile.lowering.fusion import NO_FUSION
    from tinychain_compile.lowering.lowerer import ProgramLowerer
    from tinychain_compile.optimizers.tracing import UpdateTracer
    from tinychain_compile.passes.legalization import DecomposingLegalizer
    from tinychain_compile.passes.runner import CheckedPassRunner
    from tinychain_compile.simplification import RULES
    from tinychain_compile.simplification.simplifier import GraphSimplifier
    from tinychain_compile.testing import RecordingRegistry
    from tinychain_compile.tracing import FunctionTracer
    from tinychain_compile.transforms.appending import TransformAppender
    from tinychain_compile.vjp_rules import VJP_RULES, WITHOUT_DERIVATIVE

    compiler = TrainingStepCompiler(
        declaration_checker=StrictDeclarationChecker(),
        tracer=FunctionTracer(),
        vjp_engine=ReverseModeEngine(VJP_RULES, WITHOUT_DERIVATIVE),
        gradient_transformer=TransformAppender(),
        capture_planner=PolicyPlanner(),
        dependency_classifier=StructuralClassifier(),
        optimizer_tracer=UpdateTracer(),
        simplifier=GraphSimplifier(RULES),
        legalizer=DecomposingLegalizer(DECOMPOSITIONS),
        pass_runner=CheckedPassRunner(),
        lowerer=ProgramLowerer(RecordingRegistry, lambda: NO_FUSION),
    )
    loss, types, parameters = LOSSES["network"]
    step = compiler.compile_training_step(
        loss, inputs=types, parameters=parameters, optimizer=SGD()
    )
    assert [row.name for row in step.parameters] == parameters
