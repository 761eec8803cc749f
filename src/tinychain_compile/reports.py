"""What a backend supports of a step, and which handlers would help most: as data and as text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from tinychain_compile.ir.operator import Operator
from tinychain_compile.ir.origin import Origin


class SupportStatus(StrEnum):
    """What became of an operator in one program."""

    SUPPORTED = "supported"
    DECOMPOSED = "decomposed"
    MISSING = "missing"


class SupportRow(NamedTuple):
    """The operations of one operator, in one program, with one fate.

    Attributes:
        program: ``forward``, ``derivative`` or ``update of`` a type.
        operator: Its class.
        status: Its fate.
        uses: How many operations there are of it.
        reason: Why it is not supported, and, if it is missing, why it was not decomposed either.
        origins: Where the operations come from; each origin once, none for what is supported.
        operations: How many operations they became; for what was decomposed.
        bytes: How many bytes the results of those take; ``None`` if that depends on a symbol.
    """

    program: str
    operator: type[Operator]
    status: SupportStatus
    uses: int
    reason: str = ""
    origins: tuple[Origin | None, ...] = ()
    operations: int = 0
    bytes: int | None = 0

    @property
    def sources(self) -> tuple[str, ...]:
        """The user's lines, with the rules between them and the operations; each once."""
        return tuple(dict.fromkeys(map(str, self.origins)))


@dataclass(frozen=True, slots=True)
class SupportReport:
    """What a backend supports of all programs of a step.

    Args:
        rows: Missing ones first, then decomposed ones, then supported ones.
    """

    rows: tuple[SupportRow, ...]

    @property
    def missing(self) -> tuple[SupportRow, ...]:
        """What the backend neither has nor can be given by decomposition."""
        return self._of(SupportStatus.MISSING)

    @property
    def decomposed(self) -> tuple[SupportRow, ...]:
        """What was decomposed, and what it cost."""
        return self._of(SupportStatus.DECOMPOSED)

    @property
    def supported(self) -> tuple[SupportRow, ...]:
        """What the backend takes whole."""
        return self._of(SupportStatus.SUPPORTED)

    @property
    def is_complete(self) -> bool:
        """Whether the step can be lowered."""
        return not self.missing

    def _of(self, status: SupportStatus) -> tuple[SupportRow, ...]:
        return tuple(row for row in self.rows if row.status is status)

    def __str__(self) -> str:
        table = [("program", "operator", "status", "uses", "becomes", "bytes", "why")]
        table += [
            (
                row.program,
                row.operator.name,
                row.status.value,
                str(row.uses),
                str(row.operations) if row.operations else "",
                _bytes_text(row),
                row.reason,
            )
            for row in self.rows
        ]
        lines = aligned(table)
        for row in self.missing:
            lines.append(f"{row.operator.name}, in {row.program}, comes from:")
            lines += [f"    {source}" for source in row.sources]
        return "\n".join(lines)


class HandlerRank(NamedTuple):
    """What one more handler would save.

    Attributes:
        operator: The operator class to handle.
        operations_removed: How many operations fewer all programs would have.
        bytes_removed: How many bytes fewer their results would take; ``None`` if that depends on a
            symbol.
    """

    operator: type[Operator]
    operations_removed: int
    bytes_removed: int | None


@dataclass(frozen=True, slots=True)
class HandlerRanking:
    """Handlers worth adding, the best first.

    Args:
        rows: By operations, then bytes, removed.
    """

    rows: tuple[HandlerRank, ...]

    def __str__(self) -> str:
        table = [("operator", "operations removed", "bytes removed")]
        table += [
            (
                row.operator.name,
                f"{row.operations_removed:,}",
                "?" if row.bytes_removed is None else f"{row.bytes_removed:,}",
            )
            for row in self.rows
        ]
        return "\n".join(aligned(table))


class ClaimRow(NamedTuple):
    """What a fusion hook took as one.

    Attributes:
        program: ``forward``, ``derivative`` or ``update of`` a parameter.
        operators: The classes of the operations, in order.
        sources: Where each comes from.
    """

    program: str
    operators: tuple[type[Operator], ...]
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FusionProof:
    """What a step with a fusion hook claims and gives, beside the same step without.

    Args:
        claims: In the order of the programs.
        largest_difference: Between any two results, relative to the largest element of that result.
        tolerance: What was allowed.
    """

    claims: tuple[ClaimRow, ...]
    largest_difference: float
    tolerance: float

    @property
    def agrees(self) -> bool:
        """Whether every result is within the tolerance."""
        return self.largest_difference <= self.tolerance

    def __str__(self) -> str:
        verdict = "agrees" if self.agrees else "differs"
        lines = [f"{verdict}: largest relative difference {self.largest_difference:.3g}"]
        table = [
            (row.program, " + ".join(o.name for o in row.operators), row.sources[-1])
            for row in self.claims
        ]
        return "\n".join([*lines, *(aligned(table) if table else ["nothing was claimed"])])


def _bytes_text(row: SupportRow) -> str:
    if row.status is not SupportStatus.DECOMPOSED:
        return ""
    return "?" if row.bytes is None else f"{row.bytes:,}"


def aligned(table: Iterable[Sequence[str]]) -> list[str]:
    """Return rows with their columns padded to one width."""
    rows = [tuple(row) for row in table]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
