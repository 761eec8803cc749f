"""Trigonometric functions in terms of polynomials, to a few units in the last place.

Angles are reduced by multiples of pi/2, which are subtracted in three parts; beyond 1e5 radians in
f64, or 1e3 in f32, the parts do not suffice and the error grows with the angle.
"""

from __future__ import annotations

from math import factorial, pi

from tinychain_compile import approximations
from tinychain_compile import namespace as xp
from tinychain_compile.decompositions.approximation import Approximation
from tinychain_compile.ir.dtypes import F64
from tinychain_compile.ir.operator import Operator
from tinychain_compile.operators import Atan2, Cos, Sin
from tinychain_compile.protocols import Decomposition
from tinychain_compile.tensor import Tensor

_SINE = tuple((-1) ** k / factorial(2 * k + 1) for k in range(9))
_COSINE = tuple((-1) ** k / factorial(2 * k) for k in range(10))
"""Taylor's coefficients in the square of the angle; enough up to pi/4."""

_HALF_PI_F64 = (1.5707963109016418, 1.5893254712295857e-08, 6.123233995736766e-17)
_HALF_PI_F32 = (1.5703125, 4.8375129699707031e-04, 7.5497899548918821e-08)
"""Pi/2 as a sum of three parts; multiples of the first two are exact as long as they are small."""


def sin(op: Sin, x: Tensor) -> Tensor:
    """The sine or cosine of the reduced angle, with the sign of its quadrant."""
    return _of_quadrant(x, 0.0)


def cos(op: Cos, x: Tensor) -> Tensor:
    """The sine a quarter turn further on."""
    return _of_quadrant(x, 1.0)


def _of_quadrant(x: Tensor, quarter_turns: float) -> Tensor:
    parts = _HALF_PI_F64 if x.dtype is F64 else _HALF_PI_F32
    turns = xp.floor(x * (2.0 / pi) + 0.5)
    r = x
    for part in parts:
        r = r - turns * part
    quadrant = turns + quarter_turns
    quadrant = quadrant - xp.floor(quadrant * 0.25) * 4.0
    square = r * r
    sine = r * approximations.polynomial(_SINE, square)
    cosine = approximations.polynomial(_COSINE, square)
    is_odd = xp.equal(quadrant, 1.0) | xp.equal(quadrant, 3.0)
    value = xp.where(is_odd, cosine, sine)
    return xp.where(quadrant > 1.5, -value, value)


def atan2(op: Atan2, y: Tensor, x: Tensor) -> Tensor:
    """The angle of the smaller over the larger, put into its octant.

    A zero counts as positive, so the angle of (-1, -0) is pi.
    """
    across, along = xp.abs(x), xp.abs(y)
    is_steep = across < along
    larger, smaller = xp.where(is_steep, along, across), xp.where(is_steep, across, along)
    both_infinite = smaller == float("inf")
    safe = xp.where(larger == 0.0, 1.0, xp.where(both_infinite, 1.0, larger))
    ratio = xp.where(both_infinite, 1.0, smaller / safe)
    angle = approximations.atan(ratio, xp)
    angle = xp.where(is_steep, pi / 2 - angle, angle)
    angle = xp.where(x < 0.0, pi - angle, angle)
    angle = xp.where(y < 0.0, -angle, angle)
    return xp.where(xp.isnan(x), x, xp.where(xp.isnan(y), y, angle))


DECOMPOSITIONS: dict[type[Operator], Decomposition] = {Sin: sin, Cos: cos, Atan2: atan2}

APPROXIMATE: dict[type[Operator], Approximation] = {
    Sin: Approximation(4, "of the largest value, up to 1e5 radians in f64 and 1e3 in f32"),
    Cos: Approximation(4, "of the largest value, up to 1e5 radians in f64 and 1e3 in f32"),
    Atan2: Approximation(4, "everywhere; -0 counts as 0"),
}
