"""Derivatives of the elementwise composites, shorter and safer than their decompositions'."""

from __future__ import annotations

from tinychain_compile import namespace as xp
from tinychain_compile.ir.operator import Operator
from tinychain_compile.operators import (
    Elu,
    Gelu,
    GeluGradient,
    LeakyRelu,
    Relu,
    ReluGradient,
    Silu,
    Softplus,
)
from tinychain_compile.protocols import Guard, VJPRule
from tinychain_compile.tensor import Tensor
from tinychain_compile.vjp_rules.statements import Kink, always


def relu(op: Relu, g: Tensor, y: Tensor, x: Tensor) -> tuple[Tensor]:
    """``g`` above 0, else 0. Read from the output, which the next layer keeps anyway."""
    return (g.emit(ReluGradient(), y),)


def relu_gradient(
    op: ReluGradient, h: Tensor, z: Tensor, g: Tensor, y: Tensor
) -> tuple[Tensor, Tensor]:
    """To ``g`` as to the operand of relu; nothing to the output, whose sign alone counts."""
    return h.emit(op, y), y.full(0.0)


def leaky_relu(op: LeakyRelu, g: Tensor, y: Tensor, x: Tensor) -> tuple[Tensor]:
    """``g`` above 0, else ``slope * g``."""
    return (xp.where(x > 0.0, g, g * op.slope),)


def elu(op: Elu, g: Tensor, y: Tensor, x: Tensor) -> tuple[Tensor]:
    """``g`` above 0, else ``g * (y + alpha)``."""
    return (xp.where(x > 0.0, g, g * (y + op.alpha)),)


def gelu(op: Gelu, g: Tensor, y: Tensor, x: Tensor) -> tuple[Tensor]:
    """``g`` times the probability below x, plus ``g * x`` times its density."""
    return (g.emit(GeluGradient(op.approximate), x),)


def gelu_gradient(
    op: GeluGradient, h: Tensor, z: Tensor, g: Tensor, x: Tensor
) -> tuple[Tensor, Tensor]:
    """To ``x``, ``h * g`` times the second derivative of gelu."""
    if op.approximate:
        t = xp.tanh((x + x * x * x * 0.044715) * 0.7978845608028654)
        inner = (1.0 + x * x * 0.134145) * 0.7978845608028654
        slope = (1.0 - t * t) * inner
        bend = (1.0 - t * t) * x * 0.2140644488 - t * slope * inner * 2.0
        return h.emit(op, x), h * g * (slope + x * bend * 0.5)
    density = xp.exp(x * x * -0.5) * 0.3989422804014327
    return h.emit(op, x), h * g * density * (2.0 - x * x)


def silu(op: Silu, g: Tensor, y: Tensor, x: Tensor) -> tuple[Tensor]:
    """``g * (s + y * (1 - s))`` for ``s = sigmoid(x)``."""
    s = xp.expit(x)
    return (g * (s + y * (1.0 - s)),)


def softplus(op: Softplus, g: Tensor, y: Tensor, x: Tensor) -> tuple[Tensor]:
    """``g * sigmoid(x)``."""
    return (g * xp.expit(x),)


RULES: dict[type[Operator], VJPRule] = {
    Relu: relu,
    LeakyRelu: leaky_relu,
    Elu: elu,
    Gelu: gelu,
    Silu: silu,
    Softplus: softplus,
    ReluGradient: relu_gradient,
    GeluGradient: gelu_gradient,
}

GUARDS: dict[type[Operator], Guard] = dict.fromkeys((LeakyRelu, Elu, Gelu, Silu, Softplus), always)

KINKS: dict[type[Operator], tuple[Kink, ...]] = {
    Relu: (Kink("relu at 0", "0", "JAX and PyTorch 0"),),
    LeakyRelu: (Kink("leaky_relu at 0", "the slope", "PyTorch alike, JAX 1"),),
    Elu: (Kink("elu at 0", "alpha", "PyTorch alike"),),
    Softplus: (Kink("softplus at 0", "one half", "JAX once gave 0"),),
}
