"""Losses, types and data that many tests use."""

from __future__ import annotations

from typing import Any

import numpy as np

from tinychain_compile import SGD, CompiledTrainingStep, TensorType, compile_training_step
from tinychain_compile.functions import log_softmax
from tinychain_compile.testing import RecordingRegistry


def regression(x, y, w, b):
    residual = x @ w + b - y
    return np.mean(residual**2)


REGRESSION_TYPES = {
    "x": TensorType("f64", (7, 3)),
    "y": TensorType("f64", (7,)),
    "w": TensorType("f64", (3,)),
    "b": TensorType("f64", ()),
}


def network(x, labels, w1, b1, w2, b2):
    hidden = np.tanh(x @ w1 + b1)
    scores = log_softmax(hidden @ w2 + b2, axis=1)
    return -np.mean(np.take_along_axis(scores, labels[:, None], axis=1))


NETWORK_TYPES = {
    "x": TensorType("f64", (6, 4)),
    "labels": TensorType("i64", (6,)),
    "w1": TensorType("f64", (4, 5)),
    "b1": TensorType("f64", (5,)),
    "w2": TensorType("f64", (5, 3)),
    "b2": TensorType("f64", (3,)),
}


def reused(x, w):
    h = x * w
    return np.sum(h * h + np.exp(h) / (h * h + 1.0))


REUSED_TYPES = {"x": TensorType("f64", (2, 3)), "w": TensorType("f64", (3,))}

LOSSES = {
    "regression": (regression, REGRESSION_TYPES, ["w", "b"]),
    "network": (network, NETWORK_TYPES, ["w1", "b1", "w2", "b2"]),
    "reused": (reused, REUSED_TYPES, ["w"]),
}


def arrays_for(types: dict[str, TensorType], seed: int = 0) -> dict[str, np.ndarray[Any, Any]]:
    """Return seeded arrays of these types; integers from 0 to 2."""
    rng = np.random.default_rng(seed)
    return {
        name: rng.normal(size=type.shape).astype(type.dtype)
        if type.is_floating
        else rng.integers(0, 3, size=type.shape).astype(type.dtype)
        for name, type in types.items()
    }


def compiled(name: str, handlers: Any = None, **others: Any) -> CompiledTrainingStep:
    """Return one of the losses compiled, by default to a recording registry."""
    loss, types, parameters = LOSSES[name]
    return compile_training_step(
        loss,
        inputs=types,
        parameters=parameters,
        optimizer=SGD(),
        handlers=handlers or RecordingRegistry(),
        **others,
    )
