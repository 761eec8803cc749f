"""VJP rules by operator class, one file per family.

A rule is ``rule(operator, g, y, *operands)``, written in tensor arithmetic: ``g`` is the cotangent
of the output ``y``; it returns one cotangent per operand, ``None`` where there is none. Beside the
rules stand the reason why an operator has none, where a factor may be infinite, and what is given
at kinks.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from tinychain_compile.ir.operator import Operator
from tinychain_compile.protocols import Guard, VJPRule
from tinychain_compile.vjp_rules import (
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
    literals,
    logic,
    movement,
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
from tinychain_compile.vjp_rules.statements import Kink

VJP_RULES: Mapping[type[Operator], VJPRule] = MappingProxyType(
    {
        **arithmetic.RULES,
        **exponential.RULES,
        **trigonometric.RULES,
        **special.RULES,
        **comparison.RULES,
        **selection.RULES,
        **reduction.RULES,
        **statistics.RULES,
        **cumulative.RULES,
        **ordering.RULES,
        **movement.RULES,
        **slicing.RULES,
        **indexing.RULES,
        **contraction.RULES,
        **convolution.RULES,
        **pooling.RULES,
        **activation.RULES,
        **softmax.RULES,
        **normalization.RULES,
        **attention.RULES,
        **updating.RULES,
        **random.RULES,
        **conversion.RULES,
    }
)
"""The rule of every operator that has a derivative."""

WITHOUT_DERIVATIVE: Mapping[type[Operator], str] = MappingProxyType(
    {
        **literals.WITHOUT_DERIVATIVE,
        **arithmetic.WITHOUT_DERIVATIVE,
        **rounding.WITHOUT_DERIVATIVE,
        **comparison.WITHOUT_DERIVATIVE,
        **logic.WITHOUT_DERIVATIVE,
        **ordering.WITHOUT_DERIVATIVE,
        **indexing.WITHOUT_DERIVATIVE,
        **random.WITHOUT_DERIVATIVE,
        **updating.WITHOUT_DERIVATIVE,
        **conversion.WITHOUT_DERIVATIVE,
    }
)
"""Why an operator has no derivative, for each that has none."""

GUARDS: Mapping[type[Operator], Guard] = MappingProxyType(
    {
        **arithmetic.GUARDS,
        **exponential.GUARDS,
        **trigonometric.GUARDS,
        **special.GUARDS,
        **selection.GUARDS,
        **activation.GUARDS,
    }
)
"""Which cotangents are products with a factor that may be infinite."""

KINKS: Mapping[type[Operator], tuple[Kink, ...]] = MappingProxyType(
    {
        **arithmetic.KINKS,
        **exponential.KINKS,
        **trigonometric.KINKS,
        **rounding.KINKS,
        **comparison.KINKS,
        **selection.KINKS,
        **reduction.KINKS,
        **statistics.KINKS,
        **ordering.KINKS,
        **pooling.KINKS,
        **activation.KINKS,
        **softmax.KINKS,
    }
)
"""What is given where there is no derivative, or where others give NaN."""
