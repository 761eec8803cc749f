"""Settings from a mapping or a TOML file are merged, checked, and read wherever they say."""

from __future__ import annotations

from types import MappingProxyType

import numpy as np
import pytest
from dependency_injector import errors, providers

from tests.container import stages
from tests.container.modes import THREADS, WARMTHS, in_threads
from tests.support.losses import LOSSES, REGRESSION_TYPES, arrays_for
from tinychain_backends.numpy import NumpyContainer, NumpySession
from tinychain_compile import FROZEN, NO_FUSION, SGD
from tinychain_compile.container import TrainingStepContainer
from tinychain_compile.errors import BackendError, DeclarationError, SettingsError
from tinychain_compile.settings import POLICIES
from tinychain_compile.testing import RecordingRegistry, scoped_overrides

LOSS, TYPES, PARAMETERS = LOSSES["regression"]
ARRAYS = arrays_for(REGRESSION_TYPES)
STAGES = "tests.container.stages"


def step_of(container, **arguments):
    return container.compiler().compile_training_step(
        LOSS, inputs=TYPES, parameters=PARAMETERS, **arguments
    )


def loss_of(container):
    step = step_of(container, optimizer=SGD())
    session = NumpySession(step, {name: ARRAYS[name] for name in PARAMETERS})
    batch = {name: a for name, a in ARRAYS.items() if name not in PARAMETERS}
    return float(session.evaluate(batch)["loss"])


class Backend(TrainingStepContainer):
    default_config = MappingProxyType(
        {"policies": {"nan_guard": False}, "backend": {"supported": [], "threads": 2}}
    )
    handler_registry = providers.Factory(
        RecordingRegistry, supported=TrainingStepContainer.config.backend.supported
    )
    fusion_hook = providers.Object(NO_FUSION)
    threads = providers.Callable(int, TrainingStepContainer.config.backend.threads)


class Derived(Backend):
    default_config = MappingProxyType({"backend": {"threads": 4}})


@WARMTHS
@THREADS
def test_what_is_given_at_build_merges_over_the_classs_defaults(warmth, threads):
    container = Derived(config={"policies": {"on_disconnected": "zero"}, "backend": {"extra": 1}})
    if warmth == "warm":
        container.compiler()

    def read():
        options = container.compiler().defaults.options
        own = (container.threads(), container.config.backend.extra())
        return options.nan_guard, options.on_disconnected, *own

    assert set(in_threads(threads, read)) == {(False, "zero", 4, 1)}
    assert (Backend.threads(), Derived.threads(), Backend().threads()) == (2, 4, 2)


def test_a_backends_provider_reads_its_own_instances_configuration():
    first = Backend(config={"backend": {"threads": 7}})
    second = Backend(config={"backend": {"threads": 9}})
    assert (first.threads(), second.threads()) == (7, 9)
    assert first.handler_registry().supported_types() == ()


def test_an_undefined_option_raises():
    with pytest.raises(errors.Error, match=r"backend\.thread"):
        Backend().config.backend.thread()


@pytest.mark.parametrize("form", ["mapping", "file"])
def test_policies_transforms_optimizer_and_passes_hold_for_calls_that_give_none(form, tmp_path):
    text = f"""
        [policies]
        on_disconnected = "zero"
        accumulate_gradients = true

        [passes]
        forward = ["{STAGES}:noted"]
        function = ["{STAGES}:noted"]

        [[transforms]]
        kind = "ClipByGlobalNorm"
        max_global_norm = 0.5

        [optimizer]
        kind = "AdamW"
        learning_rate = 0.25
        frozen = ["beta1"]
    """
    mapping = {
        "policies": {"on_disconnected": "zero", "accumulate_gradients": True},
        "passes": {"forward": [f"{STAGES}:noted"], "function": [f"{STAGES}:noted"]},
        "transforms": [{"kind": "ClipByGlobalNorm", "max_global_norm": 0.5}],
        "optimizer": {"kind": "AdamW", "learning_rate": 0.25, "frozen": ["beta1"]},
    }
    path = tmp_path / "settings.toml"
    path.write_text(text)
    container = NumpyContainer(config=mapping if form == "mapping" else path)
    stages.CALLS.clear()
    step = step_of(container)
    assert stages.CALLS == ["forward"]
    defaults = {row.name: row.default for row in step.runtime_inputs}
    assert (defaults["learning_rate"], defaults["max_global_norm"]) == (0.25, 0.5)
    assert "beta1" not in defaults
    assert step.provenance.optimizer_label == "AdamW"
    assert step.provenance.pass_labels["forward"] == ("noted",)
    assert step.parameters[0].accumulator is not None
    container.compiler().compile_function(lambda x: x, inputs={"x": np.ones(2)})
    assert stages.CALLS == ["forward", "function"]
    own = step_of(container, optimizer=SGD(), forward_expansions=[lambda graph: graph])
    assert own.provenance.pass_labels["forward"] == ("noted", "<lambda>")
    assert own.provenance.optimizer_label == "SGD"


def test_groups_and_frozen_parameters_can_be_configured():
    first, *others = PARAMETERS
    groups = {first: "frozen"} | {n: {"kind": "SGD", "learning_rate": 0.5} for n in others}
    step = step_of(NumpyContainer(config={"optimizer": {"groups": groups}}))
    assert step.frozen_parameters == (first,)


def test_without_an_optimizer_anywhere_an_error_says_so():
    with pytest.raises(DeclarationError, match=r"optimizer.*settings"):
        step_of(NumpyContainer())


