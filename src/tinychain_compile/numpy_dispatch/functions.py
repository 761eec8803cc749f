"""What each NumPy function means on traced tensors, with NumPy's own arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tinychain_compile.numpy_dispatch import contraction, elementwise, movement, reductions

FUNCTIONS: Mapping[Callable[..., Any], Callable[..., Any]] = {
    **reductions.FUNCTIONS,
    **movement.FUNCTIONS,
    **contraction.FUNCTIONS,
    **elementwise.FUNCTIONS,
}
