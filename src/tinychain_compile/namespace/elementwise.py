"""Functions of each element by itself."""

from __future__ import annotations

import builtins
import math

import numpy as np

from tinychain_compile.ir.axes import broadcast_shapes
from tinychain_compile.ir.dtypes import BOOL
from tinychain_compile.namespace.operands import (
    Operand,
    binary,
    first_tensor,
    floating_binary,
    meet,
    unary,
)
from tinychain_compile.operators import (
    Add,
    Atan2,
    Ceil,
    Clip,
    Cos,
    Equal,
    Exp,
    Expm1,
    Floor,
    IsFinite,
    Less,
    LessEqual,
    Log,
    Log1p,
    Maximum,
    Minimum,
    Mul,
    Round,
    Sign,
    Sin,
    Sqrt,
    StopGradient,
    Sub,
    Tanh,
    Where,
)
from tinychain_compile.tensor import Tensor, is_scalar

# Arithmetic.


def add(x1: Operand, x2: Operand, /) -> Tensor:
    """Return ``x1 + x2``."""
    return binary(Add(), x1, x2)


def subtract(x1: Operand, x2: Operand, /) -> Tensor:
    """Return ``x1 - x2``."""
    return binary(Sub(), x1, x2)


def multiply(x1: Operand, x2: Operand, /) -> Tensor:
    """Return ``x1 * x2``."""
    return binary(Mul(), x1, x2)


def divide(x1: Operand, x2: Operand, /) -> Tensor:
    """Return ``x1 / x2``; integers are divided in f64."""
    return x1.__truediv__(x2) if isinstance(x1, Tensor) else first_tensor(x2).__rtruediv__(x1)


def floor_divide(x1: Operand, x2: Operand, /) -> Tensor:
    """Return the largest whole number not above ``x1 / x2``."""
    return x1.__floordiv__(x2) if isinstance(x1, Tensor) else first_tensor(x2).__rfloordiv__(x1)


def remainder(x1: Operand, x2: Operand, /) -> Tensor:
    """Return ``x1 - floor(x1 / x2) * x2``, which has the sign of ``x2``."""
    return x1.__mod__(x2) if isinstance(x1, Tensor) else first_tensor(x2).__rmod__(x1)


def negative(x: Operand, /) -> Tensor:
    """Return ``-x``."""
    return -first_tensor(x)


def positive(x: Operand, /) -> Tensor:
    """Return ``x``."""
    return first_tensor(x)


def abs(x: Operand, /) -> Tensor:
    """Return the magnitude; its derivative at 0 is 0."""
    return builtins.abs(first_tensor(x))


def sign(x: Operand, /) -> Tensor:
    """Return -1, 0 or 1."""
    return first_tensor(x).emit(Sign())


def reciprocal(x: Operand, /) -> Tensor:
    """Return ``1 / x``."""
    return 1.0 / first_tensor(x)


def square(x: Operand, /) -> Tensor:
    """Return ``x ** 2``."""
    return first_tensor(x) ** 2


def pow(x1: Operand, x2: Operand, /) -> Tensor:
    """Return ``x1 ** x2``."""
    return x1.__pow__(x2) if isinstance(x1, Tensor) else first_tensor(x2).__rpow__(x1)


def hypot(x1: Operand, x2: Operand, /) -> Tensor:
    """Return ``sqrt(x1 ** 2 + x2 ** 2)``, without overflow; its derivative at (0, 0) is 0."""
    a, b = (builtins.abs(x.as_floating()) for x in meet(x1, x2))
    larger, smaller = maximum(a, b), minimum(a, b)
    safe = where(larger == 0.0, 1.0, larger)
    ratio = where(isfinite(larger), smaller / safe, 0.0)
    return larger * sqrt(1.0 + ratio * ratio)


# Exponentials, logarithms, roots.


def exp(x: Operand, /) -> Tensor:
    """Return ``e ** x``."""
    return unary(Exp(), x)


