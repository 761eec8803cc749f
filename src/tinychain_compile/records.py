"""The record of a compiled step, made once at the end from what the stages gave."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from tinychain_compile.artifacts import (
    BufferCompilation,
    CompiledTrainingStep,
    Declaration,
    DependencyAnalysis,
    DerivativeProgram,
    LoweredProgram,
    ParameterCompilation,
    StepProvenance,
)
from tinychain_compile.ir.dimensions import symbol_sources
from tinychain_compile.ir.graph import Graph, IdSource
from tinychain_compile.ir.types import TensorType
from tinychain_compile.protocols import LoweringTarget, ProgramToLower
from tinychain_compile.reports import SupportReport
from tinychain_compile.sharing import Update, UpdateKey
from tinychain_compile.slots import Fill, Slot, SlotCompilation

CONTRACT_VERSION = "1"
"""The version of the record and of the contracts with handlers, hooks and optimizers."""


class Program(NamedTuple):
    """A program that is ready to be lowered, and the graph it came from."""

    graph: Graph
    to_lower: ProgramToLower


class Prepared(NamedTuple):
    """Everything before legalization."""

    declaration: Declaration
    update_keys: Mapping[str, UpdateKey]
    update_names: Mapping[UpdateKey, str]
    targets: Mapping[str | UpdateKey, LoweringTarget]
    ids: IdSource
    forward: Graph
    derivative: DerivativeProgram
    planned: DerivativeProgram
    captures: DependencyAnalysis
    selected: Graph
    updates: Mapping[UpdateKey, Update]


class Programs(NamedTuple):
    """Every program, legal for its target."""

    forward: Program
    derivative: DerivativeProgram
    derivative_to_lower: ProgramToLower
    updates: Mapping[UpdateKey, Program]

    @property
    def graphs(self) -> tuple[Graph, ...]:
        """The graphs, in the order of the programs."""
        updates = (program.graph for program in self.updates.values())
        return (self.forward.graph, self.derivative.graph, *updates)


def step_record(
    prepared: Prepared,
    programs: Programs,
    lowered_forward: LoweredProgram,
    lowered_derivative: LoweredProgram,
    lowered_updates: Mapping[UpdateKey, LoweredProgram],
    support: SupportReport,
    pass_labels: Mapping[str, tuple[str, ...]],
    timings: Mapping[str, float],
) -> CompiledTrainingStep:
    """Return the record of a step."""
    declaration, forward, derivative = prepared.declaration, prepared.forward, prepared.derivative
    legal_derivative = programs.derivative
    value_ids, derived_ids = forward.input_ids, legal_derivative.graph.output_ids
    output_ids = programs.forward.graph.output_ids
    named_outputs = [name for name, _ in forward.outputs]
    auxiliary_ids = {name: output_ids[name] for name in named_outputs[1:]}
    own_ids = {output_ids[name] for name in named_outputs}
    return CompiledTrainingStep(
        source_forward_graph=forward,
        source_derivative_program=derivative,
        lowered_forward_graph=programs.forward.graph,
        lowered_derivative_program=legal_derivative,
        forward=lowered_forward,
        derivative=lowered_derivative,
        input_value_ids=MappingProxyType(value_ids),
        loss_value_id=lowered_forward.selected_outputs[0],
        auxiliary_value_ids=MappingProxyType(auxiliary_ids),
        buffers=tuple(
            BufferCompilation(name, value_ids[name], value_id)
            for name, value_id in auxiliary_ids.items()
            if name in value_ids
        ),
        forward_capture_value_ids=tuple(
            value_id for value_id in lowered_forward.selected_outputs if value_id not in own_ids
        ),
        seed_value_ids=(derivative.seed.value.id,),
        parameters=_parameter_rows(
            prepared, value_ids, legal_derivative, derived_ids, programs.updates, lowered_updates
        ),
        frozen_parameters=declaration.frozen_parameters,
        derivative_input_value_ids=MappingProxyType(
            {n.removeprefix("$"): v.id for n, v in derivative.own_inputs if n[0] == "$"}
        ),
        published_value_ids=MappingProxyType(
            {
                name: value_id
                for name, value_id in derived_ids.items()
                if name not in prepared.update_keys and "/" not in name
            }
        ),
        runtime_inputs=declaration.runtime_inputs,
        support=support,
        symbol_sources=sources_of_symbols(declaration.inputs),
        timings=timings,
        provenance=StepProvenance(
            source=forward,
            contract_version=CONTRACT_VERSION,
            input_names=tuple(declaration.inputs),
            parameter_names=declaration.parameters,
            pass_labels=MappingProxyType(dict(pass_labels)),
            optimizer_label=declaration.optimizer_label,
        ),
    )


def sources_of_symbols(types: Mapping[str, TensorType]) -> Mapping[str, tuple[str, int]]:
    """Return where the size of each symbol is found: an input and an axis."""
    return MappingProxyType(symbol_sources({name: type.shape for name, type in types.items()}))


class _Binding(NamedTuple):
    """What all parameters share that one update serves."""

    optimizer_label: str
    slots: tuple[Slot, ...]
    runtime_inputs: Mapping[str, str]
    source: Graph
    graph: Graph
    lowered: LoweredProgram
    input_ids: Mapping[str, str]
    output_ids: Mapping[str, str]


def _parameter_rows(
    prepared: Prepared,
    value_ids: Mapping[str, str],
    derivative: DerivativeProgram,
    derived_ids: Mapping[str, str],
    updates: Mapping[UpdateKey, Program],
    lowered: Mapping[UpdateKey, LoweredProgram],
) -> tuple[ParameterCompilation, ...]:
    """Return the row of each parameter, bound to the update that it shares."""
    bindings: dict[tuple[UpdateKey, str | None], _Binding] = {}
    sums = {name: value for name, value in derivative.own_inputs if name[0] != "$"}
    rows: list[ParameterCompilation] = []
    for name, key in prepared.update_keys.items():
        optimizer = prepared.declaration.optimizers[name]
        shared = bindings.get((key, optimizer.group))
        if shared is None:
            graph = updates[key].graph
            shared = bindings[key, optimizer.group] = _Binding(
                optimizer.label,
                optimizer.slots[key.type],
                MappingProxyType(
                    {role.name: optimizer.runtime_input_of(role).name for role in optimizer.inputs}
                ),
                prepared.updates[key].traced.graph,
                graph,
                lowered[key],
                MappingProxyType(graph.input_ids),
                graph.output_ids,
            )
        accumulator = f"{name}/accumulator"
        rows.append(
            ParameterCompilation(
                name=name,
                value_id=value_ids[name],
                gradient_value_id=derived_ids[name],
                source_update_graph=shared.source,
                lowered_update_graph=shared.graph,
                update=shared.lowered,
                update_input_value_ids=shared.input_ids,
                updated_parameter_value_id=shared.lowered.selected_outputs[0],
                runtime_inputs=shared.runtime_inputs,
                slots=tuple([_slot_row(name, slot, shared) for slot in shared.slots]),
                accumulator=SlotCompilation(
                    "accumulator",
                    accumulator,
                    sums[accumulator].type,
                    Fill(0.0),
                    sums[accumulator].id,
                    derived_ids[accumulator],
                )
                if accumulator in sums
                else None,
                optimizer_label=shared.optimizer_label,
            )
        )
    return tuple(rows)


def _slot_row(parameter: str, slot: Slot, shared: _Binding) -> SlotCompilation:
    """Return the state of one parameter, bound to its update."""
    return SlotCompilation(
        slot.name,
        f"{parameter}/{slot.name}",
        slot.type,
        slot.initial,
        shared.input_ids[slot.name],
        shared.output_ids[slot.name],
    )
