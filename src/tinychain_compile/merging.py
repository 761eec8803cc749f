"""One graph of a whole training step: forward, derivative with a seed of 1, and every update."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tinychain_compile.artifacts import CompiledTrainingStep, ParameterCompilation
from tinychain_compile.ir.dtypes import F64
from tinychain_compile.ir.graph import Graph, NamedValue, Operation, Value
from tinychain_compile.ir.origin import Derived
from tinychain_compile.ir.types import TensorType
from tinychain_compile.ir.verifier import verify
from tinychain_compile.operators import Cast, Constant
from tinychain_compile.runtime_inputs import LOSS_SCALE


def merge_step(record: CompiledTrainingStep) -> Graph:
    """Return a compiled step as one graph, for a runtime that wants a single program.

    Inputs are the declared inputs, slots and accumulators by their keys, then the runtime scalars
    by name. Outputs are ``loss``, the auxiliary outputs, what gradient transforms publish, then
    each new parameter by its name and its state by keys. The seed is ``loss_scale`` where the step
    has one, else 1. It is made of the legal graphs, so the handlers that lowered the step lower it:
    ``lower_graph(merge_step(record), handlers=...)``.
    """
    forward, derivative = record.lowered_forward_graph, record.lowered_derivative_program
    known = {value.id: value for _, value in forward.inputs}
    merged: list[Operation] = []
    _append(forward.operations, known, merged)
    taken = {name for name, _ in forward.inputs}
    scalars = _scalars(record)
    state = {slot.key: Value(f"slot.{slot.key}", slot.type) for slot in record.slots}
    known[derivative.seed.value.id] = _seed(derivative.seed.value, scalars, merged)
    own_types = {value.id: value.type for _, value in derivative.own_inputs}
    for name, value_id in record.derivative_input_value_ids.items():
        known[value_id] = _as_type(scalars[name], own_types[value_id], value_id, merged)
    sums = [row.accumulator for row in record.parameters if row.accumulator is not None]
    known |= {slot.input_value_id: state[slot.key] for slot in sums}
    _append(derivative.graph.operations, known, merged)
    updated: list[NamedValue] = []
    for row in record.parameters:
        updated += _update(row, state, scalars, known, merged)
    reported = {
        "loss": record.loss_value_id,
        **record.auxiliary_value_ids,
        **record.published_value_ids,
    }
    outputs = [NamedValue(name, known[value_id]) for name, value_id in reported.items()]
    free = {f"${name}" if name in taken else name: value for name, value in scalars.items()}
    graph = Graph(
        "step",
        (*forward.inputs, *(NamedValue(n, v) for n, v in (state | free).items())),
        tuple(merged),
        (*outputs, *updated),
    )
    verify(graph)
    return graph


def _seed(seed: Value, scalars: Mapping[str, Value], merged: list[Operation]) -> Value:
    """Return what multiplies the derivative: the loss scale where there is one, else 1."""
    if LOSS_SCALE in scalars:
        return _as_type(scalars[LOSS_SCALE], seed.type, seed.id, merged)
    one = Operation(
        Constant.scalar(1.0, seed.type.dtype), (), seed.id, Derived("merging", "seed", None)
    )
    merged.append(one)
    return one


def _as_type(value: Value, type: TensorType, new_id: str, merged: list[Operation]) -> Value:
    """Return a value cast to a type of the same shape, if it has another."""
    if value.type == type:
        return value
    cast = Operation(Cast(type.dtype), (value,), new_id, Derived("merging", "scalar", None))
    merged.append(cast)
    return cast


def _append(
    operations: Iterable[Operation], known: dict[str, Value], merged: list[Operation]
) -> None:
    """Append operations, each reading what has its operands' ids."""
    for operation in operations:
        inputs = tuple([known[value.id] for value in operation.inputs])
        if inputs != operation.inputs:
            operation = operation.with_inputs(inputs)
        known[operation.id] = operation
        merged.append(operation)


def _scalars(record: CompiledTrainingStep) -> dict[str, Value]:
    """Return an input for each runtime scalar: f64 where programs of two dtypes share it."""
    types: dict[str, set[TensorType]] = {row.name: set() for row in record.runtime_inputs}
    for row in record.parameters:
        for role, value in row.lowered_update_graph.inputs:
            if role in row.runtime_inputs:
                types[row.runtime_inputs[role]].add(value.type)
    names = {value_id: name for name, value_id in record.derivative_input_value_ids.items()}
    for _, value in record.lowered_derivative_program.own_inputs:
        if value.id in names:
            types[names[value.id]].add(value.type)
    return {
        name: Value(
            f"scalar.{name}", TensorType.of(F64, ()) if len(found) > 1 else next(iter(found))
        )
        for name, found in types.items()
        if found
    }


def _update(
    row: ParameterCompilation,
    state: Mapping[str, Value],
    scalars: Mapping[str, Value],
    known: Mapping[str, Value],
    merged: list[Operation],
) -> list[NamedValue]:
    """Append a parameter's update, cloned from its template; return its new value and state."""
    graph = row.lowered_update_graph
    roles = {
        **{role: scalars[name] for role, name in row.runtime_inputs.items()},
        **{slot.name: state[slot.key] for slot in row.slots},
        "parameter": known[row.value_id],
        "gradient": known[row.gradient_value_id],
    }
    own = {
        value: _as_type(roles[role], value.type, f"{value.id}.{row.name}", merged)
        for role, value in graph.inputs
    }
    for operation in graph.operations:
        inputs = tuple([own[value] for value in operation.inputs])
        clone = operation.with_inputs(inputs, f"{operation.id}.{row.name}")
        own[operation] = clone
        merged.append(clone)
    new = [NamedValue(row.name, own[graph.output("parameter")])]
    new += [NamedValue(slot.key, own[graph.output(slot.name)]) for slot in row.slots]
    if row.accumulator is not None:
        new.append(NamedValue(row.accumulator.key, known[row.accumulator.output_value_id]))
    return new
