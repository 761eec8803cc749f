"""Gradient transforms: values, traps, what they publish, micro-batches, and the merged step."""

from __future__ import annotations

import numpy as np
import pytest

from tests.optimizers.running import compiled_for_arrays, transformed
from tests.support.losses import NETWORK_TYPES, arrays_for, network
from tinychain_backends.numpy import NumpyContainer, NumpyEvaluator, NumpySession
from tinychain_compile import (
    SGD,
    Adam,
    CentralizeGradients,
    ClipByGlobalNorm,
    ClipByNorm,
    ClipByValue,
    CompileOptions,
    PublishGlobalNorm,
    RuntimeInput,
    ScaleGradients,
    TensorType,
    WeightDecay,
    merge_step,
)
from tinychain_compile.errors import (
    BindingError,
    CompilationError,
    DeclarationError,
    UpdateOutputError,
    UpdateSignatureError,
)

GRADIENTS = {"a": np.array([3.0, 4.0]), "b": np.array([[12.0]])}
ONES = {"a": np.ones(2), "b": np.ones((1, 1))}
ZEROS = {name: np.zeros_like(array) for name, array in GRADIENTS.items()}


def published(transforms, gradients=GRADIENTS, parameters=ONES, **inputs):
    step = compiled_for_arrays(gradients, parameters, gradient_transforms=transforms)
    session = NumpySession(step, {"parameters": parameters})
    return session.step({"gradients": gradients}, **inputs)


def test_the_global_norm_is_of_all_gradients_and_is_published():
    clipped = transformed([ClipByGlobalNorm(6.5)], GRADIENTS, ONES)
    np.testing.assert_allclose(clipped["a"], [1.5, 2.0])
    np.testing.assert_allclose(clipped["b"], [[6.0]])
    outputs = published([ClipByGlobalNorm(6.5)])
    assert (outputs["grad_norm"], outputs["clip_scale"]) == (13.0, 0.5)
    assert published([PublishGlobalNorm()])["grad_norm"] == 13.0


def test_each_norm_is_of_one_gradient():
    clipped = transformed([ClipByNorm(6.0)], GRADIENTS, ONES)
    np.testing.assert_array_equal(clipped["a"], GRADIENTS["a"])
    np.testing.assert_allclose(clipped["b"], [[6.0]])


@pytest.mark.parametrize("clip", [ClipByGlobalNorm, ClipByNorm])
def test_a_norm_at_the_limit_changes_no_bit(clip):
    gradients = {"a": np.array([3.0, 4.0]) / 7.0, "b": np.zeros((1, 1))}
    limit = float(np.sqrt(np.sum(gradients["a"] ** 2)))
    clipped = transformed([clip(limit)], gradients, ONES)
    np.testing.assert_array_equal(clipped["a"], gradients["a"])


@pytest.mark.parametrize("clip", [ClipByGlobalNorm, ClipByNorm])
@pytest.mark.parametrize("limit", [0.0, 1.0])
def test_zero_gradients_stay_zero_under_any_limit(clip, limit):
    clipped = transformed([clip(limit)], ZEROS, ONES)
    for name, gradient in clipped.items():
        np.testing.assert_array_equal(gradient, ZEROS[name])


@pytest.mark.parametrize("clip", [ClipByGlobalNorm(0.0), ClipByNorm(0.0), ClipByValue(0.0)])
def test_a_limit_of_zero_leaves_zeros(clip):
    for gradient in transformed([clip], GRADIENTS, ONES).values():
        np.testing.assert_array_equal(gradient, np.zeros_like(gradient))


@pytest.mark.parametrize("clip", [ClipByGlobalNorm(1.0), ClipByNorm(1.0), ClipByValue(1.0)])
def test_nan_stays_visible(clip):
    gradients = {"a": np.array([np.nan, 4.0]), "b": np.array([[12.0]])}
    assert np.isnan(transformed([clip], gradients, ONES)["a"][0])


