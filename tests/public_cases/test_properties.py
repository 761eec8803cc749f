"""Cases made from public bug reports that ask for a property, each by its procedure."""

from __future__ import annotations

import cProfile
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.public_cases.case_format import array, check_gradients, of_kind
from tests.public_cases.test_gradients import DOORS, compiled
from tinychain_backends.numpy import NumpyContainer, NumpySession
from tinychain_backends.numpy.handlers import numpy_registry
from tinychain_compile import (
    SGD,
    OperationHandlerRegistry,
    TensorType,
    compile_training_step,
    print_graph,
)
from tinychain_compile.errors import (
    ExpiredTraceError,
    ForeignTensorError,
    UnsupportedOperatorError,
)
from tinychain_compile.operators import OPERATORS, Axpy, Mul, Tanh, Where
from tinychain_compile.testing import RecordingRegistry

PROPERTIES = of_kind("property")
ROOT = Path(__file__).parents[2]


def text_of(step) -> str:
    graphs = (step.lowered_forward_graph, step.lowered_derivative_program.graph)
    return "\n".join([step.provenance.graph_id, *map(print_graph, graphs)])


def listed(case):
    arrays = {name: array(encoded) for name, encoded in case["inputs"].items()}
    return compiled(case, arrays, NumpyContainer, DOORS["numpy"]), arrays


PROGRAM = """
import sys
from tests.public_cases.test_properties import PROPERTIES, listed, text_of
from tinychain_backends.numpy import NumpySession
case = PROPERTIES[sys.argv[1]]
step, arrays = listed(case)
batch = {name: a for name, a in arrays.items() if name not in case["wrt"]}
session = NumpySession(step, {name: arrays[name] for name in case["wrt"]})
_, gradients = session.value_and_gradients(batch)
print(text_of(step), {name: g.tobytes().hex() for name, g in gradients.items()})
"""


@pytest.mark.slow
def test_program_text_key_and_gradients_do_not_depend_on_the_hash_seed():
    outputs = {
        subprocess.run(
            [sys.executable, "-c", PROGRAM, "BC163"],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": f"{ROOT}:{ROOT / 'src'}"},
            capture_output=True,
            check=True,
            cwd=ROOT,
        ).stdout
        for seed in ("0", "1", "2")
    }
    assert len(outputs) == 1


def interrupted_at_tanh():
    def interrupt(context):
        raise KeyboardInterrupt

    registry = OperationHandlerRegistry()
    for operator in OPERATORS:
        registry.handler(operator)(interrupt if operator is Tanh else lambda context: None)
    return registry


def test_a_failed_compilation_leaves_nothing_behind():
    case = PROPERTIES["BC165"]
    fresh = text_of(listed(case)[0])

    def raising(w):
        np.exp(w)
        raise ValueError("half way")

    failures = [
        (raising, numpy_registry, ValueError),
        (lambda w: np.exp(w).sum(), lambda: RecordingRegistry(()), UnsupportedOperatorError),
        (lambda w: np.tanh(w).sum(), interrupted_at_tanh, KeyboardInterrupt),
    ]
    for function, handlers, error in failures:
        with pytest.raises(error):
            compile_training_step(
                function,
                inputs={"w": np.zeros(3)},
                parameters=["w"],
                optimizer=SGD(),
                handlers=handlers,
            )
        step, arrays = listed(case)
        assert text_of(step) == fresh
        batch = {name: a for name, a in arrays.items() if name not in case["wrt"]}
        session = NumpySession(step, {name: arrays[name] for name in case["wrt"]})
        check_gradients(case, *session.value_and_gradients(batch))


def test_a_tensor_that_escaped_is_refused_and_named():
    kept = []

    def leaking(w):
        kept.append(w * 2)
        return w.sum()

    def compile_loss(loss):
        return compile_training_step(
            loss,
            inputs={"w": np.zeros(3)},
            parameters=["w"],
            optimizer=SGD(),
            handlers=RecordingRegistry(),
        )

    compile_loss(leaking)
    with pytest.raises(ExpiredTraceError) as expired:
        kept[0] + 1.0
    with pytest.raises(ForeignTensorError) as foreign:
        compile_loss(lambda w: (w + kept[0]).sum())
    for caught in (expired, foreign):
        assert "in leaking: w * 2" in str(caught.value)


@pytest.mark.parametrize("rows", [4, 1])
def test_the_mean_follows_the_batch(rows):
    case = PROPERTIES["BC169"]
    arrays = {name: array(encoded) for name, encoded in case["inputs"].items()}
    types = {
        "w": TensorType("f64", (2, 1)),
        "x": TensorType("f64", ("n", 2)),
        "y": TensorType("f64", ("n", 1)),
    }
    step = compiled(case, types, NumpyContainer, DOORS["numpy"])
    session = NumpySession(step, {"w": arrays["w"]})
    batch = {"x": arrays["x"][:rows], "y": arrays["y"][:rows]}
    loss, gradients = session.value_and_gradients(batch)
    if rows == 4:
        check_gradients(case, loss, gradients)
    error = batch["x"] @ arrays["w"] - batch["y"]
    np.testing.assert_allclose(loss, np.mean(error**2), rtol=1e-14)
    np.testing.assert_allclose(gradients["w"], 2 * batch["x"].T @ error / rows, rtol=1e-13)


def test_an_operator_that_only_the_derivative_needs_is_reported_before_anything_runs():
    lacking = RecordingRegistry([o for o in OPERATORS if o not in (Mul, Where, Axpy)])
    with pytest.raises(UnsupportedOperatorError) as caught:
        compile_training_step(
            lambda x: np.exp(x).sum() + np.maximum(x, 0.0).sum(),
            inputs={"x": np.zeros(5)},
            parameters=["x"],
            optimizer=SGD(),
            handlers=lacking,
        )
    message = str(caught.value)
    for part in (
        "derivative of exp",
        "derivative of maximum",
        "np.exp(x)",
        "mul",
        "where",
        "update",
    ):
        assert part in message
    assert not lacking.contexts


@pytest.mark.slow
def test_the_work_of_compiling_is_linear_in_the_length_of_the_program():
    """Counted in calls, not in seconds: ``benchmarks/depth.py`` has the seconds."""

    def calls(n):
        def loss(y):
            for _ in range(n):
                y = np.sin(y) * 1.01
            return y.sum()

        profile = cProfile.Profile()
        profile.runcall(
            compile_training_step,
            loss,
            inputs={"y": np.zeros(3)},
            parameters=["y"],
            optimizer=SGD(),
            handlers=RecordingRegistry(),
        )
        return sum(entry.callcount for entry in profile.getstats())

    assert calls(4000) / calls(1000) < 4.1


def test_every_property_has_its_test():
    assert set(PROPERTIES) == {"BC163", "BC165", "BC167", "BC169", "BC171", "BC173", "BC175"}
