"""Runs a compiled function."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tinychain_backends.numpy.assembly import NumpyProgram
from tinychain_backends.numpy.binding import Binding
from tinychain_backends.numpy.calls import Array
from tinychain_compile import CompiledFunction, flatten


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