def test_shaping_does_what_its_formula_says():
    parameters = {"a": np.array([2.0, -1.0]), "b": np.array([[4.0]])}
    decayed = transformed([WeightDecay(0.5)], GRADIENTS, parameters)
    np.testing.assert_allclose(decayed["a"], [4.0, 3.5])
    np.testing.assert_allclose(transformed([ScaleGradients(-2.0)], GRADIENTS, ONES)["a"], [-6, -8])
    matrix = {"a": np.array([[1.0, 2.0], [3.0, 8.0]])}
    ones = {"a": np.ones((2, 2))}
    last = transformed([CentralizeGradients()], matrix, ones)["a"]
    np.testing.assert_allclose(last, [[-1.0, -3.0], [1.0, 3.0]])
    first = transformed([CentralizeGradients(0)], matrix, ones)["a"]
    np.testing.assert_allclose(first, [[-0.5, 0.5], [-2.5, 2.5]])
    np.testing.assert_array_equal(
        transformed([CentralizeGradients()], GRADIENTS, ONES)["a"], [3, 4]
    )


def test_they_work_in_the_order_given():
    first = transformed([ScaleGradients(2.0), ClipByValue(5.0)], GRADIENTS, ONES)["a"]
    np.testing.assert_allclose(first, [5.0, 5.0])
    second = transformed([ClipByValue(5.0), ScaleGradients(2.0)], GRADIENTS, ONES)["a"]
    np.testing.assert_allclose(second, [6.0, 8.0])


def test_their_scalars_are_runtime_inputs_without_another_trace():
    step = compiled_for_arrays(GRADIENTS, ONES, gradient_transforms=[ClipByGlobalNorm()])
    assert [row.name for row in step.runtime_inputs] == ["learning_rate", "max_global_norm"]
    session = NumpySession(step, {"parameters": ONES})
    for limit, factor in ((6.5, 0.5), (1.3, 0.1)):
        _, clipped = session.value_and_gradients({"gradients": GRADIENTS}, max_global_norm=limit)
        np.testing.assert_allclose(clipped["parameters.a"], GRADIENTS["a"] * factor)
    with pytest.raises(BindingError, match=r"no 'max_global_norm'"):
        session.step({"gradients": GRADIENTS})
    with pytest.raises(BindingError, match=r"max_global_norm.*from 0.*-1"):
        session.step({"gradients": GRADIENTS}, max_global_norm=-1.0)


def test_a_function_can_be_a_transform():
    def halved(gradients, parameters):
        return {name: g * 0.5 for name, g in gradients.items()}, {
            "half": gradients["parameters.a"] / 2
        }

    outputs = published([halved])
    np.testing.assert_allclose(outputs["half"], GRADIENTS["a"] / 2)


def test_without_transforms_the_very_same_program_comes_out():
    step = compiled_for_arrays(GRADIENTS, ONES)
    assert step.source_derivative_program.own_inputs == ()
    assert not step.published_value_ids
    assert not step.derivative_input_value_ids


def test_gradients_of_several_dtypes_have_one_norm_and_keep_their_types():
    gradients = {"a": np.array([3.0, 4.0], np.float32), "b": np.array([[12.0]])}
    parameters = {"a": np.ones(2, np.float32), "b": np.ones((1, 1))}

    def loss(parameters, gradients):
        return np.sum(parameters["a"] * gradients["a"]).astype("f8") + np.sum(
            parameters["b"] * gradients["b"]
        )

    step = (
        NumpyContainer()
        .compiler()
        .compile_training_step(
            loss,
            inputs={"parameters": parameters, "gradients": gradients},
            parameters=["parameters"],
            optimizer=SGD(1.0),
            options=CompileOptions(gradient_transforms=[ClipByGlobalNorm(6.5), WeightDecay(0.0)]),
        )
    )
    session = NumpySession(step, {"parameters": parameters})
    _, clipped = session.value_and_gradients({"gradients": gradients})
    assert [g.dtype for g in clipped.values()] == [np.float32, np.float64]
    np.testing.assert_allclose(clipped["parameters.b"], [[6.0]])