@WARMTHS
@pytest.mark.parametrize("name", ["HalvingTracer", "READY"])
def test_a_stage_can_be_replaced_by_name(warmth, name):
    whole = loss_of(NumpyContainer())
    container = NumpyContainer(config={"stages": {"tracer": f"{STAGES}:{name}"}})
    if warmth == "warm":
        container.compiler()
    assert loss_of(container) == pytest.approx(whole / 2, rel=1e-14)
    with scoped_overrides(container, tracer=NumpyContainer().tracer()):
        assert loss_of(container) == whole
    assert loss_of(container) == pytest.approx(whole / 2, rel=1e-14)


def test_nothing_is_imported_before_it_is_used(tmp_path, monkeypatch):
    (tmp_path / "imported_late.py").write_text("raise RuntimeError('imported')\n")
    monkeypatch.syspath_prepend(tmp_path)
    container = NumpyContainer(config={"stages": {"tracer": "imported_late:Tracer"}})
    with pytest.raises(RuntimeError, match="imported"):
        container.compiler()


@pytest.mark.parametrize(
    ("settings", "parts"),
    [
        ({"polices": {}}, ["polices", "Is policies meant?"]),
        ({"policies": {"nan_gaurd": True}}, ["policies.nan_gaurd", "Is policies.nan_guard meant?"]),
        ({"passes": {"forwards": []}}, ["passes.forwards", "passes.forward"]),
        ({"stages": {"lowering": "a:b"}}, ["stages.lowering", "lowerer"]),
        ({"stages": {"tracer": 3}}, ["stages.tracer", "3"]),
        ({"stages": {"tracer": "no name"}}, ["stages.tracer", "'no name'"]),
        ({"stages": {"tracer": "a:b:c"}}, ["stages.tracer", "'a:b:c'"]),
        ({"stages": {"tracer": "__import__('os')"}}, ["stages.tracer"]),
        ({"stages": []}, ["stages", "a table"]),
        ({"passes": {"forward": "a:b"}}, ["passes.forward", "a list"]),
        ({"transforms": {}}, ["transforms", "a list"]),
        ({"transforms": [{"max_norm": 1.0}]}, ["transforms[0]", "kind"]),
        ({"transforms": ["ClipByNorm"]}, ["transforms[0]", "a table with a kind"]),
        ({"optimizer": {"learning_rate": 0.1}}, ["optimizer", "kind"]),
        ({"optimizer": {"kind": "SGD", "groups": {}}}, ["optimizer.kind"]),
        ({"optimizer": {"groups": {"*": "thawed"}}}, ["optimizer.groups.*", "'thawed'"]),
    ],
)
def test_what_is_not_in_the_schema_is_refused_at_build(settings, parts):
    with pytest.raises(SettingsError) as raised:
        NumpyContainer(config=settings)
    for part in parts:
        assert part in str(raised.value)


@pytest.mark.parametrize(
    ("settings", "error", "parts"),
    [
        ({"policies": {"on_disconnected": "maybe"}}, SettingsError, ["policies", "'maybe'"]),
        ({"policies": {"simplifications": ["cast"]}}, SettingsError, ["'cast'", "'casts'"]),
        ({"stages": {"tracer": "nowhere:Tracer"}}, SettingsError, ["stages.tracer", "nowhere"]),
        ({"stages": {"tracer": f"{STAGES}:Nothing"}}, SettingsError, ["Nothing"]),
        (
            {"stages": {"tracer": f"{STAGES}:NOTHING"}},
            BackendError,
            ["stages.tracer", "NOTHING", "no trace_loss"],
        ),
        ({"stages": {"tracer": f"{STAGES}:NeedsArguments"}}, SettingsError, ["depth"]),
        ({"optimizer": {"kind": "AdamX"}}, SettingsError, ["optimizer.kind", "AdamX"]),
        ({"optimizer": {"kind": "AdamW", "beta3": 0.9}}, SettingsError, ["AdamW", "beta3"]),
        ({"optimizer": {"kind": "AdamW", "beta1": 1.0}}, SettingsError, ["optimizer", "1.0"]),
        ({"optimizer": {"kind": f"{STAGES}:noted"}}, SettingsError, ["optimizer.kind", "class"]),
    ],
)
def test_what_leads_nowhere_is_refused_before_any_stage_runs(settings, error, parts):
    container = NumpyContainer(config=settings)
    with pytest.raises(error) as raised:
        container.compiler()
    for part in parts:
        assert part in str(raised.value)


def test_a_file_that_is_no_toml_is_refused_by_name(tmp_path):
    path = tmp_path / "settings.toml"
    path.write_text("policies = [")
    with pytest.raises(SettingsError, match=r"settings\.toml"):
        NumpyContainer(config=path)
    path.write_text("[polices]")
    with pytest.raises(SettingsError, match=r"settings\.toml: polices"):
        NumpyContainer(config=str(path))


def test_a_class_with_wrong_defaults_fails_when_it_is_defined():
    with pytest.raises(SettingsError, match=r"Broken\.default_config: policies\.nan_gaurd"):
        type(TrainingStepContainer)(
            "Broken",
            (TrainingStepContainer,),
            {"default_config": {"policies": {"nan_gaurd": True}}},
        )


def test_every_policy_can_be_configured():
    assert set(POLICIES) == {
        "on_disconnected",
        "nan_guard",
        "approximate_decompositions",
        "accumulate_gradients",
        "captures",
        "simplifications",
    }
    assert FROZEN.value == "frozen"
