"""Where values live that stay inside a program: arrays made once, each used again and again."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from tinychain_backends.numpy import gradients
from tinychain_backends.numpy.calls import PRODUCTS, Array, Call
from tinychain_compile import LoweredOperation, TensorType
from tinychain_compile.operators import Operator, Slice

LEAST = 1024
"""Bytes below which a new array costs less than looking for one."""

_OVERWRITES: Mapping[Any, tuple[int, ...]] = MappingProxyType(
    {gradients.axpy: (1,), gradients.lerp: (1,), gradients.adam_direction: (1,)}
)
"""Which operand a function with ``out`` may write its result into; a ufunc, any of them."""


_WITH_SCRATCH = frozenset[Any]({gradients.lerp, gradients.adam_direction})
"""Functions with an array of the result's type in between, ``scratch``."""


class Storage:
    """The arrays of one program, and which value is written into which.

    Args:
        lowered: The program's operations, in order.
        outputs: The ids that the program returns; they are new arrays each time, or views of such.

    Attributes:
        arrays: Made once.
        place: The number of the array that a value is written into, by id.
        scratch: The number of the array for what is between, by the id of the value.
    """

    def __init__(self, lowered: Sequence[LoweredOperation], outputs: Collection[str]) -> None:
        self.arrays: list[Array] = []
        self.place: dict[str, int] = {}
        self.scratch: dict[str, int] = {}
        self._free: dict[TensorType, list[int]] = {}
        roots = _roots(lowered)
        last_reads = _last_reads(lowered, roots)
        returned = {roots.get(value_id, value_id) for value_id in outputs}
        held: dict[str, int] = {}
        ending: dict[int, list[str]] = {}
        for root, end in last_reads.items():
            ending.setdefault(end, []).append(root)
        for step, row in enumerate(lowered):
            output = row.output_value_id
            if roots[output] == output and output not in returned and _can_be_given(row):
                place = self._taken_over(row, step, last_reads, held)
                if place is None:
                    place = self._new(row)
                self.place[output] = held[output] = place
            if row.value.call.function in _WITH_SCRATCH and _can_be_given(row):
                self.scratch[output] = place = self._new(row)
                self._free.setdefault(_type(self.arrays[place]), []).append(place)
            if output not in last_reads:  # nobody reads it
                last_reads[output] = step
                ending.setdefault(step, []).append(output)
            for root in ending.get(step, ()):
                if root in held:
                    place = held.pop(root)
                    if place not in held.values():
                        self._free.setdefault(_type(self.arrays[place]), []).append(place)

    def _taken_over(
        self,
        row: LoweredOperation,
        step: int,
        last_reads: Mapping[str, int],
        held: dict[str, int],
    ) -> int | None:
        """Return the array of an operand that this operation is the last to read, if it may."""
        operation, function = row.sources[0], row.value.call.function
        if function in PRODUCTS:
            return None  # it reads its operands again and again
        for position in _OVERWRITES.get(function, range(len(operation.inputs))):
            value = operation.inputs[position]
            reads_elsewhere = function in _OVERWRITES and operation.inputs.count(value) > 1
            if (
                last_reads.get(value.id) == step
                and value.id in held
                and value.type == operation.type
                and not reads_elsewhere
            ):
                return held[value.id]
        return None

    def _new(self, row: LoweredOperation) -> int:
        """Return an array that is free, or another one."""
        type = row.sources[0].type
        free = self._free.get(type)
        if free:
            return free.pop()
        self.arrays.append(np.empty(type.shape, type.dtype))  # pyright: ignore[reportArgumentType]
        return len(self.arrays) - 1


def _can_be_given(row: LoweredOperation) -> bool:
    """Return whether an operation's function takes ``out``, and its type is worth it."""
    call: Call = row.value.call
    type = row.sources[0].type
    size = type.size
    if not isinstance(size, int) or size * type.dtype.itemsize < LEAST:
        return False
    if type.dtype.kind not in "fib":
        return False
    if isinstance(call.function, np.ufunc):
        return not call.keywords
    return call.function in _OVERWRITES or (call.function in PRODUCTS and type.dtype.kind == "f")


def _roots(lowered: Sequence[LoweredOperation]) -> dict[str, str]:
    """Return, for each value made, the one whose array it is a view of: itself, mostly."""
    roots: dict[str, str] = {}
    for row in lowered:
        operation = row.sources[0]
        root = row.output_value_id
        if _is_view(operation.operator):
            operand = operation.inputs[0].id
            root = roots.get(operand, operand)
        roots[row.output_value_id] = root
    return roots


def _is_view(operator: Operator) -> bool:
    return operator.is_movement or isinstance(operator, Slice)


def _last_reads(lowered: Sequence[LoweredOperation], roots: Mapping[str, str]) -> dict[str, int]:
    """Return the last step that reads an array, through any view."""
    last: dict[str, int] = {}
    for step, row in enumerate(lowered):
        for value in row.sources[0].inputs:
            last[roots.get(value.id, value.id)] = step
    return last


def _type(array: Array) -> TensorType:
    return TensorType(array.dtype, array.shape)
