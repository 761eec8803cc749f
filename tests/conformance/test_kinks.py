"""The derivative where there is none: the value this project states, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from reference import ReferenceContainer, ReferenceTrainer
from tinychain_backends.numpy import NumpyContainer, NumpySession
from tinychain_compile import SGD
from tinychain_compile.functions import relu

KINKS = {
    "relu at zero is 0": (lambda x: relu(x).sum(), [-1.0, 0.0, -0.0, 2.0], [0, 0, 0, 1]),
    "maximum of a tie is half": (lambda x: np.maximum(x, 0.0).sum(), [-1.0, 0.0, 2.0], [0, 0.5, 1]),
    "both sides of a tie": (lambda x: np.maximum(x, x * 1.0).sum(), [3.0], [1.0]),
    "largest among ties": (lambda x: np.max(x), [4.0, 1.0, 4.0, 4.0], [1 / 3, 0, 1 / 3, 1 / 3]),
    "where takes the chosen": (lambda x: np.where(x < 1.0, x, 2 * x).sum(), [0.0, 1.0], [1, 2]),
}


@pytest.mark.parametrize("backend", ["numpy", "reference"])
@pytest.mark.parametrize("name", KINKS)
def test_the_stated_value_is_given(name, backend):
    loss, x, expected = KINKS[name]
    container, session = {
        "numpy": (NumpyContainer, NumpySession),
        "reference": (ReferenceContainer, ReferenceTrainer),
    }[backend]
    step = (
        container()
        .compiler()
        .compile_training_step(loss, inputs={"x": np.array(x)}, parameters=["x"], optimizer=SGD())
    )
    _, gradients = session(step, {"x": np.array(x)}).value_and_gradients({})
    np.testing.assert_allclose(gradients["x"], expected, rtol=1e-15)
