"""The canonical text of a graph, and the fingerprint that is its hash."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from itertools import chain
from typing import cast

import numpy as np

from tinychain_compile.ir.dtypes import Array, DType, dtype_name
from tinychain_compile.ir.graph import Graph, Operation, Value
from tinychain_compile.ir.origin import source_line

_LARGEST_PRINTED_LITERAL = 16
"""Elements; a longer literal is printed by type and digest."""


def print_graph(graph: Graph, *, lines: bool = False) -> str:
    """Return the text of a graph, one operation a line.

    Args:
        graph: What to print.
        lines: Whether to add the user's source line to each operation.
    """
    return _text(graph, lambda value: value.id, lines=lines)


def fingerprint(graph: Graph) -> str:
    """Return a hash of the graph's text with ids renumbered by position.

    It changes with every operator, attribute, type, operand and order of operands, and with the
    names of inputs and outputs; not with ids, origins or the graph's own name.
    """
    values = chain([value for _, value in graph.inputs], graph.operations)
    position = {value: f"v{index}" for index, value in enumerate(values)}
    text = _text(graph, position.__getitem__).partition(" ")[2]
    return hashlib.sha256(text.encode()).hexdigest()


def _text(graph: Graph, name_of: Callable[[Value], str], *, lines: bool = False) -> str:
    inputs = [f"  {name_of(value)}: {value.type} {name}" for name, value in graph.inputs]
    body = [_operation_text(operation, name_of, lines) for operation in graph.operations]
    outputs = ", ".join(f"{name}={name_of(value)}" for name, value in graph.outputs)
    return "\n".join([f"{graph.name} (", *inputs, ") {", *body, f"  return {outputs}", "}"]) + "\n"


def _operation_text(operation: Operation, name_of: Callable[[Value], str], lines: bool) -> str:
    operands = ", ".join(map(name_of, operation.inputs))
    params = ", ".join(f"{k}={_attribute_text(v)}" for k, v in operation.operator.params.items())
    text = f"  {name_of(operation)}: {operation.type} = {operation.operator.name}({operands})"
    if params:
        text += f" {{{params}}}"
    line = source_line(operation.origin) if lines else None
    return f"{text}  # {line}" if line is not None else text


def _attribute_text(attribute: object) -> str:
    if isinstance(attribute, np.ndarray):
        return _literal_text(cast(Array, attribute))
    if isinstance(attribute, np.dtype):
        return dtype_name(attribute)  # pyright: ignore[reportUnknownArgumentType]
    return repr(attribute)


def _literal_text(array: Array) -> str:
    dtype: DType = array.dtype
    if array.size <= _LARGEST_PRINTED_LITERAL:
        return repr(array.tolist())
    digest = hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()
    return f"{dtype_name(dtype)}{list(array.shape)} sha256:{digest}"
