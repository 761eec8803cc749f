"""Compile time and memory of long chains (W4): linear means ten times the length, ten times both.

Each length is compiled in a process of its own, so that its peak of memory is its own.

    python benchmarks/depth.py [--longest 100000]
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time

from workloads import chain

from tinychain_compile import compile_training_step
from tinychain_compile.testing import TextRegistry


def measure(length: int) -> dict[str, float]:
    """Return the CPU time of compiling a chain of this length once, and the peak of memory."""
    workload = chain(length)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.process_time()
    step = compile_training_step(
        workload.loss,
        inputs=workload.inputs,
        parameters=workload.parameters,
        optimizer=workload.our_optimizer(),
        handlers=TextRegistry(),
    )
    seconds = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    graphs = (step.lowered_forward_graph, step.lowered_derivative_program.graph)
    operations = sum(len(graph.operations) for graph in graphs)
    return {"seconds": seconds, "bytes": 1024.0 * peak, "operations": operations}


def main() -> None:
    """Measure each length and print ratios to the shortest."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--longest", type=int, default=10_000, help="blocks of the longest chain")
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(measure(arguments.one)))
        return
    rows: list[tuple[int, dict[str, float]]] = []
    for length in (arguments.longest // 100, arguments.longest // 10, arguments.longest):
        command = [sys.executable, __file__, "--one", str(length)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        rows.append((length, json.loads(done.stdout)))
    for place, (length, row) in enumerate(rows):
        text = f"{length:7,} blocks, {row['operations']:9,.0f} operations: {row['seconds']:6.2f} s"
        text += f", {row['bytes'] / row['operations']:5.0f} bytes an operation"
        if place:
            text += f", {row['seconds'] / rows[place - 1][1]['seconds']:.1f} times the one before"
        print(text)


if __name__ == "__main__":
    main()
