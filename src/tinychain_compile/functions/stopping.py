"""Where derivatives stop."""

from __future__ import annotations

from tinychain_compile.functions.arrays import ArrayLike
from tinychain_compile.operators import StopGradient
from tinychain_compile.tensor import Tensor


def stop_gradient(x: ArrayLike) -> ArrayLike:
    """Return ``x``, through which no derivative passes.

    Shapes:
        ``T[s] -> T[s]``
    """
    return x.emit(StopGradient()) if isinstance(x, Tensor) else x
