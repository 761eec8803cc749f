"""Decompositions by operator class, one file per family.

A decomposition is ``decomposition(operator, *operands)``: the output in simpler operators, written
in tensor arithmetic. Followed to their ends, all of them stop in the basis, literals and cast.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from tinychain_compile.decompositions import (
    activation,
    arithmetic,
    comparison,
    contraction,
    conversion,
    exponential,
    indexing,
    reduction,
)
from tinychain_compile.ir.operator import Operator
from tinychain_compile.protocols import Decomposition

DECOMPOSITIONS: Mapping[type[Operator], Decomposition] = MappingProxyType(
    {
        **arithmetic.DECOMPOSITIONS,
        **exponential.DECOMPOSITIONS,
        **comparison.DECOMPOSITIONS,
        **reduction.DECOMPOSITIONS,
        **contraction.DECOMPOSITIONS,
        **indexing.DECOMPOSITIONS,
        **activation.DECOMPOSITIONS,
        **conversion.DECOMPOSITIONS,
    }
)
"""The decomposition of every operator outside the basis, literals and cast."""
