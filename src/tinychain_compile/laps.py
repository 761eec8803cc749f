"""How long each stage of a compilation took, for records and logs."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Mapping
from time import perf_counter
from types import MappingProxyType

LOGGER = logging.getLogger("tinychain_compile")
"""Gets the times of each compilation at the level INFO."""

VARIABLE = "TINYCHAIN_COMPILE_LOG"
"""The environment variable that, set to anything, prints them to the standard error stream."""


class Laps:
    """A stopwatch: each lap goes to the stage that has just ended."""

    def __init__(self) -> None:
        self._seconds: dict[str, float] = {}
        self._last = perf_counter()

    def end(self, stage: str) -> None:
        """Give the time since the last lap to a stage."""
        now = perf_counter()
        self._seconds[stage] = self._seconds.get(stage, 0.0) + now - self._last
        self._last = now

    def seconds(self) -> Mapping[str, float]:
        """Return the seconds of each stage, in the order in which they first ended."""
        return MappingProxyType(self._seconds)


def report(what: str, operations: int, seconds: Mapping[str, float]) -> None:
    """Log the times of a compilation, and print them if the environment asks for it."""
    is_printed = bool(os.environ.get(VARIABLE))
    if not is_printed and not LOGGER.isEnabledFor(logging.INFO):
        return
    total = sum(seconds.values())
    rows = ", ".join(f"{stage} {1e3 * time:.2f}" for stage, time in seconds.items())
    text = f"compiled {what}: {operations} operations in {1e3 * total:.2f} ms ({rows})"
    LOGGER.info(text)
    if is_printed:
        print(text, file=sys.stderr)
