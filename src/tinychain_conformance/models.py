"""Small models that the kit trains: between them, what training is made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from tinychain_compile import SGD, Adam, AdamW, RMSprop
from tinychain_compile.functions import (
    attention,
    conv,
    gelu,
    layer_norm,
    log_softmax,
    max_pool,
    relu,
    softmax_cross_entropy,
)
from tinychain_conformance.adapter import Array

_mean: Any = np.mean  # of a tensor while a loss is traced


class Model(NamedTuple):
    """A loss with data and an optimizer.

    Attributes:
        name: As in reports.
        loss: Takes every array by keyword.
        data: The batch, by name.
        parameters: The starting values, by name.
        optimizer: Gives each new parameter; the learning rate is fed at each step.
    """

    name: str
    loss: Callable[..., Any]
    data: Mapping[str, Array]
    parameters: Mapping[str, Array]
    optimizer: Any

    @property
    def arrays(self) -> dict[str, Array]:
        """Data and parameters."""
        return {**self.data, **self.parameters}


def _normal(seed: int, *shape: int, scale: float = 1.0) -> Array:
    drawn: Array = np.random.default_rng(seed).normal(size=shape) * scale
    return drawn.astype(np.float32)


def _labels(seed: int, classes: int, *shape: int) -> Array:
    return np.random.default_rng(seed).integers(classes, size=shape, dtype=np.int32)


def _regression(x: Any, y: Any, w: Any, b: Any) -> Any:
    return _mean((x @ w + b - y) ** 2)


def _mlp(x: Any, labels: Any, w1: Any, b1: Any, w2: Any, b2: Any) -> Any:
    scores = log_softmax(relu(x @ w1 + b1) @ w2 + b2, axis=1)
    return -_mean(np.take_along_axis(scores, labels[:, None], axis=1))


def _shared(x: Any, y: Any, w: Any, scale: Any) -> Any:
    """Read a weight twice, and repeat a scale along both axes."""
    hidden = np.tanh(x @ w) * scale
    return _mean((np.tanh(hidden @ w) * scale - y) ** 2)


def _cnn(images: Any, labels: Any, kernel: Any, bias: Any, w: Any) -> Any:
    hidden = max_pool(relu(conv(images, kernel, padding="same") + bias[:, None, None]), 2)
    scores = hidden.reshape(hidden.shape[0], -1) @ w
    return _mean(softmax_cross_entropy(scores, labels))


def _transformer(tokens: Any, targets: Any, table: Any, scale: Any, bias: Any, qkv: Any) -> Any:
    hidden = np.take(table, tokens, axis=0)
    normal = layer_norm(hidden, scale, bias)
    q, k, v = np.split(normal @ qkv, 3, axis=-1)
    hidden = hidden + gelu(attention(q, k, v, is_causal=True))
    return _mean(softmax_cross_entropy(hidden @ table.T, targets))


def models() -> list[Model]:
    """Return the models; all in f32."""
    return [
        Model(
            "regression, SGD",
            _regression,
            {"x": _normal(0, 12, 3), "y": _normal(1, 12, 2)},
            {"w": _normal(2, 3, 2), "b": _normal(3, 2)},
            SGD(),
        ),
        Model(
            "perceptron, AdamW",
            _mlp,
            {"x": _normal(0, 10, 5), "labels": _labels(1, 3, 10)},
            {
                "w1": _normal(2, 5, 7, scale=0.5),
                "b1": np.zeros(7, np.float32),
                "w2": _normal(3, 7, 3, scale=0.5),
                "b2": np.zeros(3, np.float32),
            },
            AdamW(),
        ),
        Model(
            "weight read twice, RMSprop",
            _shared,
            {"x": _normal(0, 6, 4), "y": _normal(1, 6, 4)},
            {"w": _normal(2, 4, 4, scale=0.5), "scale": _normal(3, 1, 4)},
            RMSprop(),
        ),
        Model(
            "convolution and pooling, momentum",
            _cnn,
            {"images": _normal(0, 4, 2, 6, 6), "labels": _labels(1, 3, 4)},
            {
                "kernel": _normal(2, 3, 2, 3, 3, scale=0.3),
                "bias": np.zeros(3, np.float32),
                "w": _normal(3, 27, 3, scale=0.3),
            },
            SGD(momentum=0.9),
        ),
        Model(
            "transformer, Adam",
            _transformer,
            {"tokens": _labels(0, 9, 2, 5), "targets": _labels(1, 9, 2, 5)},
            {
                "table": _normal(2, 9, 4, scale=0.5),
                "scale": np.ones(4, np.float32),
                "bias": np.zeros(4, np.float32),
                "qkv": _normal(3, 4, 12, scale=0.5),
            },
            Adam(),
        ),
    ]
