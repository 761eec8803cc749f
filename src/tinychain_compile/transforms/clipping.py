"""Bounds on gradients: by element, by the norm of each, by the norm of all."""

from __future__ import annotations

import math
from collections.abc import Mapping

from tinychain_compile.namespace.elementwise import clip, sqrt, where
from tinychain_compile.runtime_inputs import RuntimeInput
from tinychain_compile.tensor import Tensor

Gradients = Mapping[str, Tensor]


class _Bound:
    """A transform that reads one bound, from 0 upwards."""

    def __init__(self, limit: float | None, name: str) -> None:
        self._name = name
        self.runtime_inputs = (RuntimeInput(name, default=limit, valid_range=(0.0, math.inf)),)


class ClipByValue(_Bound):
    """Keeps every element of every gradient between ``-max_value`` and ``max_value``.

    NaN stays.

    Args:
        max_value: The default of the bound, at least 0; must be fed if ``None``.
        name: What the runtime input is called.
    """

    def __init__(self, max_value: float | None = None, *, name: str = "max_value") -> None:
        super().__init__(max_value, name)

    def transform(
        self, *, gradients: Gradients, parameters: Gradients, **limit: Tensor
    ) -> Gradients:
        """Return the gradients, bounded."""
        bound = limit[self._name]
        return {
            name: clip(gradient, -bound, bound).astype(gradient.dtype)
            for name, gradient in gradients.items()
        }


class ClipByNorm(_Bound):
    """Shortens each gradient whose own Euclidean norm is above ``max_norm`` to that norm.

    A gradient of that norm or below stays as it is, to the bit.

    Args:
        max_norm: The default of the bound, at least 0; must be fed if ``None``.
        name: What the runtime input is called.
    """

    def __init__(self, max_norm: float | None = None, *, name: str = "max_norm") -> None:
        super().__init__(max_norm, name)

    def transform(
        self, *, gradients: Gradients, parameters: Gradients, **limit: Tensor
    ) -> Gradients:
        """Return the gradients, shortened."""
        bound = limit[self._name]
        return {
            name: gradient * _shortening(_sum_of_squares(gradient), bound).astype(gradient.dtype)
            for name, gradient in gradients.items()
        }


class ClipByGlobalNorm(_Bound):
    """Shortens all gradients by one factor where their joint norm is above ``max_global_norm``.

    Publishes ``grad_norm``, the norm before, and ``clip_scale``, the factor. Gradients of that norm
    or below stay as they are, to the bit; NaN and infinity stay visible.

    Args:
        max_global_norm: The default of the bound, at least 0; must be fed if ``None``.
        name: What the runtime input is called.

    Source: R. Pascanu, T. Mikolov and Y. Bengio, On the Difficulty of Training Recurrent Neural
    Networks, 2013.
    """

    def __init__(
        self, max_global_norm: float | None = None, *, name: str = "max_global_norm"
    ) -> None:
        super().__init__(max_global_norm, name)

    def transform(
        self, *, gradients: Gradients, parameters: Gradients, **limit: Tensor
    ) -> tuple[Gradients, Gradients]:
        """Return the gradients, shortened, and the norm and the factor."""
        square = _square_of_all(gradients)
        scale = _shortening(square, limit[self._name])
        shortened = {name: g * scale.astype(g.dtype) for name, g in gradients.items()}
        return shortened, {"grad_norm": sqrt(square), "clip_scale": scale}


class PublishGlobalNorm:
    """Publishes ``grad_norm``, the Euclidean norm of all gradients together; changes nothing."""

    def transform(
        self, *, gradients: Gradients, parameters: Gradients
    ) -> tuple[Gradients, Gradients]:
        """Return the gradients as they are, and their norm."""
        return gradients, {"grad_norm": sqrt(_square_of_all(gradients))}


def _sum_of_squares(x: Tensor) -> Tensor:
    return (x * x).sum()


def _square_of_all(gradients: Gradients) -> Tensor:
    """Return the sum of all squares, in the longest dtype among the gradients."""
    first, *others = map(_sum_of_squares, gradients.values())
    for other in others:
        first = first + other
    return first


def _shortening(square: Tensor, bound: Tensor) -> Tensor:
    """Return the factor that brings a norm, given its square, down to a bound; else 1."""
    norm = sqrt(square)
    return where(norm <= bound, norm.full(1.0), bound / norm)
