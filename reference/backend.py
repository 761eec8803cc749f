"""Twelve one-line handlers, and a trainer that runs what they make.

A target value is a function from the values computed so far, by id, to an array. Every other
operator reaches this backend as its decomposition.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

import numpy as np
from dependency_injector import providers
from numpy.typing import ArrayLike, NDArray

from tinychain_compile import (
    NO_FUSION,
    CompiledTrainingStep,
    FusionHook,
    HandlerRegistry,
    LoweredProgram,
    OperationContext,
    OperationHandlerRegistry,
)
from tinychain_compile.container import TrainingStepContainer
from tinychain_compile.operators import (
    Add,
    BroadcastTo,
    Cast,
    Constant,
    Div,
    Exp,
    Iota,
    Less,
    Log,
    Mul,
    Operator,
    ReduceMax,
    ReduceSum,
    Reshape,
    Transpose,
    Where,
)

Array = NDArray[Any]
Thunk = Callable[[Mapping[str, Array]], Array]


def _iota(op: Iota) -> Array:
    positions: list[Array] = list(np.indices(cast(tuple[int, ...], op.shape), dtype=op.dtype))
    return positions[op.axis]


SOURCES: dict[type[Operator], Callable[[Any], Any]] = {
    Constant: lambda op: op.value,
    Iota: _iota,
}

UNARY: dict[type[Operator], Callable[[Any, Array], Any]] = {
    Exp: lambda _, x: np.exp(x),
    Log: lambda _, x: np.log(x),
    ReduceSum: lambda op, x: x.sum(axis=op.axes, keepdims=op.keepdims, dtype=x.dtype),
    ReduceMax: lambda op, x: x.max(axis=op.axes, keepdims=op.keepdims),
    Reshape: lambda op, x: x.reshape(op.shape),
    Transpose: lambda op, x: x.transpose(op.permutation),
    BroadcastTo: lambda op, x: np.broadcast_to(x, op.shape),
    Cast: lambda op, x: x.astype(op.dtype),
}

BINARY: dict[type[Operator], Callable[[Any, Array, Array], Any]] = {
    Add: lambda _, a, b: a + b,
    Mul: lambda _, a, b: a * b,
    Div: lambda _, a, b: a / b,
    Less: lambda _, a, b: a < b,
}

TERNARY: dict[type[Operator], Callable[[Any, Array, Array, Array], Any]] = {
    Where: lambda _, condition, a, b: np.where(condition, a, b),
}

FUNCTIONS: dict[type[Operator], Callable[..., Any]] = {**SOURCES, **UNARY, **BINARY, **TERNARY}


def lower_to_thunk(context: OperationContext) -> Thunk:
    """Return a function that computes one operation from the values before it."""
    function, operator = FUNCTIONS[type(context.operator)], context.operator
    ids = context.input_value_ids
    return lambda values: function(operator, *[values[i] for i in ids])


def reference_registry() -> OperationHandlerRegistry:
    """Return a registry of the twelve, the literals and cast."""
    registry = OperationHandlerRegistry()
    for operator_type in FUNCTIONS:
        registry.handler(operator_type)(lower_to_thunk)
    return registry


class ReferenceAdapter:
    """Runs a lowered program for the conformance kit: there is nothing to load."""

    def load(self, program: LoweredProgram) -> LoweredProgram:
        """Return the program itself."""
        return program

    def run(self, loaded: LoweredProgram, values: Mapping[str, Array]) -> dict[str, Array]:
        """Return what the program computes, by id."""
        return run(loaded, values)


class ReferenceContainer(TrainingStepContainer):
    """Compiles for the reference backend; a fresh registry for each program."""

    handler_registry: providers.Provider[HandlerRegistry] = providers.Factory(reference_registry)
    fusion_hook: providers.Provider[FusionHook] = providers.Object(NO_FUSION)
    conformance_adapter: providers.Provider[ReferenceAdapter] = providers.Factory(ReferenceAdapter)


def run(program: LoweredProgram, values: Mapping[str, Array]) -> dict[str, Array]:
    """Return what a program computes, by id, given what it reads."""
    known = {row.value_id: values[row.value_id] for row in program.dependencies.required_inputs}
    with np.errstate(all="ignore"):
        for operation in program.operations:
            known[operation.output_value_id] = np.asarray(operation.value(known))
    return {value_id: known[value_id] for value_id in program.selected_outputs}


class ReferenceTrainer:
    """Holds parameters and state and applies steps, without any check."""

    def __init__(self, record: CompiledTrainingStep, parameters: Mapping[str, ArrayLike]) -> None:
        self.record = record
        self.parameters = {name: np.asarray(array) for name, array in parameters.items()}
        self.slots = {
            slot.key: slot.start(self.parameters[row.name])
            for row in record.parameters
            for slot in row.slots
        }
        self.steps = 0

    def value_and_gradients(
        self, batch: Mapping[str, ArrayLike], **scalars: float
    ) -> tuple[Array, dict[str, Array]]:
        """Return the loss, and its derivative by each parameter."""
        record = self.record
        arrays = {name: np.asarray(array) for name, array in batch.items()} | self.parameters
        values = {value_id: arrays[name] for name, value_id in record.input_value_ids.items()}
        values |= run(record.forward, values)
        loss = values[record.loss_value_id]
        values |= {seed: np.ones((), loss.dtype) for seed in record.seed_value_ids}
        for name, value in record.source_derivative_program.own_inputs:
            values[value.id] = np.asarray(scalars[name.removeprefix("$")], value.type.dtype)
        gradients = run(record.derivative, values)
        return loss, {row.name: gradients[row.gradient_value_id] for row in record.parameters}

    def step(self, batch: Mapping[str, ArrayLike], **scalars: float) -> Array:
        """Update every parameter once and return the loss."""
        self.steps += 1
        defaults = {r.name: r.default for r in self.record.runtime_inputs if r.default is not None}
        fed: dict[str, float] = {**defaults, "step": float(self.steps), **scalars}
        loss, gradients = self.value_and_gradients(batch, **fed)
        for row in self.record.parameters:
            graph = row.source_update_graph
            roles = {"parameter": self.parameters[row.name], "gradient": gradients[row.name]}
            roles |= {slot.name: self.slots[slot.key] for slot in row.slots}
            for role, value in graph.inputs:
                if role in row.runtime_inputs:
                    roles[role] = np.asarray(fed[row.runtime_inputs[role]], value.type.dtype)
            bound = {value_id: roles[role] for role, value_id in row.update_input_value_ids.items()}
            updated = run(row.update, bound)
            self.parameters[row.name] = updated[row.updated_parameter_value_id]
            self.slots |= {slot.key: updated[slot.output_value_id] for slot in row.slots}
        return loss
