"""Pauses the collection of cyclic garbage while a compilation makes its graphs."""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def paused_collection() -> Generator[None]:
    """Let no collection begin in a block: nearly all that is made in it is still needed.

    The collector looks at everything there is, again and again, while a graph grows (see
    docs/design/decisions/0041). One that was off stays off.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
