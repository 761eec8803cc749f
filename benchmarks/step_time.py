"""Time of a training step on NumPy and ONNX Runtime beside ``jax.jit`` and PyTorch, in one run.

One thread, CPU time, taking turns. What the machine sets to slow BLAS down is unset.

    pip install -e ".[bench,fast,onnx]" torch
    python benchmarks/step_time.py [--onnx] [--fast] [--json]
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

THREADS = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "NUMBA_NUM_THREADS": "1",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
}
SLOWING = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")

if __name__ == "__main__" and os.environ.get("STEP_TIME") != "1":
    clean = {name: value for name, value in os.environ.items() if name not in SLOWING}
    os.execve(sys.executable, [sys.executable, *sys.argv], {**clean, **THREADS, "STEP_TIME": "1"})

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import optax  # noqa: E402
from rich.console import Console  # noqa: E402
from rich.table import Table  # noqa: E402
from workloads import OPTIMIZERS, Workload, cnn, gpt, mlp  # noqa: E402

from tinychain_backends.numpy import NumpyContainer, NumpySession  # noqa: E402
from tinychain_compile import CompiledTrainingStep  # noqa: E402
from tinychain_compile.container import TrainingStepContainer  # noqa: E402

RATE = 0.001
Step = Callable[[], Any]


def compiled(
    workload: Workload, container: type[TrainingStepContainer] = NumpyContainer
) -> CompiledTrainingStep:
    """Compile a workload for a backend."""
    return (
        container()
        .compiler()
        .compile_training_step(
            workload.loss,
            inputs=workload.inputs,
            parameters=workload.parameters,
            optimizer=workload.our_optimizer(),
        )
    )


def our_step(workload: Workload, fast: bool) -> Step:
    """Return a step of the NumPy backend."""
    step = compiled(workload)
    arrays = workload.arrays()
    names = [row.name for row in step.parameters]
    session = NumpySession(step, {name: arrays.pop(name) for name in names}, fast=fast)
    if workload.is_frozen:
        return lambda: session.step(arrays)["loss"]
    return lambda: session.step(arrays, learning_rate=RATE)["loss"]


def onnx_step(workload: Workload) -> Step:
    """Return a step of ONNX Runtime, as one model."""
    from tinychain_backends.onnx import OnnxContainer, OnnxSession

    step = compiled(workload, OnnxContainer)
    arrays = workload.arrays()
    names = [row.name for row in step.parameters]
    session = OnnxSession(step, {name: arrays.pop(name) for name in names}, threads=1)
    if workload.is_frozen:
        return lambda: session.step(arrays)["loss"]
    return lambda: session.step(arrays, learning_rate=RATE)["loss"]


def jax_step(workload: Workload) -> Step:
    """Return a donated, jitted step of JAX with Optax."""
    parameters, batch = workload.structured(workload.arrays())
    parameters, batch = jax.tree.map(jnp.asarray, (parameters, batch))
    optimizer = workload.jax_optimizer(RATE)

    def step(parameters: Any, state: Any, batch: Any) -> Any:
        loss, gradients = jax.value_and_grad(workload.jax_loss)(parameters, **batch)
        updates, state = optimizer.update(gradients, state, parameters)
        return loss, optax.apply_updates(parameters, updates), state

    jitted = jax.jit(step, donate_argnums=(0, 1))
    held = [parameters, optimizer.init(parameters)]

    def run() -> Any:
        loss, held[0], held[1] = jitted(held[0], held[1], batch)
        return loss.block_until_ready()

    return run


def torch_step(workload: Workload) -> Step | None:
    """Return a step of PyTorch, eager; ``None`` if it is not installed."""
    try:
        from torch_workloads import step_of
    except ImportError:
        return None
    made: Step = step_of(workload, RATE)
    return made


def measure(workload: Workload, repeats: int, fast: bool, onnx: bool) -> dict[str, Any]:
    """Return the median CPU time of a step for each, in seconds, taking turns."""
    steps: dict[str, Step | None] = {
        "jax.jit": jax_step(workload),
        "ours": our_step(workload, fast=False),
        "torch eager": torch_step(workload),
    }
    if fast:
        steps["ours, fast"] = our_step(workload, fast=True)
    if onnx:
        steps["onnx"] = onnx_step(workload)
    present = {name: step for name, step in steps.items() if step is not None}
    samples: dict[str, list[float]] = {name: [] for name in present}
    for step in present.values():
        for _ in range(3):
            step()
    for _ in range(repeats):
        for name, step in present.items():
            start = time.process_time()
            step()
            samples[name].append(time.process_time() - start)
    return {
        "workload": workload.name,
        "description": workload.description,
        "optimizer": workload.optimizer,
        "seconds": {name: statistics.median(values) for name, values in samples.items()},
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print a list of rows as JSON")
    parser.add_argument("--repeats", type=int, default=30, help="steps of each")
    parser.add_argument("--fast", action="store_true", help="also with the extra fast")
    parser.add_argument("--onnx", action="store_true", help="also on ONNX Runtime (extra onnx)")
    parser.add_argument(
        "--optimizer", choices=OPTIMIZERS, help="in place of each workload's own; frozen: its rate"
    )
    parser.add_argument("--only", help="one workload: W1, W2 or W3")
    arguments = parser.parse_args()
    workloads = [w for w in (mlp(), cnn(), gpt()) if arguments.only in (None, w.name)]
    if arguments.optimizer:
        workloads = [replace(w, optimizer=arguments.optimizer) for w in workloads]
    rows = [
        measure(workload, arguments.repeats, arguments.fast, arguments.onnx)
        for workload in workloads
    ]
    if arguments.json:
        print(json.dumps(rows, indent=1))
        return
    table = Table("workload", *rows[0]["seconds"], title="CPU time of a step, ratio to jax.jit")
    for row in rows:
        base = row["seconds"]["jax.jit"]
        cells = [f"{1e3 * s:.2f} ms, {s / base:.2f}" for s in row["seconds"].values()]
        table.add_row(f"{row['workload']}: {row['description']}, {row['optimizer']}", *cells)
    Console(width=140).print(table)


if __name__ == "__main__":
    main()
