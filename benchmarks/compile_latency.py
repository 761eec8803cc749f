"""Compile time beside JAX's, in one run: our whole compile against ``jit(step).trace().lower()``.

One-thread CPU time, medians. The two take turns of five runs each, so that neither starts from the
caches that the other left. Ours runs to trivial handlers, with all checks on. AOTAutograd, of
forward and backward only, is measured where PyTorch is installed.

    pip install -e ".[bench]"
    python benchmarks/compile_latency.py [--json] [--long 10000]
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from typing import Any

import jax
from rich.console import Console
from rich.table import Table
from workloads import Workload, chain, cnn, gpt, many, mlp

from tinychain_compile import (
    NO_FUSION,
    CompiledTrainingStep,
    OperationContext,
    OperationHandlerRegistry,
)
from tinychain_compile.container import TrainingStepContainer
from tinychain_compile.operators import OPERATORS

TARGET = 0.05
CHAIN_TARGET = 0.03
TURN = 5
"""Runs in a row before the other system has its turn."""


def trivial_container() -> Any:
    """Return a container whose handlers return the id of the output and do nothing else."""
    registry = OperationHandlerRegistry()

    def lower(context: OperationContext) -> str:
        return context.output_value_id

    for operator in OPERATORS:
        registry.handler(operator)(lower)
    container = TrainingStepContainer()
    container.handler_registry.override(registry)
    container.fusion_hook.override(NO_FUSION)
    return container


def compile_ours(container: Any, workload: Workload) -> CompiledTrainingStep:
    """Compile a workload with its optimizer."""
    step: CompiledTrainingStep = container.compiler().compile_training_step(
        workload.loss,
        inputs=workload.inputs,
        parameters=workload.parameters,
        optimizer=workload.our_optimizer(),
    )
    return step


def compile_jax(workload: Workload) -> Any:
    """Trace and lower the same step, without generating code; return it and its CPU seconds."""
    step, arguments = workload.jax_step()
    begin = time.process_time()
    lowered = jax.jit(step).trace(*arguments).lower()
    return lowered, time.process_time() - begin


def stage_seconds(steps: list[CompiledTrainingStep]) -> dict[str, float]:
    """Return the median time of each stage, in seconds, as the records say."""
    stages = dict.fromkeys(stage for step in steps for stage in step.timings)
    return {s: statistics.median(step.timings.get(s, 0.0) for step in steps) for s in stages}


def operations_of(step: CompiledTrainingStep) -> int:
    """Return the number of operations of all programs, shared updates counted once."""
    updates = {row.update: len(row.lowered_update_graph.operations) for row in step.parameters}
    return (
        len(step.lowered_forward_graph.operations)
        + len(step.lowered_derivative_program.graph.operations)
        + sum(updates.values())
    )


def aot_seconds(workload: Workload, repeats: int) -> float | None:
    """Return the median of AOTAutograd, forward and backward only; ``None`` without PyTorch."""
    try:
        import torch_workloads
    except ImportError:
        return None
    if workload.name not in torch_workloads.LOSSES:
        return None
    return statistics.median(torch_workloads.aot_seconds(workload) for _ in range(repeats))


def measure(workload: Workload, repeats: int, turn: int) -> dict[str, Any]:
    """Return one row of the report."""
    container = trivial_container()
    for _ in range(min(3, turn)):
        step = compile_ours(container, workload)
        compile_jax(workload)
    steps: list[CompiledTrainingStep] = []
    ours: list[float] = []
    theirs: list[float] = []
    for _ in range(repeats):
        for _ in range(turn):
            start = time.process_time()
            steps.append(compile_ours(container, workload))
            ours.append(time.process_time() - start)
            del steps[:-9]
        theirs += [compile_jax(workload)[1] for _ in range(turn)]
    ours_s, jax_s = statistics.median(ours), statistics.median(theirs)
    return {
        "workload": workload.name,
        "description": workload.description,
        "ours_s": ours_s,
        "jax_s": jax_s,
        "ratio": ours_s / jax_s,
        "aot_s": aot_seconds(workload, repeats),
        "operations": operations_of(step),
        "stages": stage_seconds(steps),
    }


def print_rows(rows: list[dict[str, Any]]) -> None:
    """Print the report as a table."""
    console = Console()
    table = Table(title="Compile time, one-thread CPU, medians of one run")
    titles = ("ours, ms", f"jax {jax.__version__}, ms", "ratio", "target", "AOTAutograd, ms")
    for title in ("workload", *titles):
        table.add_column(title, justify="left" if title == "workload" else "right")
    for row in rows:
        table.add_row(
            f"{row['workload']}: {row['description']}",
            f"{1e3 * row['ours_s']:.2f}",
            f"{1e3 * row['jax_s']:.2f}",
            f"{row['ratio']:.3f}",
            f"{CHAIN_TARGET if row['workload'].startswith('W4') else TARGET}",
            f"{1e3 * row['aot_s']:.2f}" if row["aot_s"] is not None else "",
        )
    console.print(table)
    for row in rows:
        per_operation = 1e6 * row["ours_s"] / row["operations"]
        console.print(
            f"{row['workload']}: {row['operations']} operations, {per_operation:.1f} us each"
        )
        for stage, seconds in row["stages"].items():
            console.print(f"  {stage:22s} {1e6 * seconds / row['operations']:6.2f} us an operation")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print a list of rows as JSON")
    parser.add_argument("--repeats", type=int, default=15, help="turns of each; at least 7")
    parser.add_argument(
        "--long", type=int, metavar="N", help="also W5, and W4 of N blocks: JAX takes 1 ms for each"
    )
    arguments = parser.parse_args()
    if arguments.repeats < 7:
        parser.error("--repeats must be at least 7")
    rows = [measure(make(), arguments.repeats, TURN) for make in (mlp, cnn, gpt)]
    if arguments.long:
        rows += [measure(workload, 7, 1) for workload in (many(), chain(arguments.long))]
    if arguments.json:
        print(json.dumps(rows, indent=1))
    else:
        print_rows(rows)


if __name__ == "__main__":
    main()
