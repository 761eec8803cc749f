"""Says where each value that a selection depends on comes from. The one place that does."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tinychain_compile.artifacts import (
    DependencyAnalysis,
    DerivativeProgram,
    Provenance,
    ValueDependency,
)
from tinychain_compile.errors import InvalidOutputError, MissingDependencyError
from tinychain_compile.ir.graph import Graph, NamedValue, Value
from tinychain_compile.ir.traversal import late_schedule, reachable


class StructuralClassifier:
    """Decides by structure alone; how an id is spelled means nothing."""

    def classify(self, graph: Graph, outputs: Sequence[Value] | None = None) -> DependencyAnalysis:
        """Analyse a graph all of whose inputs are declared."""
        declared = [value for _, value in graph.inputs]
        return _analyse(graph, outputs, ((Provenance.DECLARED_INPUT, declared),))

    def classify_derivative(
        self, program: DerivativeProgram, outputs: Sequence[Value] | None = None
    ) -> DependencyAnalysis:
        """Analyse a derivative program against its forward graph and seed."""
        forward = program.forward
        origins = (
            (Provenance.DECLARED_INPUT, (value for _, value in forward.inputs)),
            (Provenance.SEED_INPUT, (program.seed.value,)),
            (Provenance.DECLARED_INPUT, (value for _, value in program.own_inputs)),
            (Provenance.FORWARD_CAPTURE, forward.operations),
        )
        return _analyse(program.graph, outputs, origins)

    def select_forward(self, forward: Graph, derivative: DependencyAnalysis) -> Graph:
        """Return the forward graph with the derivative's captures as further outputs.

        A capture that is an output already, such as the loss, is not repeated.
        """
        wanted = {row.value_id for row in derivative.forward_captures}
        wanted.difference_update(value.id for _, value in forward.outputs)
        captures = [NamedValue(f"@{op.id}", op) for op in forward.operations if op.id in wanted]
        outputs = (*forward.outputs, *captures)
        operations = reachable(forward.operations, [value for _, value in outputs])
        if not captures and len(operations) == len(forward.operations):
            return forward
        return Graph(forward.name, forward.inputs, operations, outputs)


def _analyse(
    graph: Graph,
    outputs: Sequence[Value] | None,
    origins: Iterable[tuple[Provenance, Iterable[Value]]],
) -> DependencyAnalysis:
    selected = [value for _, value in graph.outputs] if outputs is None else list(outputs)
    schedule, entering = late_schedule(graph, selected)
    free = {value.id for value in entering}
    _check_are_inputs(graph, [value for value in selected if value.id in free])
    rows: list[ValueDependency] = []
    for provenance, values in origins:
        for value in [value for value in values if value.id in free]:
            free.discard(value.id)
            rows.append(ValueDependency.of(value, provenance))
    if free:
        lost = next(value for value in entering if value.id in free)
        raise MissingDependencyError(
            f"{graph.name}: {lost!r}",
            expected="a declared input, the seed, a value of the forward graph, or one made here",
            got="a value that nobody supplies",
        )
    return DependencyAnalysis(tuple([value.id for value in selected]), tuple(rows), schedule)


def _check_are_inputs(graph: Graph, free: Sequence[Value]) -> None:
    """Check that a selected output which is not made here is an input at least."""
    if not free:
        return
    inputs = {value.id for _, value in graph.inputs}
    for value in free:
        if value.id not in inputs:
            raise InvalidOutputError(
                f"{graph.name}: output {value!r}",
                expected="a value of the graph",
                got="one that the graph neither takes nor makes",
            )
