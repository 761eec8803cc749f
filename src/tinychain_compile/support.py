"""Compares programs before and after legalization: what is missing, and what was decomposed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from tinychain_compile.capability import why_unsupported
from tinychain_compile.ir.graph import Graph, Operation
from tinychain_compile.ir.operator import Operator
from tinychain_compile.ir.origin import Derived, Origin
from tinychain_compile.ledgers import bytes_of
from tinychain_compile.protocols import HandlerRegistry, OperationContext, OperationHandler
from tinychain_compile.reports import SupportReport, SupportRow, SupportStatus


class LegalizedProgram(NamedTuple):
    """One program before and after legalization.

    Attributes:
        name: As in reports.
        source: Before.
        legal: After, and after the caller's passes.
        handlers: The registry that it was legalized for.
    """

    name: str
    source: Graph
    legal: Graph
    handlers: HandlerRegistry


def support_report(
    programs: Sequence[LegalizedProgram], why_kept: Callable[[Operation], str]
) -> SupportReport:
    """Return what became of every operator of every program.

    Args:
        programs: All programs of a step.
        why_kept: Says why an operation that is not supported was not decomposed.
    """
    rows = [row for program in programs for row in _rows(program, why_kept)]
    order = list(SupportStatus)[::-1]
    return SupportReport(tuple(sorted(rows, key=lambda row: order.index(row.status))))


class _Group:
    """Operations of one operator with one fate."""

    def __init__(self) -> None:
        self.count = 0
        self.sources: dict[str, None] = {}

    def add(self, operation: Operation) -> None:
        self.count += 1
        self.sources[str(operation.origin)] = None


def _rows(program: LegalizedProgram, why_kept: Callable[[Operation], str]) -> list[SupportRow]:
    groups: dict[tuple[type[Operator], SupportStatus, str], _Group] = {}
    kept = {id(operation.operator) for operation in program.legal.operations}
    for operation in program.source.operations:
        reason = why_unsupported(program.handlers, operation)
        if reason is None:
            key = (type(operation.operator), SupportStatus.SUPPORTED, "")
        elif id(operation.operator) not in kept:
            key = (type(operation.operator), SupportStatus.DECOMPOSED, reason)
        else:
            continue
        groups.setdefault(key, _Group()).add(operation)
    for operation in program.legal.operations:
        reason = why_unsupported(program.handlers, operation)
        if reason is not None:
            full = f"{reason}, and {why_kept(operation)}"
            key = (type(operation.operator), SupportStatus.MISSING, full)
            groups.setdefault(key, _Group()).add(operation)
    costs = _costs(program.legal)
    rows: list[SupportRow] = []
    for (operator, status, reason), group in groups.items():
        is_decomposed = status is SupportStatus.DECOMPOSED
        operations, size = costs.get(operator.name, (0, 0)) if is_decomposed else (0, 0)
        sources = () if status is SupportStatus.SUPPORTED else tuple(group.sources)
        rows.append(
            SupportRow(
                program.name, operator, status, group.count, reason, sources, operations, size
            )
        )
    return rows


def _costs(legal: Graph) -> dict[str, tuple[int, int | None]]:
    """Return, by the name of the operator that was decomposed, operations and bytes of results."""
    costs: dict[str, tuple[int, int | None]] = {}
    for operation in legal.operations:
        decomposed = outermost_decomposition(operation.origin)
        if decomposed is not None:
            count, total = costs.get(decomposed, (0, 0))
            size = bytes_of(operation.output.type)
            costs[decomposed] = (
                count + 1,
                None if size is None or total is None else total + size,
            )
    return costs


def outermost_decomposition(origin: Origin | None) -> str | None:
    """Return the name of the source operator that an operation was decomposed from."""
    found = None
    while isinstance(origin, Derived):
        if origin.how == "decomposition":
            found = origin.operator_name
        origin = origin.parent
    return found


def decompositions_in(graph: Graph) -> set[str]:
    """Return the names of all operators that were decomposed, at any depth."""
    found: set[str] = set()
    for operation in graph.operations:
        origin = operation.origin
        while isinstance(origin, Derived):
            if origin.how == "decomposition":
                found.add(origin.operator_name)
            origin = origin.parent
    return found


def size_of_programs(graphs: Sequence[Graph]) -> tuple[int, int | None]:
    """Return how many operations programs have, and how many bytes their results take."""
    count, total = 0, 0
    is_known = True
    for graph in graphs:
        count += len(graph.operations)
        for operation in graph.operations:
            size = bytes_of(operation.output.type)
            is_known = is_known and size is not None
            total += size or 0
    return count, total if is_known else None


class WithHandler:
    """A registry as if it had one more handler, for counting alone: nothing can be lowered by it.

    Args:
        base: The registry.
        extra: The operator class that it would take.
    """

    def __init__(self, base: HandlerRegistry, extra: type[Operator]) -> None:
        self._base = base
        self._extra = extra

    def has_handler(self, operator: Operator | type[Operator]) -> bool:
        """Return whether there would be a handler."""
        kind = operator if isinstance(operator, type) else type(operator)
        return kind is self._extra or self._base.has_handler(operator)

    def lookup(self, operator: Operator) -> OperationHandler:
        """Return the base's handler, or one that takes everything."""
        if type(operator) is self._extra:
            return _Nothing(self._extra)
        return self._base.lookup(operator)

    def supported_types(self) -> Sequence[type[Operator]]:
        """Return the operator classes that would have a handler."""
        return (*self._base.supported_types(), self._extra)


class _Nothing:
    """The handler that is not there yet."""

    def __init__(self, operator_type: type[Operator]) -> None:
        self.operator_type = operator_type

    def lower(self, context: OperationContext) -> None:
        """Lower nothing."""
        raise NotImplementedError
