"""The main job, as a newcomer runs it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def run(*arguments: str, program: str = "digits.py") -> str:
    return subprocess.run(
        [sys.executable, str(ROOT / "examples" / program), *arguments],
        check=True,
        capture_output=True,
        text=True,
        cwd=ROOT,
    ).stdout


def test_it_trains_plots_and_ends_with_the_accuracy(tmp_path):
    plot = tmp_path / "curve.png"
    output = run("--epochs", "2", "--plot", str(plot))
    assert re.fullmatch(r"test accuracy: \d+\.\d%", output.splitlines()[-1])
    assert "training loss:" in output
    assert plot.read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_three_seeds_reach_97_percent_on_the_held_out_fifth():
    last = run("--seeds", "3").splitlines()[-1]
    assert float(last.removeprefix("test accuracy: ").removesuffix("%")) >= 97.0


def test_it_trains_by_plain_sgd_too():
    output = run("--epochs", "2", "--optimizer", "sgd")
    assert float(output.splitlines()[-1].removeprefix("test accuracy: ").removesuffix("%")) > 80


@pytest.mark.parametrize("arguments", [("--seeds", "0"), ("--epochs", "0")])
def test_a_number_below_one_is_refused(arguments):
    with pytest.raises(subprocess.CalledProcessError) as caught:
        run(*arguments)
    assert "at least 1" in caught.value.stderr
