"""Runs a compiled step: holds parameters and state, feeds seed and captures, applies updates."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple, Protocol

import numpy as np

from tinychain_backends.sessions.binding import Array, Binding, check_names
from tinychain_backends.sessions.checkpoints import restored_state, save_state
from tinychain_backends.sessions.scalars import Given, StepScalars
from tinychain_backends.sessions.state import TrainingState, initial_state, read_only
from tinychain_compile import (
    BindingError,
    CompiledTrainingStep,
    CopyOfParameter,
    LoweredProgram,
    ParameterCompilation,
    PrecisionWarning,
    flatten,
)
from tinychain_compile.schedules import DynamicLossScale


class _Run(NamedTuple):
    """What one run of the forward program came to."""

    values: dict[str, Array]
    sizes: dict[str, int]


class Program(Protocol):
    """A lowered program that can be run."""

    def run(self, values: Mapping[str, Array], sizes: Mapping[str, int]) -> dict[str, Array]:
        """Return the outputs by id, given all that the program reads by id; others are ignored."""
        ...


class StepPrograms(NamedTuple):
    """The programs of a compiled step.

    Attributes:
        forward: Gives loss, auxiliary outputs and captures.
        derivative: Gives gradients and what transforms publish.
        updates: Gives the new value and state of each parameter, by its name.
    """

    forward: Program
    derivative: Program
    updates: Mapping[str, Program]


def programs_of(
    record: CompiledTrainingStep, make: Callable[[LoweredProgram, str], Program]
) -> StepPrograms:
    """Return the programs of a step; parameters that share an update share its program."""
    updates = dict.fromkeys(row.update for row in record.parameters)
    made = {update: make(update, "update") for update in updates}
    return StepPrograms(
        make(record.forward, "forward"),
        make(record.derivative, "derivative"),
        {row.name: made[row.update] for row in record.parameters},
    )


class TrainingSession:
    """Trains with a compiled step whose programs some runtime runs.

    Args:
        record: The compiled step.
        programs: Its programs.
        parameters: The starting value of each parameter, nested or by name; copied.
        buffers: The starting value of each buffer likewise.
        optimizer_inputs: What to feed at every step unless told otherwise: numbers, or schedules,
            which are called with the number of steps before. With groups of parameters, one for all
            or a mapping from patterns.
        loss_scale: How the loss scale changes, for a step that reads one.

    Raises:
        BindingError: A parameter or buffer is missing, extra, or not of its declared type.
    """

    def __init__(
        self,
        record: CompiledTrainingStep,
        programs: StepPrograms,
        parameters: Mapping[str, Any],
        buffers: Mapping[str, Any] | None,
        optimizer_inputs: Mapping[str, Given] | None,
        loss_scale: DynamicLossScale | None,
    ) -> None:
        self._record = record
        self._programs = programs
        self._scalars = StepScalars(record, optimizer_inputs or {})
        if loss_scale is not None and "loss_scale" not in self._scalars.names:
            raise BindingError(
                "loss_scale",
                expected="none: this step reads no loss scale",
                got=repr(loss_scale),
                hint="Compile it with MixedPrecision(optimizer).",
            )
        self._loss_scale = loss_scale
        start = loss_scale.start() if loss_scale else None
        first = initial_state(record, parameters, buffers or {}, start)
        types = {name: value.type for name, value in record.source_forward_graph.inputs}
        self._inputs = Binding("input", types)
        held = {*first.parameters, *first.buffers}
        self._batch_names = [name for name in types if name not in held]
        self._watched = [row for row in record.parameters if _can_stand_still(row)]
        self._hold(first)

    @property
    def parameters(self) -> Mapping[str, Array]:
        """The current value of each parameter, by name, in order; arrays are read-only."""
        return self.state.parameters

    @property
    def buffers(self) -> Mapping[str, Array]:
        """The current value of each buffer, by name, in order; arrays are read-only."""
        return self.state.buffers

    @property
    def state(self) -> TrainingState:
        """All that the session keeps between steps."""
        return self._state

    def step(self, batch: Mapping[str, Any], **optimizer_inputs: Given) -> dict[str, Array]:
        """Update every parameter, slot and buffer once, and return the outputs by name.

        ``loss`` is among them, each auxiliary output that is no buffer, and what gradient
        transforms publish. Gradients that were accumulated are part of the update. Where a scaled
        step publishes ``gradients_finite`` as false, parameters, slots and the count of steps
        stay; accumulated gradients are dropped.

        Args:
            batch: An array for each other input, nested or by name.
            optimizer_inputs: The runtime scalars of this step, such as ``learning_rate``.

        Raises:
            BindingError: Something is missing, extra, misshapen, mistyped or out of range; nothing
                has changed.
        """
        scalars = self._scalars.resolved(optimizer_inputs, self._counted())
        return self._advance(batch, scalars)

    def accumulate(self, batch: Mapping[str, Any]) -> dict[str, Array]:
        """Add the gradients of a micro-batch to those that the next ``step`` applies.

        ``step`` applies the mean over these and its own micro-batch. Buffers are updated. Returns
        the outputs of the loss by name.

        Raises:
            BindingError: The step was compiled without ``accumulate_gradients``, or the batch is
                wrong; nothing has changed.
        """
        sums = [row.accumulator for row in self._record.parameters if row.accumulator is not None]
        if not sums:
            raise BindingError(
                "accumulate",
                expected="a step compiled with CompileOptions(accumulate_gradients=True)",
                got="one without",
            )
        needed = self._scalars.names & {"loss_scale"}
        held = self._scalars.resolved({}, self._counted(), needed)
        scalars = dict.fromkeys(self._scalars.names, 1.0) | held  # what is clipped is dropped
        run = self._run_forward(batch)
        derived = self._run_derivative(run, scalars)
        totals = {row.key: derived[row.output_value_id].copy() for row in sums}
        state = self.state
        self._hold(
            replace(
                state,
                buffers=self._new_buffers(run),
                slots=read_only({**state.slots, **totals}),
                micro_batches=state.micro_batches + 1,
            )
        )
        return self._outputs(run)

    def value_and_gradients(
        self, batch: Mapping[str, Any], **optimizer_inputs: Given
    ) -> tuple[Array, dict[str, Array]]:
        """Return the loss, and its derivative by each parameter, in arrays of their own.

        Gradients are what an update would be given, without the loss scale. Nothing changes.

        Args:
            batch: An array for each other input, nested or by name.
            optimizer_inputs: The runtime scalars that gradient transforms read.
        """
        wanted = frozenset(self._record.derivative_input_value_ids)
        counted = {**self._counted(), "loss_scale": 1.0}
        scalars = self._scalars.resolved(optimizer_inputs, counted, wanted)
        run = self._run_forward(batch)
        gradients = self._run_derivative(run, {"loss_scale": 1.0, **scalars})
        rows = self._record.parameters
        by_name = {row.name: gradients[row.gradient_value_id].copy() for row in rows}
        return run.values[self._record.loss_value_id], by_name

    def evaluate(self, batch: Mapping[str, Any]) -> dict[str, Array]:
        """Return the outputs by name, without a derivative."""
        return self._outputs(self._run_forward(batch))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write parameters, buffers, state and counters to a safetensors file, at once or not.

        Raises:
            BindingError: The package safetensors is not installed.
        """
        save_state(self.state, path)

    def restore(self, path: str | os.PathLike[str]) -> None:
        """Go on from a file that ``save`` wrote, exactly.

        Raises:
            BindingError: An entry is missing, extra, misshapen or mistyped; all are named, and
                nothing has changed.
        """
        self._hold(restored_state(self.state, path))

    def _hold(self, state: TrainingState) -> None:
        """Keep a state, in place of the one before."""
        self._state = state

    def _advance(self, batch: Mapping[str, Any], scalars: Mapping[str, float]) -> dict[str, Array]:
        """Run every program once, hold the state after it, and return the outputs by name."""
        state = self.state
        run = self._run_forward(batch)
        derived = self._run_derivative(run, scalars)
        published = self._published(derived)
        new = replace(state, buffers=self._new_buffers(run), **self._after(published))
        if is_finite(published):
            new = self._updated(new, derived, scalars, run.sizes)
        self._hold(replace(new, slots=self._without_sums(new.slots)))
        return {**self._outputs(run), **published}

    def _after(self, published: Mapping[str, Array]) -> dict[str, Any]:
        """Return the counters after a step, but for the number of updates."""
        scale = self._state.loss_scale
        if self._loss_scale is not None and scale is not None:
            scale = self._loss_scale.after(scale, is_finite(published))
        return {"micro_batches": 0, "loss_scale": scale}

    def _counted(self) -> dict[str, float]:
        """Return the runtime scalars that the session counts or holds itself."""
        counted: dict[str, float] = {
            "step": self._state.steps + 1,
            "micro_batches": self._state.micro_batches + 1,
        }
        if self._state.loss_scale is not None:
            counted["loss_scale"] = self._state.loss_scale.scale
        return counted

    def _given(self, batch: Mapping[str, Any]) -> dict[str, Any]:
        """Return a batch by flat name, which must hold exactly the other inputs."""
        given = flatten(batch, "input", self._batch_names)
        check_names("batch", given, self._batch_names)
        return given

    def _run_forward(self, batch: Mapping[str, Any]) -> _Run:
        """Return every value known after the forward run, by id, and the sizes of symbols."""
        given = self._given(batch)
        state = self.state
        arrays, sizes = self._inputs.bind({**given, **state.parameters, **state.buffers})
        ids = self._record.input_value_ids
        values = {ids[name]: array for name, array in arrays.items()}
        return _Run(values | self._programs.forward.run(values, sizes), sizes)

    def _run_derivative(self, run: _Run, scalars: Mapping[str, float]) -> dict[str, Array]:
        """Return the derivative's outputs by id; the seed is the loss scale, or 1."""
        record, state = self._record, self.state
        loss = run.values[record.loss_value_id]
        seed = np.asarray(scalars.get("loss_scale", 1.0), loss.dtype)
        bound = run.values | dict.fromkeys(record.seed_value_ids, seed)
        types = {value.id: value.type for _, value in record.source_derivative_program.own_inputs}
        for name, value_id in record.derivative_input_value_ids.items():
            bound[value_id] = np.asarray(scalars[name], types[value_id].dtype)
        for row in record.parameters:
            if row.accumulator is not None:
                bound[row.accumulator.input_value_id] = state.slots[row.accumulator.key]
        return self._programs.derivative.run(bound, run.sizes)

    def _updated(
        self,
        state: TrainingState,
        derived: Mapping[str, Array],
        scalars: Mapping[str, float],
        sizes: Mapping[str, int],
    ) -> TrainingState:
        """Return the state after every update."""
        parameters, slots = dict(state.parameters), dict(state.slots)
        for row in self._record.parameters:
            ids = row.update_input_value_ids
            bound = {
                ids["parameter"]: state.parameters[row.name],
                ids["gradient"]: derived[row.gradient_value_id],
            }
            for slot in row.slots:
                bound[slot.input_value_id] = state.slots[slot.key]
            for role, value in row.source_update_graph.inputs:
                if role in row.runtime_inputs:
                    scalar = scalars[row.runtime_inputs[role]]
                    bound[ids[role]] = np.asarray(scalar, value.type.dtype)
            results = self._programs.updates[row.name].run(bound, sizes)
            parameters[row.name] = _own(results[row.updated_parameter_value_id], bound)
            for slot in row.slots:
                slots[slot.key] = _own(results[slot.output_value_id], bound)
        self._warn_of_standstill(parameters, derived, scalars)
        return replace(
            state,
            parameters=read_only(parameters),
            slots=read_only(slots),
            steps=state.steps + 1,
        )

    def _warn_of_standstill(
        self,
        parameters: Mapping[str, Array],
        derived: Mapping[str, Array],
        scalars: Mapping[str, float],
    ) -> None:
        """Warn once of each short parameter most of whose elements an update could not move."""
        for row in tuple(self._watched):
            if scalars.get(row.runtime_inputs.get("learning_rate", "")) == 0.0:
                continue
            has_gradient = derived[row.gradient_value_id] != 0
            stands_still = parameters[row.name] == self.state.parameters[row.name]
            share = np.count_nonzero(stands_still & has_gradient)
            if share > 0.5 * np.count_nonzero(has_gradient):
                self._watched.remove(row)
                warnings.warn(
                    f"parameter {row.name!r}: an update by {row.optimizer_label} left {share} of "
                    f"{has_gradient.sum()} elements with a gradient where they were, because "
                    f"{parameters[row.name].dtype} cannot hold so small a step; wrap the optimizer "
                    "in MixedPrecision to keep f32 values",
                    PrecisionWarning,
                    stacklevel=5,
                )

    def _without_sums(self, slots: Mapping[str, Array]) -> Mapping[str, Array]:
        """Return the state with all sums of gradients at zero."""
        sums = [row.accumulator for row in self._record.parameters if row.accumulator is not None]
        if not sums:
            return slots
        return read_only({**slots, **{row.key: np.zeros_like(slots[row.key]) for row in sums}})

    def _new_buffers(self, run: _Run) -> Mapping[str, Array]:
        rows = self._record.buffers
        return read_only({row.name: run.values[row.updated_value_id].copy() for row in rows})

    def _published(self, derived: Mapping[str, Array]) -> dict[str, Array]:
        return {n: derived[i].copy() for n, i in self._record.published_value_ids.items()}

    def _outputs(self, run: _Run) -> dict[str, Array]:
        record, values = self._record, run.values
        held = {buffer.name for buffer in record.buffers}
        outputs = {"loss": values[record.loss_value_id]}
        auxiliary = record.auxiliary_value_ids
        return outputs | {n: values[i].copy() for n, i in auxiliary.items() if n not in held}


def is_finite(published: Mapping[str, Array]) -> bool:
    """Return whether a step may be applied."""
    return bool(published.get("gradients_finite", True))


def _own(result: Array, operands: Mapping[str, Array]) -> Array:
    """Return a result in an array that is none of the operands."""
    return result.copy() if any(result is operand for operand in operands.values()) else result


def _can_stand_still(row: ParameterCompilation) -> bool:
    """Return whether steps can be lost: a short dtype, and no longer copy that keeps them."""
    type = row.source_update_graph.inputs[0].value.type
    has_copy = any(isinstance(slot.initial, CopyOfParameter) for slot in row.slots)
    return type.dtype.itemsize < 4 and not has_copy
