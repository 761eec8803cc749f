"""Random numbers as a function of a key: the same key gives the same numbers, everywhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tinychain_compile.errors import DtypeMismatchError, ShapeMismatchError
from tinychain_compile.ir.dimensions import Shape
from tinychain_compile.ir.dtypes import F32, F64, U32, DType, as_dtype
from tinychain_compile.ir.operator import Operator
from tinychain_compile.ir.types import TensorType
from tinychain_compile.operators.type_rules import floating

_KEY = TensorType.of(U32, (2,))


@dataclass(frozen=True, slots=True)
class RandomBits(Operator):
    """32 random bits for each position: ``u32[2] -> u32[shape]``.

    Threefry-2x32 with 20 rounds: the element at row-major position i is the exclusive or of the two
    words that the counter (0, i) becomes. Source: Salmon et al., Parallel Random Numbers: As Easy
    as 1, 2, 3, 2011.

    Args:
        shape: The shape of the result.
    """

    name: ClassVar[str] = "random_bits"
    shape: Shape

    def infer(self, key: TensorType) -> TensorType:
        return check_key(self.name, key).with_shape(self.shape)


@dataclass(frozen=True, slots=True)
class RandomUniform(Operator):
    """Numbers from 0, included, to 1, excluded, all equally likely: ``u32[2] -> dtype[shape]``.

    Args:
        shape: The shape of the result.
        dtype: f32 or f64; the nearest number below 1 to a fraction of 32 random bits.
    """

    name: ClassVar[str] = "random_uniform"
    shape: Shape
    dtype: DType

    def __post_init__(self) -> None:
        object.__setattr__(self, "dtype", as_dtype(self.dtype))

    def infer(self, key: TensorType) -> TensorType:
        check_key(self.name, key)
        if self.dtype not in (F32, F64):
            raise DtypeMismatchError(
                self.name,
                expected="a dtype of f32 or f64",
                got=str(self.dtype),
                hint="Make it in f32 and convert it with .astype(...).",
            )
        return TensorType.of(self.dtype, self.shape)


@dataclass(frozen=True, slots=True)
class Dropout(Operator):
    """Each element set to 0 with probability ``rate``, else divided by ``1 - rate``.

    ``F[s], u32[2] -> F[s]``. The key alone decides which, so a derivative, or a value that is
    computed again, drops the same. Source: Srivastava et al., Dropout, 2014.

    Args:
        rate: From 0, included, to 1, excluded.
    """

    name: ClassVar[str] = "dropout"
    rate: float

    def infer(self, x: TensorType, key: TensorType) -> TensorType:
        check_key(self.name, key)
        if not 0 <= self.rate < 1:
            raise ShapeMismatchError(
                self.name, expected="a rate from 0, included, to 1", got=repr(self.rate)
            )
        return floating(self.name, x)


def check_key(name: str, key: TensorType) -> TensorType:
    """Return the type of a key."""
    if key != _KEY:
        raise DtypeMismatchError(
            f"key of {name}",
            expected=f"{_KEY}",
            got=str(key),
            hint="Pass a key as an input of dtype uint32 and shape (2,), a new one each step.",
        )
    return key
