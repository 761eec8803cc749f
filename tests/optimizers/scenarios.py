"""Gradients that optimizers are driven with, and the settings that other libraries share with us.

A scenario is a sequence of gradients, whatever the parameter: ``loss = sum(p * g)`` has exactly the
gradient ``g``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

STEPS = 60
SHAPES = {"w": (2, 3), "b": (3,)}
SNAPSHOTS = (1, 2, 10, STEPS)
SCENARIOS = ("ordinary", "zero", "tiny", "huge", "rare")


def start() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(5)
    return {name: rng.normal(size=shape) for name, shape in SHAPES.items()}


def gradients(scenario: str) -> list[dict[str, np.ndarray]]:
    """Return the gradients of each step; in ``rare`` most are zero, and the first ones are."""
    rng = np.random.default_rng(6)
    drawn = [{n: rng.normal(size=shape) for n, shape in SHAPES.items()} for _ in range(STEPS)]
    factors: dict[str, Any] = {"ordinary": 1.0, "zero": 0.0, "tiny": 1e-12, "huge": 1e12}
    if scenario == "rare":
        return [
            {name: g * (step % 7 == 3) for name, g in row.items()} for step, row in enumerate(drawn)
        ]
    return [{name: g * factors[scenario] for name, g in row.items()} for row in drawn]


class Setting(NamedTuple):
    """One optimizer of ours, and how PyTorch is asked for the same.

    Attributes:
        ours: Class name and arguments.
        torch: The same for ``torch.optim``; ``None`` where it has none.
    """

    ours: tuple[str, dict[str, Any]]
    torch: tuple[str, dict[str, Any]] | None


RATE = 0.02
SETTINGS = {
    "sgd": Setting(("SGD", {}), ("SGD", {})),
    "sgd with decay": Setting(("SGD", {"weight_decay": 0.1}), ("SGD", {"weight_decay": 0.1})),
    "momentum": Setting(("SGD", {"momentum": 0.9}), ("SGD", {"momentum": 0.9})),
    "momentum with decay": Setting(
        ("SGD", {"momentum": 0.9, "weight_decay": 0.1}),
        ("SGD", {"momentum": 0.9, "weight_decay": 0.1}),
    ),
    "nesterov": Setting(
        ("SGD", {"momentum": 0.9, "nesterov": True}), ("SGD", {"momentum": 0.9, "nesterov": True})
    ),
    "dampening": Setting(
        ("SGD", {"momentum": 0.9, "dampening": 0.5}), ("SGD", {"momentum": 0.9, "dampening": 0.5})
    ),
    "adagrad": Setting(("Adagrad", {}), ("Adagrad", {})),
    "adagrad with decays": Setting(
        ("Adagrad", {"rate_decay": 0.1, "weight_decay": 0.1, "initial_total": 0.5}),
        ("Adagrad", {"lr_decay": 0.1, "weight_decay": 0.1, "initial_accumulator_value": 0.5}),
    ),
    "adadelta": Setting(("Adadelta", {}), ("Adadelta", {})),
    "adadelta with decay": Setting(
        ("Adadelta", {"rho": 0.8, "epsilon": 1e-3, "weight_decay": 0.1}),
        ("Adadelta", {"rho": 0.8, "eps": 1e-3, "weight_decay": 0.1}),
    ),
    "rmsprop": Setting(("RMSprop", {"decay": 0.99}), ("RMSprop", {})),
    "rmsprop centred": Setting(
        ("RMSprop", {"decay": 0.9, "centered": True, "epsilon": 1e-3}),
        ("RMSprop", {"alpha": 0.9, "centered": True, "eps": 1e-3}),
    ),
    "rmsprop with momentum": Setting(
        ("RMSprop", {"decay": 0.9, "momentum": 0.5, "weight_decay": 0.1}),
        ("RMSprop", {"alpha": 0.9, "momentum": 0.5, "weight_decay": 0.1}),
    ),
    "adam": Setting(("Adam", {}), ("Adam", {})),
    "adam with large epsilon": Setting(("Adam", {"epsilon": 0.1}), ("Adam", {"eps": 0.1})),
    "adam with decay": Setting(("Adam", {"weight_decay": 0.1}), ("Adam", {"weight_decay": 0.1})),
    "adamw": Setting(("AdamW", {"weight_decay": 0.1}), ("AdamW", {"weight_decay": 0.1})),
    "amsgrad": Setting(("AMSGrad", {}), ("Adam", {"amsgrad": True})),
    "nadam": Setting(("NAdam", {}), ("NAdam", {})),
    "nadam with decays": Setting(
        ("NAdam", {"momentum_decay": 0.1, "weight_decay": 0.1}),
        ("NAdam", {"momentum_decay": 0.1, "weight_decay": 0.1}),
    ),
    "adamax": Setting(("Adamax", {}), ("Adamax", {})),
    "adamax with decay": Setting(
        ("Adamax", {"weight_decay": 0.1}), ("Adamax", {"weight_decay": 0.1})
    ),
    "lion": Setting(("Lion", {}), None),
    "lion with decay": Setting(("Lion", {"weight_decay": 0.1}), None),
    "lamb": Setting(("LAMB", {}), None),
    "lamb with decay": Setting(("LAMB", {"weight_decay": 0.1}), None),
    "adafactor": Setting(("Adafactor", {"epsilon": 1e-60}), ("Adafactor", {"eps": (1e-40, 1e-3)})),
    "adafactor with decay": Setting(
        ("Adafactor", {"weight_decay": 0.1, "clip": 2.0, "epsilon": 1e-60}),
        ("Adafactor", {"eps": (1e-40, 1e-3), "weight_decay": 0.1, "d": 2.0}),
    ),
}
