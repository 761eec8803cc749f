"""Operators that work element by element; all of them broadcast by themselves in ONNX."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

from tinychain_backends.onnx.nodes import Writer
from tinychain_compile import operators as o
from tinychain_compile.operators import Operator

Emitter = Callable[..., str]


def node(op_type: str, **attributes: str) -> Emitter:
    """Return the emitter of an operator that ONNX has under another name.

    Args:
        op_type: The name.
        attributes: The operator's name of each attribute, by ONNX's name.
    """

    def emit(w: Writer, op: Operator, *operands: str) -> str:
        params = op.params
        return w.node(op_type, *operands, **{k: params[v] for k, v in attributes.items()})

    return emit


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


def _mul_no_nan(w: Writer, op: o.MulNoNan, factor: str, x: str) -> str:
    return w.node("Where", w.node("Equal", factor, w.scalar(0)), factor, w.node("Mul", factor, x))


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
        o.Add: node("Add"),
        o.Sub: node("Sub"),
        o.Mul: node("Mul"),
        o.Div: node("Div"),
        o.Neg: node("Neg"),
        o.Abs: node("Abs"),
        o.Sign: node("Sign"),
        o.Pow: node("Pow"),
        o.IntegerPow: _integer_pow,
        o.Exp: node("Exp"),
        o.Log: node("Log"),
        o.Sqrt: node("Sqrt"),
        o.Rsqrt: _rsqrt,
        o.Tanh: node("Tanh"),
        o.Sigmoid: node("Sigmoid"),
        o.Sin: node("Sin"),
        o.Cos: node("Cos"),
        o.Erf: node("Erf"),
        o.Floor: node("Floor"),
        o.Ceil: node("Ceil"),
        o.Round: node("Round"),
        o.IsFinite: _is_finite,
        o.Less: node("Less"),
        o.LessEqual: node("LessOrEqual"),
        o.Equal: node("Equal"),
        o.Maximum: node("Max"),
        o.Minimum: node("Min"),
        o.Clip: _clip,
        o.Not: node("Not"),
        o.And: node("And"),
        o.Or: node("Or"),
        o.Where: _where,
        o.Annihilate: _annihilate,
        o.MulNoNan: _mul_no_nan,
        o.Cast: _cast,
        o.Relu: node("Relu"),
        o.LeakyRelu: node("LeakyRelu", alpha="slope"),
        o.Elu: node("Elu", alpha="alpha"),
        o.Gelu: _gelu,
        o.Silu: _silu,
        o.Softplus: node("Softplus"),
        o.ReluGradient: _relu_gradient,
        o.TanhGradient: _tanh_gradient,
        o.SigmoidGradient: _sigmoid_gradient,
        o.Axpy: _axpy,
        o.Lerp: _lerp,
        o.AdamDirection: _adam_direction,
    }
)
"""What is written for each; operands may be smaller than the result where they are repeated."""
