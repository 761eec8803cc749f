"""Runs a compiled step: holds parameters, feeds seed and captures, applies updates."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from tinychain_backends.numpy.assembly import NumpyProgram
from tinychain_backends.numpy.binding import Binding, check_names
from tinychain_backends.numpy.calls import Array
from tinychain_compile import (
    BindingError,
    CompiledFunction,
    CompiledTrainingStep,
    LoweredProgram,
    TensorType,
    flatten,
)


class NumpySession:
    """Trains on NumPy with a step compiled by ``NumpyContainer``.

    Args:
        record: The compiled step.
        parameters: The starting value of each parameter, nested or by name; copied.
        buffers: The starting value of each buffer likewise.

    Raises:
        BindingError: A parameter or buffer is missing, extra, or not of its declared type.
    """

    def __init__(
        self,
        record: CompiledTrainingStep,
        parameters: Mapping[str, Any],
        buffers: Mapping[str, Any] | None = None,
    ) -> None:
        self._record = record
        self._forward = NumpyProgram(record.forward, "forward")
        self._derivative = NumpyProgram(record.derivative, "derivative")
        programs: dict[LoweredProgram, NumpyProgram] = {}
        for row in record.parameters:
            if row.update not in programs:
                programs[row.update] = NumpyProgram(row.update, "update")
        self._updates = {row.name: programs[row.update] for row in record.parameters}
        types = {name: value.type for name, value in record.source_forward_graph.inputs}
        self._inputs = Binding("input", types)
        held = {*self._updates, *(buffer.name for buffer in record.buffers)}
        self._batch_names = [name for name in types if name not in held]
        self._parameters = _own("parameter", self._updates, types, parameters)
        buffer_names = [buffer.name for buffer in record.buffers]
        self._buffers = _own("buffer", buffer_names, types, buffers or {})

    @property
    def parameters(self) -> Mapping[str, Array]:
        """The current value of each parameter, by name, in order; arrays are read-only."""
        return MappingProxyType(self._parameters)

    @property
    def buffers(self) -> Mapping[str, Array]:
        """The current value of each buffer, by name, in order; arrays are read-only."""
        return MappingProxyType(self._buffers)

    def step(self, batch: Mapping[str, Any], **optimizer_inputs: float) -> dict[str, Array]:
        """Update every parameter and buffer once, and return the outputs by name.

        ``loss`` is among them, and each auxiliary output that is no buffer.

        Args:
            batch: An array for each other input, nested or by name.
            optimizer_inputs: The runtime scalars of the update, such as ``learning_rate``.

        Raises:
            BindingError: Something is missing, extra, misshapen, mistyped or out of range; nothing
                has changed.
        """
        scalars = self._scalars(optimizer_inputs)
        values, sizes = self._run_forward(batch)
        gradients = self._run_derivative(values, sizes)
        updated: dict[str, Array] = {}
        for row in self._record.parameters:
            ids = row.update_input_value_ids
            bound: dict[str, Array] = {
                ids["parameter"]: self._parameters[row.name],
                ids["gradient"]: gradients[row.gradient_value_id],
            }
            for value in row.source_update_graph.inputs[2:]:
                bound[ids[value.name]] = np.asarray(scalars[value.name], value.value.type.dtype)
            result = self._updates[row.name].run(bound, sizes)[row.updated_parameter_value_id]
            is_operand = any(result is operand for operand in bound.values())
            updated[row.name] = result.copy() if is_operand else result
        self._parameters = _read_only(updated)
        kept = {b.name: values[b.updated_value_id] for b in self._record.buffers}
        self._buffers = _read_only({name: array.copy() for name, array in kept.items()})
        return self._outputs(values)

    def value_and_gradients(self, batch: Mapping[str, Any]) -> tuple[Array, dict[str, Array]]:
        """Return the loss, and its derivative by each parameter, in arrays of their own.

        Parameters stay as they are.
        """
        values, sizes = self._run_forward(batch)
        gradients = self._run_derivative(values, sizes)
        rows = self._record.parameters
        by_name = {row.name: gradients[row.gradient_value_id].copy() for row in rows}
        return values[self._record.loss_value_id], by_name

    def evaluate(self, batch: Mapping[str, Any]) -> dict[str, Array]:
        """Return the outputs by name, without a derivative."""
        values, _ = self._run_forward(batch)
        return self._outputs(values)

    def _run_forward(self, batch: Mapping[str, Any]) -> tuple[dict[str, Array], dict[str, int]]:
        """Return every value known after the forward run, by id, and the sizes of symbols."""
        given = flatten(batch, "input", self._batch_names)
        check_names("batch", given, self._batch_names)
        arrays, sizes = self._inputs.bind({**given, **self._parameters, **self._buffers})
        ids = self._record.input_value_ids
        values = {ids[name]: array for name, array in arrays.items()}
        return values | self._forward.run(values, sizes), sizes

    def _run_derivative(
        self, values: Mapping[str, Array], sizes: Mapping[str, int]
    ) -> dict[str, Array]:
        loss = values[self._record.loss_value_id]
        seeds = {seed: np.ones((), loss.dtype) for seed in self._record.seed_value_ids}
        return self._derivative.run({**values, **seeds}, sizes)

    def _outputs(self, values: Mapping[str, Array]) -> dict[str, Array]:
        record = self._record
        held = {buffer.name for buffer in record.buffers}
        outputs = {"loss": values[record.loss_value_id]}
        auxiliary = record.auxiliary_value_ids
        return outputs | {n: values[i].copy() for n, i in auxiliary.items() if n not in held}

    def _scalars(self, given: Mapping[str, float]) -> dict[str, float]:
        """Return every runtime scalar, defaults filled in and ranges checked."""
        rows = {row.name: row for row in self._record.runtime_inputs}
        defaults = {name: row.default for name, row in rows.items() if row.default is not None}
        scalars: dict[str, Any] = {**defaults, **given}
        check_names("optimizer inputs", scalars, rows)
        for name, value in scalars.items():
            low, high = rows[name].valid_range
            if np.shape(value) != () or not low <= value <= high:
                raise BindingError(
                    f"optimizer input {name!r}",
                    expected=f"a number from {low} to {high}",
                    got=repr(value),
                )
        return scalars


def _own(
    what: str, names: Collection[str], types: Mapping[str, TensorType], given: Mapping[str, Any]
) -> dict[str, Array]:
    """Return copies of the starting values, which must be exactly those of these names."""
    binding = Binding(what, {name: types[name] for name in names})
    arrays, _ = binding.bind(flatten(given, what, names))
    return _read_only({name: array.copy() for name, array in arrays.items()})


def _read_only(arrays: dict[str, Array]) -> dict[str, Array]:
    for array in arrays.values():
        array.setflags(write=False)
    return arrays


class NumpyFunction:
    """Runs a compiled function on NumPy.

    Args:
        record: A function compiled by ``NumpyContainer``.
    """

    def __init__(self, record: CompiledFunction) -> None:
        self._record = record
        self._program = NumpyProgram(record.program, "function")
        types = {name: value.type for name, value in record.source_graph.inputs}
        self._names = tuple(types)
        self._inputs = Binding("input", types)

    def __call__(self, inputs: Mapping[str, Any]) -> dict[str, Array]:
        """Return the outputs by name, in arrays of their own.

        Raises:
            BindingError: An input is missing, extra, misshapen or mistyped.
        """
        arrays, sizes = self._inputs.bind(flatten(inputs, "input", self._names))
        ids = self._record.input_value_ids
        values = {ids[name]: array for name, array in arrays.items()}
        results = values | self._program.run(values, sizes)
        return {name: results[i].copy() for name, i in self._record.output_value_ids.items()}
