"""What a conformance case says about an operator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tinychain_compile.operators import Operator

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Case:
    """One use of an operator.

    Args:
        operator: With its attributes.
        value: What it is, in NumPy, written independently of every backend.
        operands: In f64 unless the operator wants otherwise; shapes asymmetric.
        differentiable: Which operands have a derivative.
        tolerance: Relative, of the decomposition against the value.
    """

    operator: Operator
    value: Callable[..., Any]
    operands: tuple[Array, ...] = ()
    differentiable: tuple[int, ...] = ()
    tolerance: float = 1e-14
    note: str = ""

    @property
    def label(self) -> str:
        """The operator with its attributes, and the note."""
        params = ",".join(
            f"{k}={v}" for k, v in self.operator.params.items() if not isinstance(v, np.ndarray)
        )
        return f"{self.operator.name}({params}){self.note}"


def normal(*shape: int, seed: int = 0) -> Array:
    """Return seeded normal numbers in f64."""
    return np.random.default_rng(seed).normal(size=shape)


def positive(*shape: int, seed: int = 0) -> Array:
    """Return seeded numbers from 0.5 to 2."""
    return np.random.default_rng(seed).uniform(0.5, 2.0, size=shape)


INF, NAN = float("inf"), float("nan")
SPECIAL = np.array([0.0, -0.0, 1e-300, -1e-300, 1e-20, 1.0, -1.0, 700.0, -700.0, INF, -INF, NAN])
