"""Runs a compiled step on ONNX Runtime: one model, its state in two sets of bound buffers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from tinychain_backends.onnx.libraries import onnxruntime
from tinychain_backends.onnx.programs import OnnxProgram, runtime_error, runtime_session
from tinychain_backends.onnx.step_models import (
    description,
    forward_names,
    merged_model,
    scalar_inputs,
    symbol_inputs,
)
from tinychain_backends.sessions.binding import Array, Binding
from tinychain_backends.sessions.scalars import Given
from tinychain_backends.sessions.session import TrainingSession, is_finite, programs_of
from tinychain_backends.sessions.state import TrainingState, read_only
from tinychain_compile import CompiledTrainingStep, LoweredProgram
from tinychain_compile.schedules import DynamicLossScale


class OnnxSession(TrainingSession):
    """Trains on ONNX Runtime with a step compiled by ``OnnxContainer``.

    A step runs as one model. Parameters and state are in two sets of buffers that are bound once: a
    step reads one set and writes the other. Evaluation, gradients and accumulation run the forward
    and derivative models. Checkpoints are those of every session here: a run can go on elsewhere.

    Args:
        record: The compiled step.
        parameters: The starting value of each parameter, nested or by name; copied.
        buffers: The starting value of each buffer likewise.
        optimizer_inputs: What to feed at every step unless told otherwise, as for ``NumpySession``.
        loss_scale: How the loss scale changes, for a step that reads one.
        threads: How many threads an operation may use; by default the runtime's choice.

    Raises:
        BindingError: A parameter or buffer is missing, extra, or not of its declared type.
        BackendError: The runtime rejects a model.
    """

    def __init__(
        self,
        record: CompiledTrainingStep,
        parameters: Mapping[str, Any],
        buffers: Mapping[str, Any] | None = None,
        *,
        optimizer_inputs: Mapping[str, Given] | None = None,
        loss_scale: DynamicLossScale | None = None,
        threads: int | None = None,
    ) -> None:
        names, sources = forward_names(record), symbol_inputs(record)

        def program(lowered: LoweredProgram, name: str) -> OnnxProgram:
            shown = {} if name == "update" else names
            return OnnxProgram(lowered, name, names=shown, sources=sources, threads=threads)

        self._merged: MergedStep | None = None
        self._is_behind = False
        programs = programs_of(record, program)
        super().__init__(record, programs, parameters, buffers, optimizer_inputs, loss_scale)
        types = {name: value.type for name, value in record.source_forward_graph.inputs}
        self._batch = Binding("input", {name: types[name] for name in self._batch_names})
        if not self._watched:  # those are told from gradients, which one model does not show
            self._merged = MergedStep(record, self._state.arrays, threads)

    @property
    def state(self) -> TrainingState:
        """All that the session keeps between steps, in copies of the runtime's buffers."""
        if self._is_behind and self._merged is not None:
            held = self._merged.arrays()
            self._state = replace(
                self._state,
                parameters=read_only({n: held[n] for n in self._state.parameters}),
                buffers=read_only({n: held[n] for n in self._state.buffers}),
                slots=read_only({n: held[n] for n in self._state.slots}),
            )
            self._is_behind = False
        return self._state

    def _hold(self, state: TrainingState) -> None:
        super()._hold(state)
        self._is_behind = False
        if self._merged is not None:
            self._merged.load(state.arrays)

    def _advance(self, batch: Mapping[str, Any], scalars: Mapping[str, float]) -> dict[str, Array]:
        """Run the merged step, and turn to the buffers that it wrote."""
        merged = self._merged
        if merged is None:
            return super()._advance(batch, scalars)
        arrays, _ = self._batch.bind(self._given(batch))
        outputs = merged.run(arrays, scalars)
        published = {name: outputs[name] for name in self._record.published_value_ids}
        applies = is_finite(published)
        after = self._after(published)
        self._state = replace(self._state, **after, steps=self._state.steps + applies)
        merged.turn(applies)
        self._is_behind = True
        return outputs


