"""One graph of a whole training step: forward, derivative with a seed of 1, and every update."""

from __future__ import annotations

from collections.abc import Iterable

from tinychain_compile.artifacts import CompiledTrainingStep, ParameterCompilation
from tinychain_compile.ir.dtypes import F64
from tinychain_compile.ir.graph import Graph, NamedValue, Operation, Value
from tinychain_compile.ir.origin import Derived
from tinychain_compile.ir.types import TensorType
from tinychain_compile.ir.verifier import verify
from tinychain_compile.operators import Cast, Constant


def merge_step(record: CompiledTrainingStep) -> Graph:
    """Return a compiled step as one graph, for a runtime that wants a single program.

    Inputs are the declared inputs, then the runtime scalars by name. Outputs are ``loss``, the
    auxiliary outputs, then each new parameter by its name. It is made of the legal graphs, so the
    handlers that lowered the step lower it: ``lower_graph(merge_step(record), handlers=...)``.
    """
    forward, derivative = record.lowered_forward_graph, record.lowered_derivative_program
    known = {value.id: value for _, value in forward.inputs}
    merged: list[Operation] = []
    _append(forward.operations, known, merged)
    seed = derivative.seed.value
    one = Operation(
        Constant.scalar(1.0, seed.type.dtype), (), seed.id, Derived("merging", "seed", None)
    )
    merged.append(one)
    known[seed.id] = one.output
    _append(derivative.graph.operations, known, merged)
    scalars = _scalars(record)
    updated = [
        NamedValue(row.name, _update(row, scalars, known, merged)) for row in record.parameters
    ]
    reported = {"loss": record.loss_value_id, **record.auxiliary_value_ids}
    outputs = [NamedValue(name, known[value_id]) for name, value_id in reported.items()]
    graph = Graph(
        "step",
        (*forward.inputs, *(NamedValue(name, value) for name, value in scalars.items())),
        tuple(merged),
        (*outputs, *updated),
    )
    verify(graph)
    return graph


def _append(
    operations: Iterable[Operation], known: dict[str, Value], merged: list[Operation]
) -> None:
    """Append operations, each reading what has its operands' ids."""
    for operation in operations:
        inputs = tuple([known[value.id] for value in operation.inputs])
        output = operation.output
        if inputs != operation.inputs:
            operation = Operation(operation.operator, inputs, output.id, operation.origin)
        known[output.id] = operation.output
        merged.append(operation)


def _scalars(record: CompiledTrainingStep) -> dict[str, Value]:
    """Return an input for each runtime scalar: f64 where updates of two dtypes share it."""
    dtypes: dict[str, set[str]] = {}
    types: dict[str, TensorType] = {}
    for row in record.parameters:
        for name, value in row.lowered_update_graph.inputs:
            if name not in ("parameter", "gradient"):
                dtypes.setdefault(name, set()).add(value.type.dtype.name)
                types[name] = value.type
    return {
        name: Value(f"scalar.{name}", type if len(dtypes[name]) == 1 else TensorType.of(F64, ()))
        for name, type in types.items()
    }


def _update(
    row: ParameterCompilation,
    scalars: dict[str, Value],
    known: dict[str, Value],
    merged: list[Operation],
) -> Value:
    """Append a parameter's update, cloned from its template, and return the new parameter."""
    graph = row.lowered_update_graph
    roles = {
        **scalars,
        "parameter": known[row.value_id],
        "gradient": known[row.gradient_value_id],
    }
    own: dict[Value, Value] = {}
    for name, value in graph.inputs:
        bound = roles[name]
        if bound.type != value.type:
            cast = Operation(Cast(value.type.dtype), (bound,), f"{value.id}.{row.name}")
            merged.append(cast)
            bound = cast.output
        own[value] = bound
    for operation in graph.operations:
        inputs = tuple([own[value] for value in operation.inputs])
        clone = Operation(
            operation.operator, inputs, f"{operation.output.id}.{row.name}", operation.origin
        )
        own[operation.output] = clone.output
        merged.append(clone)
    return own[graph.output("parameter")]
