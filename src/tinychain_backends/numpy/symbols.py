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


def check_array(
    what: str, array: object, dtype: np.dtype[Any], shape: tuple[Any, ...], sizes: Mapping[str, int]
) -> np.ndarray[Any, Any]:
    """Return a value as an array of exactly this dtype and shape.

    Raises:
        BindingError: It has another dtype or shape.
    """
    given = np.asarray(array)
    wanted = resolve_shape(shape, sizes) if shape else ()
    if given.dtype != dtype or given.shape != wanted:
        raise BindingError(
            what,
            expected=f"{dtype}{list(wanted)}",
            got=f"{given.dtype}{list(given.shape)}",
            hint="Convert it with np.asarray(value, dtype), or compile for this type.",
        )
    return given


def check_names(what: str, given: Mapping[str, object], wanted: Mapping[str, object]) -> None:
    """Check that exactly the wanted names are given.

    Raises:
        BindingError: Names are missing or extra.
    """
    missing = [name for name in wanted if name not in given]
    extra = [name for name in given if name not in wanted]
    if missing or extra:
        got = [f"no {name!r}" for name in missing] + [f"an extra {name!r}" for name in extra]
        raise BindingError(
            what, expected=f"exactly {', '.join(wanted) or 'nothing'}", got=", ".join(got)
        )
