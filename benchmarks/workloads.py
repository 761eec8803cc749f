"""The workloads that benchmarks measure, as NumPy losses for us and as JAX losses for JAX."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tinychain_compile import TensorType
from tinychain_compile.functions import log_softmax, relu


@dataclass(frozen=True)
class Workload:
    """A loss with its types.

    Args:
        name: As in reports.
        description: What it is.
        loss: For us: takes every input by keyword.
        inputs: The type of each input.
        parameters: The names to differentiate by.
    """

    name: str
    description: str
    loss: Callable[..., Any]
    inputs: Mapping[str, TensorType]
    parameters: tuple[str, ...]


def _mlp_loss(x: Any, labels: Any, w1: Any, b1: Any, w2: Any, b2: Any, w3: Any, b3: Any) -> Any:
    hidden = relu(x @ w1 + b1)
    hidden = relu(hidden @ w2 + b2)
    scores = log_softmax(hidden @ w3 + b3, axis=1)
    return -np.mean(np.take_along_axis(scores, labels[:, None], axis=1))


def mlp() -> Workload:
    """Return W1: a network 784-512-512-10 with cross-entropy, batch 128, SGD, f32."""
    sizes = (784, 512, 512, 10)
    parameters: dict[str, TensorType] = {}
    for layer in (1, 2, 3):
        parameters[f"w{layer}"] = TensorType("f32", (sizes[layer - 1], sizes[layer]))
        parameters[f"b{layer}"] = TensorType("f32", (sizes[layer],))
    data = {"x": TensorType("f32", (128, 784)), "labels": TensorType("i32", (128,))}
    return Workload(
        "W1", "MLP 784-512-512-10, batch 128, SGD", _mlp_loss, data | parameters, tuple(parameters)
    )


def chain(length: int) -> Workload:
    """Return a chain of ``tanh(x * w + b)``, about this many operations long."""

    def loss(x: Any, w: Any, b: Any) -> Any:
        for _ in range(length // 3):
            x = np.tanh(x * w + b)
        return np.sum(x)

    types = dict.fromkeys(("x", "w", "b"), TensorType("f32", (8,)))
    return Workload(f"chain {length}", f"{length} operations in a row", loss, types, ("w", "b"))
