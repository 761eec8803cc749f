"""The scalars that a consumer feeds at each step: hyperparameters, the step's number, a scale."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tinychain_compile.errors import DeclarationError
from tinychain_compile.ir.dtypes import F32, F64, DType, as_dtype, dtype_name

STEP = "step"
"""The number of this update, from 1; counted by the consumer."""

LOSS_SCALE = "loss_scale"
"""What the consumer multiplies the seed by; gradients are in units of it."""

MICRO_BATCHES = "micro_batches"
"""How many micro-batches are in the sum of gradients; counted by the consumer."""

OF_THE_STEP = frozenset((STEP, LOSS_SCALE, MICRO_BATCHES))
"""Those that belong to the whole step and not to one optimizer."""

ABOVE_ZERO = math.nextafter(0.0, 1.0)
"""The lower end of a range that leaves 0 out."""

BELOW_ONE = math.nextafter(1.0, 0.0)
"""The upper end of a range that leaves 1 out."""


@dataclass(frozen=True, slots=True)
class RuntimeInput:
    """A scalar that the consumer feeds to a program each step, such as a learning rate.

    Args:
        name: The keyword of the optimizer's ``update``, or of the transform.
        dtype: ``f32`` or ``f64``; ``None`` for ``f64`` beside f64 parameters and ``f32`` beside all
            others.
        default: What a consumer feeds when told nothing; ``None`` if it must be told.
        valid_range: The smallest and the largest value that make sense, both included.

    Raises:
        DeclarationError: The dtype is another, or the default is not in the range.
    """

    name: str
    dtype: DType | None = None
    default: float | None = None
    valid_range: tuple[float, float] = (-math.inf, math.inf)

    def __post_init__(self) -> None:
        if self.dtype is not None:
            dtype = as_dtype(self.dtype)
            if dtype not in (F32, F64):
                raise DeclarationError(
                    f"optimizer input {self.name!r}",
                    expected="a dtype of f32 or f64",
                    got=dtype_name(dtype),
                    hint="A scalar in a shorter format would lose its precision.",
                )
            object.__setattr__(self, "dtype", dtype)
        if self.default is not None and not self.admits(self.default):
            raise DeclarationError(
                f"{self.name} as a default or constant",
                expected=self.range_text,
                got=repr(self.default),
            )

    def admits(self, value: object) -> bool:
        """Return whether a value is one finite number in the range."""
        if np.ndim(value) != 0 or isinstance(value, (bool, str, bytes)):  # type: ignore[arg-type]
            return False
        low, high = self.valid_range
        try:
            return math.isfinite(value) and low <= value <= high  # type: ignore[operator, arg-type]
        except TypeError:
            return False

    @property
    def range_text(self) -> str:
        """What the range is, in words."""
        low, high = self.valid_range
        words = [
            "above 0" if low == ABOVE_ZERO else f"from {low:g}" if low > -math.inf else "",
            "below 1" if high == BELOW_ONE else f"to {high:g}" if high < math.inf else "",
        ]
        return " ".join(["a finite number", *filter(None, words)])
