"""What a step retains and what is written into it: each value by line, type and bytes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from tinychain_compile.ir.graph import Graph, Operation
from tinychain_compile.ir.types import TensorType
from tinychain_compile.operators import Constant


class LedgerRow(NamedTuple):
    """One value.

    Attributes:
        value_id: Its id.
        operator: The name of the operator that makes it.
        source: The user's line, with the rules between it and the value.
        type: Dtype and shape.
        bytes: How many it takes; ``None`` if that depends on a symbol.
    """

    value_id: str
    operator: str
    source: str
    type: TensorType
    bytes: int | None


@dataclass(frozen=True, slots=True)
class Ledger:
    """Values with their bytes.

    Args:
        title: What they are.
        rows: In the order of the program.
    """

    title: str
    rows: tuple[LedgerRow, ...]

    @property
    def total_bytes(self) -> int | None:
        """The sum; ``None`` if a row depends on a symbol."""
        known = [row.bytes for row in self.rows if row.bytes is not None]
        return sum(known) if len(known) == len(self.rows) else None

    def __str__(self) -> str:
        total = "unknown" if self.total_bytes is None else f"{self.total_bytes:,}"
        lines = [f"{self.title}: {len(self.rows)}, {total} bytes"]
        for row in self.rows:
            size = "?" if row.bytes is None else f"{row.bytes:,}"
            lines.append(f"  {size:>12}  {row.type}  {row.operator}  {row.source}")
        return "\n".join(lines)


def bytes_of(type: TensorType) -> int | None:
    """Return how many bytes a value takes, ``None`` if that depends on a symbol."""
    size = type.size
    return size * type.dtype.itemsize if isinstance(size, int) else None


def capture_ledger(forward: Graph, captured: Iterable[str]) -> Ledger:
    """Return the ledger of values of a forward graph that are retained for the derivative."""
    made = {operation.id: operation for operation in forward.operations}
    return Ledger("captures", tuple(_row(made[value_id]) for value_id in captured))


def constant_ledger(graphs: Iterable[Graph]) -> Ledger:
    """Return the ledger of arrays and numbers that are written into programs."""
    operations = (op for graph in graphs for op in graph.operations)
    rows = tuple(_row(op) for op in operations if isinstance(op.operator, Constant))
    return Ledger("constants", rows)


def _row(operation: Operation) -> LedgerRow:
    type = operation.type
    return LedgerRow(
        operation.id, operation.operator.name, str(operation.origin), type, bytes_of(type)
    )
