"""Functions that neither NumPy nor the basis has, as polynomials, for tensors and arrays alike.

Each takes the namespace to compute in: ``tinychain_compile.namespace`` for traced tensors, NumPy
for arrays. The coefficients are Chebyshev interpolants made in 40 digits; the error, measured
against them, is a unit in the last place of f64.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

_ERF = (
    *(0.6749332360396550468, -0.2611118609312453676, 0.1194791386098518676),
    *(-0.04866277744915503341, 0.0171283445718166679, -0.005234875836158876481),
    *(0.001405091423651871872, -0.0003351435335239756771, 0.00007180100843929899859),
    *(-0.00001394627374539780853, 2.475802047377871959e-6, -4.045094610710335942e-7),
    *(6.119568107896591667e-8, -8.617701405603135118e-9, 1.134820994403364812e-9),
    *(-1.401346825644933258e-10, 1.633349263213422574e-11, -1.892293166904461093e-12),
    1.967734946198622703e-13,
)
"""``erf(x) / x`` for x from 0 to 2, in ``(x ** 2 - 2) / 2``."""

_ERFC = (
    *(0.1758568488356373522, 0.08509670402689102959, -0.005404366792911603759),
    *(-0.0002817420207396908318, 0.0001487699772634583273, -0.00002088927565023224024),
    *(-3.523022244077837533e-7, 9.10019794777220129e-7, -2.324092242450921611e-7),
    *(2.3528200634385331e-8, 5.259003835479865555e-9, -3.175689093664692686e-9),
    6.401651812307300699e-10,
)
"""``erfc(x) * exp(x ** 2)`` for x from 2 to 6.5, in ``(1 / x - 17 / 52) * 52 / 9``."""

_ATAN = (
    *(0.9999999999999999653, -0.3333333333332843857, 0.1999999999885511013),
    *(-0.1428571418097646683, 0.1111110618045594522, -0.0909077307480841379),
    *(0.07689953496306857756, -0.06640233930429408589, 0.05688349226809010479),
    *(-0.04348052215716462478, 0.02113537315769324521),
)
"""``atan(z) / z`` for z from 0 to ``tan(pi / 8)``, in ``z ** 2``."""


def erf(x: Any, xp: Any) -> Any:
    """Return the error function."""
    magnitude = xp.minimum(xp.abs(x), 6.5)
    is_near = magnitude < 2.0
    small = xp.where(is_near, x, 0.0)
    near = small * polynomial(_ERF, small * small * 0.5 - 1.0)
    far = xp.where(is_near, 2.0, magnitude)
    rest = polynomial(_ERFC, (1.0 / far - 17.0 / 52.0) * (52.0 / 9.0)) * xp.exp(-far * far)
    return xp.where(is_near, near, xp.where(x < 0.0, rest - 1.0, 1.0 - rest))


def atan(z: Any, xp: Any) -> Any:
    """Return the angle whose tangent is ``z``, for z from 0 to 1."""
    is_steep = z > 2.0**0.5 - 1.0
    reduced = xp.where(is_steep, (z - 1.0) / (z + 1.0), z)
    angle = reduced * polynomial(_ATAN, reduced * reduced)
    return xp.where(is_steep, angle + 0.78539816339744831, angle)


def polynomial(coefficients: Sequence[float], x: Any) -> Any:
    """Return the value of a polynomial by Horner's rule, lowest coefficient first."""
    value = x * coefficients[-1] + coefficients[-2]
    for coefficient in coefficients[-3::-1]:
        value = value * x + coefficient
    return value
