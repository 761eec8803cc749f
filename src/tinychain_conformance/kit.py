"""What the tests of the kit share in one run: the backend, and the rows of the report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tinychain_compile.errors import BackendError
from tinychain_conformance.adapter import Backend, load_backend
from tinychain_conformance.report import CheckRow, OperatorRow, Report, Status

_PROPERTY = "tinychain_conformance"


class Kit:
    """A plugin of a run that names a backend; rows reach it from every worker by test reports.

    Args:
        config: Of the run.

    Raises:
        pytest.UsageError: The backend cannot be loaded.
    """

    def __init__(self, config: pytest.Config) -> None:
        options = config.option
        try:
            self.backend: Backend = load_backend(options.backend, options.adapter)
        except BackendError as error:
            raise pytest.UsageError(str(error)) from error
        self.folder: Path | None = options.conformance_report
        self.report = Report(self.backend.name)
        config.stash[KIT] = self

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take the row of a test that ran."""
        for name, value in report.user_properties:
            if name == _PROPERTY and report.when == "call":
                self._take(value)  # type: ignore[arg-type]

    def _take(self, row: dict[str, Any]) -> None:
        if "operator" in row:
            self.report.operators.append(OperatorRow.read(row))
        else:
            self.report.checks.append(CheckRow(**row))

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the tables, and write them where a folder is given."""
        if self.report.operators or self.report.checks:
            self.report.sort()
            terminalreporter.write_line(self.report.text())
            if self.folder is not None:
                self.report.write(self.folder)
                terminalreporter.write_line(f"wrote {self.folder}/report.html")


KIT: pytest.StashKey[Kit] = pytest.StashKey()


def record(request: pytest.FixtureRequest, row: OperatorRow | CheckRow) -> None:
    """Give a row to the report."""
    plain = {name: str(v) if isinstance(v, Status) else v for name, v in row._asdict().items()}
    request.node.user_properties.append((_PROPERTY, plain))
