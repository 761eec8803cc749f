"""Trains a compiled step through a backend's adapter, or by the evaluator, step by step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol

import numpy as np

from tinychain_backends.numpy import NumpyEvaluator
from tinychain_compile import CompiledTrainingStep, Graph, LoweredProgram
from tinychain_compile.runtime_inputs import STEP
from tinychain_conformance.adapter import Array, Backend
from tinychain_conformance.bisecting import source_values


class Engine(Protocol):
    """Runs the programs of one compiled step."""

    def forward(self, values: Mapping[str, Array]) -> Mapping[str, Array]:
        """Return what the forward program gives, by id."""
        ...

    def derivative(self, values: Mapping[str, Array]) -> Mapping[str, Array]:
        """Return the gradients, by the ids of the record."""
        ...

    def update(self, name: str, values: Mapping[str, Array]) -> Mapping[str, Array]:
        """Return what the update of a parameter gives: by role, as it is given."""
        ...


class BackendEngine:
    """Runs the lowered programs, each loaded once; updates when they are first asked for.

    Args:
        backend: The backend.
        step: Compiled by its container.
    """

    def __init__(self, backend: Backend, step: CompiledTrainingStep) -> None:
        self._run, self._load = backend.adapter.run, backend.adapter.load
        self._step = step
        self._forward, self._derivative = self._load(step.forward), self._load(step.derivative)
        self._updates: dict[LoweredProgram, Any] = {}

    def forward(self, values: Mapping[str, Array]) -> Mapping[str, Array]:
        """Return what the forward program gives, by id."""
        return self._run(self._forward, values)

    def derivative(self, values: Mapping[str, Array]) -> Mapping[str, Array]:
        """Return the gradients, by the ids of the record."""
        return self._run(self._derivative, values)

    def update(self, name: str, values: Mapping[str, Array]) -> Mapping[str, Array]:
        """Return what the update of a parameter gives, by role."""
        row = self._step.parameter(name)
        ids = row.update_input_value_ids
        if row.update not in self._updates:
            self._updates[row.update] = self._load(row.update)
        made = self._run(self._updates[row.update], {ids[role]: a for role, a in values.items()})
        slots = {slot.name: made[slot.output_value_id] for slot in row.slots}
        return {"parameter": made[row.updated_parameter_value_id], **slots}


class EvaluatorEngine:
    """Runs the source graphs, operation by operation, on the evaluator.

    Args:
        step: A compiled step; what it was lowered to plays no part.
    """

    def __init__(self, step: CompiledTrainingStep) -> None:
        self._step = step

    def forward(self, values: Mapping[str, Array]) -> Mapping[str, Array]:
        """Return every value of the forward graph, by id."""
        ids = self._step.input_value_ids
        return source_values(self._step, {name: values[i] for name, i in ids.items()})

    def derivative(self, values: Mapping[str, Array]) -> Mapping[str, Array]:
        """Return the gradients, by the ids of the record."""
        made = _evaluate(self._step.source_derivative_program.graph, values)
        return {row.gradient_value_id: made[row.name] for row in self._step.parameters}

    def update(self, name: str, values: Mapping[str, Array]) -> Mapping[str, Array]:
        """Return what the update of a parameter gives, by role."""
        return NumpyEvaluator().evaluate(self._step.parameter(name).source_update_graph, values)


def _evaluate(graph: Graph, values: Mapping[str, Array]) -> dict[str, Array]:
    return NumpyEvaluator().evaluate(graph, {name: values[v.id] for name, v in graph.inputs})


class Moment(NamedTuple):
    """What one step came to.

    Attributes:
        loss: Before the update.
        gradients: By parameter.
        state: Parameters by name and slots by key, after the update.
    """

    loss: Array
    gradients: Mapping[str, Array]
    state: Mapping[str, Array]


def initial_state(step: CompiledTrainingStep, parameters: Mapping[str, Array]) -> dict[str, Array]:
    """Return parameters and slots before step 1."""
    state = {row.name: np.asarray(parameters[row.name]) for row in step.parameters}
    for row in step.parameters:
        state |= {slot.key: slot.start(state[row.name]) for slot in row.slots}
    return state


def differentiate(
    step: CompiledTrainingStep, engine: Engine, arrays: Mapping[str, Array]
) -> tuple[Array, Mapping[str, Array]]:
    """Return the loss, and the gradients by the ids of the record, with a seed of 1."""
    values = {value_id: arrays[name] for name, value_id in step.input_value_ids.items()}
    values |= engine.forward(values)
    loss = np.asarray(values[step.loss_value_id])
    values |= {seed: np.ones((), loss.dtype) for seed in step.seed_value_ids}
    return loss, engine.derivative(values)


def advance(
    step: CompiledTrainingStep,
    engine: Engine,
    data: Mapping[str, Array],
    state: Mapping[str, Array],
    scalars: Mapping[str, float],
) -> Moment:
    """Return what a step comes to; nothing is changed.

    Args:
        step: The record.
        engine: Runs its programs.
        data: The batch.
        state: Parameters by name and slots by key.
        scalars: What to feed beside the defaults, ``step`` among them.
    """
    loss, gradients = differentiate(step, engine, {**data, **state})
    defaults = {row.name: row.default for row in step.runtime_inputs if row.default is not None}
    fed = {**defaults, **scalars}
    after: dict[str, Array] = {}
    for row in step.parameters:
        given = {
            "parameter": state[row.name],
            "gradient": np.asarray(gradients[row.gradient_value_id]),
            **{slot.name: state[slot.key] for slot in row.slots},
        }
        for role, value in row.source_update_graph.inputs:
            if role in row.runtime_inputs:
                given[role] = np.asarray(fed[row.runtime_inputs[role]], value.type.dtype)
        made = engine.update(row.name, given)
        after[row.name] = np.array(made["parameter"])
        after |= {slot.key: np.array(made[slot.name]) for slot in row.slots}
    by_name = {row.name: np.array(gradients[row.gradient_value_id]) for row in step.parameters}
    return Moment(loss.copy(), by_name, after)


def train(
    step: CompiledTrainingStep,
    engine: Engine,
    data: Mapping[str, Array],
    state: Mapping[str, Array],
    *,
    steps: range,
    rate: Callable[[int], float],
) -> list[Moment]:
    """Return the moments of several steps, with a learning rate that depends on the step."""
    moments: list[Moment] = []
    for number in steps:
        moment = advance(
            step, engine, data, state, {STEP: float(number), "learning_rate": rate(number)}
        )
        state = moment.state
        moments.append(moment)
    return moments
