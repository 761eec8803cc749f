"""What does not fit a slot or a stage is refused with slot, Protocol, type and reason."""

from __future__ import annotations

from unittest.mock import Mock, create_autospec

import pytest
from dependency_injector import providers

from tests.container.modes import LEVELS, THREADS, WARMTHS, at, in_threads
from tinychain_backends.numpy import NumpyContainer
from tinychain_compile import NO_FUSION, FusionHook, HandlerRegistry, OperationHandlerRegistry
from tinychain_compile.conformity import why_unfit
from tinychain_compile.container import TrainingStepContainer
from tinychain_compile.errors import BackendError
from tinychain_compile.protocols import Legalizer, PassRunner, Tracer
from tinychain_compile.testing import RecordingRegistry, TextRegistry, scoped_overrides


class LacksMembers:
    def lookup(self, operator):
        raise NotImplementedError


class TakesTooLittle(RecordingRegistry):
    def lookup(self):
        raise NotImplementedError


class IsAsynchronous(RecordingRegistry):
    async def lookup(self, operator):
        raise NotImplementedError


class HasANumber(RecordingRegistry):
    lookup = 3


class TakesMore(RecordingRegistry):
    def lookup(self, which, depth=0, *rest, **more):
        return super().lookup(which)


class Proxy:
    """Has every member of another object, and none on its class."""

    def __init__(self, real):
        self._real = real

    def __getattr__(self, name):
        return getattr(self._real, name)


def registry_of(container):
    return container.compiler().lowerer.open_target().handlers


@LEVELS
@WARMTHS
@THREADS
@pytest.mark.parametrize(
    ("wrong", "parts"),
    [
        (LacksMembers(), ["HandlerRegistry", "LacksMembers", "no has_handler"]),
        (TakesTooLittle(), ["TakesTooLittle", "lookup()", "lookup(operator)"]),
        (IsAsynchronous(), ["IsAsynchronous", "asynchronous"]),
        (HasANumber(), ["HasANumber", "no method"]),
        (None, ["NoneType"]),
    ],
)  # fmt: skip
def test_an_object_that_lacks_something_is_refused(level, warmth, threads, wrong, parts):
    container = at(level, warmth, NumpyContainer)

    def refused():
        with pytest.raises(BackendError) as raised:
            registry_of(container)
        return str(raised.value)

    with scoped_overrides(container, handler_registry=providers.Object(wrong)):
        for text in in_threads(threads, refused):
            for part in [*parts, "NumpyContainer.handler_registry"]:
                assert part in text
    assert registry_of(container).supported_types()


@LEVELS
@WARMTHS
@pytest.mark.parametrize(
    "fit",
    [
        TakesMore(),
        Proxy(TextRegistry()),
        create_autospec(OperationHandlerRegistry, instance=True),
        create_autospec(HandlerRegistry, instance=True),
        Mock(spec=HandlerRegistry),
        Mock(),
    ],
    ids=["wider", "proxy", "autospec of a class", "autospec of the Protocol", "spec", "mock"],
)
def test_wider_signatures_proxies_and_mocks_are_accepted(level, warmth, fit):
    container = at(level, warmth, NumpyContainer)
    with scoped_overrides(container, handler_registry=providers.Object(fit)):
        assert registry_of(container) is fit


@LEVELS
@WARMTHS
def test_a_bare_class_is_refused_when_it_is_put_there(level, warmth):
    container = at(level, warmth, NumpyContainer)
    with pytest.raises(BackendError, match=r"the class RecordingRegistry.*(.|\n)*Factory"):
        container.handler_registry.override(RecordingRegistry)
    assert not container.handler_registry.overridden
    with (
        scoped_overrides(container, handler_registry=providers.Object(RecordingRegistry)),
        pytest.raises(BackendError, match="the class RecordingRegistry"),
    ):
        registry_of(container)


@pytest.mark.parametrize("given", [RecordingRegistry, RecordingRegistry(), 3])
def test_a_slot_that_is_assigned_no_provider_fails_with_the_class(given):
    with pytest.raises(BackendError, match=r"Broken\.handler_registry.*(.|\n)*providers\.Factory"):
        type(TrainingStepContainer)(
            "Broken",
            (TrainingStepContainer,),
            {"handler_registry": given, "fusion_hook": providers.Object(NO_FUSION)},
        )


@LEVELS
@WARMTHS
@pytest.mark.parametrize("stage", ["tracer", "legalizer", "lowerer", "gradient_transformer"])
def test_a_stage_that_does_not_fit_is_refused_by_name(level, warmth, stage):
    container = at(level, warmth, NumpyContainer)
    with (
        scoped_overrides(container, **{stage: LacksMembers()}),
        pytest.raises(BackendError, match=rf"stage {stage}.*LacksMembers"),
    ):
        container.compiler()
    container.compiler()


def test_a_registry_given_to_a_function_is_not_asked_for_more_than_it_needs():
    assert why_unfit(RecordingRegistry(), HandlerRegistry) == ()
    assert why_unfit(NO_FUSION, FusionHook) == ()


@pytest.mark.parametrize(
    ("members", "protocol", "reason"),
    [
        ({"legalize": lambda self, graph, handlers, ids: graph, "why_kept": lambda self, o: ""},
         Legalizer, "cannot be called as legalize(graph, handlers, ids, approximate=...)"),
        ({"trace_loss": lambda self, loss, inputs, ids: None}, Tracer, "no trace_function"),
        ({"run_graph": lambda self, graph, passes, *, stage: graph,
          "run_derivative": lambda self, program, passes: program,
          "run_update": staticmethod(lambda update, passes: update)}, PassRunner, None),
        ({"run_graph": lambda self, graph, passes: graph,
          "run_derivative": lambda self, program, passes: program,
          "run_update": classmethod(lambda cls, update, passes: update)}, PassRunner, "stage=..."),
    ],
)  # fmt: skip
def test_keywords_static_and_class_methods_are_understood(members, protocol, reason):
    problems = why_unfit(type("Stage", (), members)(), protocol)
    assert len(problems) == (reason is not None)
    if reason is not None:
        assert reason in problems[0]


def test_the_verdict_on_one_instance_is_not_taken_for_another():
    good, bad = RecordingRegistry(), RecordingRegistry()
    bad.lookup = 3
    assert why_unfit(good, HandlerRegistry) == ()
    assert why_unfit(bad, HandlerRegistry) == ("its lookup is no method",)
    assert why_unfit(good, HandlerRegistry) == ()
