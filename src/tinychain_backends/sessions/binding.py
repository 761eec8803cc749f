"""Binds arrays to what a program declares, by name: exactly those, of exactly those types."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tinychain_compile import BindingError, TensorType, resolve_shape, symbol_sources

Array = NDArray[Any]


class Binding:
    """What a set of arrays must be.

    Args:
        what: What one of them is called in errors, such as ``input``.
        types: The type of each, by name.
    """

    def __init__(self, what: str, types: Mapping[str, TensorType]) -> None:
        self._what = what
        self._types = types
        self._sources = symbol_sources({name: type.shape for name, type in types.items()})

    def bind(self, arrays: Mapping[str, ArrayLike]) -> tuple[dict[str, Array], dict[str, int]]:
        """Return the arrays by name, in declared order, and the number each symbol is.

        Raises:
            BindingError: An array is missing, extra, or not of its declared type.
        """
        check_names(f"{self._what}s", arrays, self._types)
        bound = {name: np.asarray(arrays[name]) for name in self._types}
        sizes = read_sizes(self._sources, bound)
        for name, array in bound.items():
            self._check(name, array, sizes)
        return bound, sizes

    def _check(self, name: str, array: Array, sizes: Mapping[str, int]) -> None:
        type = self._types[name]
        shape = resolve_shape(type.shape, sizes)
        if array.dtype != type.dtype or array.shape != shape:
            raise BindingError(
                f"{self._what} {name!r}",
                expected=f"{type.dtype}{list(shape)}",
                got=f"{array.dtype}{list(array.shape)}",
                hint="Convert it with np.asarray(value, dtype), or compile for this type.",
            )


def read_sizes(
    sources: Mapping[str, tuple[str, int]], arrays: Mapping[str, Array]
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


def check_names(what: str, given: Collection[str], wanted: Collection[str]) -> None:
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
