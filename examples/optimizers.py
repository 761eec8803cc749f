"""The optimizers that the examples can train with, each with the schedule of its rate."""

from __future__ import annotations

from typing import NamedTuple

from tinychain_compile import SGD, AdamW
from tinychain_compile.schedules import Schedule, cosine, warmup_cosine


class Recipe(NamedTuple):
    """An optimizer and the rate that it is fed at each step."""

    optimizer: AdamW | SGD
    rate: Schedule


def recipe(name: str, peak: float, steps: int, warm_up: int = 0, decay: float = 0.1) -> Recipe:
    """Return an optimizer by name, with a cosine from ``peak`` down to 0 after a warm-up.

    Args:
        name: ``adamw`` or ``sgd``.
        peak: The largest rate.
        steps: How many updates there will be.
        warm_up: How many of them the rate rises.
        decay: The weight decay of AdamW.
    """
    optimizer = AdamW(weight_decay=decay) if name == "adamw" else SGD()
    falling = warmup_cosine(peak, warm_up, steps) if warm_up else cosine(peak, steps)
    return Recipe(optimizer, falling)
