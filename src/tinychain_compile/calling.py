"""Calls a function once on traced tensors: how losses, functions and updates are all traced."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from tinychain_compile.errors import CompilationError
from tinychain_compile.ir.builder import GraphBuilder
from tinychain_compile.ir.graph import Graph, IdSource, NamedValue, Value
from tinychain_compile.ir.origin import raising_line
from tinychain_compile.ir.types import TensorType
from tinychain_compile.numpy_dispatch import NumpyTensor
from tinychain_compile.tensor import Tensor
from tinychain_compile.trees import unflatten


class TracedCall(NamedTuple):
    """What one call did.

    Attributes:
        builder: Holds the operations; closed.
        inputs: The value of each argument, by name.
        result: What the function returned.
    """

    builder: GraphBuilder
    inputs: tuple[NamedValue, ...]
    result: object

    def value_of(self, result: object) -> Value | None:
        """Return the value of a tensor that this call computed; ``None`` for anything else."""
        if isinstance(result, Tensor) and result.builder is self.builder:
            return result.value
        return None

    def graph(self, name: str, outputs: tuple[NamedValue, ...]) -> Graph:
        """Return what the call did as a graph with these outputs."""
        return Graph(name, self.inputs, tuple(self.builder.operations), outputs)


def call_on_tensors(
    function: Callable[..., object], arguments: Mapping[str, TensorType], ids: IdSource
) -> TracedCall:
    """Call a function by keyword with a traced tensor for each leaf of its arguments.

    Whatever the function raises passes through; an error of this package gets the user's line.
    """
    builder = GraphBuilder(ids)
    inputs = tuple(NamedValue(name, builder.input(type)) for name, type in arguments.items())
    tensors = {name: NumpyTensor(builder, value) for name, value in inputs}
    try:
        result = function(**unflatten(tensors))
    except CompilationError as error:
        error.at(raising_line(error.__traceback__))
        raise
    finally:
        builder.close()
    return TracedCall(builder, inputs, result)
