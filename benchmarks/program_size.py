"""Operations of each program, and what the guard against masked singular branches costs.

Shared updates are counted once. Named composites count as one.

    pip install -e ".[bench]"
    python benchmarks/program_size.py [--json]
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from typing import Any

import jax
from rich.console import Console
from rich.table import Table
from workloads import Workload, cnn, gpt, mlp

from tinychain_compile import CompileOptions, compile_training_step
from tinychain_compile.operators import LITERALS, TIERS, Annihilate, Cast, MulNoNan
from tinychain_compile.testing import RecordingRegistry


def measure(workload: Workload) -> dict[str, Any]:
    """Return one row of the report."""
    row: dict[str, Any] = {"workload": workload.name, "description": workload.description}
    for guard in (True, False):
        step = compile_training_step(
            workload.loss,
            inputs=workload.inputs,
            parameters=workload.parameters,
            optimizer=workload.our_optimizer(),
            handlers=RecordingRegistry(),
            options=CompileOptions(nan_guard=guard),
        )
        derivative = step.lowered_derivative_program.graph.operations
        updates = {id(r.lowered_update_graph): r.lowered_update_graph for r in step.parameters}
        row["derivative" if guard else "derivative_without_guard"] = len(derivative)
        if guard:
            row["forward"] = len(step.lowered_forward_graph.operations)
            row["updates"] = sum(len(graph.operations) for graph in updates.values())
            row["guards"] = sum(
                isinstance(op.operator, (Annihilate, MulNoNan)) for op in derivative
            )
    return row


def sizes_in_jax(workload: Workload) -> tuple[int, int]:
    """Return the equations of the same step in JAX, inner calls opened, and its StableHLO."""
    step, arguments = workload.jax_step()
    traced: Any = jax.jit(step).trace(*arguments)
    return _equations(traced.jaxpr.jaxpr), traced.lower().as_text().count(" = stablehlo.")


def _equations(jaxpr: Any) -> int:
    total = 0
    for equation in jaxpr.eqns:
        given = [p if isinstance(p, (tuple, list)) else [p] for p in equation.params.values()]
        inner = [
            jaxpr
            for values in given
            for value in values
            if hasattr(jaxpr := getattr(value, "jaxpr", value), "eqns")
        ]
        total += sum(map(_equations, inner)) if inner else 1
    return total


def operations_at(workload: Workload, tier: str) -> int:
    """Return the operations of all programs for a backend that has a tier."""
    registry = RecordingRegistry([*TIERS[tier], *LITERALS, Cast])
    step = compile_training_step(
        workload.loss,
        inputs=workload.inputs,
        parameters=workload.parameters,
        optimizer=workload.our_optimizer(),
        handlers=registry,
    )
    updates = {id(row.update): row.lowered_update_graph for row in step.parameters}
    graphs = (step.lowered_forward_graph, step.lowered_derivative_program.graph, *updates.values())
    return sum(len(graph.operations) for graph in graphs)


def print_tiers() -> None:
    """Print the operations of each workload at each tier, small and whole."""
    workloads = (
        mlp(batch=8),
        cnn(batch=2, size=8, channels=(3, 4)),
        gpt(batch=1, length=8, layers=2, width=16, heads=2, vocabulary=20),
        mlp(),
        cnn(),
        gpt(),
    )
    table = Table(title="Operations at each tier")
    for title in ("workload", *TIERS):
        table.add_column(title, justify="left" if title == "workload" else "right")
    for workload in workloads:
        counts = (f"{operations_at(workload, tier):,}" for tier in TIERS)
        table.add_row(f"{workload.name}: {workload.description}", *counts)
    Console().print(table)


def main() -> None:
    """Count and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--tiers", action="store_true", help="count at each tier instead")
    parser.add_argument("--json", action="store_true", help="print a list of rows as JSON")
    arguments = parser.parse_args()
    if arguments.tiers:
        print_tiers()
        return
    rows = [measure(make()) for make in (mlp, cnn, gpt)]
    table = Table(title="Operations")
    makers: tuple[Callable[[], Workload], ...] = (mlp, cnn, gpt)
    for row, make in zip(rows, makers, strict=True):
        row["jaxpr"], row["stablehlo"] = sizes_in_jax(make())
        row["ratio"] = (row["forward"] + row["derivative"] + row["updates"]) / row["jaxpr"]
    titles = (
        *("forward", "derivative", "derivative_without_guard", "guards", "updates"),
        *("jaxpr", "stablehlo", "ratio"),
    )
    if arguments.json:
        print(json.dumps(rows, indent=1))
        return
    for title in ("workload", *titles):
        table.add_column(
            title.replace("_", " "), justify="left" if title == "workload" else "right"
        )
    for row in rows:
        name = f"{row['workload']}: {row['description']}"
        counts = [str(row[title]) for title in titles[:-1]]
        table.add_row(name, *counts, f"{row['ratio']:.2f}")
    Console(width=140).print(table)


if __name__ == "__main__":
    main()
