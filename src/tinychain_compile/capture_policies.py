"""What a derivative shall read from the forward run, and what it shall make again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

from tinychain_compile.errors import DeclarationError


@dataclass(frozen=True, slots=True)
class KeepAll:
    """Keeps whatever the derivative reads; of movement and literals, what they are made of."""


@dataclass(frozen=True, slots=True)
class RecomputeAll:
    """Keeps nothing: the derivative makes the forward run again, from the inputs."""


@dataclass(frozen=True, slots=True)
class KeepNamed:
    """Keeps the values that ``functions.named`` marks, and makes the rest again from them.

    Args:
        names: Which of the names; all by default.
    """

    names: Sequence[str] | None = None

    def __post_init__(self) -> None:
        if isinstance(self.names, str):
            raise DeclarationError(
                "KeepNamed", expected="a sequence of names", got=repr(self.names)
            )
        if self.names is not None:
            object.__setattr__(self, "names", tuple(self.names))


@dataclass(frozen=True, slots=True)
class MinimumCut:
    """Keeps the fewest bytes from which the rest can be made again (extra ``captures``).

    Args:
        recompute_products: Whether products, convolutions and attention may be made again.
        recompute_budget: How much may be made again, as a part of the forward run's work in
            multiplications: 0.5 for half of it. ``None`` for no limit.
    """

    recompute_products: bool = False
    recompute_budget: float | None = None

    def __post_init__(self) -> None:
        if self.recompute_budget is not None and not self.recompute_budget >= 0:
            raise DeclarationError(
                "recompute_budget of MinimumCut",
                expected="a number from 0, or None",
                got=repr(self.recompute_budget),
            )


@dataclass(frozen=True, slots=True)
class ByteBudget:
    """Keeps at most so many bytes, and makes as little as possible again (extra ``captures``).

    Args:
        bytes: How many; products may be made again.
    """

    bytes: int

    def __post_init__(self) -> None:
        if not self.bytes >= 0:
            raise DeclarationError(
                "bytes of ByteBudget", expected="a number from 0", got=repr(self.bytes)
            )


CapturePolicy: TypeAlias = KeepAll | RecomputeAll | KeepNamed | MinimumCut | ByteBudget

POLICIES_BY_NAME: Mapping[str, CapturePolicy] = MappingProxyType(
    {
        "keep_all": KeepAll(),
        "keep_named": KeepNamed(),
        "recompute_all": RecomputeAll(),
        "minimum_cut": MinimumCut(),
    }
)
"""Policies that need nothing else said."""
