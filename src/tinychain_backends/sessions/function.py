"""Runs a compiled function."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tinychain_backends.sessions.binding import Array, Binding
from tinychain_backends.sessions.session import Program
from tinychain_compile import CompiledFunction, flatten


class FunctionRunner:
    """Runs a compiled function whose program some runtime runs.

    Args:
        record: The compiled function.
        program: Its program.
    """

    def __init__(self, record: CompiledFunction, program: Program) -> None:
        self._record = record
        self._program = program
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
