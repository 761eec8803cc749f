"""The tables of types are what the runtimes compute today, and bad input is answered clearly."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest

from tests.support.scripts import load
from tinychain_backends.onnx import OnnxContainer, OnnxProgram, OnnxSession
from tinychain_backends.onnx.handlers import NodeHandlers
from tinychain_backends.onnx.support import TABLE
from tinychain_backends.sessions.installed import Library
from tinychain_compile import SGD, TensorType, compile_function
from tinychain_compile.errors import BackendError, BindingError, CompilationError

measure = load("docs/measure.py")


@pytest.mark.slow
@pytest.mark.parametrize("package", measure.RUNTIMES)
def test_the_table_is_what_the_runtime_computes(package):
    """Of the version it names; for another one: ``python docs/measure.py``."""
    written = json.loads((measure.SOURCE / package / TABLE).read_text())
    runtime = measure.RUNTIMES[package]
    found = measure.measure(runtime)["operators"]
    if written["runtime"] == runtime.name:
        assert found == written["operators"]
    lost = {
        name: sorted({*types} - {*found.get(name, ())})
        for name, types in written["operators"].items()
        if {*types} - {*found.get(name, ())}
    }
    assert not lost


def test_what_was_not_measured_is_decomposed_with_the_reason():
    types = {"x": TensorType("f64", (3, 4)), "w": TensorType("f64", (4,))}
    step = (
        OnnxContainer()
        .compiler()
        .compile_training_step(
            lambda x, w: np.mean(np.log1p(np.exp(x * w))),
            inputs=types,
            parameters=["w"],
            optimizer=SGD(),
        )
    )
    text = str(step.support)
    assert "log1p" in text
    assert "decomposed" in text


def test_a_model_that_the_runtime_rejects_comes_with_the_operation_and_the_line():
    """As if no table kept it from bf16."""
    types = {"x": TensorType("bf16", (3,))}
    function = compile_function(
        lambda x: np.tanh(x + 1.0), inputs=types, handlers=NodeHandlers().registry()
    )
    with pytest.raises(BackendError) as caught:
        OnnxProgram(function.program, "function")
    text = str(caught.value)
    assert "NOT_IMPLEMENTED" in text or "INVALID_GRAPH" in text or "Type Error" in text
    assert "test_onnx_support.py" in text


@pytest.mark.parametrize("name", ["onnx", "openvino"])
def test_a_missing_extra_says_what_to_install(name, monkeypatch):
    monkeypatch.setitem(sys.modules, "no_such_library", None)
    with pytest.raises(BindingError) as caught:
        Library("no_such_library", name).anything  # noqa: B018
    assert f"tinychain-compile[{name}]" in str(caught.value)


def test_a_session_without_the_runtime_says_what_to_install(monkeypatch):
    types = {"x": TensorType("f32", (3,)), "w": TensorType("f32", (3,))}
    step = (
        OnnxContainer()
        .compiler()
        .compile_training_step(
            lambda x, w: np.mean(x * w), inputs=types, parameters=["w"], optimizer=SGD()
        )
    )
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(CompilationError, match=r"tinychain-compile\[onnx\]"):
        OnnxSession(step, {"w": np.ones(3, np.float32)})
