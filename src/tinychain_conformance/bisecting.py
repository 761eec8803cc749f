"""Finds the first operation of a program that a backend computes otherwise than the evaluator."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tinychain_backends.numpy import NumpyEvaluator
from tinychain_compile import CompiledTrainingStep, Graph, Operation, lower_graph
from tinychain_compile.ir.graph import NamedValue
from tinychain_conformance.adapter import Array, Backend
from tinychain_conformance.comparing import UNITS, disagreement


class Divergence(NamedTuple):
    """The first operation whose result differs, given operands that do not.

    Attributes:
        operation: The operation.
        problem: How its result differs.
        operands: What it read, by ``x0``, ``x1``, ...
        found: The backend's result.
        expected: The evaluator's.
    """

    operation: Operation
    problem: str
    operands: Mapping[str, Array]
    found: Array
    expected: Array

    def __str__(self) -> str:
        operation = self.operation
        reads = ", ".join(value.id for value in operation.inputs)
        return (
            f"{operation.id} = {operation.operator.name}({reads}) is the first to differ: "
            f"{self.problem}\n  at {operation.origin}"
        )

    def save(self, path: Path) -> None:
        """Write operands and both results to an ``.npz`` file."""
        arrays: dict[str, Any] = {**self.operands, "found": self.found, "expected": self.expected}
        np.savez(path, **arrays)


def every_value(graph: Graph, inputs: Mapping[str, Array]) -> dict[str, Array]:
    """Return every value of a graph by id, as the evaluator computes it."""
    outputs = tuple(NamedValue(value.id, value) for value in graph.operations)
    values = {value.id: inputs[name] for name, value in graph.inputs}
    bound = {name: inputs[name] for name, _ in graph.inputs}
    return values | NumpyEvaluator().evaluate(
        Graph(graph.name, graph.inputs, graph.operations, outputs), bound
    )


def source_values(step: CompiledTrainingStep, arrays: Mapping[str, Array]) -> dict[str, Array]:
    """Return every value of the forward graph by id: as traced, and as it was differentiated."""
    differentiated = every_value(step.source_derivative_program.forward, arrays)
    return differentiated | every_value(step.source_forward_graph, arrays)


def bisect(
    backend: Backend, graph: Graph, inputs: Mapping[str, Array], *, units: float = UNITS
) -> Divergence | None:
    """Return the first operation that a backend computes otherwise; ``None`` if there is none.

    Every operation is asked for by itself, on the operands that the evaluator gives it, in the
    order of the graph; fusion plays no part.

    Args:
        backend: The backend.
        graph: In operators that the backend takes, such as ``step.lowered_forward_graph``.
        inputs: An array for each input, by name.
        units: How many units of precision a result may be off.
    """
    values = every_value(graph, inputs)
    registry = backend.container.handler_registry()
    for operation in graph.operations:
        operands = dict.fromkeys(operation.inputs)
        alone = Graph(
            "operation",
            tuple(NamedValue(value.id, value) for value in operands),
            (operation,),
            (NamedValue("y", operation),),
        )
        program = lower_graph(alone, handlers=registry)
        loaded = backend.adapter.load(program)
        given = {value.id: values[value.id] for value in operands}
        found = np.asarray(backend.adapter.run(loaded, given)[operation.id])
        expected = values[operation.id]
        problem = disagreement(found, expected, units=units)
        if problem is not None:
            named = {f"x{i}": values[value.id] for i, value in enumerate(operation.inputs)}
            return Divergence(operation, problem, named, found, expected)
    return None
