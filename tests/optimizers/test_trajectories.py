"""Every optimizer of the catalogue takes the steps that PyTorch takes, over 60 steps in f64."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import tinychain_compile
from tests.optimizers.running import train
from tests.optimizers.scenarios import RATE, SCENARIOS, SETTINGS, SNAPSHOTS
from tinychain_compile.optimizers.base import CatalogueOptimizer

BY_TORCH = json.loads(Path(__file__).with_name("trajectories_by_torch.json").read_text())


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("name", BY_TORCH["settings"])
def test_steps_are_those_of_pytorch(name, scenario):
    kind, arguments = SETTINGS[name].ours
    ours = train(getattr(tinychain_compile, kind)(RATE, **arguments), scenario)
    for step, theirs in zip(SNAPSHOTS, BY_TORCH["settings"][name][scenario], strict=True):
        for parameter, array in theirs.items():
            np.testing.assert_allclose(
                ours[step - 1][parameter], array, rtol=1e-10, atol=0.0, err_msg=f"step {step}"
            )


def test_every_optimizer_of_the_catalogue_is_compared():
    everything = {
        name
        for name in tinychain_compile.__all__
        if isinstance(kind := getattr(tinychain_compile, name), type)
        and issubclass(kind, CatalogueOptimizer)
    }
    assert everything == {setting.ours[0] for setting in SETTINGS.values()}
    beyond_pytorch = {s.ours[0] for s in SETTINGS.values() if s.torch is None}
    assert beyond_pytorch == {"Lion", "LAMB"}  # these are compared with Optax in tests/oracle
