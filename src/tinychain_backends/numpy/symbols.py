"""Symbolic sizes among the keywords of a call: which there are, and the same in numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tinychain_compile import resolve_shape, symbols_in


def resolve_keywords(keywords: Mapping[str, Any], sizes: Mapping[str, int]) -> Mapping[str, Any]:
    """Return a call's keywords with symbolic shapes in numbers."""
    if not symbols_of(keywords):
        return keywords
    resolved = dict(keywords)
    resolved.update((k, resolve_shape(shape, sizes)) for k, shape in _shapes(keywords))
    return resolved


def symbols_of(keywords: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the symbols in the shapes among a call's keywords."""
    return symbols_in(shape for _, shape in _shapes(keywords))


def _shapes(keywords: Mapping[str, Any]) -> list[tuple[str, tuple[Any, ...]]]:
    return [(name, value) for name, value in keywords.items() if isinstance(value, tuple)]
