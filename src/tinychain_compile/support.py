"""Compares programs before and after legalization: what is missing, and what was decomposed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from tinychain_compile.capability import Capability
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
    programs: Sequence[LegalizedProgram], why_kept: Callable[[Operation], str] | None
) -> SupportReport:
    """Return what became of every operator of every program.

    Args:
        programs: All programs of a step.
        why_kept: Says why an operation that is not supported was not decomposed; ``None`` if it is
            known already that everything in the legal programs is supported.
    """
    rows = [row for program in programs for row in _rows(program, why_kept)]
    order = list(SupportStatus)[::-1]
    return SupportReport(tuple(sorted(rows, key=lambda row: order.index(row.status))))


_Fate: TypeAlias = tuple[type[Operator], SupportStatus, str]


def _rows(
    program: LegalizedProgram, why_kept: Callable[[Operation], str] | None
) -> list[SupportRow]:
    capability = Capability(program.handlers)
    lacking: list[tuple[Operation, str]] = []
    if why_kept is not None:
        found = capability.missing(program.legal.operations)
        lacking = [(operation, f"{lack}, and {why_kept(operation)}") for operation, lack in found]
    if program.legal is program.source and not lacking:
        counts: dict[type[Operator], int] = {}
        for operation in program.source.operations:
            kind = type(operation.operator)
            counts[kind] = counts.get(kind, 0) + 1
        return [
            SupportRow(program.name, kind, SupportStatus.SUPPORTED, n) for kind, n in counts.items()
        ]
    groups: dict[_Fate, list[Operation]] = {}
    missing: set[int] = set()
    for operation, why in lacking:
        missing.add(id(operation.operator))
        fate = (type(operation.operator), SupportStatus.MISSING, why)
        groups.setdefault(fate, []).append(operation)
    kept = {id(operation.operator) for operation in program.legal.operations}
    for operation in program.source.operations:
        kind, own = type(operation.operator), id(operation.operator)
        if own in kept:
            if own not in missing:
                groups.setdefault((kind, SupportStatus.SUPPORTED, ""), []).append(operation)
            continue
        reason = capability.why_not(operation)
        status = SupportStatus.SUPPORTED if reason is None else SupportStatus.DECOMPOSED
        groups.setdefault((kind, status, reason or ""), []).append(operation)
    costs = {} if program.legal is program.source else _costs(program.legal)
    return [_row(program.name, fate, operations, costs) for fate, operations in groups.items()]


def _row(
    program: str,
    fate: _Fate,
    operations: Sequence[Operation],
    costs: Mapping[str, tuple[int, int | None]],
) -> SupportRow:
    operator, status, reason = fate
    if status is SupportStatus.SUPPORTED:
        return SupportRow(program, operator, status, len(operations))
    origins = tuple(dict.fromkeys(operation.origin for operation in operations))
    became, size = (0, 0) if status is SupportStatus.MISSING else costs.get(operator.name, (0, 0))
    return SupportRow(program, operator, status, len(operations), reason, origins, became, size)


def _costs(legal: Graph) -> dict[str, tuple[int, int | None]]:
    """Return, by the name of the operator that was decomposed, operations and bytes of results."""
    costs: dict[str, tuple[int, int | None]] = {}
    for operation in legal.operations:
        decomposed = outermost_decomposition(operation.origin)
        if decomposed is not None:
            count, total = costs.get(decomposed, (0, 0))
            size = bytes_of(operation.type)
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
            size = bytes_of(operation.type)
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