def exp2(x: Operand, /) -> Tensor:
    """Return ``2 ** x``."""
    return 2.0 ** first_tensor(x).as_floating()


def expm1(x: Operand, /) -> Tensor:
    """Return ``e ** x - 1``, exact near 0."""
    return unary(Expm1(), x)


def log(x: Operand, /) -> Tensor:
    """Return the natural logarithm."""
    return unary(Log(), x)


def log1p(x: Operand, /) -> Tensor:
    """Return ``log(1 + x)``, exact near 0."""
    return unary(Log1p(), x)


def log2(x: Operand, /) -> Tensor:
    """Return the logarithm to base 2."""
    return log(x) * (1.0 / math.log(2.0))


def log10(x: Operand, /) -> Tensor:
    """Return the logarithm to base 10."""
    return log(x) * (1.0 / math.log(10.0))


def logaddexp(x1: Operand, x2: Operand, /) -> Tensor:
    """Return ``log(exp(x1) + exp(x2))``, without overflow."""
    a, b = (x.as_floating() for x in meet(x1, x2))
    distance = builtins.abs(a - b)
    gap = where(a == b, 0.0, distance)
    return maximum(a, b) + log1p(exp(-gap))


def sqrt(x: Operand, /) -> Tensor:
    """Return the square root."""
    return unary(Sqrt(), x)


def cbrt(x: Operand, /) -> Tensor:
    """Return the cube root."""
    z = first_tensor(x).as_floating()
    return sign(z) * builtins.abs(z) ** (1.0 / 3.0)


# Trigonometric and hyperbolic functions.


def sin(x: Operand, /) -> Tensor:
    """Return the sine."""
    return unary(Sin(), x)


def cos(x: Operand, /) -> Tensor:
    """Return the cosine."""
    return unary(Cos(), x)


def tan(x: Operand, /) -> Tensor:
    """Return the tangent."""
    return sin(x) / cos(x)


def atan2(x1: Operand, x2: Operand, /) -> Tensor:
    """Return the angle of the point ``(x2, x1)``."""
    return floating_binary(Atan2(), x1, x2)


def atan(x: Operand, /) -> Tensor:
    """Return the angle whose tangent is ``x``."""
    return atan2(x, 1.0)


def asin(x: Operand, /) -> Tensor:
    """Return the angle whose sine is ``x``."""
    z = first_tensor(x).as_floating()
    return atan2(z, sqrt((1.0 - z) * (1.0 + z)))


def acos(x: Operand, /) -> Tensor:
    """Return the angle whose cosine is ``x``."""
    z = first_tensor(x).as_floating()
    return atan2(sqrt((1.0 - z) * (1.0 + z)), z)


def tanh(x: Operand, /) -> Tensor:
    """Return the hyperbolic tangent."""
    return unary(Tanh(), x)


def sinh(x: Operand, /) -> Tensor:
    """Return the hyperbolic sine, exact near 0."""
    z = first_tensor(x)
    return 0.5 * expm1(z) - 0.5 * expm1(-z)


def cosh(x: Operand, /) -> Tensor:
    """Return the hyperbolic cosine."""
    z = builtins.abs(first_tensor(x).as_floating())
    return 0.5 * exp(z) + 0.5 * exp(-z)


def asinh(x: Operand, /) -> Tensor:
    """Return the number whose hyperbolic sine is ``x``, exact near 0."""
    z = first_tensor(x).as_floating()
    is_negative = z < 0.0
    m = where(is_negative, -z, z)
    y = log1p(m + m * (m / (1.0 + hypot(1.0, m))))
    return where(is_negative, -y, y)


def acosh(x: Operand, /) -> Tensor:
    """Return the number from 0 whose hyperbolic cosine is ``x``."""
    z = first_tensor(x).as_floating()
    t = z - 1.0
    return log1p(t + sqrt(t * (z + 1.0)))


