"""What a run of the kit came to: by operator and type, and by check; text, JSON and a page."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table

from tinychain_compile.ir.dtypes import dtype_name
from tinychain_compile.operators import OPERATORS, TIERS
from tinychain_conformance.variants import DTYPES


class Status(StrEnum):
    """What became of an operator in a type."""

    RIGHT = "right"
    DECOMPOSED = "decomposed"
    ABSENT = "absent"
    WRONG = "wrong"


class OperatorRow(NamedTuple):
    """One operator in one type.

    Attributes:
        operator: Its name.
        dtype: The type of its floating operands, or of its result.
        status: ``right`` if the backend takes it, ``decomposed`` if it takes what it decomposes to,
            ``absent`` if it takes neither, ``wrong`` if a result is.
        uses: How many results were compared.
        detail: Why not, or how it differs.
    """

    operator: str
    dtype: str
    status: Status
    uses: int
    detail: str

    @staticmethod
    def read(row: Mapping[str, Any]) -> OperatorRow:
        """Return a row of its plain values."""
        plain: dict[str, Any] = {**row, "status": Status(row["status"])}
        return OperatorRow(**plain)


class CheckRow(NamedTuple):
    """One check of whole programs.

    Attributes:
        check: What was checked.
        model: On which model.
        is_right: Whether it held.
        detail: How it did not.
    """

    check: str
    model: str
    is_right: bool
    detail: str


_SIGNS = {Status.RIGHT: "●", Status.DECOMPOSED: "○", Status.ABSENT: "·", Status.WRONG: "✗"}
_STYLES = {
    Status.RIGHT: "green",
    Status.DECOMPOSED: "blue",
    Status.ABSENT: "dim",
    Status.WRONG: "bold red",
}


@dataclass
class Report:
    """The rows of a run.

    Args:
        backend: The name of the backend.
    """

    backend: str
    operators: list[OperatorRow] = field(default_factory=list[OperatorRow])
    checks: list[CheckRow] = field(default_factory=list[CheckRow])

    def tiers(self) -> dict[str, bool]:
        """Return which tiers the backend takes whole and rightly: in f32, or what has no f32."""
        right = {
            name
            for name, rows in self._by_operator().items()
            if all(
                row.status is Status.RIGHT
                for row in ([rows["f32"]] if "f32" in rows else rows.values())
            )
        }
        return {tier: {o.name for o in kinds} <= right for tier, kinds in TIERS.items()}

    def sort(self) -> None:
        """Put rows into the order of the grid and of the checks, whoever ran first."""
        names = [operator.name for operator in OPERATORS]
        self.operators.sort(key=lambda row: names.index(row.operator))
        self.checks.sort(key=lambda row: (row.check, row.model))

    def text(self, width: int = 110) -> str:
        """Return the tables as text."""
        return self._console(width).export_text(clear=False)

    def page(self) -> str:
        """Return the tables as an HTML page."""
        return self._console(110).export_html(inline_styles=True)

    def json(self) -> str:
        """Return the rows as JSON."""
        content: dict[str, Any] = {
            "backend": self.backend,
            "tiers": self.tiers(),
            "operators": [row._asdict() for row in self.operators],
            "checks": [row._asdict() for row in self.checks],
        }
        return json.dumps(content, indent=1) + "\n"

    @staticmethod
    def from_json(text: str) -> Report:
        """Return the report that ``json`` wrote."""
        content: dict[str, Any] = json.loads(text)
        return Report(
            content["backend"],
            [OperatorRow.read(row) for row in content["operators"]],
            [CheckRow(**row) for row in content["checks"]],
        )

    def markdown(self) -> str:
        """Return the tables for documentation: an operator a row, a sign for each type."""
        counts = Counter(row.status for row in self.operators)
        found = ", ".join(f"{counts[status]} {status}" for status in Status)
        tiers = ", ".join(tier for tier, is_whole in self.tiers().items() if is_whole)
        checks = sum(row.is_right for row in self.checks)
        dtypes = self._dtypes()
        lines = [
            f"## {self.backend}",
            "",
            f"Of {len(self.operators)} operators in their types: {found}. Whole tiers: {tiers}. "
            f"Checks of whole programs that held: {checks} of {len(self.checks)}.",
            "",
            f"| operator | {' | '.join(dtypes)} |",
            "|---" * (len(dtypes) + 1) + "|",
        ]
        for name, rows in self._by_operator().items():
            signs = [_SIGNS[rows[d].status] if d in rows else "" for d in dtypes]
            lines.append(f"| `{name}` | {' | '.join(signs)} |")
        return "\n".join(lines) + "\n"

    def write(self, folder: Path) -> None:
        """Write ``report.txt``, ``report.json`` and ``report.html`` into a folder."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "report.txt").write_text(self.text(), encoding="utf-8")
        (folder / "report.json").write_text(self.json(), encoding="utf-8")
        (folder / "report.html").write_text(self.page(), encoding="utf-8")

    def _dtypes(self) -> list[str]:
        present = {row.dtype for row in self.operators}
        return [dtype_name(dtype) for dtype in DTYPES if dtype_name(dtype) in present]

    def _by_operator(self) -> dict[str, dict[str, OperatorRow]]:
        found: dict[str, dict[str, OperatorRow]] = {}
        for row in self.operators:
            found.setdefault(row.operator, {})[row.dtype] = row
        return found

    def _console(self, width: int) -> Console:
        console = Console(record=True, width=width, file=StringIO(), force_terminal=True)
        for table in self._tables():
            console.print(table)
        return console

    def _tables(self) -> Sequence[Table]:
        dtypes = self._dtypes()
        signs = ", ".join(f"{sign} {status}" for status, sign in _SIGNS.items())
        tiers = ", ".join(f"{t}: {'whole' if ok else 'in part'}" for t, ok in self.tiers().items())
        operators = Table("operator", *dtypes, "tier", "", title=f"{self.backend}: operators")
        operators.caption = f"{signs}; in f32, {tiers}"
        for name, rows in self._by_operator().items():
            cells = [
                f"[{_STYLES[rows[d].status]}]{_SIGNS[rows[d].status]}[/]" if d in rows else ""
                for d in dtypes
            ]
            wrong = [row for row in rows.values() if row.status is Status.WRONG]
            detail = f"{wrong[0].dtype}: {wrong[0].detail}" if wrong else ""
            operators.add_row(name, *cells, _tier_of(name), detail.replace("[", "\\["))
        checks = Table("check", "model", "", title=f"{self.backend}: whole programs")
        for check in self.checks:
            outcome = "[green]right[/]" if check.is_right else f"[bold red]wrong[/]: {check.detail}"
            checks.add_row(check.check, check.model, outcome)
        return [table for table in (operators, checks) if table.row_count]


def _tier_of(name: str) -> str:
    """Return the smallest tier that an operator is in."""
    tiers = (tier for tier, kinds in TIERS.items() if name in {o.name for o in kinds})
    return next(tiers, "literal")
