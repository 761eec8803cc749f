"""The one command, on every backend here, and what it refuses."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.scripts import ROOT, load
from tinychain_conformance.report import Report, Status

conformance = load("docs/conformance.py")


def run(*options: str, folder: Path = ROOT) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:randomly"]
    return subprocess.run(
        [*command, "--pyargs", "tinychain_conformance", *options],
        check=False,
        capture_output=True,
        text=True,
        cwd=folder,
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", conformance.BACKENDS)
def test_every_backend_here_is_right_and_its_table_is_in_the_documentation(name, tmp_path):
    result = run("--backend", conformance.BACKENDS[name], "--conformance-report", str(tmp_path))
    assert result.returncode == 0, result.stdout
    report = Report.from_json((tmp_path / "report.json").read_text("utf-8"))
    assert report.backend == name
    assert report.markdown() in conformance.PAGE.read_text("utf-8"), "python docs/conformance.py"
    assert f"{name}: operators" in result.stdout
    assert f"{name}: whole programs" in (tmp_path / "report.txt").read_text("utf-8")
    assert (tmp_path / "report.html").read_text("utf-8").startswith("<!DOCTYPE html>")
    tiers = json.loads((tmp_path / "report.json").read_text("utf-8"))["tiers"]
    assert tiers["basis"]


BACKEND_OF_ANOTHER = '''
"""A backend that is wrong in one operator, with an adapter of its own."""

import numpy as np
from dependency_injector import providers

from reference.backend import FUNCTIONS, ReferenceAdapter, lower_to_thunk, reference_registry
from tinychain_compile import NO_FUSION, OperationHandlerRegistry
from tinychain_compile.container import TrainingStepContainer
from tinychain_compile.operators import Exp


def registry():
    made = OperationHandlerRegistry()
    for operator in FUNCTIONS:
        if operator is not Exp:
            made.handler(operator)(lower_to_thunk)
    made.handler(Exp)(lambda c: lambda v: np.exp(v[c.input_value_ids[0]]) * v[
        c.input_value_ids[0]].dtype.type(1.5))
    return made


class Container(TrainingStepContainer):
    handler_registry = providers.Factory(registry)
    fusion_hook = providers.Object(NO_FUSION)


class Adapter(ReferenceAdapter):
    pass


class HalfAnAdapter:
    def load(self, program):
        return program
'''


@pytest.fixture
def elsewhere(tmp_path):
    (tmp_path / "theirs.py").write_text(BACKEND_OF_ANOTHER)
    (tmp_path / "reference").symlink_to(ROOT / "reference")
    return tmp_path


def test_a_wrong_backend_fails_with_the_operator_and_all_three_reports_say_so(elsewhere):
    options = ["--backend", "theirs:Container", "--adapter", "theirs:Adapter"]
    report = elsewhere / "report"
    result = run(*options, "--conformance-report", str(report), "-k", "exp-f32", folder=elsewhere)
    assert result.returncode == 1
    assert "exp in f32: exp()" in result.stdout
    rows = Report.from_json((report / "report.json").read_text("utf-8")).operators
    assert "exp" in {row.operator for row in rows if row.status is Status.WRONG}
    for name in ("report.txt", "report.html"):
        assert "exp" in (report / name).read_text("utf-8")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "part"),
    [
        (["--backend", "theirs:Container"], "a provider conformance_adapter, or --adapter"),
        (
            ["--backend", "theirs:Container", "--adapter", "theirs:HalfAnAdapter"],
            "adapter HalfAnAdapter of theirs:Container: expected methods load(program) and "
            "run(loaded, values), got no run",
        ),
        (["--backend", "theirs:registry"], "a class that derives from TrainingStepContainer"),
        (["--backend", "theirs:Nothing"], "a name to import"),
        (["--backend", "nowhere:Container"], "No module named 'nowhere'"),
        (["--backend", "theirs"], "expected package.module:Name"),
    ],
)
def test_what_is_no_backend_is_refused_by_name(elsewhere, options, part):
    result = run(*options, folder=elsewhere)
    assert result.returncode == pytest.ExitCode.USAGE_ERROR
    assert part in result.stdout + result.stderr


@pytest.mark.slow
def test_a_missing_library_says_what_to_install(tmp_path, monkeypatch):
    (tmp_path / "rich").mkdir()
    (tmp_path / "rich" / "__init__.py").write_text("raise ImportError('none', name='rich')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    result = run("--backend", "reference:ReferenceContainer")
    assert result.returncode == pytest.ExitCode.USAGE_ERROR
    assert "needs rich" in result.stdout + result.stderr
    assert "tinychain-compile[conformance]" in result.stdout + result.stderr


@pytest.mark.slow
def test_without_a_backend_the_kit_leaves_a_run_alone():
    result = run()
    assert result.returncode == pytest.ExitCode.NO_TESTS_COLLECTED