def atanh(x: Operand, /) -> Tensor:
    """Return the number whose hyperbolic tangent is ``x``."""
    z = first_tensor(x).as_floating()
    return 0.5 * (log1p(z) - log1p(-z))


# Rounding.


def floor(x: Operand, /) -> Tensor:
    """Return the largest whole number not above ``x``."""
    return _whole(Floor(), x)


def ceil(x: Operand, /) -> Tensor:
    """Return the smallest whole number not below ``x``."""
    return _whole(Ceil(), x)


def round(x: Operand, /) -> Tensor:
    """Return the nearest whole number, the even one of two."""
    return _whole(Round(), x)


def trunc(x: Operand, /) -> Tensor:
    """Return the nearest whole number towards 0."""
    z = first_tensor(x)
    return where(z < 0, ceil(z), floor(z)) if z.type.is_floating else z


def _whole(operator: Floor | Ceil | Round, x: Operand) -> Tensor:
    z = first_tensor(x)
    return z.emit(operator) if z.type.is_floating else z


# Comparison and choice.


def less(x1: Operand, x2: Operand, /) -> Tensor:
    """Return whether ``x1 < x2``."""
    return binary(Less(), x1, x2)


def less_equal(x1: Operand, x2: Operand, /) -> Tensor:
    """Return whether ``x1 <= x2``."""
    return binary(LessEqual(), x1, x2)


def greater(x1: Operand, x2: Operand, /) -> Tensor:
    """Return whether ``x1 > x2``."""
    return binary(Less(), x2, x1)


def greater_equal(x1: Operand, x2: Operand, /) -> Tensor:
    """Return whether ``x1 >= x2``."""
    return binary(LessEqual(), x2, x1)


def equal(x1: Operand, x2: Operand, /) -> Tensor:
    """Return whether ``x1 == x2``."""
    return binary(Equal(), x1, x2)


def not_equal(x1: Operand, x2: Operand, /) -> Tensor:
    """Return whether ``x1 != x2``."""
    return ~equal(x1, x2)


def isfinite(x: Operand, /) -> Tensor:
    """Return whether ``x`` is neither infinite nor NaN."""
    z = first_tensor(x)
    return z.emit(IsFinite()) if z.type.is_floating else z == z


def isnan(x: Operand, /) -> Tensor:
    """Return whether ``x`` is NaN."""
    z = first_tensor(x)
    return z != z


def isinf(x: Operand, /) -> Tensor:
    """Return whether ``x`` is infinite."""
    z = first_tensor(x)
    return builtins.abs(z) == np.inf if z.type.is_floating else z != z


def signbit(x: Operand, /) -> Tensor:
    """Return whether ``x`` is below 0; a zero counts as positive."""
    return first_tensor(x) < 0


def logical_not(x: Operand, /) -> Tensor:
    """Return whether ``x`` does not hold; of numbers, whether it is 0."""
    return ~_condition(first_tensor(x))


def logical_and(x1: Operand, x2: Operand, /) -> Tensor:
    """Return whether both hold; of numbers, whether neither is 0."""
    a, b = meet(x1, x2)
    return _condition(a) & _condition(b)


def logical_or(x1: Operand, x2: Operand, /) -> Tensor:
    """Return whether one holds at least; of numbers, whether one is not 0."""
    a, b = meet(x1, x2)
    return _condition(a) | _condition(b)


def logical_xor(x1: Operand, x2: Operand, /) -> Tensor:
    """Return whether exactly one holds; of numbers, whether exactly one is not 0."""
    a, b = meet(x1, x2)
    return _condition(a) ^ _condition(b)


def bitwise_and(x1: Operand, x2: Operand, /) -> Tensor:
    """Return whether both conditions hold."""
    a, b = meet(x1, x2)
    return a & b


def bitwise_or(x1: Operand, x2: Operand, /) -> Tensor:
    """Return whether one condition holds at least."""
    a, b = meet(x1, x2)
    return a | b


