"""The models of a compiled step: forward, derivative, update, and all three as one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from tinychain_backends.onnx.handlers import onnx_registry
from tinychain_backends.onnx.hooks import onnx_hook
from tinychain_backends.onnx.models import ModelBuilder, SymbolInput, types_of
from tinychain_compile import (
    CompiledFunction,
    CompiledTrainingStep,
    Fill,
    FusionHook,
    HandlerRegistry,
    LoweredProgram,
    RuntimeInput,
    SlotCompilation,
    TensorType,
    lower_graph,
    merge_step,
)

METADATA = "tinychain_compile.step"
"""The key of the metadata that describes a step."""

FORMAT = "tinychain-compile step 1"


class StepModels(NamedTuple):
    """The models of a step, by their names as files.

    Attributes:
        forward: From declared inputs to loss, auxiliary outputs and captures.
        derivative: From these and ``seed`` to ``gradient/`` and a parameter's name.
        update: From parameters, gradients, state and scalars to ``new/`` and their names.
        step: All at once, with a seed of 1.
    """

    forward: Any
    derivative: Any
    update: Any
    step: Any


def step_models(
    record: CompiledTrainingStep,
    *,
    handlers: HandlerRegistry | None = None,
    fusion: FusionHook | None = None,
) -> StepModels:
    """Return the models of a step that ``OnnxContainer`` compiled.

    Args:
        record: The step.
        handlers: What the merged step is lowered by; by default as for ONNX Runtime.
        fusion: Likewise.
    """
    return StepModels(
        _forward(record),
        _derivative(record),
        _update(record),
        merged_model(record, handlers=handlers, fusion=fusion),
    )


def new(name: str) -> str:
    """Return the name of the output that is the new value of an input."""
    return f"new/{name}"


def merged_model(
    record: CompiledTrainingStep,
    *,
    handlers: HandlerRegistry | None = None,
    fusion: FusionHook | None = None,
) -> Any:
    """Return the model of the whole step, described by its metadata."""
    graph = merge_step(record)
    program = lower_graph(graph, handlers=handlers or onnx_registry(), fusion=fusion or onnx_hook())
    builder = ModelBuilder("step")
    taken = {name for name, _ in graph.inputs}
    for name, value in graph.inputs:
        builder.input(value.id, name, value.type)
    builder.program(program)
    for name, value in graph.outputs:
        builder.output(value.id, new(name) if name in taken else name, value.type)
    return builder.build({METADATA: json.dumps(description(record), indent=1)})


def description(record: CompiledTrainingStep) -> dict[str, Any]:
    """Return what a program in any language needs to drive the merged step.

    ``carry`` says which output is which input's value at the next step, ``initial`` where state
    that nobody declared starts, ``scalars`` what is fed beside arrays. State that is in ``initial``
    and not in ``carry`` is fed as it starts, at every step.
    """
    learned = [row.name for row in record.parameters]
    auxiliary = _auxiliary(record)
    by_id = {value_id: name for name, value_id in auxiliary.items()}
    held = {row.name: by_id[row.updated_value_id] for row in record.buffers}
    sums = {row.accumulator.key for row in record.parameters if row.accumulator is not None}
    carried = [*learned, *(slot.key for slot in record.slots if slot.key not in sums)]
    roles = {
        **dict.fromkeys((name for name, _ in record.source_forward_graph.inputs), "batch"),
        **dict.fromkeys(learned, "parameter"),
        **dict.fromkeys(record.frozen_parameters, "frozen parameter"),
        **dict.fromkeys(held, "buffer"),
        **dict.fromkeys((slot.key for slot in record.slots), "state"),
    }
    initial = {
        slot.key: _initial(slot, row.name)
        for row in record.parameters
        for slot in (*row.slots, *filter(None, [row.accumulator]))
    }
    described: dict[str, Any] = {
        "format": FORMAT,
        "roles": roles,
        "outputs": {
            "loss": "loss",
            "auxiliary": [n for n in auxiliary if n not in held.values()],
            "published": list(record.published_value_ids),
        },
        "carry": {**{name: new(name) for name in carried}, **held},
        "initial": initial,
        "scalars": {
            name: {
                "default": row.default,
                "range": [repr(float(end)) for end in row.valid_range],
                "counted": row.name in ("step", "micro_batches"),
            }
            for name, row in scalar_inputs(record).items()
        },
    }
    if "gradients_finite" in record.published_value_ids:
        described["carry_if"] = "gradients_finite"
    return described


def scalar_inputs(record: CompiledTrainingStep) -> dict[str, RuntimeInput]:
    """Return what is fed beside arrays by its name in models, where inputs have theirs."""
    taken = {name for name, _ in record.source_forward_graph.inputs}
    return {f"${r.name}" if r.name in taken else r.name: r for r in record.runtime_inputs}


def _auxiliary(record: CompiledTrainingStep) -> dict[str, str]:
    """Return the id of each auxiliary output by its name in models, where inputs have theirs."""
    taken = {name for name, _ in record.source_forward_graph.inputs}
    return {
        new(name) if name in taken else name: value_id
        for name, value_id in record.auxiliary_value_ids.items()
    }


def _initial(slot: SlotCompilation, parameter: str) -> dict[str, Any]:
    if isinstance(slot.initial, Fill):
        return {"fill": slot.initial.value}
    return {"copy_of": parameter}


def forward_names(record: CompiledTrainingStep) -> dict[str, str]:
    """Return the name of each value that goes into or out of the forward or derivative program."""
    names = {value_id: name for name, value_id in record.input_value_ids.items()}
    names |= {value_id: f"capture/{value_id}" for value_id in record.forward_capture_value_ids}
    names |= dict.fromkeys(record.seed_value_ids, "seed")
    names |= {value_id: name for name, value_id in record.derivative_input_value_ids.items()}
    for row in record.parameters:
        if row.accumulator is not None:
            names[row.accumulator.input_value_id] = row.accumulator.key
    return names


def symbol_inputs(
    record: CompiledTrainingStep | CompiledFunction,
) -> dict[str, SymbolInput]:
    """Return the declared input that each symbol can be read off."""
    if isinstance(record, CompiledFunction):
        graph = record.source_graph
    else:
        graph = record.source_forward_graph
    types = {name: value.type for name, value in graph.inputs}
    return {
        symbol: (record.input_value_ids[name], name, types[name], axis)
        for symbol, (name, axis) in record.symbol_sources.items()
    }


def _forward(record: CompiledTrainingStep) -> Any:
    names = forward_names(record)
    builder = _builder("forward", record, record.forward, names)
    outputs = {"loss": record.loss_value_id, **_auxiliary(record)}
    outputs |= {names[value_id]: value_id for value_id in record.forward_capture_value_ids}
    types = types_of(record.forward)
    for name, value_id in outputs.items():
        builder.output(value_id, name, types[value_id])
    return builder.build()


def _derivative(record: CompiledTrainingStep) -> Any:
    builder = _builder("derivative", record, record.derivative, forward_names(record))
    outputs = {f"gradient/{row.name}": row.gradient_value_id for row in record.parameters}
    outputs |= record.published_value_ids
    for row in record.parameters:
        if row.accumulator is not None:
            outputs[new(row.accumulator.key)] = row.accumulator.output_value_id
    types = types_of(record.derivative)
    for name, value_id in outputs.items():
        builder.output(value_id, name, types[value_id])
    return builder.build()


def _update(record: CompiledTrainingStep) -> Any:
    """Return the updates of all parameters; a shared one comes again for each."""
    builder = ModelBuilder("update", symbol_inputs(record))
    fed: dict[tuple[str, TensorType], str] = {}
    for row in record.parameters:
        suffix = f"@{row.name}"
        states = {slot.name: slot.key for slot in row.slots}
        named = {"parameter": row.name, "gradient": f"gradient/{row.name}", **states}
        for role, value in row.lowered_update_graph.inputs:
            own = value.id + suffix
            if role not in row.runtime_inputs:
                builder.input(own, named[role], value.type)
                continue
            scalar = row.runtime_inputs[role]
            key = (scalar, value.type)
            if key in fed:
                builder.known(own, fed[key])
            else:
                several = any(name == scalar for name, _ in fed)
                label = f"{scalar}.{value.type.dtype}" if several else scalar
                builder.input(own, label, value.type)
                fed[key] = own
        builder.program(row.update, suffix)
        types = types_of(row.update)
        outputs = {row.name: row.updated_parameter_value_id}
        outputs |= {slot.key: slot.output_value_id for slot in row.slots}
        for name, value_id in outputs.items():
            builder.output(value_id + suffix, new(name), types[value_id])
    return builder.build()


def _builder(
    title: str, record: CompiledTrainingStep, program: LoweredProgram, names: Mapping[str, str]
) -> ModelBuilder:
    builder = ModelBuilder(title, symbol_inputs(record))
    for row in program.dependencies.required_inputs:
        builder.input(row.value_id, names[row.value_id], TensorType(row.dtype, row.shape))
    builder.program(program)
    return builder
