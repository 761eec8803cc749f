"""Operators that make, move, cut and look up elements."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from tinychain_backends.onnx.emitters.elementwise import Emitter, node
from tinychain_backends.onnx.nodes import Writer
from tinychain_compile import Shape
from tinychain_compile import operators as o
from tinychain_compile.operators import Operator

WRITTEN = 4096
"""How many positions an iota has at most that is written into the model as an array."""

_INDICES = (np.dtype("int32"), np.dtype("int64"))
_LOWEST = np.iinfo(np.int64).min


def _constant(w: Writer, op: o.Constant) -> str:
    return w.constant(op.value)


def _iota(w: Writer, op: o.Iota) -> str:
    shape = w.result.shape
    known = [size for size in shape if isinstance(size, int)]
    along: list[Any] = [1] * len(shape)
    along[op.axis] = shape[op.axis]
    if len(known) == len(shape) and np.prod(known) <= WRITTEN:
        positions = np.arange(known[op.axis]).reshape(along)
        return w.constant(np.broadcast_to(positions, known), op.dtype)
    count = w.node("Squeeze", w.size(shape[op.axis]))
    counted = w.node("Range", w.constant(0, np.int64), count, w.constant(1, np.int64))
    line = w.reshape(w.cast(counted, op.dtype), tuple(along))
    return w.node("Expand", line, w.shape(shape))


def _dimension_size(w: Writer, op: o.DimensionSize) -> str:
    return w.cast(w.node("Squeeze", w.size(op.dimension)), op.dtype)


def _reshape(w: Writer, op: o.Reshape, x: str) -> str:
    return w.reshape(x, op.shape)


def _broadcast_to(w: Writer, op: o.BroadcastTo, x: str) -> str:
    return w.node("Expand", x, w.shape(op.shape))


def _slice(w: Writer, op: o.Slice, x: str) -> str:
    axes = [
        axis
        for axis, size in enumerate(w.types[0].shape)
        if (op.start[axis], op.stop[axis], op.step[axis]) != (0, size, 1)
    ]
    if not axes:
        return w.node("Identity", x)
    start, stop = (tuple([ends[axis] for axis in axes]) for ends in (op.start, op.stop))
    steps = [op.step[axis] for axis in axes]
    return w.node("Slice", x, w.shape(start), w.shape(stop), w.integers(axes), w.integers(steps))


def _pad(w: Writer, op: o.Pad, x: str) -> str:
    return w.node("Pad", x, w.shape((*op.low, *op.high)), w.scalar(op.value))


def _reverse(w: Writer, op: o.Reverse, x: str) -> str:
    if not op.axes:
        return w.node("Identity", x)
    ends = (w.integers([n] * len(op.axes)) for n in (-1, _LOWEST))
    return w.node("Slice", x, *ends, w.integers(op.axes), w.integers([-1] * len(op.axes)))


def indices_of(w: Writer, indices: str) -> str:
    """Return indices in a dtype that every operator takes."""
    return indices if w.types[-1].dtype in _INDICES else w.cast(indices, np.dtype("int64"))


def _gather(w: Writer, op: o.Gather, x: str, indices: str) -> str:
    op_type = "GatherElements" if op.along else "Gather"
    return w.node(op_type, x, indices_of(w, indices), axis=op.axis)


def zeros(w: Writer, shape: Shape) -> str:
    """Return zeros in the dtype of the result."""
    return w.node("ConstantOfShape", w.shape(shape), value=np.zeros(1, w.result.dtype))


def _scatter_add(w: Writer, op: o.ScatterAdd, updates: str, indices: str) -> str:
    shape, places = w.result.shape, indices_of(w, indices)
    if op.along:
        none = zeros(w, shape)
        return w.node("ScatterElements", none, places, updates, axis=op.axis, reduction="add")
    before, rank = op.axis, w.types[1].rank
    wide = w.cast(places, np.dtype("int64"))
    listed = w.node("Unsqueeze", wide, w.integers([rank]))
    if not before:
        return w.node("ScatterND", zeros(w, shape), listed, updates, reduction="add")
    axes = list(range(w.types[0].rank))
    forward = [*axes[before : before + rank], *axes[:before], *axes[before + rank :]]
    moved = w.node("Transpose", updates, perm=forward)
    none = zeros(w, (shape[before], *shape[:before], *shape[before + 1 :]))
    added = w.node("ScatterND", none, listed, moved, reduction="add")
    back = [*range(1, before + 1), 0, *range(before + 1, len(shape))]
    return w.node("Transpose", added, perm=back)


def _one_hot(w: Writer, op: o.OneHot, indices: str) -> str:
    wide = w.cast(indices, np.dtype("int64"))
    places = w.node("Unsqueeze", wide, w.integers([-1]))
    return w.cast(w.node("Equal", places, w.integers(range(op.depth))), op.dtype)


ARRANGEMENT: Mapping[type[Operator], Emitter] = MappingProxyType(
    {
        o.Constant: _constant,
        o.Iota: _iota,
        o.DimensionSize: _dimension_size,
        o.Reshape: _reshape,
        o.Transpose: node("Transpose", perm="permutation"),
        o.BroadcastTo: _broadcast_to,
        o.Slice: _slice,
        o.Pad: _pad,
        o.Concat: node("Concat", axis="axis"),
        o.Reverse: _reverse,
        o.Gather: _gather,
        o.ScatterAdd: _scatter_add,
        o.OneHot: _one_hot,
    }
)
"""What is written for each."""
