"""Marks on values: where derivatives stop, and what a value is called."""

from __future__ import annotations

from tinychain_compile.functions.arrays import ArrayLike
from tinychain_compile.operators import Named, StopGradient
from tinychain_compile.tensor import Tensor


def stop_gradient(x: ArrayLike) -> ArrayLike:
    """Return ``x``, through which no derivative passes.

    Shapes:
        ``T[s] -> T[s]``
    """
    return x.emit(StopGradient()) if isinstance(x, Tensor) else x


def named(x: ArrayLike, name: str) -> ArrayLike:
    """Return ``x``, known by a name to the capture policy ``KeepNamed``.

    Shapes:
        ``T[s] -> T[s]``
    """
    return x.emit(Named(name)) if isinstance(x, Tensor) else x
