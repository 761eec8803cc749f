"""Runs a graph on NumPy arrays, one call per operation: the plain interpreter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tinychain_backends.numpy.calls import Array, call_for
from tinychain_backends.numpy.symbols import (
    check_array,
    check_names,
    read_sizes,
    resolve_keywords,
)
from tinychain_compile import Graph, Value, symbol_sources
from tinychain_compile.operators import StopGradient


class NumpyEvaluator:
    """Computes every operation in the order the graph gives, and keeps every value."""

    def evaluate(self, graph: Graph, inputs: Mapping[str, Array]) -> dict[str, Array]:
        """Return the outputs by name.

        Args:
            graph: What to run; source graphs and derivative graphs alike.
            inputs: An array for each input, by name.

        Raises:
            BindingError: An array is missing, extra, or not of its input's type.
        """
        check_names("evaluate", inputs, graph.input_ids)
        arrays = {name: np.asarray(array) for name, array in inputs.items()}
        shapes = {name: value.type.shape for name, value in graph.inputs}
        sizes = read_sizes(symbol_sources(shapes), arrays)
        values: dict[Value, Any] = {
            value: check_array(
                f"input {name!r}", arrays[name], value.type.dtype, value.type.shape, sizes
            )
            for name, value in graph.inputs
        }
        with np.errstate(all="ignore"):
            for operation in graph.operations:
                operands = [values[value] for value in operation.inputs]
                if isinstance(operation.operator, StopGradient):
                    values[operation.output] = operands[0]
                    continue
                call = call_for(operation.operator)
                keywords = resolve_keywords(call.keywords, sizes)
                values[operation.output] = call.function(*operands, **keywords)
        return {name: np.asarray(values[value]) for name, value in graph.outputs}
