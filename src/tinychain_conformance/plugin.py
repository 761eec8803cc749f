"""The pytest plugin: options that name a backend, and the tables after the run.

Installed with the package; it imports nothing for a run that names no backend.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

_KIT = Path(__file__).parent


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("tinychain-conformance", "conformance of a backend")
    group.addoption("--backend", metavar="MODULE:CONTAINER", help="the container to test")
    group.addoption(
        "--adapter",
        metavar="MODULE:ADAPTER",
        help="runs its programs; by default the container's provider conformance_adapter",
    )
    group.addoption(
        "--conformance-report",
        metavar="FOLDER",
        type=Path,
        help="write report.txt, report.json, report.html and diverging operands to FOLDER",
    )


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave the kit's tests alone in a run that names no backend."""
    is_test = collection_path.parent == _KIT and collection_path.name.startswith("test_")
    return True if is_test and config.getoption("--backend") is None else None


def pytest_configure(config: pytest.Config) -> None:
    """Load the backend, and collect rows where the tests run."""
    if config.getoption("--backend") is None:
        return
    try:
        kit: Any = import_module("tinychain_conformance.kit")
    except ImportError as error:
        raise pytest.UsageError(
            f"the conformance kit needs {error.name or error}: "
            "pip install 'tinychain-compile[conformance]'"
        ) from error
    config.pluginmanager.register(kit.Kit(config), "tinychain_conformance_kit")
