"""Random numbers in terms of random bits, which a limited backend takes as a declared input."""

from __future__ import annotations

from tinychain_compile import namespace as xp
from tinychain_compile.ir.dtypes import F32, F64
from tinychain_compile.ir.operator import Operator
from tinychain_compile.operators import Dropout, RandomBits, RandomUniform
from tinychain_compile.protocols import Decomposition
from tinychain_compile.tensor import Tensor


def random_uniform(op: RandomUniform, key: Tensor) -> Tensor:
    """All bits as a fraction, rounded to the dtype; what would be rounded to 1 is just below it."""
    fraction = key.emit(RandomBits(op.shape)).astype(op.dtype) * 2.0**-32
    return fraction if op.dtype == F64 else xp.minimum(fraction, 1.0 - 2.0**-24)


def dropout(op: Dropout, x: Tensor, key: Tensor) -> Tensor:
    """``x / (1 - rate)`` where a uniform number is not below the rate, else 0."""
    uniform = key.emit(RandomUniform(x.shape, F32))
    return xp.where(uniform < op.rate, 0.0, x / (1.0 - op.rate))


DECOMPOSITIONS: dict[type[Operator], Decomposition] = {
    RandomUniform: random_uniform,
    Dropout: dropout,
}

UNDECOMPOSED: dict[type[Operator], str] = {
    RandomBits: "without integer arithmetic on words, pass random numbers as a declared input"
}
