"""Behaviours are shown at class and instance level, warm and cold, in one and in eight threads."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

LEVELS = pytest.mark.parametrize("level", ["class", "instance"])
WARMTHS = pytest.mark.parametrize("warmth", ["cold", "warm"])
THREADS = pytest.mark.parametrize("threads", [1, 8])


def at(level, warmth, backend):
    """Return a container of a level, resolved before if it is warm."""
    container = backend() if level == "instance" else backend
    if warmth == "warm":
        container.compiler()
    return container


def in_threads(threads, work):
    """Return what work returns in each of so many threads at once."""
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(lambda _: work(), range(threads)))
