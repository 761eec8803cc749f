"""The single owner of what makes a graph well formed."""

from __future__ import annotations

from tinychain_compile.errors import (
    AmbiguousProducerError,
    CompilationError,
    InvalidOutputError,
    MalformedGraphError,
    MissingDependencyError,
)
from tinychain_compile.ir.graph import Graph, Operation, Value
from tinychain_compile.ir.types import TensorType


def verify(graph: Graph) -> None:
    """Check every invariant of a graph, in one pass.

    An operand is an input or made by an earlier operation; an id has one producer; a value's type
    is what its operator infers; names are not repeated; an output is an input or made here.

    Raises:
        MalformedGraphError: Or the member of its family that names the broken invariant.
    """
    Verifier().verify(graph)


class Verifier:
    """Verifies the graphs of one compilation, and infers the type of each operation once.

    An operation is frozen, so a type that was right stays right, in whichever graph it stands.
    """

    def __init__(self) -> None:
        self._typed: set[Operation] = set()

    def verify(self, graph: Graph) -> None:
        """Check every invariant of a graph; see the function of this name."""
        typed = self._typed
        known: set[Value] = set()
        ids: set[str] = set()
        _check_names(graph, "input", [name for name, _ in graph.inputs])
        _check_names(graph, "output", [name for name, _ in graph.outputs])
        for name, value in graph.inputs:
            if value.id in ids:
                raise AmbiguousProducerError(
                    f"{graph.name}: input {name!r}", expected="an id of its own", got=value.id
                )
            known.add(value)
            ids.add(value.id)
        for operation in graph.operations:
            if not known.issuperset(operation.inputs):
                raise _missing_operand(graph, operation, known)
            output = operation.output
            if output.id in ids:
                raise AmbiguousProducerError(
                    f"{graph.name}: {output.id}",
                    expected="one producer",
                    got=f"a second one, {operation!r}",
                    location=operation.origin,
                )
            if operation not in typed:
                inferred = _inferred(graph, operation)
                if inferred is not output.type and inferred != output.type:
                    raise _wrong_type(graph, operation)
                typed.add(operation)
            known.add(output)
            ids.add(output.id)
        for name, value in graph.outputs:
            if value not in known:
                raise InvalidOutputError(
                    f"{graph.name}: output {name!r}",
                    expected="a value of the graph",
                    got=f"{value!r}, which the graph does not have",
                )


def _missing_operand(
    graph: Graph, operation: Operation, known: set[Value]
) -> MissingDependencyError:
    missing = next(value for value in operation.inputs if value not in known)
    return MissingDependencyError(
        f"{graph.name}: operand {missing.id} of {operation!r}",
        expected="an input of the graph, or a value made by an earlier operation",
        location=operation.origin,
    )


def _inferred(graph: Graph, operation: Operation) -> TensorType:
    operands = [value.type for value in operation.inputs]
    try:
        return operation.operator.infer(*operands)
    except (CompilationError, TypeError, ValueError) as error:
        raise MalformedGraphError(
            f"{graph.name}: {operation!r}",
            expected="operands that its operator accepts",
            got=f"({', '.join(map(str, operands))})",
            location=operation.origin,
        ) from error


def _wrong_type(graph: Graph, operation: Operation) -> MalformedGraphError:
    return MalformedGraphError(
        f"{graph.name}: {operation!r}",
        expected=f"the type {_inferred(graph, operation)} that its operator infers",
        got=str(operation.output.type),
        location=operation.origin,
    )


def _check_names(graph: Graph, kind: str, names: list[str]) -> None:
    if len(set(names)) != len(names):
        repeated = next(name for name in names if names.count(name) > 1)
        raise MalformedGraphError(
            f"{graph.name}: {kind} {repeated!r}", expected="a name of its own", got="a repeated one"
        )
