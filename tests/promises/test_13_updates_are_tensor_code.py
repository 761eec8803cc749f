"""An update is ordinary tensor code of the parameter's own type; its inputs are declared."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.losses import compiled
from tinychain_compile import (
    SGD,
    RuntimeInput,
    TensorType,
    compile_training_step,
    print_graph,
    trace_parameter_update,
)
from tinychain_compile.errors import (
    DeclarationError,
    ShapeMismatchError,
    UpdateOutputError,
    UpdateSignatureError,
)
from tinychain_compile.testing import RecordingRegistry

W = TensorType("f32", (3, 1))


def compile_with(optimizer, types=None, **others):
    types = types or {"w": W}
    return compile_training_step(
        lambda **ws: sum((np.sum(w) for w in ws.values()), start=0.0),
        inputs=types,
        parameters=list(types),
        optimizer=optimizer,
        handlers=RecordingRegistry(),
        **others,
    )


def test_each_parameter_type_is_traced_with_its_own_dtype_and_shape():
    seen = []

    class Watching(SGD):
        def update(self, *, parameter, gradient, learning_rate):
            seen.append((parameter.type, gradient.type, learning_rate.type))
            return super().update(
                parameter=parameter, gradient=gradient, learning_rate=learning_rate
            )

    types = {
        "a": TensorType("f32", (3, 1)),
        "b": TensorType("f64", (2,)),
        "c": TensorType("f16", ()),
        "d": TensorType("bf16", (2,)),
    }
    compile_with(Watching(), types)
    for (parameter, gradient, rate), type in zip(seen, types.values(), strict=True):
        assert parameter == gradient == type
        assert rate == TensorType("f64" if type.dtype == np.float64 else "f32", ())


def test_parameters_of_equal_type_share_one_update():
    calls = []

    class Watching(SGD):
        def update(self, *, parameter, **others):
            calls.append(parameter.type)
            return super().update(parameter=parameter, **others)

    step = compile_with(Watching(), {"a": W, "b": TensorType("f32", (2,)), "c": W})
    a, b, c = step.parameters
    assert a.update is c.update
    assert a.update is not b.update
    assert calls == [W, TensorType("f32", (2,))]
    assert list(a.update_input_value_ids) == ["parameter", "gradient", "learning_rate"]


def test_an_update_may_use_numpy_functions():
    def update(*, parameter, gradient):
        return parameter - 0.1 * np.tanh(gradient)

    step = compile_with(update)
    assert "tanh" in print_graph(step.parameters[0].source_update_graph)


def test_tracing_an_update_alone():
    traced = trace_parameter_update(
        SGD().update,
        parameter=W,
        gradient=W,
        optimizer_inputs={"learning_rate": TensorType("f32", ())},
    )
    assert list(traced.input_value_ids) == ["parameter", "gradient", "learning_rate"]
    assert traced.updated_parameter_id == traced.graph.output("parameter").id
    assert traced.graph.output("parameter").type == W


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        (["rate"], "learning_rate, which are required"),
        (["learning_rate", "momentum"], "momentum, which are declared and not required"),
        (["learning_rate", "learning_rate"], "repeated"),
        ([], "learning_rate, which are required"),
        ("learning_rate", "sequence of names"),
        ({"learning_rate": RuntimeInput("rate")}, "same name"),
        ({"learning_rate": TensorType("f32", (3,))}, "a scalar"),
        ({"learning_rate": TensorType("f16", ())}, "f32 or f64"),
    ],
)
def test_inputs_declared_and_required_are_compared_both_ways(declared, message):
    with pytest.raises(DeclarationError, match=message):
        compile_with(SGD(), optimizer_inputs=declared)


@pytest.mark.parametrize(
    "update",
    [
        lambda parameter: parameter,
        lambda parameter, grad: parameter,
        lambda parameter, gradient, rate: parameter,
        lambda parameter, gradient, /: parameter,
    ],
)
def test_an_update_that_cannot_take_its_inputs_by_keyword_is_refused(update):
    with pytest.raises(UpdateSignatureError):
        compile_with(update)


@pytest.mark.parametrize(
    ("update", "message"),
    [
        (lambda parameter, gradient: None, "NoneType"),
        (lambda parameter, gradient: 3.0, "3.0"),
        (lambda parameter, gradient: (parameter, gradient), "tuple"),
        (lambda parameter, gradient: parameter[:, :, None], r"f32\[3, 1, 1\]"),
        (lambda parameter, gradient: parameter - gradient.T, r"f32\[3, 3\]"),
        (lambda parameter, gradient: parameter.astype("f64"), r"f64\[3, 1\]"),
    ],
)
def test_an_update_that_does_not_return_the_parameters_type_is_refused(update, message):
    with pytest.raises(UpdateOutputError, match=message):
        compile_with(update)


def test_a_mistake_inside_an_update_is_named_with_its_line():
    with pytest.raises(ShapeMismatchError) as caught:
        compile_with(lambda parameter, gradient: parameter - np.ones(5) * gradient.T)
    assert "np.ones(5) * gradient.T" in str(caught.value)


def test_a_gradient_of_another_shape_is_refused():
    with pytest.raises(ShapeMismatchError, match="gradient"):
        trace_parameter_update(
            SGD().update,
            parameter=W,
            gradient=TensorType("f32", (3, 3)),
            optimizer_inputs={"learning_rate": TensorType("f32", ())},
        )


def test_the_record_names_the_runtime_inputs_and_the_optimizer():
    step = compiled("regression")
    assert step.runtime_inputs == (RuntimeInput("learning_rate", valid_range=(0.0, np.inf)),)
    assert step.provenance.optimizer_label == "SGD"
    given = RuntimeInput("learning_rate", default=0.1, valid_range=(0.0, 1.0))
    step = compiled("regression", optimizer_inputs={"learning_rate": given})
    assert step.runtime_inputs == (given,)


def test_a_runtime_input_may_have_a_dtype_of_its_own():
    for given in (RuntimeInput("learning_rate", "f64"), TensorType("f64", ())):
        step = compile_with(SGD(), optimizer_inputs={"learning_rate": given})
        (row,) = step.parameters
        assert row.source_update_graph.input("learning_rate").type == TensorType("f64", ())
        assert row.source_update_graph.output("parameter").type == W


def test_anything_with_dtype_and_shape_describes_a_traced_update():
    w, rate = np.zeros((3, 1), np.float32), np.float32(0.1)
    traced = trace_parameter_update(
        SGD().update, parameter=w, gradient=w, optimizer_inputs={"learning_rate": rate}
    )
    assert traced.graph.output("parameter").type == W