# Micro-batches.


def trained_on(batches, options, optimizer=None):
    """Return the parameters after a step on the last batch, the others accumulated before."""
    types = {n: TensorType("f64", t.shape) if t.is_floating else t for n, t in MICRO_TYPES.items()}
    step = (
        NumpyContainer()
        .compiler()
        .compile_training_step(
            network,
            inputs=types,
            parameters=["w1", "b1", "w2", "b2"],
            optimizer=optimizer or Adam(0.1),
            options=options,
        )
    )
    arrays = arrays_for(NETWORK_TYPES)
    session = NumpySession(step, {n: arrays[n] for n in ("w1", "b1", "w2", "b2")})
    for _ in range(2):
        for batch in batches[:-1]:
            session.accumulate(batch)
        session.step(batches[-1])
    return session


SAMPLES = {name: a for name, a in arrays_for(NETWORK_TYPES).items() if name[0] not in "wb"}
MICRO_TYPES = {
    name: TensorType(type.dtype, ("n", *type.shape[1:])) if name in SAMPLES else type
    for name, type in NETWORK_TYPES.items()
}


@pytest.mark.parametrize("transforms", [[], [ClipByGlobalNorm(0.05)]])
def test_micro_batches_are_one_large_batch(transforms):
    rows = len(next(iter(SAMPLES.values())))
    parts = [{n: a[i::2] for n, a in SAMPLES.items()} for i in range(2)]
    assert rows == sum(len(next(iter(part.values()))) for part in parts)
    reordered = {n: np.concatenate([part[n] for part in parts]) for n in SAMPLES}
    together = trained_on([reordered], CompileOptions(gradient_transforms=transforms))
    options = CompileOptions(gradient_transforms=transforms, accumulate_gradients=True)
    apart = trained_on(parts, options)
    for name, array in together.parameters.items():
        np.testing.assert_allclose(apart.parameters[name], array, rtol=1e-10)
    assert apart.state.micro_batches == 0
    for name in ("w1", "b1", "w2", "b2"):
        assert not apart.state.slots[f"{name}/accumulator"].any()


def test_accumulating_needs_a_step_that_was_compiled_for_it():
    step = compiled_for_arrays(GRADIENTS, ONES)
    with pytest.raises(BindingError, match="accumulate_gradients=True"):
        NumpySession(step, {"parameters": ONES}).accumulate({"gradients": GRADIENTS})


# The merged step.


def test_the_merged_step_does_what_the_three_programs_do():
    options = {
        "gradient_transforms": [ClipByGlobalNorm(6.5), ScaleGradients(2.0)],
        "accumulate_gradients": True,
    }
    step = compiled_for_arrays(GRADIENTS, ONES, Adam(0.5), **options)
    session = NumpySession(step, {"parameters": ONES})
    session.accumulate({"gradients": GRADIENTS})
    merged = merge_step(step)
    before = session.state
    given = {f"parameters.{n}": a for n, a in ONES.items()}
    given |= {f"gradients.{n}": a for n, a in GRADIENTS.items()} | dict(before.slots)
    scalars = {row.name: row.default for row in step.runtime_inputs}
    scalars |= {"step": 1.0, "micro_batches": 2.0}
    given |= {name: np.asarray(value, np.float64) for name, value in scalars.items()}
    by_merged = NumpyEvaluator().evaluate(merged, given)
    outputs = session.step({"gradients": GRADIENTS})
    assert by_merged["grad_norm"] == outputs["grad_norm"]
    after = {**session.parameters, **session.state.slots}
    for key, array in after.items():
        if "accumulator" not in key:
            np.testing.assert_allclose(by_merged[key], array, rtol=1e-12)
    np.testing.assert_allclose(by_merged["parameters.a/accumulator"], 2 * GRADIENTS["a"])


