"""There is no module-level mutable state and no ambient context: compilations cannot meet."""

from __future__ import annotations

import importlib
import pkgutil
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import tinychain_backends
import tinychain_compile
from tests.support.losses import LOSSES, compiled
from tinychain_compile import SGD, TensorType, compile_training_step, print_graph
from tinychain_compile.errors import ExpiredTraceError, ForeignTensorError
from tinychain_compile.testing import RecordingRegistry

PUBLIC_CONSTANTS = {"__all__", "__path__", "__builtins__", "__annotations__", "__warningregistry__"}


def modules():
    for package in (tinychain_compile, tinychain_backends):
        for info in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            yield importlib.import_module(info.name)


def snapshot():
    """Return the size and contents' identity of every mutable container in every module."""
    return {
        f"{module.__name__}.{name}": (len(value), [id(v) for v in value])
        for module in modules()
        for name, value in vars(module).items()
        if isinstance(value, (list, dict, set)) and name not in PUBLIC_CONSTANTS
    }


def test_compiling_changes_no_container_in_any_module():
    compiled("network")
    before = snapshot()
    for name in LOSSES:
        compiled(name)
    assert snapshot() == before


def texts(name):
    step = compiled(name)
    return print_graph(step.source_forward_graph) + print_graph(
        step.lowered_derivative_program.graph
    )


def test_eight_threads_compile_what_one_does():
    expected = {name: texts(name) for name in LOSSES}
    names = list(LOSSES) * 16
    with ThreadPoolExecutor(8) as pool:
        for name, text in zip(names, pool.map(texts, names), strict=True):
            assert text == expected[name]


def compile_one(loss, **types):
    return compile_training_step(
        loss,
        inputs=types,
        parameters=list(types),
        optimizer=SGD(),
        handlers=RecordingRegistry(),
    )


def test_a_compilation_inside_a_loss_does_not_disturb_the_outer_one():
    def outer(w):
        compiled("network")
        return np.sum(w)

    step = compile_one(outer, w=TensorType("f64", (3,)))
    assert len(step.source_forward_graph.operations) == 1


def test_a_tensor_of_another_trace_is_refused_by_name():
    kept = []

    def outer(w):
        kept.append(w)
        compile_one(lambda v: np.sum(v * kept[0]), v=TensorType("f64", (3,)))
        return np.sum(w)

    with pytest.raises(ForeignTensorError, match="another trace") as caught:
        compile_one(outer, w=TensorType("f64", (3,)))
    assert "v * kept[0]" in str(caught.value)


def test_a_tensor_whose_trace_has_ended_is_refused():
    kept = []

    def loss(w):
        kept.append(w)
        return np.sum(w)

    compile_one(loss, w=TensorType("f64", (3,)))
    with pytest.raises(ExpiredTraceError, match="ended"):
        kept[0] + 1.0
    with pytest.raises(ExpiredTraceError, match="ended"):
        np.sum(kept[0])
