"""One traced update for parameters of many shapes, where it is elementwise."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import NamedTuple

from tinychain_compile.artifacts import DeclaredOptimizer, TracedUpdate
from tinychain_compile.ir.dimensions import Shape
from tinychain_compile.ir.graph import Graph, IdSource, NamedValue, Operation, Value
from tinychain_compile.ir.types import TensorType
from tinychain_compile.operators import (
    ELEMENTWISE,
    AdamDirection,
    Axpy,
    BroadcastTo,
    Constant,
    Lerp,
)

_OF_ANY_SHAPE = frozenset({*ELEMENTWISE, Axpy, Lerp, AdamDirection})
"""Operators that do the same for arrays of every shape."""


class UpdateKey(NamedTuple):
    """Parameters of equal key share one update."""

    type: TensorType
    template: Hashable


class Update(NamedTuple):
    """An update as it was traced, and simplified."""

    traced: TracedUpdate
    simple: TracedUpdate


def updates_of(
    servers: Mapping[UpdateKey, DeclaredOptimizer],
    trace: Callable[[UpdateKey, DeclaredOptimizer], Update],
    ids: IdSource,
) -> dict[UpdateKey, Update]:
    """Return the update of each key: traced, or a traced one of another shape in this shape."""
    made: dict[UpdateKey, Update] = {}
    models: dict[Hashable, UpdateKey] = {}
    for key, optimizer in servers.items():
        update: Update | None = None
        if optimizer.is_elementwise and key.type.shape:
            model = models.setdefault((key.template, key.type.dtype), key)
            if model is not key:
                slots = [slot.type for slot in optimizer.slots[key.type]]
                update = _update_in(made[model], model.type.shape, key.type, slots, ids)
        made[key] = update or trace(key, optimizer)
    return made


def _update_in(
    model: Update, old: Shape, parameter: TensorType, slots: list[TensorType], ids: IdSource
) -> Update | None:
    """Return an update for a parameter of another shape; ``None`` if it is not elementwise."""
    traced = graph_in(model.traced.graph, old, parameter.shape, ids)
    if traced is None:
        return None
    types = [value.type for _, value in traced.inputs]
    if types[: 2 + len(slots)] != [parameter, parameter, *slots]:
        return None
    if model.simple is model.traced:
        update = TracedUpdate(traced)
        return Update(update, update)
    simple = graph_in(model.simple.graph, old, parameter.shape, ids)
    return None if simple is None else Update(TracedUpdate(traced), TracedUpdate(simple))


def graph_in(graph: Graph, old: Shape, new: Shape, ids: IdSource) -> Graph | None:
    """Return a graph with every array of one shape in another, under ids of its own.

    ``None`` if it has arrays of further shapes, or an operator for which the shape matters.
    """
    known: dict[Value, Value] = {}
    types = _Types(old, new)
    for _, value in graph.inputs:
        type = types[value.type]
        if type is None:
            return None
        known[value] = Value.of(next(ids), type)
    operations: list[Operation] = []
    for operation in graph.operations:
        type, operator = types[operation.type], operation.operator
        if type is None:
            return None
        if isinstance(operator, BroadcastTo) and not operation.inputs[0].type.shape:
            operator = BroadcastTo(type.shape)
        elif not (operator.__class__ in _OF_ANY_SHAPE or _is_number(operation)):
            return None
        inputs = tuple([known[value] for value in operation.inputs])
        made = Operation.of_type(type, operator, inputs, next(ids), operation.origin)
        operations.append(made)
        known[operation] = made
    return Graph(
        graph.name,
        tuple([NamedValue(name, known[value]) for name, value in graph.inputs]),
        tuple(operations),
        tuple([NamedValue(name, known[value]) for name, value in graph.outputs]),
    )


class _Types(dict[TensorType, TensorType | None]):
    """What each type becomes with one shape in place of another; ``None`` for further shapes."""

    def __init__(self, old: Shape, new: Shape) -> None:
        self._old, self._new = old, new

    def __missing__(self, type: TensorType) -> TensorType | None:
        is_old = type.shape == self._old
        made = type.with_shape(self._new) if is_old else None if type.shape else type
        self[type] = made
        return made


def _is_number(operation: Operation) -> bool:
    return isinstance(operation.operator, Constant) and not operation.type.shape
