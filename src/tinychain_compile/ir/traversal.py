"""Walks over a graph: what is reachable, and in which order to do it. Iterative and linear."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from tinychain_compile.ir.graph import Graph, Operation, Value


class Schedule(NamedTuple):
    """The order in which to compute outputs, and what that reads.

    Attributes:
        operations: In order, each as late as its consumers allow.
        free: What they, or the outputs, read and they do not make; each once.
    """

    operations: tuple[Operation, ...]
    free: list[Value]


def late_schedule(graph: Graph, outputs: Sequence[Value]) -> Schedule:
    """Return what the outputs need of a graph, each operation as late as its consumers allow.

    Built backwards with a stack: once all consumers of a value are placed, its operation is placed
    directly before the consumer that was placed last. Of an operation's operands the last one's
    operation stands nearest to it. Depends on the graph alone.
    """
    boundary = {value for _, value in graph.inputs}
    uses: dict[Value, int] = dict.fromkeys(outputs, 0)
    for operation in reversed(graph.operations):
        if operation in uses:
            for value in operation.inputs:
                uses[value] = uses.get(value, 0) + 1
    ready: list[Operation] = []
    free: list[Value] = []
    for value in dict.fromkeys(outputs):
        if not uses[value]:
            if isinstance(value, Operation) and value not in boundary:
                ready.append(value)
            else:
                free.append(value)
    backwards: list[Operation] = []
    while ready:
        operation = ready.pop()
        backwards.append(operation)
        for value in operation.inputs:
            left = uses[value] - 1
            if left:
                uses[value] = left
            elif isinstance(value, Operation) and value not in boundary:
                ready.append(value)
            else:
                free.append(value)
    backwards.reverse()
    return Schedule(tuple(backwards), free)


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


def free_values(operations: Sequence[Operation], outputs: Iterable[Value] = ()) -> set[Value]:
    """Return what the operations and outputs read and the operations do not make."""
    read = set(outputs).union(*[operation.inputs for operation in operations])
    read.difference_update(operations)
    return read
