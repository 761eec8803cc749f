"""The type of a tensor: a dtype and a shape."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from operator import index
from typing import SupportsIndex, cast

from tinychain_compile.errors import MissingShapeError
from tinychain_compile.ir.dimensions import Dimension, Shape, Symbolic, size_of
from tinychain_compile.ir.dtypes import FLOATING, DType, as_dtype, dtype_name
from tinychain_compile.ir.frozen import Frozen, new, unfrozen


class TensorType(Frozen):
    """A dtype and a shape; what an input is declared with and what every value has.

    Equal types are one object, but for threads that make one at once, so comparing them is cheap.

    Args:
        dtype: A short name (``"f32"``), a NumPy dtype or scalar type.
        shape: Sizes: integers from 0, or names of symbols such as ``"batch"``.

    Raises:
        DtypeMismatchError: The dtype is none that a program may hold.
        MissingShapeError: The shape is not a sequence of sizes.

    Example:
        >>> TensorType("f32", (128, 784))
        f32[128, 784]
    """

    __slots__ = ("dtype", "shape")

    dtype: DType
    shape: Shape

    def __new__(cls, dtype: object, shape: Sequence[object]) -> TensorType:
        """Check and make a type."""
        return _shared(as_dtype(dtype), _as_shape(shape))

    @staticmethod
    def of(dtype: DType, shape: Shape) -> TensorType:
        """Return the type of a canonical dtype and a well-formed shape, without checking them."""
        return _shared(dtype, shape)

    def with_shape(self, shape: Shape) -> TensorType:
        """Return the type of this dtype and a well-formed shape."""
        return _shared(self.dtype, shape)

    def with_dtype(self, dtype: DType) -> TensorType:
        """Return the type of this shape and a canonical dtype."""
        return _shared(dtype, self.shape)

    @property
    def rank(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self) -> Dimension:
        """The number of elements."""
        return size_of(self.shape)

    @property
    def is_floating(self) -> bool:
        """Whether the dtype is f16, bf16, f32 or f64."""
        return self.dtype in FLOATING

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, TensorType)
            and self.dtype == other.dtype
            and self.shape == other.shape
        )

    def __hash__(self) -> int:
        return hash((self.dtype, self.shape))

    def __reduce__(self) -> tuple[Callable[..., TensorType], tuple[DType, Shape]]:
        return TensorType.of, (self.dtype, self.shape)

    def __repr__(self) -> str:
        return f"{dtype_name(self.dtype)}[{', '.join(map(str, self.shape))}]"


_UnfrozenTensorType = unfrozen(TensorType)


@cache
def _shared(dtype: DType, shape: Shape) -> TensorType:
    """Return the type of this dtype and shape, in a canonical dtype and Python's integers.

    Found again by equality, so what is made must not depend on how the first one was spelled.
    """
    made = new(_UnfrozenTensorType)
    made.dtype = as_dtype(dtype)
    made.shape = tuple([d if isinstance(d, Symbolic) else index(d) for d in shape])
    made.__class__ = TensorType
    return made


def _as_shape(shape: object) -> Shape:
    if isinstance(shape, str) or not isinstance(shape, Sequence):
        raise MissingShapeError("shape", expected="a tuple of sizes", got=repr(shape))
    sizes = cast(Sequence[object], shape)
    return tuple(_as_dimension(size, sizes) for size in sizes)


def _as_dimension(size: object, shape: object) -> Dimension:
    if isinstance(size, Symbolic):
        return size
    if isinstance(size, str) and size.isidentifier():
        return Symbolic.symbol(size)
    number = -1 if isinstance(size, (bool, str)) else _as_integer(size)
    if number < 0:
        raise MissingShapeError(
            "shape",
            expected="sizes that are integers from 0, or names of symbols",
            got=f"{size!r} in {shape!r}",
        )
    return number


def _as_integer(size: object) -> int:
    try:
        return index(cast(SupportsIndex, size))
    except TypeError:
        return -1
