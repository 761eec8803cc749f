"""What each capture policy retains of W3, and what it does again; ``--plot`` draws the trade-off.

pip install -e ".[bench,captures,examples]"
python benchmarks/captures.py [--json] [--plot docs/captures.svg]
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
from rich.console import Console
from rich.table import Table
from workloads import gpt

from tinychain_compile import (
    SGD,
    ByteBudget,
    CapturePolicy,
    CompileOptions,
    KeepAll,
    MinimumCut,
    RecomputeAll,
    compile_training_step,
)
from tinychain_compile.testing import RecordingRegistry

PEERS = {"PyTorch eager": 129.0, "JAX": 269.0}
"""Megabytes that others retain of the same model: PyTorch 2.13, JAX 0.10.2."""

POLICIES: tuple[CapturePolicy, ...] = (
    KeepAll(),
    MinimumCut(),
    MinimumCut(recompute_products=True, recompute_budget=0.5),
    ByteBudget(25_000_000),
    RecomputeAll(),
)
BUDGETS = (0.0, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


def measure(policy: CapturePolicy) -> dict[str, Any]:
    """Return what a policy retains, in megabytes, and how many operations the derivative has."""
    workload = gpt()
    start = time.process_time()
    step = compile_training_step(
        workload.loss,
        inputs=workload.inputs,
        parameters=workload.parameters,
        optimizer=SGD(),
        handlers=RecordingRegistry(),
        options=CompileOptions(captures=policy),
    )
    seconds = time.process_time() - start
    assert step.capture_ledger.total_bytes is not None
    return {
        "policy": repr(policy),
        "megabytes": step.capture_ledger.total_bytes / 1e6,
        "captures": len(step.forward_capture_value_ids),
        "derivative": len(step.lowered_derivative_program.graph.operations),
        "seconds": seconds,
    }


def plot(path: Path) -> None:
    """Draw bytes against the budget of work."""
    cuts = [MinimumCut(recompute_products=True, recompute_budget=budget) for budget in BUDGETS]
    megabytes = [measure(cut)["megabytes"] for cut in cuts]
    mpl.rcParams["svg.hashsalt"] = "captures"
    figure, axes = plt.subplots(figsize=(7, 4))
    axes.step([100 * budget for budget in BUDGETS], megabytes, where="post", label="minimum cut")
    kept = measure(KeepAll())["megabytes"]
    axes.axhline(kept, color="gray", linestyle=":", label="keep all (the default)")
    axes.axhline(PEERS["PyTorch eager"], color="tab:red", linestyle="--", label="PyTorch eager")
    axes.set_xlabel("forward work that may be done again, %")
    axes.set_ylabel("retained for the derivative, MB")
    axes.set_ylim(bottom=0)
    axes.set_title("W3: transformer, 12 layers, width 256, sequence 128, batch 4")
    axes.legend()
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})


def main() -> None:
    """Measure, print and draw."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print a list of rows as JSON")
    parser.add_argument("--plot", type=Path, help="write the trade-off curve to this file")
    arguments = parser.parse_args()
    rows = [measure(policy) for policy in POLICIES]
    if arguments.json:
        print(json.dumps(rows, indent=1))
    else:
        table = Table("policy", "MB", "captures", "operations", "compile, s", title="W3")
        for row in rows:
            table.add_row(
                row["policy"],
                f"{row['megabytes']:.1f}",
                str(row["captures"]),
                str(row["derivative"]),
                f"{row['seconds']:.2f}",
            )
        Console().print(table)
    if arguments.plot:
        plot(arguments.plot)


if __name__ == "__main__":
    main()
