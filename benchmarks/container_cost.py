"""What the container costs: import, build, resolve, memory.

python benchmarks/container_cost.py
"""

from __future__ import annotations

import gc
import statistics
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from timeit import Timer

from rich.console import Console
from rich.table import Table

from tinychain_backends.numpy import NumpyContainer

PROCESSES = 11
REPEATS = 15
CONTAINERS = 1_000

START = "import time; t = time.process_time(); "
END = "; print(time.process_time() - t)"
IMPORTS = {
    "numpy": "import numpy",
    "tinychain_compile": "import tinychain_compile",
    "dependency_injector": "from dependency_injector import containers, providers",
    "tinychain_compile.container": "import tinychain_compile.container",
}


def import_seconds(statement: str) -> float:
    """Return the CPU time of an import in a new process."""
    done = subprocess.run(
        [sys.executable, "-c", START + statement + END],
        check=True,
        capture_output=True,
        text=True,
    )
    return float(done.stdout)


def call_seconds(call: Callable[[], object]) -> float:
    """Return the time of one call, the median of several measurements."""
    timer = Timer(call)
    number, _ = timer.autorange()
    return statistics.median(timer.repeat(REPEATS, max(1, number // 10))) / max(1, number // 10)


def define() -> type[NumpyContainer]:
    """Return a new class of containers."""

    class Own(NumpyContainer):
        pass

    return Own


def bytes_of_containers() -> tuple[int, int]:
    """Return the bytes that so many containers hold, and that are left when they are dropped."""
    NumpyContainer().compiler()
    gc.collect()
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    held = [NumpyContainer() for _ in range(CONTAINERS)]
    for container in held:
        container.compiler()
    during, _ = tracemalloc.get_traced_memory()
    del held, container
    gc.collect()
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return during - before, after - before


def main() -> None:
    """Print every cost, imports in turns."""
    samples: dict[str, list[float]] = {name: [] for name in IMPORTS}
    for _ in range(PROCESSES):
        for name, statement in IMPORTS.items():
            samples[name].append(import_seconds(statement))
    table = Table("what", "cost", title="The container")
    for name, values in samples.items():
        table.add_row(f"import {name}", f"{statistics.median(values) * 1e3:.0f} ms")
    container = NumpyContainer()
    calls: dict[str, Callable[[], object]] = {
        "define a backend's class": define,
        "build a container": NumpyContainer,
        "build one with settings": lambda: NumpyContainer(
            config={"policies": {"nan_guard": False}}
        ),
        "resolve its compiler": container.compiler,
        "resolve one stage": container.tracer,
    }
    for name, call in calls.items():
        table.add_row(name, f"{call_seconds(call) * 1e6:.0f} µs")
    held, left = bytes_of_containers()
    table.add_row("memory of a container", f"{held / CONTAINERS / 1024:.1f} KiB")
    table.add_row(f"left after dropping {CONTAINERS:,}", f"{left / 1024:.1f} KiB")
    Console().print(table)


if __name__ == "__main__":
    main()
