"""Cases made from public bug reports: value and gradients, through every door."""

from __future__ import annotations

import time

import numpy as np
import pytest

from reference import ReferenceContainer, ReferenceTrainer
from tests.public_cases.case_format import array, check_gradients, loss_of, of_kind
from tinychain_backends.numpy import NumpyContainer, NumpySession
from tinychain_backends.onnx import OnnxContainer, OnnxSession
from tinychain_compile import SGD, CompileOptions
from tinychain_compile.functions import stop_gradient

GRADIENTS = {
    **of_kind("grad"),
    **{k: v for k, v in of_kind("property").items() if v["expected_gradients"]},
}


class NumpyAndStopGradient:
    """NumPy itself, with the one name that it lacks."""

    stop_gradient = staticmethod(stop_gradient)

    def __getattr__(self, name):
        return getattr(np, name)


DOORS = {
    "array api": lambda x: x.__array_namespace__(),
    "numpy": lambda x: NumpyAndStopGradient(),
}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("case_id", GRADIENTS)
def test_value_and_gradients_are_right(case_id, door):
    case = GRADIENTS[case_id]
    begun = time.perf_counter()
    arrays = {name: array(encoded) for name, encoded in case["inputs"].items()}
    step = compiled(case, arrays, NumpyContainer, DOORS[door])
    parameters = {name: arrays[name] for name in case["wrt"]}
    batch = {name: a for name, a in arrays.items() if name not in parameters}
    loss, gradients = NumpySession(step, parameters).value_and_gradients(batch)
    check_gradients(case, loss, gradients)
    assert time.perf_counter() - begun < case.get("time_limit_s", np.inf)


COSTLY = {"BC117"}  # a running sum of a thousand elements is a million in the basis


@pytest.mark.parametrize("case_id", [k for k in GRADIENTS if k not in COSTLY])
def test_they_are_right_in_the_twelve_operators_alone(case_id):
    case = GRADIENTS[case_id]
    arrays = {name: array(encoded) for name, encoded in case["inputs"].items()}
    step = compiled(case, arrays, ReferenceContainer, DOORS["numpy"])
    trainer = ReferenceTrainer(step, {name: arrays[name] for name in case["wrt"]})
    batch = {name: a for name, a in arrays.items() if name not in case["wrt"]}
    loss, gradients = trainer.value_and_gradients(batch)
    check_gradients(case, loss, gradients)


@pytest.mark.filterwarnings("ignore::tinychain_compile.errors.PrecisionWarning")
@pytest.mark.parametrize("case_id", GRADIENTS)
def test_they_are_right_on_onnx_runtime_and_so_is_a_step(case_id):
    case = GRADIENTS[case_id]
    arrays = {name: array(encoded) for name, encoded in case["inputs"].items()}
    step = compiled(case, arrays, OnnxContainer, DOORS["numpy"])
    parameters = {name: arrays[name] for name in case["wrt"]}
    session = OnnxSession(step, parameters)
    batch = {name: a for name, a in arrays.items() if name not in parameters}
    loss, gradients = session.value_and_gradients(batch)
    check_gradients(case, loss, gradients)
    session.step(batch, learning_rate=0.125)
    for name, start in parameters.items():
        moved = start - start.dtype.type(0.125) * gradients[name]
        tolerance = 8 * float(np.finfo(start.dtype).eps)
        np.testing.assert_allclose(session.parameters[name], moved, tolerance, tolerance)


def compiled(case, arrays, container, door):
    return (
        container()
        .compiler()
        .compile_training_step(
            loss_of(case, door),
            inputs=arrays,
            parameters=case["wrt"],
            optimizer=SGD(),
            options=CompileOptions(on_disconnected="zero"),
        )
    )
