"""Exact rewrites that make a graph smaller, by name. Each file states what its rules preserve."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from tinychain_compile.simplification import (
    casts,
    folding,
    identities,
    movement,
    sinking,
    zero_cotangents,
)
from tinychain_compile.simplification.rules import Rules

RULES: Mapping[str, Rules] = MappingProxyType(
    {
        "constant_folding": folding.RULES,
        "identities": identities.RULES,
        "casts": casts.RULES,
        "zero_cotangents": zero_cotangents.RULES,
        "movement": movement.RULES,
        "sinking": sinking.RULES,
    }
)
"""The rules of each simplification that consists of rules, in the order in which they are tried."""
