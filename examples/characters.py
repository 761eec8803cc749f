"""Train a character-level transformer on Python's own reference, which ships with Python.

Embedding, causal attention, layer normalization and gelu; parameters are a nested structure. The
loss on held-out text falls below the entropy of single characters.

    python examples/characters.py [--untied] [--backend onnx]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from pydoc_data.topics import topics
from typing import Any

import numpy as np
from backends import NAMES, Backend, backend
from numpy.typing import NDArray
from optimizers import recipe
from reporting import progress_bar

from tinychain_compile import TensorType
from tinychain_compile.functions import attention, gelu, layer_norm, softmax_cross_entropy

Array = NDArray[Any]

LENGTH, WIDTH, HEADS, LAYERS = 64, 64, 4, 2
BATCH, STEPS, WARM_UP = 16, 400, 40
RATES = {"adamw": 0.006, "sgd": 0.5}


def text_as_numbers() -> tuple[Array, int]:
    """Return the reference as i32 numbers below the returned count, one for each character."""
    text = "\n".join(topics[name] for name in sorted(topics))
    characters, numbers = np.unique(np.array(list(text)), return_inverse=True)
    return numbers.astype(np.int32), len(characters)


def scores(tokens: Array, model: Any) -> Any:
    """Return the score of each character at each place: i32[b, t] -> f32[b, t, characters]."""
    batch, length = tokens.shape
    hidden = np.take(model["tokens"], tokens, axis=0) + model["positions"]
    for block in model["blocks"]:
        normal = layer_norm(hidden, block["scale1"], block["bias1"])
        mixed = (normal @ block["qkv"]).reshape(batch, length, 3, HEADS, WIDTH // HEADS)
        q, k, v = np.transpose(mixed, (2, 0, 3, 1, 4))
        seen = np.swapaxes(attention(q, k, v, is_causal=True), 1, 2)
        hidden = hidden + seen.reshape(batch, length, WIDTH) @ block["out"]
        normal = layer_norm(hidden, block["scale2"], block["bias2"])
        hidden = hidden + gelu(normal @ block["up"] + block["up_bias"]) @ block["down"]
    normal = layer_norm(hidden, model["scale"], model["bias"])
    return normal @ (model["head"] if "head" in model else model["tokens"].T)


def loss(tokens: Array, targets: Array, model: Any) -> Any:
    """Return the mean of -log(probability of the right next character), in nats."""
    return np.mean(softmax_cross_entropy(scores(tokens, model), targets))


def initial_model(characters: int, is_tied: bool, seed: int) -> dict[str, Any]:
    """Return normal weights, scaled by their number of rows; the output's are small."""
    rng = np.random.default_rng(seed)

    def normal(rows: int, columns: int, scale: float) -> Array:
        drawn: Array = rng.normal(size=(rows, columns)) * scale
        narrowed: Array = drawn.astype(np.float32)
        return narrowed

    def ones() -> Array:
        return np.ones(WIDTH, np.float32)

    def zeros(size: int = WIDTH) -> Array:
        return np.zeros(size, np.float32)

    deep = (2.0 * LAYERS) ** -0.5
    blocks = [
        {
            "scale1": ones(),
            "bias1": zeros(),
            "qkv": normal(WIDTH, 3 * WIDTH, WIDTH**-0.5),
            "out": normal(WIDTH, WIDTH, deep * WIDTH**-0.5),
            "scale2": ones(),
            "bias2": zeros(),
            "up": normal(WIDTH, 4 * WIDTH, WIDTH**-0.5),
            "up_bias": zeros(4 * WIDTH),
            "down": normal(4 * WIDTH, WIDTH, deep * (4 * WIDTH) ** -0.5),
        }
        for _ in range(LAYERS)
    ]
    model = {
        "tokens": normal(characters, WIDTH, 0.1),
        "positions": normal(LENGTH, WIDTH, 0.1),
        "blocks": blocks,
        "scale": ones(),
        "bias": zeros(),
    }
    return model if is_tied else model | {"head": normal(WIDTH, characters, 0.1)}


def windows(numbers: Array, starts: Array) -> dict[str, Array]:
    """Return a batch: at each start a window, and the same moved on by one character."""
    places = starts[:, None] + np.arange(LENGTH)
    return {"tokens": numbers[places], "targets": numbers[places + 1]}


def train(
    on: Backend,
    is_tied: bool,
    optimizer: str,
    steps: int,
    seed: int,
    report: Callable[[int, float], None],
) -> Mapping[str, float]:
    """Train, and return the held-out loss beside the entropy of single characters, in nats."""
    numbers, characters = text_as_numbers()
    cut = len(numbers) * 9 // 10
    known, held_out = numbers[:cut], numbers[cut:]
    model = initial_model(characters, is_tied, seed)
    tokens = TensorType("i32", ("batch", LENGTH))
    chosen = recipe(optimizer, RATES[optimizer], steps, min(WARM_UP, steps // 2))
    step = (
        on.container()
        .compiler()
        .compile_training_step(
            loss,
            inputs={"tokens": tokens, "targets": tokens, "model": model},
            parameters=["model"],
            optimizer=chosen.optimizer,
        )
    )
    rates = {"learning_rate": chosen.rate}
    session = on.session(step, {"model": model}, optimizer_inputs=rates)
    rng = np.random.default_rng(seed)
    for number in range(steps):
        batch = windows(known, rng.integers(len(known) - LENGTH - 1, size=BATCH))
        output = session.step(batch)
        report(number, float(output["loss"]))
    starts = np.arange(0, len(held_out) - LENGTH - 1, LENGTH)[:256]
    evaluated = session.evaluate(windows(held_out, starts))
    shares = np.bincount(held_out, minlength=characters) / len(held_out)
    entropy = -np.sum(shares * np.log(np.maximum(shares, 1e-300)))
    return {"loss": float(evaluated["loss"]), "entropy": float(entropy)}


def main() -> None:
    """Train once and print the two numbers."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--steps", type=int, default=STEPS, help="updates")
    parser.add_argument("--seed", type=int, default=0, help="of weights and windows")
    parser.add_argument("--optimizer", choices=RATES, default="adamw", help="what updates")
    parser.add_argument("--backend", choices=NAMES, default="numpy", help="what runs the step")
    parser.add_argument("--untied", action="store_true", help="give the output its own weights")
    arguments = parser.parse_args()
    if arguments.steps < 1:
        parser.error("--steps must be at least 1")
    with progress_bar() as progress:
        task = progress.add_task("training", total=arguments.steps, loss="")

        def report(number: int, value: float) -> None:
            progress.update(task, completed=number + 1, loss=f"loss {value:.3f}")

        result = train(
            backend(arguments.backend),
            not arguments.untied,
            arguments.optimizer,
            arguments.steps,
            arguments.seed,
            report,
        )
    print(f"entropy of single characters: {result['entropy']:.3f} nats")
    print(f"held-out loss: {result['loss']:.3f} nats")


if __name__ == "__main__":
    main()