def bitwise_xor(x1: Operand, x2: Operand, /) -> Tensor:
    """Return whether exactly one condition holds."""
    a, b = meet(x1, x2)
    return a ^ b


def bitwise_invert(x: Operand, /) -> Tensor:
    """Return whether the condition does not hold."""
    return ~first_tensor(x)


def _condition(x: Tensor) -> Tensor:
    return x if x.dtype is BOOL else x != 0


def maximum(x1: Operand, x2: Operand, /) -> Tensor:
    """Return the larger of two, NaN where either is NaN."""
    return binary(Maximum(), x1, x2)


def minimum(x1: Operand, x2: Operand, /) -> Tensor:
    """Return the smaller of two, NaN where either is NaN."""
    return binary(Minimum(), x1, x2)


def fmax(x1: Operand, x2: Operand, /) -> Tensor:
    """Return the larger of two, the other where one is NaN."""
    a, b = meet(x1, x2)
    return where(isnan(a), b, where(isnan(b), a, maximum(a, b)))


def fmin(x1: Operand, x2: Operand, /) -> Tensor:
    """Return the smaller of two, the other where one is NaN."""
    a, b = meet(x1, x2)
    return where(isnan(a), b, where(isnan(b), a, minimum(a, b)))


def clip(x: Operand, /, min: Operand | None = None, max: Operand | None = None) -> Tensor:
    """Return ``x``, but not below ``min`` nor above ``max``; its derivative on a bound is 1."""
    z = first_tensor(x, min, max).lift(x)
    if min is None and max is None:
        return z
    z, low = z.meet(-np.inf if min is None and z.type.is_floating else _bound(z, min, False))
    z, high = z.meet(np.inf if max is None and z.type.is_floating else _bound(z, max, True))
    return z.emit(Clip(), low.broadcast_to(z.shape).astype(z.dtype), high)


def _bound(z: Tensor, bound: Operand | None, is_upper: builtins.bool) -> Operand:
    """Return a bound, for integers the dtype's where none is given."""
    if bound is not None:
        return bound
    limits = np.iinfo(z.dtype)
    return int(limits.max if is_upper else limits.min)


def where(condition: Operand, x1: Operand, x2: Operand, /) -> Tensor:
    """Return ``x1`` where the condition holds, else ``x2``."""
    context = first_tensor(condition, x1, x2)
    if isinstance(x1, Tensor):
        a, b = x1.meet(x2)
    elif isinstance(x2, Tensor):
        b, a = x2.meet(x1)
    else:
        dtype = np.result_type(x1, x2)
        a, b = (context.literal(np.asarray(x, dtype=dtype)) for x in (x1, x2))
        a, b = a.meet(b)
    if is_scalar(condition):
        condition = context.literal(condition, BOOL)
    chooser = _condition(context.lift(condition))
    if chooser.shape != a.shape:
        shape = broadcast_shapes(chooser.shape, a.shape)
        chooser, a, b = (t.broadcast_to(shape) for t in (chooser, a, b))
    if a.dtype is BOOL:
        return (chooser & a) | (~chooser & b)
    return chooser.emit(Where(), a, b)


def nan_to_num(
    x: Operand,
    /,
    nan: float = 0.0,
    posinf: float | None = None,
    neginf: float | None = None,
) -> Tensor:
    """Return ``x`` with numbers in the place of NaN and infinities."""
    z = first_tensor(x)
    if not z.type.is_floating:
        return z
    limits = np.finfo(z.dtype)
    high = float(limits.max) if posinf is None else posinf
    low = float(limits.min) if neginf is None else neginf
    return where(isnan(z), nan, where(z == np.inf, high, where(z == -np.inf, low, z)))


def stop_gradient(x: Operand, /) -> Tensor:
    """Return ``x``, through which no derivative passes."""
    return first_tensor(x).emit(StopGradient())
