"""Derivatives of exponentials, logarithms, roots and hyperbolic functions."""

from __future__ import annotations

from tinychain_compile.ir.operator import Operator
from tinychain_compile.operators import (
    Exp,
    Expm1,
    Log,
    Log1p,
    Rsqrt,
    Sigmoid,
    SigmoidGradient,
    Sqrt,
    Tanh,
    TanhGradient,
)
from tinychain_compile.protocols import Guard, VJPRule
from tinychain_compile.tensor import Tensor
from tinychain_compile.vjp_rules.statements import Kink, always


def exp(op: Exp, g: Tensor, y: Tensor, x: Tensor) -> tuple[Tensor]:
    """``g * y``."""
    return (g * y,)


def expm1(op: Expm1, g: Tensor, y: Tensor, x: Tensor) -> tuple[Tensor]:
    """``g * (y + 1)``."""
    return (g * (y + 1.0),)


def log(op: Log, g: Tensor, y: Tensor, x: Tensor) -> tuple[Tensor]:
    """``g / x``."""
    return (g / x,)


def log1p(op: Log1p, g: Tensor, y: Tensor, x: Tensor) -> tuple[Tensor]:
    """``g / (1 + x)``."""
    return (g / (x + 1.0),)


def sqrt(op: Sqrt, g: Tensor, y: Tensor, x: Tensor) -> tuple[Tensor]:
    """``g * 0.5 / y``."""
    return (g * 0.5 / y,)


def rsqrt(op: Rsqrt, g: Tensor, y: Tensor, x: Tensor) -> tuple[Tensor]:
    """``-0.5 * g * y / x``."""
    return (g * -0.5 * y / x,)


def tanh(op: Tanh, g: Tensor, y: Tensor, x: Tensor) -> tuple[Tensor]:
    """``g * (1 - y ** 2)``."""
    return (g.emit(TanhGradient(), y),)


def tanh_gradient(
    op: TanhGradient, h: Tensor, z: Tensor, g: Tensor, y: Tensor
) -> tuple[Tensor, Tensor]:
    """To ``g`` as to the operand of tanh; to ``y``, ``-2 * h * g * y``."""
    return h.emit(op, y), h * g * y * -2.0


def sigmoid(op: Sigmoid, g: Tensor, y: Tensor, x: Tensor) -> tuple[Tensor]:
    """``g * y * (1 - y)``."""
    return (g.emit(SigmoidGradient(), y),)


def sigmoid_gradient(
    op: SigmoidGradient, h: Tensor, z: Tensor, g: Tensor, y: Tensor
) -> tuple[Tensor, Tensor]:
    """To ``g`` as to the operand of sigmoid; to ``y``, ``h * g * (1 - 2 * y)``."""
    return h.emit(op, y), h * g * (1.0 - y * 2.0)


RULES: dict[type[Operator], VJPRule] = {
    Exp: exp,
    Expm1: expm1,
    Log: log,
    Log1p: log1p,
    Sqrt: sqrt,
    Rsqrt: rsqrt,
    Tanh: tanh,
    Sigmoid: sigmoid,
    TanhGradient: tanh_gradient,
    SigmoidGradient: sigmoid_gradient,
}

GUARDS: dict[type[Operator], Guard] = dict.fromkeys(
    (Exp, Log, Sqrt, Tanh, Log1p, Expm1, Rsqrt, Sigmoid), always
)

KINKS: dict[type[Operator], tuple[Kink, ...]] = {
    Log: (
        Kink(
            "where(x > 0, log(x), 0) at 0", "the finite derivative, 0", "JAX and PyTorch give NaN"
        ),
    ),
    Sqrt: (
        Kink("sqrt at 0", "infinite: a true infinity stays visible", "JAX and PyTorch alike"),
        Kink("sqrt(sum(x * x)) at the zero vector", "NaN by the chain; np.linalg.norm gives 0"),
    ),
}
