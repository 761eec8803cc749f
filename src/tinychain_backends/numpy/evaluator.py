"""Runs a graph on NumPy arrays, one call per operation: the plain interpreter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tinychain_backends.numpy.calls import Array, call_for
from tinychain_backends.numpy.symbols import resolve_keywords
from tinychain_backends.sessions.binding import Binding
from tinychain_compile import Graph, Value
from tinychain_compile.operators import MARKS


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
        types = {name: value.type for name, value in graph.inputs}
        arrays, sizes = Binding("input", types).bind(inputs)
        values: dict[Value, Any] = {value: arrays[name] for name, value in graph.inputs}
        with np.errstate(all="ignore"):
            for operation in graph.operations:
                operands = [values[value] for value in operation.inputs]
                if isinstance(operation.operator, MARKS):
                    values[operation] = operands[0]
                    continue
                call = call_for(operation.operator)
                keywords = resolve_keywords(call.keywords, sizes)
                values[operation] = call.function(*operands, **keywords)
        return {name: np.asarray(values[value]) for name, value in graph.outputs}
