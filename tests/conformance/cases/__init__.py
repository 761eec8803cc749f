"""Conformance cases, in the same file names as the operators they are about."""

from __future__ import annotations

from tests.conformance.case import Case
from tests.conformance.cases import (
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

CASES: list[Case] = [
    *literals.CASES,
    *arithmetic.CASES,
    *exponential.CASES,
    *comparison.CASES,
    *selection.CASES,
    *reduction.CASES,
    *movement.CASES,
    *contraction.CASES,
    *indexing.CASES,
    *activation.CASES,
    *conversion.CASES,
]
