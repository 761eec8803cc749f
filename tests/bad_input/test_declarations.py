"""A wrong declaration: the subject, what was expected, what came, and what to do."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from tinychain_compile import (
    SGD,
    CompileOptions,
    TensorType,
    compile_function,
    compile_training_step,
)
from tinychain_compile.errors import (
    BackendError,
    CompilationError,
    DeclarationError,
    DtypeMismatchError,
    HandlerContractError,
    LossSignatureError,
    MissingDtypeError,
    MissingShapeError,
    NotDifferentiableDtypeError,
)
from tinychain_compile.testing import RecordingRegistry

X, W = TensorType("f64", (4, 3)), TensorType("f64", (3,))


def loss(x, w):
    return np.mean(x @ w)


def compile_with(function=loss, **changes):
    declared = {
        "inputs": {"x": X, "w": W},
        "parameters": ["w"],
        "optimizer": SGD(),
        "handlers": RecordingRegistry(),
        **changes,
    }
    return compile_training_step(function, **declared)


@pytest.mark.parametrize(
    ("changes", "error", "parts"),
    [
        ({"parameters": ["v"]}, DeclarationError, ["'v'", "x, w", "not declared"]),
        ({"parameters": ["w", "w"]}, DeclarationError, ["'w'", "once"]),
        ({"parameters": []}, DeclarationError, ["parameters", "not empty"]),
        ({"parameters": "w"}, DeclarationError, ["parameters", "sequence", "'w'"]),
        ({"parameters": None}, DeclarationError, ["parameters", "None"]),
        ({"parameters": [3]}, DeclarationError, ["parameter name", "3"]),
        ({"inputs": {"x": X, "w": W, "2w": W}}, DeclarationError, ["'2w'", "identifier"]),
        ({"inputs": {"x": X, "w": W, "lambda": W}}, DeclarationError, ["'lambda'"]),
        ({"inputs": {"x": X, "w": W, 5: W}}, DeclarationError, ["5", "identifier"]),
        ({"inputs": {}}, DeclarationError, ["inputs", "not empty"]),
        ({"inputs": [X, W]}, DeclarationError, ["inputs", "mapping"]),
        ({"inputs": {"x": X, "w": (3,)}}, MissingDtypeError, ["'w.0'", "dtype", "3"]),
        ({"inputs": {"x": X, "w": {}}}, DeclarationError, ["'w'", "not empty"]),
        ({"inputs": {"x": X, "w": {"a b": W}}}, DeclarationError, ["'a b'", "identifier"]),
        ({"inputs": {"x": X, "w": {"a": W}, "w.a": W}}, DeclarationError, ["'w.a'", "twice"]),
        ({"inputs": {"x": X, "w.a": W, "w": W}}, DeclarationError, ["'w'", "within others"]),
        ({"inputs": {"w": W, "w.a": W, "x": X}}, DeclarationError, ["'w.a'", "within others"]),
        (
            {"inputs": {"x": X, "w": [W, TensorType("i64", ())]}},
            NotDifferentiableDtypeError,
            ["w.1"],
        ),
        ({"inputs": {"x": X, "w": [W]}, "parameters": ["w", "w.0"]}, DeclarationError, ["w.0"]),
        (
            {"inputs": {"x": X, "w": SimpleNamespace(dtype="f4")}},
            MissingShapeError,
            ["'w'", "shape"],
        ),
        (
            {"inputs": {"x": X, "w": SimpleNamespace(dtype="f4", shape=(-1,))}},
            MissingShapeError,
            ["'w'", "-1"],
        ),
        (
            {"inputs": {"x": X, "w": SimpleNamespace(dtype="f4", shape=3)}},
            MissingShapeError,
            ["'w'", "3"],
        ),
        (
            {"inputs": {"x": X, "w": SimpleNamespace(dtype="c8", shape=(3,))}},
            MissingDtypeError,
            ["'w'", "c8", "f32"],
        ),
        (
            {"inputs": {"x": X, "w": np.array(["a"])}},
            MissingDtypeError,
            ["'w'", "U1"],
        ),
        (
            {"inputs": {"x": X, "w": TensorType("i64", (3,))}},
            NotDifferentiableDtypeError,
            ["'w'", "floating", "i64[3]"],
        ),
        (
            {"optimizer": SimpleNamespace(update=lambda parameter, gradient: parameter)},
            DeclarationError,
            ["SimpleNamespace", "required_optimizer_inputs"],
        ),
        ({"function": iter}, LossSignatureError, ["loss", "signature"]),
        ({"optimizer": 3}, DeclarationError, ["optimizer", "3"]),
        ({"optimizer_inputs": [1]}, DeclarationError, ["optimizer input", "1"]),
        ({"optimizer_inputs": [["a"]]}, DeclarationError, ["optimizer input", "['a']"]),
        ({"optimizer_inputs": 3}, DeclarationError, ["optimizer_inputs", "3"]),
        ({"function": 3}, DeclarationError, ["loss", "function"]),
        ({"seed_label": "x"}, DeclarationError, ["seed_label", "'x'"]),
        ({"seed_label": "not a name"}, DeclarationError, ["seed_label", "identifier"]),
        ({"bind_input": 3}, DeclarationError, ["bind_input", "3"]),
        ({"forward_expansions": [len, 3]}, DeclarationError, ["forward pass 1", "3"]),
        ({"update_expansions": [None]}, DeclarationError, ["update pass 0", "None"]),
        ({"handlers": None}, BackendError, ["handlers", "None"]),
        ({"handlers": lambda: None}, HandlerContractError, ["registry", "has_handler", "None"]),
        ({"fusion": 3}, HandlerContractError, ["fusion hook", "fuse()", "3"]),
    ],
)
def test_the_message_names_subject_expectation_and_value(changes, error, parts):
    ran = []

    def watched(x, w):
        ran.append(1)
        return loss(x, w)

    with pytest.raises(error) as caught:
        compile_with(**{"function": watched, **changes})
    for part in parts:
        assert part in str(caught.value)
    assert isinstance(caught.value.category, str)
    assert ran == []


@pytest.mark.parametrize("shape", [(-1,), (2.5,), ("a b",), "batch", 3, (True,), None])
def test_a_tensor_type_of_a_wrong_shape_is_refused(shape):
    with pytest.raises(MissingShapeError, match="shape"):
        TensorType("f32", shape)


@pytest.mark.parametrize("dtype", ["f8x", None, "object", "complex64", "U3", 3, "float128"])
def test_a_tensor_type_of_a_wrong_dtype_is_refused(dtype):
    with pytest.raises(DtypeMismatchError, match="one of bool, u8"):
        TensorType(dtype, (3,))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x,
        lambda x, w, extra: x,
        lambda x, weights: x,
        lambda x, w, /: x,
        lambda *args: args,
    ],
)
def test_a_loss_that_cannot_take_the_names_by_keyword_is_refused_with_its_line(function):
    with pytest.raises(LossSignatureError) as caught:
        compile_with(function)
    assert "f(x=..., w=...)" in str(caught.value)
    assert "test_declarations.py" in str(caught.value)


def test_a_loss_with_defaults_or_keywords_is_accepted():
    compile_with(lambda x, w, scale=2.0: np.mean(x @ w) * scale)
    compile_with(lambda **inputs: np.mean(inputs["x"] @ inputs["w"]))


def test_arrays_and_anything_with_dtype_and_shape_declare_an_input():
    step = compile_with(
        inputs={"x": np.zeros((4, 3)), "w": SimpleNamespace(dtype=np.float64, shape=[3])}
    )
    assert [value.type for _, value in step.source_forward_graph.inputs] == [X, W]


def test_a_function_is_checked_like_a_loss():
    with pytest.raises(CompilationError, match="'w'"):
        compile_function(lambda w: w, inputs={"w": 3}, handlers=RecordingRegistry())


@pytest.mark.parametrize("choice", ["zeros", None, True])
def test_an_unknown_policy_is_refused(choice):
    with pytest.raises(DeclarationError, match="'error', 'zero'"):
        CompileOptions(on_disconnected=choice)
    with pytest.raises(DeclarationError, match="nan_guard"):
        CompileOptions(nan_guard="yes")


def test_zeros_can_be_asked_for_a_disconnected_parameter():
    step = compile_with(
        inputs={"x": X, "w": W, "v": W},
        function=lambda x, w, v: np.mean(x @ w),
        parameters=["w", "v"],
        options=CompileOptions(on_disconnected="zero"),
    )
    assert [row.name for row in step.parameters] == ["w", "v"]
