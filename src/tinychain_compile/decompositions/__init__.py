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
    attention,
    comparison,
    contraction,
    conversion,
    convolution,
    cumulative,
    exponential,
    indexing,
    logic,
    normalization,
    ordering,
    pooling,
    random,
    reduction,
    rounding,
    selection,
    slicing,
    softmax,
    special,
    statistics,
    trigonometric,
    updating,
)
from tinychain_compile.decompositions.approximation import Approximation
from tinychain_compile.ir.operator import Operator
from tinychain_compile.protocols import Decomposition

DECOMPOSITIONS: Mapping[type[Operator], Decomposition] = MappingProxyType(
    {
        **arithmetic.DECOMPOSITIONS,
        **exponential.DECOMPOSITIONS,
        **trigonometric.DECOMPOSITIONS,
        **special.DECOMPOSITIONS,
        **rounding.DECOMPOSITIONS,
        **comparison.DECOMPOSITIONS,
        **logic.DECOMPOSITIONS,
        **selection.DECOMPOSITIONS,
        **reduction.DECOMPOSITIONS,
        **statistics.DECOMPOSITIONS,
        **cumulative.DECOMPOSITIONS,
        **ordering.DECOMPOSITIONS,
        **slicing.DECOMPOSITIONS,
        **indexing.DECOMPOSITIONS,
        **contraction.DECOMPOSITIONS,
        **convolution.DECOMPOSITIONS,
        **pooling.DECOMPOSITIONS,
        **activation.DECOMPOSITIONS,
        **softmax.DECOMPOSITIONS,
        **normalization.DECOMPOSITIONS,
        **attention.DECOMPOSITIONS,
        **updating.DECOMPOSITIONS,
        **random.DECOMPOSITIONS,
        **conversion.DECOMPOSITIONS,
    }
)
"""The decomposition of every operator outside the basis, literals and cast."""

APPROXIMATE: Mapping[type[Operator], Approximation] = MappingProxyType(
    {
        **arithmetic.APPROXIMATE,
        **exponential.APPROXIMATE,
        **trigonometric.APPROXIMATE,
        **special.APPROXIMATE,
    }
)
"""How far a decomposition may be off, for each that is not exact to rounding."""

UNDECOMPOSED: Mapping[type[Operator], str] = MappingProxyType(random.UNDECOMPOSED)
"""Why an operator outside the basis has none."""
