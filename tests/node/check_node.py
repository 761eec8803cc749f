"""Training in another language: Node.js drives a shipped step, and gets the losses of the session.

Its name keeps it out of a plain run; ``make test-js`` installs what it needs and runs it.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import numpy as np
import pytest

from tests.backends.test_onnx_session import START, TYPES, batch_of, classified
from tinychain_backends.onnx import OnnxContainer, OnnxSession, step_models, write_models
from tinychain_compile import SGD, Adam, AdamW

HERE = Path(__file__).parent


@pytest.mark.parametrize(
    "optimizer",
    [AdamW(learning_rate=0.01), SGD(learning_rate=0.1, momentum=0.9), Adam(learning_rate=0.01)],
    ids=lambda optimizer: type(optimizer).__name__,
)
def test_ten_steps_in_node_have_the_losses_of_the_session(optimizer, tmp_path):
    step = (
        OnnxContainer()
        .compiler()
        .compile_training_step(
            classified, inputs=TYPES, parameters=list(START), optimizer=optimizer
        )
    )
    session = OnnxSession(step, START)
    batch = batch_of(12)
    write_models(step_models(step), tmp_path, start=session.state.arrays)
    arrays = {
        name: {"dtype": str(a.dtype), "shape": a.shape, "values": a.ravel().tolist()}
        for name, a in batch.items()
    }
    (tmp_path / "batch.json").write_text(json.dumps(arrays))
    result = subprocess.run(
        ["node", str(HERE / "train.mjs"), str(tmp_path), str(tmp_path / "batch.json")],
        check=True,
        capture_output=True,
        text=True,
    )
    expected = [float(session.step(batch)["loss"]) for _ in range(10)]
    assert expected[-1] < expected[0]
    np.testing.assert_allclose(json.loads(result.stdout), expected, rtol=1e-6)
