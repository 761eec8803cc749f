"""Makes network_by_jax.json: the parameters of a small network after steps of SGD, by JAX in f64.

Run ``pip install -e ".[bench]"`` and then ``python tests/golden/make_network_by_jax.py``.
"""

from __future__ import annotations

import json
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

SEED, STEPS, RATE = 11, 25, 0.3
SHAPES = {"w1": (4, 5), "b1": (5,), "w2": (5, 3), "b2": (3,)}


def loss(parameters, x, labels):
    hidden = jnp.tanh(x @ parameters["w1"] + parameters["b1"])
    scores = jax.nn.log_softmax(hidden @ parameters["w2"] + parameters["b2"], axis=1)
    return -jnp.mean(jnp.take_along_axis(scores, labels[:, None], axis=1))


def main() -> None:
    jax.config.update("jax_enable_x64", True)
    rng = np.random.default_rng(SEED)
    data = {"x": rng.normal(size=(6, 4)), "labels": rng.integers(0, 3, size=6)}
    start = {name: rng.normal(size=shape) for name, shape in SHAPES.items()}
    parameters = {name: jnp.asarray(array) for name, array in start.items()}
    losses = []
    for _ in range(STEPS):
        value, gradients = jax.value_and_grad(loss)(parameters, data["x"], data["labels"])
        losses.append(float(value))
        parameters = {name: parameters[name] - RATE * gradients[name] for name in parameters}
    written = {
        "made_by": f"jax {jax.__version__}",
        "rate": RATE,
        "data": {name: array.tolist() for name, array in data.items()},
        "start": {name: array.tolist() for name, array in start.items()},
        "losses": losses,
        "end": {name: np.asarray(array).tolist() for name, array in parameters.items()},
    }
    path = Path(__file__).with_name("network_by_jax.json")
    path.write_text(json.dumps(written, indent=1) + "\n")


if __name__ == "__main__":
    main()
