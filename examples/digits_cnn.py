"""Train a small convolutional network, with batch normalization, on real handwritten digits.

The running statistics are buffers: inputs of the loss whose new values it returns beside the loss.
Evaluation uses them. Images are moved by up to a pixel while training.

    python examples/digits_cnn.py --seeds 3
    python examples/digits_cnn.py --backend onnx
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

import numpy as np
from backends import NAMES, Backend, backend
from digits_data import Array, Data, load
from optimizers import recipe
from reporting import progress_bar
from rich.progress import Progress

from tinychain_compile import TensorType
from tinychain_compile.functions import (
    batch_norm,
    batch_norm_inference,
    conv,
    max_pool,
    relu,
    running_statistics,
    softmax_cross_entropy,
)

CHANNELS = (1, 16, 32)
BATCH = 32
EPOCHS = {"adamw": 15, "sgd": 20}
RATES = {"adamw": 0.01, "sgd": 0.1}


def training_loss(images: Array, labels: Array, model: Any, statistics: Any) -> Any:
    """Return the loss, the accuracy, and the running statistics moved towards this batch's."""
    hidden = images
    moved = []
    for layer, running in zip(model["layers"], statistics, strict=True):
        hidden = conv(hidden, layer["kernel"], padding="same")
        mean, variance = running_statistics(hidden, running["mean"], running["variance"])
        moved.append({"mean": mean, "variance": variance})
        hidden = max_pool(relu(batch_norm(hidden, layer["scale"], layer["bias"])), 2)
    scores = hidden.reshape(hidden.shape[0], -1) @ model["w"] + model["b"]
    loss = np.mean(softmax_cross_entropy(scores, labels))
    accuracy = np.mean(np.argmax(scores, axis=1) == labels)
    return loss, {"accuracy": accuracy, "statistics": moved}


def classify(images: Array, model: Any, statistics: Any) -> Any:
    """Return the digit of each image, by the running statistics: f32[n, 1, 8, 8] -> i64[n]."""
    hidden = images
    for layer, running in zip(model["layers"], statistics, strict=True):
        hidden = conv(hidden, layer["kernel"], padding="same")
        known = (running["mean"], running["variance"])
        hidden = batch_norm_inference(hidden, layer["scale"], layer["bias"], *known)
        hidden = max_pool(relu(hidden), 2)
    return np.argmax(hidden.reshape(hidden.shape[0], -1) @ model["w"] + model["b"], axis=1)


def initial_model(seed: int) -> tuple[dict[str, Any], list[dict[str, Array]]]:
    """Return He-normal kernels, unit scales and zero biases, and statistics of nothing yet."""
    rng = np.random.default_rng(seed)

    def normal(*shape: int, fan_in: int) -> Array:
        drawn: Array = rng.normal(size=shape) * np.sqrt(2.0 / fan_in)
        narrowed: Array = drawn.astype(np.float32)
        return narrowed

    layers = [
        {
            "kernel": normal(outputs, inputs, 3, 3, fan_in=inputs * 9),
            "scale": np.ones(outputs, np.float32),
            "bias": np.zeros(outputs, np.float32),
        }
        for inputs, outputs in pairwise(CHANNELS)
    ]
    flat = CHANNELS[-1] * 2 * 2
    statistics = [
        {"mean": np.zeros(n, np.float32), "variance": np.ones(n, np.float32)} for n in CHANNELS[1:]
    ]
    head = {"w": normal(flat, 10, fan_in=flat), "b": np.zeros(10, np.float32)}
    return {"layers": layers, **head}, statistics


def moved_by_a_pixel(images: Array, rng: np.random.Generator) -> Array:
    """Return images [n, 1, 8, 8], each moved by -1, 0 or 1 pixels along both axes."""
    padded = np.pad(images, ((0, 0), (0, 0), (1, 1), (1, 1)))
    rows, columns = rng.integers(3, size=(2, len(images)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (8, 8), axis=(2, 3))
    moved: Array = windows[np.arange(len(images)), :, rows, columns]
    return moved


def train(
    on: Backend, seed: int, data: Data, optimizer: str, epochs: int, progress: Progress
) -> float:
    """Compile, train, and return the share of held-out images that are classified rightly."""
    compiler = on.container().compiler()
    model, statistics = initial_model(seed)
    images = TensorType("f32", ("batch", 1, 8, 8))
    batches = len(data.train_labels) // BATCH
    chosen = recipe(optimizer, RATES[optimizer], epochs * batches)
    learned: dict[str, Any] = {"model": model, "statistics": statistics}
    step = compiler.compile_training_step(
        training_loss,
        inputs={"images": images, "labels": TensorType("i32", ("batch",)), **learned},
        parameters=["model"],
        optimizer=chosen.optimizer,
    )
    function = on.function(
        compiler.compile_function(classify, inputs={"images": images, **learned})
    )
    session = on.session(
        step,
        {"model": model},
        buffers={"statistics": statistics},
        optimizer_inputs={"learning_rate": chosen.rate},
    )
    train_images = data.train_images.reshape(-1, 1, 8, 8)
    rng = np.random.default_rng(seed)
    task = progress.add_task(f"seed {seed}", total=epochs, loss="")
    for _ in range(epochs):
        order = rng.permutation(len(data.train_labels))
        total = 0.0
        for rows in np.array_split(order, batches):
            batch = {
                "images": moved_by_a_pixel(train_images[rows], rng),
                "labels": data.train_labels[rows],
            }
            total += float(session.step(batch)["loss"]) * len(rows)
        progress.update(task, advance=1, loss=f"loss {total / len(order):.4f}")
    return accuracy(function, session.parameters, session.buffers, data)


def accuracy(
    function: Callable[..., Any],
    parameters: Mapping[str, Array],
    buffers: Mapping[str, Array],
    data: Data,
) -> float:
    """Return the share of held-out images that are classified rightly."""
    images = data.test_images.reshape(-1, 1, 8, 8)
    digits = function({"images": images, **parameters, **buffers})["output"]
    return float(np.mean(digits == data.test_labels))


def main() -> None:
    """Train once per seed and print the mean test accuracy."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seeds", type=int, default=1, help="how many runs to average")
    parser.add_argument("--epochs", type=int, help="passes over the training data")
    parser.add_argument("--optimizer", choices=RATES, default="adamw", help="what updates")
    parser.add_argument("--backend", choices=NAMES, default="numpy", help="what runs the step")
    arguments = parser.parse_args()
    epochs = EPOCHS[arguments.optimizer] if arguments.epochs is None else arguments.epochs
    if arguments.seeds < 1 or epochs < 1:
        parser.error("--seeds and --epochs must be at least 1")
    data = load()
    on = backend(arguments.backend)
    with progress_bar() as progress:
        seeds = range(arguments.seeds)
        shares = [train(on, seed, data, arguments.optimizer, epochs, progress) for seed in seeds]
    print(f"test accuracy: {100 * np.mean(shares):.1f}%")


if __name__ == "__main__":
    main()
