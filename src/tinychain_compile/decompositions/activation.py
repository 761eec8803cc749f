"""The elementwise composites in simpler operators."""

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
from tinychain_compile.protocols import Decomposition
from tinychain_compile.tensor import Tensor


def relu(op: Relu, x: Tensor) -> Tensor:
    """``maximum(x, 0)``."""
    return xp.maximum(x, 0.0)


def leaky_relu(op: LeakyRelu, x: Tensor) -> Tensor:
    """``x`` above 0, else ``slope * x``."""
    return xp.where(x > 0.0, x, x * op.slope)


def elu(op: Elu, x: Tensor) -> Tensor:
    """``x`` above 0, else ``alpha * expm1(x)``."""
    return xp.where(x > 0.0, x, xp.expm1(x) * op.alpha)


def gelu(op: Gelu, x: Tensor) -> Tensor:
    """``x * (1 + erf(x / sqrt(2))) / 2``, or with the approximation by tanh."""
    if op.approximate:
        inner = (x + x * x * x * 0.044715) * 0.7978845608028654
        return x * (xp.tanh(inner) + 1.0) * 0.5
    return x * (xp.erf(x * 0.7071067811865476) + 1.0) * 0.5


def silu(op: Silu, x: Tensor) -> Tensor:
    """``x * sigmoid(x)``."""
    return x * xp.expit(x)


def softplus(op: Softplus, x: Tensor) -> Tensor:
    """``maximum(x, 0) + log1p(exp(-abs(x)))``."""
    return xp.maximum(x, 0.0) + xp.log1p(xp.exp(-xp.abs(x)))


def relu_gradient(op: ReluGradient, g: Tensor, y: Tensor) -> Tensor:
    """``g`` above 0, else 0."""
    zero = g.full(0.0)
    return xp.where(zero < y, g, zero)


def gelu_gradient(op: GeluGradient, g: Tensor, x: Tensor) -> Tensor:
    """``g`` times the probability below x, plus ``g * x`` times its density."""
    if op.approximate:
        inner = (x + x * x * x * 0.044715) * 0.7978845608028654
        t = xp.tanh(inner)
        slope = (1.0 - t * t) * (1.0 + x * x * 0.134145) * 0.7978845608028654
        return g * ((t + 1.0) * 0.5 + x * slope * 0.5)
    probability = (xp.erf(x * 0.7071067811865476) + 1.0) * 0.5
    density = xp.exp(x * x * -0.5) * 0.3989422804014327
    return g * (probability + x * density)


DECOMPOSITIONS: dict[type[Operator], Decomposition] = {
    Relu: relu,
    LeakyRelu: leaky_relu,
    Elu: elu,
    Gelu: gelu,
    Silu: silu,
    Softplus: softplus,
    ReluGradient: relu_gradient,
    GeluGradient: gelu_gradient,
}
