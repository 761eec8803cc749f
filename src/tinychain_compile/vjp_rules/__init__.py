"""VJP rules by operator class, one file per family.

A rule is ``rule(operator, g, y, *operands)``, written in tensor arithmetic: ``g`` is the cotangent
of the output ``y``; it returns one cotangent per operand, ``None`` where there is none.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from tinychain_compile.ir.operator import Operator
from tinychain_compile.protocols import VJPRule
from tinychain_compile.vjp_rules import (
    activation,
    arithmetic,
    comparison,
    contraction,
    conversion,
    exponential,
    indexing,
    literals,
    movement,
    reduction,
    selection,
)

VJP_RULES: Mapping[type[Operator], VJPRule] = MappingProxyType(
    {
        **arithmetic.RULES,
        **exponential.RULES,
        **comparison.RULES,
        **selection.RULES,
        **reduction.RULES,
        **movement.RULES,
        **contraction.RULES,
        **indexing.RULES,
        **activation.RULES,
        **conversion.RULES,
    }
)
"""The rule of every operator that has a derivative."""

WITHOUT_DERIVATIVE: Mapping[type[Operator], str] = MappingProxyType(
    {
        **literals.WITHOUT_DERIVATIVE,
        **comparison.WITHOUT_DERIVATIVE,
        **conversion.WITHOUT_DERIVATIVE,
    }
)
"""Why an operator has no derivative, for each that has none."""