class MergedStep:
    """The model of a whole step, its buffers, and the two ways to run it.

    Args:
        record: The compiled step.
        state: The starting value of everything that is held, by name or key.
        threads: How many threads an operation may use.
    """

    def __init__(
        self, record: CompiledTrainingStep, state: Mapping[str, Array], threads: int | None
    ) -> None:
        self.model = merged_model(record)
        self._session = runtime_session(self.model, threads)
        described = description(record)
        self._carry: dict[str, str] = described["carry"]
        self._buffers = [row.name for row in record.buffers]
        self._scalar_names = {name: row.name for name, row in scalar_inputs(record).items()}
        self._inputs = {row.name: row for row in self._session.get_inputs()}
        self._sums = {
            row.accumulator.key for row in record.parameters if row.accumulator is not None
        }
        carried = set(self._carry.values())
        outputs = [row.name for row in self._session.get_outputs()]
        self._reported = [n for n in outputs if n not in carried and not n.startswith("new/")]
        self._unused = [n for n in outputs if n.startswith("new/") and n not in carried]
        first = {name: np.array(array, order="C") for name, array in state.items()}
        second = {name: np.empty_like(a) if name in self._carry else a for name, a in first.items()}
        self._sets = (first, second)
        self._current = 0
        self._shapes: dict[str, tuple[int, ...]] | None = None
        self._fed: dict[str, Array] = {}
        self._bindings: list[Any] = []

    def run(self, batch: Mapping[str, Array], scalars: Mapping[str, float]) -> dict[str, Array]:
        """Write the next state, and return the other outputs, in arrays of their own."""
        shapes = {name: array.shape for name, array in batch.items()}
        if shapes != self._shapes:
            self._bind(batch)
            self._shapes = shapes
        for name, array in batch.items():
            np.copyto(self._fed[name], array)
        for name, source in self._scalar_names.items():
            if name in self._fed:
                self._fed[name][...] = scalars[source]
        binding = self._bindings[self._current]
        try:
            self._session.run_with_iobinding(binding)
        except Exception as error:
            raise runtime_error(self.model, error) from error
        results = binding.get_outputs()[: len(self._reported)]
        return {
            name: np.array(value.numpy())
            for name, value in zip(self._reported, results, strict=True)
        }

    def turn(self, is_applied: bool) -> None:
        """Let what was written be what is read; only the buffers, if the step is not applied."""
        if is_applied:
            self._current = 1 - self._current
        else:
            for name in self._buffers:
                np.copyto(self._sets[self._current][name], self._sets[1 - self._current][name])
        for key in self._sums:
            self._sets[0][key][...] = 0

    def arrays(self) -> dict[str, Array]:
        """Return copies of what is held, by name or key."""
        return {name: array.copy() for name, array in self._sets[self._current].items()}

    def load(self, state: Mapping[str, Array]) -> None:
        """Hold these values."""
        for name, array in self._sets[self._current].items():
            np.copyto(array, state[name])

    def _bind(self, batch: Mapping[str, Array]) -> None:
        """Bind buffers to inputs and outputs, for batches of these shapes."""
        value_of = onnxruntime.OrtValue.ortvalue_from_numpy
        held = self._sets[0]
        self._fed = {name: np.empty_like(array, order="C") for name, array in batch.items()}
        for name in self._inputs:
            if name not in held and name not in batch:
                self._fed[name] = np.zeros((), _DTYPES[self._inputs[name].type])
        fed = {name: value_of(array) for name, array in self._fed.items() if name in self._inputs}
        sets = [{name: value_of(array) for name, array in own.items()} for own in self._sets]
        self._bindings = []
        for reads, writes in (sets, sets[::-1]):
            binding = self._session.io_binding()
            for name in self._inputs:
                binding.bind_ortvalue_input(name, fed[name] if name in fed else reads[name])
            for name in (*self._reported, *self._unused):
                binding.bind_output(name, "cpu")
            for name, output in self._carry.items():
                binding.bind_ortvalue_output(output, writes[name])
            self._bindings.append(binding)
        self._values = (fed, sets)


_DTYPES = {"tensor(float)": np.float32, "tensor(double)": np.float64}
"""The dtypes of scalars, by the runtime's names."""
