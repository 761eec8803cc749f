"""Compile time of long chains: linear means that four times the length takes four times the time.

python benchmarks/depth.py
"""

from __future__ import annotations

import statistics
import time

from workloads import chain

from tinychain_compile import SGD, compile_training_step
from tinychain_compile.testing import RecordingRegistry

LENGTHS = (5_000, 10_000, 20_000)
REPEATS = 5


def seconds(length: int) -> float:
    """Return the CPU time of compiling a chain of this length once."""
    workload = chain(length)
    start = time.process_time()
    compile_training_step(
        workload.loss,
        inputs=workload.inputs,
        parameters=workload.parameters,
        optimizer=SGD(),
        handlers=RecordingRegistry(),
    )
    return time.process_time() - start


def main() -> None:
    """Measure each length in turn, several times over, and print ratios of medians."""
    samples: dict[int, list[float]] = {length: [] for length in LENGTHS}
    for _ in range(REPEATS):
        for length in LENGTHS:
            samples[length].append(seconds(length))
    medians = {length: statistics.median(values) for length, values in samples.items()}
    first = LENGTHS[0]
    for length, median in medians.items():
        print(
            f"{length:6d} operations: {median:.3f} s, {median / medians[first]:.2f} times the time "
            f"of {first} for {length / first:.0f} times the length"
        )


if __name__ == "__main__":
    main()
