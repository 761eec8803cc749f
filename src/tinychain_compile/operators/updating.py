"""What the updates of optimizers are made of: arrays moved by scalars."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tinychain_compile.errors import DtypeMismatchError, ShapeMismatchError
from tinychain_compile.ir.operator import Operator
from tinychain_compile.ir.types import TensorType
from tinychain_compile.operators.type_rules import floating, same


@dataclass(frozen=True, slots=True)
class Axpy(Operator):
    """``alpha * x + y``, alpha a scalar, as in BLAS: ``F[], F[s], F[s] -> F[s]``.

    Args:
        is_negative: Whether it is ``y - alpha * x`` instead, as when going down a gradient.
    """

    name: ClassVar[str] = "axpy"
    is_negative: bool = False

    def infer(self, alpha: TensorType, x: TensorType, y: TensorType) -> TensorType:
        return _with_scalars(self.name, same(self.name, x, y), alpha)


@dataclass(frozen=True, slots=True)
class Lerp(Operator):
    """``decay * old + (1 - decay) * new``, a moving average: ``F[], F[s], F[s] -> F[s]``."""

    name: ClassVar[str] = "lerp"

    def infer(self, decay: TensorType, old: TensorType, new: TensorType) -> TensorType:
        return _with_scalars(self.name, same(self.name, old, new), decay)


@dataclass(frozen=True, slots=True)
class AdamDirection(Operator):
    """``m_hat / (sqrt(v_hat) + epsilon)``: ``F[s], F[s], F[], F[], F[], F[] -> F[s]``.

    Of the moments ``m`` and ``v``, ``beta1``, ``beta2``, ``step`` and ``epsilon``, in this order;
    ``m_hat = m / (1 - beta1 ** step)`` and ``v_hat = v / (1 - beta2 ** step)``. Source: D. Kingma
    and J. Ba, Adam: A Method for Stochastic Optimization, 2015.
    """

    name: ClassVar[str] = "adam_direction"

    def infer(
        self,
        m: TensorType,
        v: TensorType,
        beta1: TensorType,
        beta2: TensorType,
        step: TensorType,
        epsilon: TensorType,
    ) -> TensorType:
        return _with_scalars(self.name, same(self.name, m, v), beta1, beta2, step, epsilon)


def _with_scalars(name: str, array: TensorType, *scalars: TensorType) -> TensorType:
    """Return the type of an array that meets scalars of its dtype."""
    floating(name, array)
    for scalar in scalars:
        if scalar.shape:
            raise ShapeMismatchError(name, expected="scalars beside the arrays", got=str(scalar))
        if scalar.dtype is not array.dtype:
            raise DtypeMismatchError(
                name, expected="operands of equal dtype", got=f"{array} and {scalar}"
            )
    return array
