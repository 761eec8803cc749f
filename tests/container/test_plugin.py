"""The pytest plugin: fresh containers, and a failure for the test that leaves an override."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import entry_points

from tinychain_backends.numpy import NumpyContainer

SUITE = """
import pytest
from dependency_injector import providers
from tinychain_backends.numpy import NumpyContainer
from tinychain_compile.testing import FakeTracer, scoped_overrides


def test_clean(fresh_container):
    container = fresh_container(NumpyContainer, config={"policies": {"nan_guard": False}})
    with scoped_overrides(container, tracer=FakeTracer()):
        assert isinstance(container.compiler().tracer, FakeTracer)
    assert fresh_container(NumpyContainer) is not container


def test_leaves_one_on_the_instance(fresh_container):
    fresh_container(NumpyContainer).tracer.override(providers.Factory(FakeTracer))


def test_leaves_one_on_the_class(fresh_container):
    fresh_container(NumpyContainer)
    NumpyContainer.legalizer.override(providers.Object(None))


def test_does_not_ask():
    NumpyContainer.legalizer.reset_override()
    NumpyContainer().tracer.override(providers.Factory(FakeTracer))
"""


def run_suite(tmp_path, *options):
    (tmp_path / "test_suite.py").write_text(SUITE)
    command = [sys.executable, "-m", "pytest", "-p", "no:randomly", "-p", "no:xdist"]
    return subprocess.run(
        [*command, "-p", "no:cacheprovider", *options, "test_suite.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    ).stdout


def test_only_the_tests_that_leave_an_override_fail_and_are_told_which(tmp_path):
    output = run_suite(tmp_path)
    assert "4 passed, 2 errors" in output
    assert "overrides left behind on NumpyContainer.tracer" in output
    assert "overrides left behind on NumpyContainer.legalizer" in output


def test_it_is_found_by_its_entry_point_and_has_no_other_fixture(tmp_path):
    (plugin,) = [
        entry for entry in entry_points(group="pytest11") if entry.name == "tinychain_compile"
    ]
    assert plugin.value == "tinychain_compile.pytest_plugin"
    output = run_suite(tmp_path, "--fixtures")
    assert output.count("tinychain_compile/pytest_plugin.py") == 1


def test_a_suite_that_does_not_use_it_imports_nothing_of_the_project(tmp_path):
    (tmp_path / "test_other.py").write_text(
        "import sys\n"
        "def test():\n"
        "    found = {name for name in sys.modules if name.startswith('tinychain')}\n"
        "    skeleton = {'tinychain_compile', 'tinychain_compile.pytest_plugin'}\n"
        "    kit = {'tinychain_conformance', 'tinychain_conformance.plugin'}\n"
        "    assert found == skeleton | kit\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_other.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_here_too_a_container_is_made_with_settings(fresh_container):
    container = fresh_container(NumpyContainer, config={"policies": {"nan_guard": False}})
    assert container.compiler().defaults.options.nan_guard is False
