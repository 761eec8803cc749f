"""Gradients with something added, multiplied or taken off."""

from __future__ import annotations

import math
from collections.abc import Mapping

from tinychain_compile.runtime_inputs import RuntimeInput
from tinychain_compile.tensor import Tensor

Gradients = Mapping[str, Tensor]


class WeightDecay:
    """Adds ``weight_decay * parameter`` to each gradient (L2), before whatever updates.

    Args:
        weight_decay: The default, at least 0; must be fed if ``None``.
        name: What the runtime input is called.
    """

    def __init__(self, weight_decay: float | None = None, *, name: str = "l2") -> None:
        self._name = name
        self.runtime_inputs = (
            RuntimeInput(name, default=weight_decay, valid_range=(0.0, math.inf)),
        )

    def transform(
        self, *, gradients: Gradients, parameters: Gradients, **decay: Tensor
    ) -> Gradients:
        """Return the gradients with the decay."""
        factor = decay[self._name]
        return {
            name: g + (factor * parameters[name]).astype(g.dtype) for name, g in gradients.items()
        }


class ScaleGradients:
    """Multiplies every gradient by one number.

    Args:
        factor: The default; must be fed if ``None``.
        name: What the runtime input is called.
    """

    def __init__(self, factor: float | None = None, *, name: str = "gradient_scale") -> None:
        self._name = name
        self.runtime_inputs = (RuntimeInput(name, default=factor),)

    def transform(
        self, *, gradients: Gradients, parameters: Gradients, **scale: Tensor
    ) -> Gradients:
        """Return the gradients, multiplied."""
        factor = scale[self._name]
        return {name: (factor * g).astype(g.dtype) for name, g in gradients.items()}


class CentralizeGradients:
    """Takes off the mean from each gradient of two axes or more, over all axes but one.

    That one counts a layer's outputs: the last of ``x @ w``, the first of a convolution's kernel.

    Args:
        output_axis: Which axis that is.

    Source: H. Yong et al., Gradient Centralization: A New Optimization Technique for Deep Neural
    Networks, 2020.
    """

    def __init__(self, output_axis: int = -1) -> None:
        self._output_axis = output_axis

    def transform(self, *, gradients: Gradients, parameters: Gradients) -> Gradients:
        """Return the gradients with a mean of zero."""
        return {name: self._centred(gradient) for name, gradient in gradients.items()}

    def _centred(self, gradient: Tensor) -> Tensor:
        rank = gradient.ndim
        if rank < 2:
            return gradient
        others = tuple(axis for axis in range(rank) if axis != self._output_axis % rank)
        return gradient - gradient.mean(others, keepdims=True)