# Bad input.


def lost(gradients, parameters):
    return {"parameters.a": gradients["parameters.a"]}


def reshaped(gradients, parameters):
    return {name: g.sum() for name, g in gradients.items()}


def narrowed(gradients, parameters):
    return {name: g.astype("f4") for name, g in gradients.items()}


def no_tensors(gradients, parameters):
    return dict.fromkeys(gradients, 1.0)


def a_list(gradients, parameters):
    return list(gradients.values())


def publishes_loss(gradients, parameters):
    return gradients, {"loss": gradients["parameters.a"]}


def publishes_numbers(gradients, parameters):
    return gradients, {"one": 1.0}


def takes_too_little(gradients):
    return gradients


class ReadsTheStep:
    runtime_inputs = (RuntimeInput("step"),)

    def transform(self, *, gradients, parameters, step):
        return gradients


class WrongInputs:
    runtime_inputs = ("limit",)

    def transform(self, *, gradients, parameters, limit):
        return gradients


@pytest.mark.parametrize(
    ("transforms", "error", "parts"),
    [
        ([lost], UpdateOutputError, ["lost", "parameters.b", "test_transforms.py"]),
        ([reshaped], UpdateOutputError, ["reshaped", "parameters.a", "f64[2]", "f64[]"]),
        ([narrowed], UpdateOutputError, ["narrowed", "f64[2]", "f32[2]"]),
        ([no_tensors], UpdateOutputError, ["no_tensors", "1.0"]),
        ([a_list], UpdateOutputError, ["a_list", "list"]),
        ([publishes_loss], UpdateOutputError, ["publishes_loss", "'loss'"]),
        ([publishes_numbers], UpdateOutputError, ["'one'", "1.0"]),
        ([PublishGlobalNorm(), ClipByGlobalNorm(1.0)], UpdateOutputError, ["'grad_norm'"]),
        ([takes_too_little], UpdateSignatureError, ["takes_too_little", "parameters"]),
        ([ReadsTheStep()], DeclarationError, ["ReadsTheStep", "step"]),
        ([WrongInputs()], DeclarationError, ["WrongInputs", "RuntimeInput", "limit"]),
        ([ClipByValue], DeclarationError, ["ClipByValue", "transform()"]),
        ([3], DeclarationError, ["transform()", "3"]),
        ("clip", DeclarationError, ["gradient_transforms", "'clip'"]),
        ([ClipByNorm(1.0), ClipByNorm(2.0)], DeclarationError, ["'max_norm'", "name="]),
        ([ScaleGradients(1.0, name="learning_rate")], DeclarationError, ["'learning_rate'"]),
    ],
)
def test_what_is_no_right_transform_is_refused(transforms, error, parts):
    with pytest.raises(error) as raised:
        compiled_for_arrays(GRADIENTS, ONES, gradient_transforms=transforms)
    for part in parts:
        assert part in str(raised.value)


@pytest.mark.parametrize("limit", [-1.0, float("nan"), float("inf"), "2"])
def test_a_default_out_of_range_is_refused_when_it_is_given(limit):
    with pytest.raises(DeclarationError, match="max_norm"):
        ClipByNorm(limit)


def test_two_of_a_kind_live_under_their_own_names():
    clipped = transformed([ClipByNorm(6.0), ClipByNorm(3.0, name="then")], GRADIENTS, ONES)
    np.testing.assert_allclose(clipped["b"], [[3.0]])


def test_a_transforms_own_error_passes_through():
    def broken(gradients, parameters):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        compiled_for_arrays(GRADIENTS, ONES, gradient_transforms=[broken])

    def mismatched(gradients, parameters):
        return {name: g + np.ones(7) for name, g in gradients.items()}

    with pytest.raises(CompilationError, match=r"test_transforms\.py"):
        compiled_for_arrays(GRADIENTS, ONES, gradient_transforms=[mismatched])
