"""The schedule is deterministic: as late as consumers allow, so a window sees neighbours."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.support.losses import LOSSES, compiled
from tinychain_compile import SGD, TensorType, compile_training_step
from tinychain_compile.testing import RecordingRegistry

ROOT = Path(__file__).parents[2]
PROGRAM = """
from tests.support.losses import LOSSES, compiled
for name in LOSSES:
    step = compiled(name)
    for program in (step.forward, step.derivative, *(p.update for p in step.parameters)):
        print([operation.value for operation in program.operations])
"""


def test_the_order_does_not_depend_on_the_hash_seed():
    outputs = {
        subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"},
            cwd=ROOT,
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for seed in ("0", "1", "4242")
    }
    assert len(outputs) == 1


@pytest.mark.parametrize("name", LOSSES)
def test_every_operation_stands_before_its_consumers(name):
    for program in (compiled(name).forward, compiled(name).derivative):
        position = {op: i for i, op in enumerate(program.dependencies.schedule)}
        for operation in program.dependencies.schedule:
            for value in operation.inputs:
                assert position.get(value, -1) < position[operation]


def test_an_operation_stands_directly_before_the_consumer_that_waits_for_it():
    def loss(a, b, c, w):
        product = b * c
        other = np.exp(a * w)
        return np.sum(other - product)

    types = {name: TensorType("f64", (3,)) for name in "abcw"}
    step = compile_training_step(
        loss, inputs=types, parameters=["w"], optimizer=SGD(), handlers=RecordingRegistry()
    )
    names = [op.source_operators[0].name for op in step.forward.operations]
    assert names == ["mul", "exp", "mul", "sub", "reduce_sum"]
