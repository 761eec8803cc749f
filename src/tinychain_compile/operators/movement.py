"""Operators whose elements are their operand's, in other places or repeated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tinychain_compile.errors import BroadcastShapeError, PermutationError, ShapeMismatchError
from tinychain_compile.ir.dimensions import Shape, size_of
from tinychain_compile.ir.operator import Operator
from tinychain_compile.ir.types import TensorType


@dataclass(frozen=True, slots=True)
class Reshape(Operator):
    """The same elements in row-major order in another shape: ``T[s] -> T[shape]``.

    Args:
        shape: The new shape, of the same number of elements.
    """

    name: ClassVar[str] = "reshape"
    is_movement: ClassVar[bool] = True
    shape: Shape

    def infer(self, x: TensorType) -> TensorType:
        if size_of(self.shape) != x.size:
            raise ShapeMismatchError(
                self.name, expected=f"a shape of {x.size} elements for {x}", got=str(self.shape)
            )
        return x.with_shape(self.shape)


@dataclass(frozen=True, slots=True)
class Transpose(Operator):
    """The axes in another order: ``T[s] -> T[s[p] for p in permutation]``.

    Args:
        permutation: Which axis of the operand stands at each place.
    """

    name: ClassVar[str] = "transpose"
    is_movement: ClassVar[bool] = True
    permutation: tuple[int, ...]

    def infer(self, x: TensorType) -> TensorType:
        if sorted(self.permutation) != list(range(x.rank)):
            raise PermutationError(
                self.name,
                expected=f"a permutation of the {x.rank} axes of {x}",
                got=str(self.permutation),
            )
        return x.with_shape(tuple(x.shape[axis] for axis in self.permutation))


@dataclass(frozen=True, slots=True)
class BroadcastTo(Operator):
    """New leading axes, and axes of size 1 repeated: ``T[s] -> T[shape]``.

    Args:
        shape: The new shape; its last axes are the operand's, or replace a 1.
    """

    name: ClassVar[str] = "broadcast_to"
    is_movement: ClassVar[bool] = True
    shape: Shape

    def infer(self, x: TensorType) -> TensorType:
        shape, wanted = x.shape, self.shape
        new = len(wanted) - len(shape)
        if new >= 0:
            for axis, size in enumerate(shape):
                if size != 1 and size != wanted[new + axis]:
                    break
            else:
                return x.with_shape(wanted)
        raise BroadcastShapeError(
            self.name, expected=f"a shape that {x} can be repeated to", got=str(wanted)
        )
