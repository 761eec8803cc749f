"""Makes trajectories_by_torch.json: parameters after steps of PyTorch's optimizers, in f64.

Run ``pip install -e . torch`` and then, in the root of the repository,
``PYTHONPATH=. python tests/optimizers/make_trajectories_by_torch.py``.
"""

from __future__ import annotations

import json
from pathlib import Path

import torch

from tests.optimizers.scenarios import (
    RATE,
    SCENARIOS,
    SETTINGS,
    SNAPSHOTS,
    STEPS,
    gradients,
    start,
)


def trajectory(kind: str, arguments: dict, scenario: str) -> dict[str, list]:
    parameters = {name: torch.tensor(a, requires_grad=True) for name, a in start().items()}
    optimizer = getattr(torch.optim, kind)(list(parameters.values()), lr=RATE, **arguments)
    snapshots = []
    for step, row in enumerate(gradients(scenario), start=1):
        for name, parameter in parameters.items():
            parameter.grad = torch.tensor(row[name])
        optimizer.step()
        if step in SNAPSHOTS:
            snapshots.append({n: p.detach().tolist() for n, p in parameters.items()})
    return snapshots


def main() -> None:
    torch.set_default_dtype(torch.float64)  # PyTorch keeps its scalars in this
    written = {
        "made_by": f"torch {torch.__version__}",
        "steps": STEPS,
        "settings": {
            name: {scenario: trajectory(*setting.torch, scenario) for scenario in SCENARIOS}
            for name, setting in SETTINGS.items()
            if setting.torch is not None
        },
    }
    path = Path(__file__).with_name("trajectories_by_torch.json")
    path.write_text(json.dumps(written, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
