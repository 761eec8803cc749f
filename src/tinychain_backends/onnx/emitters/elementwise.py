"""Operators that work element by element; all of them broadcast by themselves in ONNX."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

from tinychain_backends.onnx.nodes import Writer
from tinychain_compile import operators as o
from tinychain_compile.operators import Operator

Emitter = Callable[..., str]


def plain(op_type: str) -> Emitter:
    """Return the emitter of an operator that ONNX has under another name."""
    return lambda w, op, *operands: w.node(op_type, *operands)


def _integer_pow(w: Writer, op: o.IntegerPow, x: str) -> str:
    """Multiply by squaring, which is exact for integers too."""
    power, square = "", x
    exponent = abs(op.exponent)
    while exponent:
        if exponent % 2:
            power = w.node("Mul", power, square) if power else square
        exponent //= 2
        if exponent:
            square = w.node("Mul", square, square)
    if not power:
        shape = w.node("Shape", x)
        return w.node("Expand", w.scalar(1), shape)
    return w.node("Reciprocal", power) if op.exponent < 0 else w.node("Identity", power)


def _rsqrt(w: Writer, op: o.Rsqrt, x: str) -> str:
    return w.node("Reciprocal", w.node("Sqrt", x))


def _is_finite(w: Writer, op: o.IsFinite, x: str) -> str:
    return w.node("Less", w.node("Abs", x), w.constant(np.inf, w.types[0].dtype))


def _clip(w: Writer, op: o.Clip, x: str, low: str, high: str) -> str:
    return w.node("Min", w.node("Max", x, low), high)


def _where(w: Writer, op: o.Where, condition: str, a: str, b: str) -> str:
    if w.result.dtype != np.dtype(bool):
        return w.node("Where", condition, a, b)
    chosen = w.node("And", condition, a)
    return w.node("Or", chosen, w.node("And", w.node("Not", condition), b))


def _annihilate(w: Writer, op: o.Annihilate, factor: str, product: str) -> str:
    return w.node("Where", w.node("Equal", factor, w.scalar(0)), factor, product)


def _cast(w: Writer, op: o.Cast, x: str) -> str:
    return w.cast(x, op.dtype)


def _silu(w: Writer, op: o.Silu, x: str) -> str:
    return w.node("Mul", x, w.node("Sigmoid", x))


def _gelu(w: Writer, op: o.Gelu, x: str) -> str:
    return w.node("Gelu", x, approximate="tanh" if op.approximate else "none")


def _relu_gradient(w: Writer, op: o.ReluGradient, g: str, y: str) -> str:
    zero = w.scalar(0)
    return w.node("Where", w.node("Less", zero, y), g, zero)


def _tanh_gradient(w: Writer, op: o.TanhGradient, g: str, y: str) -> str:
    return w.node("Mul", g, w.node("Sub", w.scalar(1), w.node("Mul", y, y)))


def _sigmoid_gradient(w: Writer, op: o.SigmoidGradient, g: str, y: str) -> str:
    return w.node("Mul", g, w.node("Mul", y, w.node("Sub", w.scalar(1), y)))


def _axpy(w: Writer, op: o.Axpy, alpha: str, x: str, y: str) -> str:
    moved = w.node("Mul", alpha, x)
    return w.node("Sub", y, moved) if op.is_negative else w.node("Add", moved, y)


def _lerp(w: Writer, op: o.Lerp, decay: str, old: str, new: str) -> str:
    kept = w.node("Mul", decay, old)
    return w.node("Add", kept, w.node("Mul", w.node("Sub", w.scalar(1), decay), new))


def _adam_direction(
    w: Writer,
    op: o.AdamDirection,
    m: str,
    v: str,
    beta1: str,
    beta2: str,
    step: str,
    epsilon: str,
) -> str:
    """Correct with scalars alone: ``m / (sqrt(v) * (c1 / sqrt(c2)) + c1 * epsilon)``.

    The four passes over arrays are the least that the runtime's operators allow.
    """
    first = w.node("Sub", w.scalar(1), w.node("Pow", beta1, step))
    second = w.node("Sub", w.scalar(1), w.node("Pow", beta2, step))
    scale = w.node("Div", first, w.node("Sqrt", second))
    spread = w.node("Mul", w.node("Sqrt", v), scale)
    return w.node("Div", m, w.node("Add", spread, w.node("Mul", first, epsilon)))


ELEMENTWISE: Mapping[type[Operator], Emitter] = MappingProxyType(
    {
        o.Add: plain("Add"),
        o.Sub: plain("Sub"),
        o.Mul: plain("Mul"),
        o.Div: plain("Div"),
        o.Neg: plain("Neg"),
        o.Abs: plain("Abs"),
        o.Sign: plain("Sign"),
        o.Pow: plain("Pow"),
        o.IntegerPow: _integer_pow,
        o.Exp: plain("Exp"),
        o.Log: plain("Log"),
        o.Sqrt: plain("Sqrt"),
        o.Rsqrt: _rsqrt,
        o.Tanh: plain("Tanh"),
        o.Sigmoid: plain("Sigmoid"),
        o.Sin: plain("Sin"),
        o.Cos: plain("Cos"),
        o.Erf: plain("Erf"),
        o.Floor: plain("Floor"),
        o.Ceil: plain("Ceil"),
        o.Round: plain("Round"),
        o.IsFinite: _is_finite,
        o.Less: plain("Less"),
        o.LessEqual: plain("LessOrEqual"),
        o.Equal: plain("Equal"),
        o.Maximum: plain("Max"),
        o.Minimum: plain("Min"),
        o.Clip: _clip,
        o.Not: plain("Not"),
        o.And: plain("And"),
        o.Or: plain("Or"),
        o.Where: _where,
        o.Annihilate: _annihilate,
        o.Cast: _cast,
        o.Relu: plain("Relu"),
        o.LeakyRelu: lambda w, op, x: w.node("LeakyRelu", x, alpha=op.slope),
        o.Elu: lambda w, op, x: w.node("Elu", x, alpha=op.alpha),
        o.Gelu: _gelu,
        o.Silu: _silu,
        o.Softplus: plain("Softplus"),
        o.ReluGradient: _relu_gradient,
        o.TanhGradient: _tanh_gradient,
        o.SigmoidGradient: _sigmoid_gradient,
        o.Axpy: _axpy,
        o.Lerp: _lerp,
        o.AdamDirection: _adam_direction,
    }
)
"""What is written for each; operands may be smaller than the result where they are repeated."""
