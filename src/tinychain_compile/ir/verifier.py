"""The single owner of what makes a graph well formed."""

from __future__ import annotations

from tinychain_compile.errors import (
    AmbiguousProducerError,
    InvalidOutputError,
    MalformedGraphError,
    MissingDependencyError,
)
from tinychain_compile.ir.graph import Graph, NamedValue, Operation, Value


def verify(graph: Graph) -> None:
    """Check every invariant of a graph, in one pass.

    An operand is an input or made by an earlier operation; an id has one producer; names are not
    repeated; an output is an input or made here. Types need no check: an operation infers its own.

    Raises:
        MalformedGraphError: Or the member of its family that names the broken invariant.
    """
    _check_names(graph, "input", graph.inputs)
    _check_names(graph, "output", graph.outputs)
    known = {value for _, value in graph.inputs}
    for operation in graph.operations:
        if not known.issuperset(operation.inputs):
            raise _missing_operand(graph, operation, known)
        known.add(operation)
    if len({value.id for value in known}) != len(graph.inputs) + len(graph.operations):
        raise _second_producer(graph)
    for name, value in graph.outputs:
        if value not in known:
            raise InvalidOutputError(
                f"{graph.name}: output {name!r}",
                expected="a value of the graph",
                got=f"{value!r}, which the graph does not have",
            )


def _second_producer(graph: Graph) -> AmbiguousProducerError:
    """Return the error of the first id that stands for two values."""
    ids = {value.id for _, value in graph.inputs}
    if len(ids) != len(graph.inputs):
        return AmbiguousProducerError(
            f"{graph.name}: inputs",
            expected="an id of its own for each",
            got=_shared_ids(graph),
        )
    again: list[Operation] = []
    for operation in graph.operations:
        if operation.id in ids:
            again.append(operation)
        ids.add(operation.id)
    second = again[0]
    return AmbiguousProducerError(
        f"{graph.name}: {second.id}",
        expected="one producer",
        got=f"a second one, {second!r}",
        location=second.origin,
    )


def _shared_ids(graph: Graph) -> str:
    """Return the first id that several inputs have, and their names."""
    names: dict[str, list[str]] = {}
    for name, value in graph.inputs:
        names.setdefault(value.id, []).append(name)
    shared, of = next((i, row) for i, row in names.items() if len(row) > 1)
    return f"{shared} for {' and '.join(map(repr, of))}"


def _missing_operand(
    graph: Graph, operation: Operation, known: set[Value]
) -> MissingDependencyError:
    missing = next(value for value in operation.inputs if value not in known)
    return MissingDependencyError(
        f"{graph.name}: operand {missing.id} of {operation!r}",
        expected="an input of the graph, or a value made by an earlier operation",
        location=operation.origin,
    )


def _check_names(graph: Graph, kind: str, values: tuple[NamedValue, ...]) -> None:
    if len(dict(values)) != len(values):
        names = [name for name, _ in values]
        repeated = next(name for name in names if names.count(name) > 1)
        raise MalformedGraphError(
            f"{graph.name}: {kind} {repeated!r}", expected="a name of its own", got="a repeated one"
        )
