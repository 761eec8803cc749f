"""How far a decomposition that is not exact to rounding may be off."""

from __future__ import annotations

from typing import NamedTuple


class Approximation(NamedTuple):
    """A bound on the error, which a test measures.

    Attributes:
        units: In units of the dtype's precision, relative to the value.
        where: Where the bound holds.
    """

    units: int
    where: str
