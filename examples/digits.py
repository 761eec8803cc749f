"""Train a two-layer network on 1,797 real images of handwritten digits.

The loss is an ordinary NumPy function. The step is compiled through the container of a backend, and
run by its session.

    python examples/digits.py --seeds 3 --plot digits.png
    python examples/digits.py --backend onnx
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from backends import NAMES, Backend, backend
from digits_data import Array, Data, load
from optimizers import recipe
from reporting import progress_bar
from rich.console import Console
from rich.progress import Progress

from tinychain_compile import TensorType
from tinychain_compile.functions import log_softmax, relu

PIXELS, HIDDEN, CLASSES = 64, 128, 10
BATCH = 16
EPOCHS = {"adamw": 20, "sgd": 60}
RATES = {"adamw": 0.005, "sgd": 0.2}


def scores(images: Array, w1: Array, b1: Array, w2: Array, b2: Array) -> Array:
    """Return the score of each class: f32[batch, 64] -> f32[batch, 10]."""
    hidden = relu(images @ w1 + b1)
    return hidden @ w2 + b2


def cross_entropy(images: Array, labels: Array, w1: Array, b1: Array, w2: Array, b2: Array) -> Any:
    """Return the mean of -log(probability of the right class)."""
    log_probabilities = log_softmax(scores(images, w1, b1, w2, b2), axis=1)
    return -np.mean(np.take_along_axis(log_probabilities, labels[:, None], axis=1))


def initial_parameters(seed: int) -> dict[str, Array]:
    """Return He-normal weights and zero biases."""
    rng = np.random.default_rng(seed)

    def weights(rows: int, columns: int) -> Array:
        drawn: Array = rng.normal(size=(rows, columns)) * np.sqrt(2.0 / rows)
        narrowed: Array = drawn.astype(np.float32)
        return narrowed

    return {
        "w1": weights(PIXELS, HIDDEN),
        "b1": np.zeros(HIDDEN, np.float32),
        "w2": weights(HIDDEN, CLASSES),
        "b2": np.zeros(CLASSES, np.float32),
    }


class Run(NamedTuple):
    """What one training run came to."""

    losses: list[float]
    accuracy: float


def train(
    on: Backend, seed: int, data: Data, optimizer: str, epochs: int, progress: Progress
) -> Run:
    """Compile the step and the scores, train, and measure on the held-out fifth."""
    compiler = on.container().compiler()
    parameters = initial_parameters(seed)
    parameter_types = {name: TensorType(a.dtype, a.shape) for name, a in parameters.items()}
    images = TensorType("f32", ("batch", PIXELS))
    batches = len(data.train_labels) // BATCH
    chosen = recipe(optimizer, RATES[optimizer], epochs * batches)
    step = compiler.compile_training_step(
        cross_entropy,
        inputs={"images": images, "labels": TensorType("i32", ("batch",)), **parameter_types},
        parameters=list(parameters),
        optimizer=chosen.optimizer,
    )
    classify = on.function(
        compiler.compile_function(scores, inputs={"images": images, **parameter_types})
    )
    session = on.session(step, parameters, optimizer_inputs={"learning_rate": chosen.rate})
    rng = np.random.default_rng(seed)
    losses: list[float] = []
    task = progress.add_task(f"seed {seed}", total=epochs, loss="")
    for _ in range(epochs):
        order = rng.permutation(len(data.train_labels))
        total = 0.0
        for rows in np.array_split(order, batches):
            batch = {"images": data.train_images[rows], "labels": data.train_labels[rows]}
            total += float(session.step(batch)["loss"]) * len(rows)
        losses.append(total / len(order))
        progress.update(task, advance=1, loss=f"loss {losses[-1]:.4f}")
    return Run(losses, accuracy(classify, session.parameters, data))


def accuracy(classify: Callable[..., Any], parameters: Mapping[str, Array], data: Data) -> float:
    """Return the share of held-out images that are classified rightly."""
    output = classify({"images": data.test_images, **parameters})["output"]
    return float(np.mean(np.argmax(output, axis=1) == data.test_labels))


def plot(runs: list[Run], path: Path) -> None:
    """Draw the training loss of each run against the epoch."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
    for seed, run in enumerate(runs):
        axes.semilogy(
            range(1, len(run.losses) + 1),
            run.losses,
            label=f"seed {seed}, test accuracy {100 * run.accuracy:.1f}%",
        )
    axes.set_xlabel("epoch")
    axes.set_ylabel("training loss (mean cross-entropy)")
    axes.legend()
    figure.savefig(path, dpi=150)


def main() -> None:
    """Train once per seed and print the mean test accuracy."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seeds", type=int, default=1, help="how many runs to average")
    parser.add_argument("--epochs", type=int, help="passes over the training data")
    parser.add_argument("--optimizer", choices=RATES, default="adamw", help="what updates")
    parser.add_argument("--backend", choices=NAMES, default="numpy", help="what runs the step")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="write the loss curve to FILE")
    arguments = parser.parse_args()
    epochs = EPOCHS[arguments.optimizer] if arguments.epochs is None else arguments.epochs
    if arguments.seeds < 1 or epochs < 1:
        parser.error("--seeds and --epochs must be at least 1")

    data = load()
    on = backend(arguments.backend)
    console = Console()
    with progress_bar(console=console) as progress:
        seeds = range(arguments.seeds)
        runs = [train(on, seed, data, arguments.optimizer, epochs, progress) for seed in seeds]
    if arguments.plot:
        plot(runs, arguments.plot)
        console.print(f"wrote {arguments.plot}")
    console.print(f"training loss: {np.mean([run.losses[-1] for run in runs]):.4f}")
    print(f"test accuracy: {100 * np.mean([run.accuracy for run in runs]):.1f}%")


if __name__ == "__main__":
    main()
