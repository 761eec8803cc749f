"""SciPy's functions in a loss: ufuncs always, functions with ``SCIPY_ARRAY_API=1``."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROGRAM = """
import numpy as np
from scipy import special
from tests.support.derivatives import check_gradients, traced
from tinychain_backends.numpy import NumpyEvaluator

x = np.random.default_rng(0).normal(size=(3, 4))
weights = np.arange(12.0).reshape(3, 4)
for function in (
    lambda x: special.logsumexp(x, axis=1).sum(),
    lambda x: special.logsumexp(x),
    lambda x: special.logsumexp(x, axis=0, b=x * x + 1.0).sum(),
    lambda x: (special.softmax(x, axis=1) * weights).sum(),
    lambda x: (special.log_softmax(x, axis=0) * weights).sum(),
    lambda x: (special.erf(x) + special.expit(x) + special.xlogy(2.0 + x * x, x * x)).sum(),
):
    graph, ids = traced(function, {"x": x})
    value = NumpyEvaluator().evaluate(graph, {"x": x})["loss"]
    np.testing.assert_allclose(value, function(x), rtol=1e-13)
    check_gradients(graph, {"x": x}, ["x"], ids, "seed")
print("all agree")
"""


@pytest.mark.slow
def test_functions_that_ask_for_the_namespace_agree_in_value_and_derivative():
    result = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "SCIPY_ARRAY_API": "1", "PYTHONPATH": f"{ROOT}:{ROOT / 'src'}"},
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    assert result.stdout == "all agree\n", result.stderr
