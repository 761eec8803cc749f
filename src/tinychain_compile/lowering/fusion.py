"""What a fusion hook is offered, and the checks on what it claims."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from tinychain_compile.errors import CompilationError, HandlerContractError
from tinychain_compile.ir.graph import Operation, Value
from tinychain_compile.protocols import (
    Declined,
    FusionCandidate,
    FusionContext,
    FusionHook,
    FusionResult,
)


class NoFusion:
    """The hook of a backend that lowers one operation at a time."""

    lookahead = 1

    def fuse(self, context: FusionContext) -> None:
        """Decline."""


NO_FUSION = NoFusion()


class ProgramUses:
    """Who reads what in one scheduled program, and what a hook sees of each operation."""

    def __init__(self, schedule: Sequence[Operation], outputs: frozenset[str]) -> None:
        self.outputs = outputs
        self.consumers: dict[Value, list[str]] = {}
        for operation in schedule:
            for value in dict.fromkeys(operation.inputs):
                self.consumers.setdefault(value, []).append(operation.node_id)
        local = set[Value](schedule)
        self.candidates = {operation: self._candidate(operation, local) for operation in schedule}

    def _candidate(self, operation: Operation, local: set[Value]) -> FusionCandidate:
        producers = [v for v in operation.inputs if isinstance(v, Operation) and v in local]
        return FusionCandidate(
            operation.node_id,
            operation.operator,
            tuple(value.id for value in operation.inputs),
            tuple(value.type for value in operation.inputs),
            operation.id,
            operation.type,
            tuple([producer.node_id for producer in producers]),
            tuple(self.consumers.get(operation, ())),
            operation.id in self.outputs,
        )


def check_lookahead(hook: FusionHook) -> None:
    """Check a hook's lookahead.

    Raises:
        HandlerContractError: It is not a positive integer.
    """
    lookahead: object = getattr(hook, "lookahead", None)
    if not isinstance(lookahead, int) or isinstance(lookahead, bool) or lookahead < 1:
        raise HandlerContractError(
            f"fusion hook {hook!r}", expected="a lookahead of at least 1", got=repr(lookahead)
        )


def offer(hook: FusionHook, context: FusionContext) -> FusionResult | None:
    """Ask a hook about a window, and return its claim if it makes one.

    Raises:
        HandlerContractError: It raised something of its own, or returned something else.
    """
    try:
        answer = cast(object, hook.fuse(context))
    except CompilationError:
        raise
    except Exception as error:
        raise HandlerContractError(
            f"fusion hook {hook!r} on {context.candidates[0].node_id}",
            expected="a FusionResult, Declined or None",
            got=f"{type(error).__name__}: {error}",
        ) from error
    if answer is None or isinstance(answer, Declined):
        return None
    if not isinstance(answer, FusionResult) or answer.value is None:
        raise HandlerContractError(
            f"fusion hook {hook!r} on {context.candidates[0].node_id}",
            expected="a FusionResult with a value, Declined or None",
            got=f"an object of type {type(answer).__name__}",
        )
    return answer


def claimed_operations(
    hook: FusionHook, result: FusionResult, window: Sequence[Operation], uses: ProgramUses
) -> tuple[tuple[Operation, ...], Value]:
    """Return the operations that a claim stands for, in order, and the one value that leaves.

    Raises:
        HandlerContractError: The claim takes an operation that was not offered, takes one twice,
            leaves the offered one, reads a value that is not lowered yet, or strands a live value.
    """
    by_id = {operation.node_id: operation for operation in window}
    claimed = tuple(result.consumed_node_ids)
    subject = f"fusion hook {hook!r}"
    for node_id in claimed:
        if node_id not in by_id:
            raise HandlerContractError(
                subject, expected=f"claims among {', '.join(by_id)}", got=f"{node_id!r}"
            )
    if len(set(claimed)) != len(claimed):
        raise HandlerContractError(subject, expected="each operation once", got=repr(claimed))
    if window[0].node_id not in claimed:
        raise HandlerContractError(
            subject,
            expected=f"a claim that includes the offered {window[0].node_id}",
            got=repr(claimed),
        )
    operations = tuple(operation for operation in window if operation.node_id in claimed)
    leaving = [
        operation
        for operation in operations
        if operation.id in uses.outputs
        or any(reader not in claimed for reader in uses.consumers.get(operation, ()))
    ]
    if len(leaving) != 1:
        names = ", ".join(f"{op.id} of {op.operator.name}" for op in leaving)
        raise HandlerContractError(
            subject,
            expected="exactly one value that is needed outside the region",
            got=names or "none",
            location=window[0].origin,
            hint="Leave out the operations whose values are needed elsewhere.",
        )
    skipped = {operation for operation in window if operation.node_id not in claimed}
    for operation in operations:
        for value in operation.inputs:
            if value in skipped:
                raise HandlerContractError(
                    subject,
                    expected="operands that are lowered already",
                    got=f"{value.id} of {operation!r}, which is not",
                    location=operation.origin,
                )
    return operations, leaving[0]
