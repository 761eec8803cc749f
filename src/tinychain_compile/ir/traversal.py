"""Walks over a graph: what is reachable, and in which order to do it. Iterative and linear."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tinychain_compile.ir.graph import Graph, Operation, Value


def late_schedule(graph: Graph, outputs: Sequence[Value]) -> tuple[Operation, ...]:
    """Return the operations that the outputs need, each as late as its consumers allow.

    Built backwards with a stack: once all consumers of a value are placed, its operation is placed
    directly before the consumer that was placed last. Of an operation's operands the last one's
    operation stands nearest to it. Depends on the graph alone.
    """
    boundary = {value for _, value in graph.inputs}
    uses, selected = _count_uses(outputs, boundary)
    ready = [operation for operation in selected if not uses[operation]]
    backwards: list[Operation] = []
    while ready:
        operation = ready.pop()
        backwards.append(operation)
        for value in operation.inputs:
            if isinstance(value, Operation) and value not in boundary:
                uses[value] -= 1
                if not uses[value]:
                    ready.append(value)
    backwards.reverse()
    return tuple(backwards)


def reachable(operations: Sequence[Operation], outputs: Iterable[Value]) -> tuple[Operation, ...]:
    """Return those of the operations, in their order, that the outputs need."""
    needed = set(outputs)
    kept: list[Operation] = []
    for operation in reversed(operations):
        if operation in needed:
            needed.update(operation.inputs)
            kept.append(operation)
    kept.reverse()
    return tuple(kept)


def free_values(operations: Iterable[Operation], outputs: Iterable[Value] = ()) -> set[Value]:
    """Return what the operations and outputs read and the operations do not make."""
    read = set(outputs)
    made: set[Value] = set()
    for operation in operations:
        read.update(operation.inputs)
        made.add(operation)
    return read - made


def _count_uses(
    outputs: Iterable[Value], boundary: set[Value]
) -> tuple[dict[Operation, int], list[Operation]]:
    """Return how often needed operations read each needed one's value, and which make the outputs.

    Each operation that makes an output stands once, in the order of the outputs.
    """
    uses: dict[Operation, int] = {}
    for value in outputs:
        if isinstance(value, Operation) and value not in boundary:
            uses[value] = 0
    selected = list(uses)
    pending = selected.copy()
    while pending:
        for value in pending.pop().inputs:
            if not isinstance(value, Operation) or value in boundary:
                continue
            if value in uses:
                uses[value] += 1
            else:
                uses[value] = 1
                pending.append(value)
    return uses, selected
