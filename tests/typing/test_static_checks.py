"""mypy and pyright accept the one file, and find in the other exactly the errors written there."""

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
    """Return the line and the kind of each error that mypy finds."""
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", str(path)]
    output = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert not output.stderr, output.stderr
    found = re.findall(rf"{path.name}:(\d+): error: .* \[(.+)\]", output.stdout)
    return [(int(line), kind) for line, kind in found]


def pyright(path):
    """Return the line and the kind of each error that pyright finds."""
    command = [sys.executable, "-m", "pyright", "--outputjson"]
    command += ["--pythonpath", sys.executable, str(path)]
    output = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    found = json.loads(output.stdout)["generalDiagnostics"]
    errors = [row for row in found if row["severity"] == "error"]
    return [(row["range"]["start"]["line"] + 1, row["rule"]) for row in errors]


@pytest.mark.slow
@pytest.mark.parametrize(("position", "check"), [(0, mypy), (1, pyright)])
def test_what_is_right_is_accepted_and_what_is_wrong_refused(position, check):
    assert check(GOOD) == []
    lines = list(enumerate(BAD.read_text().splitlines(), start=1))
    notes = [
        (number, line.partition("# wrong: ")[2].split(", ")[position])
        for number, line in lines
        if "# wrong: " in line
    ]
    assert len(notes) == 8
    found = [
        (max(note for note, _ in notes if note < line), kind) for line, kind in sorted(check(BAD))
    ]
    assert found == notes
