"""Everything checkable is checked before the loss runs; the loss runs once, by keyword."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.hooks import hook_returning
from tests.support.losses import REGRESSION_TYPES, regression
from tinychain_compile import SGD, CompilationError, TensorType, compile_training_step
from tinychain_compile.testing import RecordingRegistry


def counting_loss():
    calls = []

    def loss(*args, **inputs):
        calls.append((args, tuple(inputs)))
        return regression(**inputs)

    return loss, calls


def compile_with(loss, **changes):
    declared = {
        "inputs": REGRESSION_TYPES,
        "parameters": ["w", "b"],
        "optimizer": SGD(),
        "handlers": RecordingRegistry(),
        **changes,
    }
    return compile_training_step(loss, **declared)


def test_the_loss_runs_once_with_every_input_by_keyword():
    loss, calls = counting_loss()
    compile_with(loss)
    assert calls == [((), ("x", "y", "w", "b"))]


@pytest.mark.parametrize(
    "changes",
    [
        {"parameters": ["w", "missing"]},
        {"parameters": []},
        {"inputs": {**REGRESSION_TYPES, "w": np.zeros(3, np.int64)}},
        {"optimizer_inputs": ["rate"]},
        {"optimizer": lambda parameter: parameter},
        {"optimizer": object()},
        {"fusion": hook_returning(None, lookahead=0)},
        {"seed_label": "x"},
        {"forward_expansions": [3]},
        {"inputs": {**REGRESSION_TYPES, "not a name": TensorType("f64", ())}},
    ],
)
def test_a_wrong_declaration_never_runs_the_loss(changes):
    loss, calls = counting_loss()
    with pytest.raises(CompilationError):
        compile_with(loss, **changes)
    assert calls == []


def test_a_loss_that_cannot_take_the_names_never_runs():
    ran = []

    def loss(x, y, w, bias):
        ran.append(1)
        return np.mean(x @ w - y)

    with pytest.raises(CompilationError, match="bias"):
        compile_with(loss)
    assert ran == []
