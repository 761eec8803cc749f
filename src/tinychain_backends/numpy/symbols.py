"""Symbolic sizes: what each symbol is once arrays are bound, and shapes in numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tinychain_compile import BindingError, resolve_shape, symbols_in


def read_sizes(
    sources: Mapping[str, tuple[str, int]], arrays: Mapping[str, np.ndarray[Any, Any]]
) -> dict[str, int]:
    """Return the number each symbol is, read off the arrays that carry it.

    Raises:
        BindingError: An array has too few axes.
    """
    sizes: dict[str, int] = {}
    for symbol, (name, axis) in sources.items():
        shape = arrays[name].shape
        if axis >= len(shape):
            raise BindingError(
                f"input {name!r}",
                expected=f"an axis {axis}, of size {symbol}",
                got=f"{arrays[name].dtype}{list(shape)}",
            )
        sizes[symbol] = shape[axis]
    return sizes


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
