"""An MLP, a CNN and a transformer in twelve operators, and in ONNX: what NumPy's give."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pytest

from reference import ReferenceContainer, ReferenceTrainer
from tinychain_backends.numpy import NumpyContainer, NumpySession
from tinychain_backends.onnx import OnnxContainer, OnnxSession
from tinychain_compile import SGD

WORKLOADS = runpy.run_path(str(Path(__file__).parents[2] / "benchmarks" / "workloads.py"))
SMALL = {
    "W1": lambda: WORKLOADS["mlp"]("f64", 8, (20, 16, 16, 10)),
    "W2": lambda: WORKLOADS["cnn"]("f64", 2, 8, (3, 4)),
    "W3": lambda: WORKLOADS["gpt"]("f64", 1, 8, 2, 16, 2, 20),
}


OTHERS = {
    "the twelve": (ReferenceContainer, ReferenceTrainer, 1e-12, 1e-10),
    "onnxruntime": (OnnxContainer, OnnxSession, 1e-10, 1e-8),
}


@pytest.mark.parametrize("other", OTHERS)
@pytest.mark.parametrize("name", SMALL)
def test_losses_and_parameters_agree_over_three_steps(name, other):
    other_container, other_session, of_losses, of_parameters = OTHERS[other]
    workload = SMALL[name]()
    arrays = workload.arrays()
    runs = []
    for container, session in (
        (NumpyContainer, NumpySession),
        (other_container, other_session),
    ):
        step = (
            container()
            .compiler()
            .compile_training_step(
                workload.loss,
                inputs=workload.inputs,
                parameters=workload.parameters,
                optimizer=SGD(),
            )
        )
        names = [row.name for row in step.parameters]
        trained = session(step, {n: arrays[n] for n in names})
        batch = {n: array for n, array in arrays.items() if n not in names}
        losses = [trained.step(batch, learning_rate=0.05) for _ in range(3)]
        if session is not ReferenceTrainer:
            losses = [outputs["loss"] for outputs in losses]
        runs.append((losses, dict(trained.parameters)))
    (losses, parameters), (other_losses, other_parameters) = runs
    assert losses[2] < losses[0]
    np.testing.assert_allclose(other_losses, losses, rtol=of_losses)
    for parameter, array in parameters.items():
        np.testing.assert_allclose(
            other_parameters[parameter], array, rtol=of_parameters, atol=1e-12
        )
