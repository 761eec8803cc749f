"""mypy and pyright accept the one file and refuse the other on exactly the lines that say so."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent
ROOT = FOLDER.parents[1]
GOOD, BAD = FOLDER / "must_check.py", FOLDER / "must_not_check.py"


def mypy(path):
    """Return the lines on which mypy finds an error."""
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", str(path)]
    output = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    own = re.findall(rf"{path.name}:(\d+): error", output.stdout)
    assert not output.stderr, output.stderr
    return {int(line) for line in own}


def pyright(path):
    """Return the lines on which pyright finds an error."""
    command = [sys.executable, "-m", "pyright", "--outputjson"]
    command += ["--pythonpath", sys.executable, str(path)]
    output = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    found = json.loads(output.stdout)["generalDiagnostics"]
    errors = [row for row in found if row["severity"] == "error"]
    return {row["range"]["start"]["line"] + 1 for row in errors}


@pytest.mark.slow
@pytest.mark.parametrize("check", [mypy, pyright])
def test_what_is_right_is_accepted_and_what_is_wrong_refused(check):
    assert check(GOOD) == set()
    lines = BAD.read_text().splitlines()
    wanted = {number for number, line in enumerate(lines, start=1) if line.endswith("# error")}
    assert len(wanted) == 8
    assert check(BAD) == wanted
