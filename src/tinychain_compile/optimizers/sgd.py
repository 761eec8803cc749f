"""Stochastic gradient descent, with momentum, and the sign of it."""

from __future__ import annotations

from collections.abc import Sequence

from tinychain_compile.errors import DeclarationError
from tinychain_compile.namespace.elementwise import sign, where
from tinychain_compile.optimizers.base import (
    COUNTED,
    CatalogueOptimizer,
    Given,
    Slots,
    Updated,
    add_scaled,
    decayed,
    descended,
    fraction,
    moment,
    optional_rate,
    rate,
)
from tinychain_compile.tensor import Tensor


class SGD(CatalogueOptimizer):
    """``parameter - learning_rate * d``, where ``d`` is the gradient or its momentum.

    With ``g`` the gradient plus ``weight_decay * parameter``, and momentum
    ``m = momentum * m + (1 - dampening) * g``: ``d = m``, and with ``nesterov``
    ``d = g + momentum * m``. At the first step ``m = g``: dampening starts at the second, as in
    PyTorch.

    The learning rate is a runtime input, like every hyperparameter: change it at every step and
    nothing is compiled again.

    Args:
        learning_rate: The default, at least 0; must be fed if ``None``.
        momentum: From 0 to below 1; no momentum if ``None``.
        nesterov: Whether to look ahead by the momentum; not with dampening.
        dampening: From 0 to below 1; none if ``None``.
        weight_decay: Added to the gradient (L2), at least 0; none if ``None``.
        frozen: Hyperparameters to write into the program.

    Source: H. Robbins and S. Monro, A Stochastic Approximation Method, 1951; I. Sutskever et al.,
    On the Importance of Initialization and Momentum in Deep Learning, 2013.
    """

    is_elementwise = True

    def __init__(
        self,
        learning_rate: float | None = None,
        *,
        momentum: float | None = None,
        nesterov: bool = False,
        dampening: float | None = None,
        weight_decay: float | None = None,
        frozen: Sequence[str] = (),
    ) -> None:
        if momentum is None and (nesterov or dampening is not None):
            raise DeclarationError(
                "SGD", expected="momentum beside nesterov or dampening", got="momentum=None"
            )
        if nesterov and dampening is not None:
            raise DeclarationError("SGD", expected="nesterov or dampening", got="both")
        rows = [rate("learning_rate", learning_rate), *optional_rate("weight_decay", weight_decay)]
        if momentum is not None:
            rows.append(fraction("momentum", momentum))
            self.slot_names = ("m",)
        if dampening is not None:
            rows += [fraction("dampening", dampening), COUNTED]
        super().__init__(*rows, frozen=frozen, choices=nesterov)
        self._nesterov = nesterov

    def rule(self, parameter: Tensor, gradient: Tensor, slots: Slots, given: Given) -> Updated:
        """Return the new parameter and momentum."""
        gradient = decayed(gradient, parameter, given)
        learning_rate = given["learning_rate"]
        if "momentum" not in given:
            return descended(parameter, learning_rate, gradient), {}
        added = gradient
        if "dampening" in given:
            added = where(given["step"] > 1.0, (1.0 - given["dampening"]) * gradient, gradient)
        m = add_scaled(added, given["momentum"], slots["m"])
        direction = add_scaled(gradient, given["momentum"], m) if self._nesterov else m
        return descended(parameter, learning_rate, direction), {"m": m}


class Lion(CatalogueOptimizer):
    """``parameter - learning_rate * (sign(c) + weight_decay * parameter)``.

    ``c = beta1 * m + (1 - beta1) * gradient`` and then
    ``m = beta2 * m + (1 - beta2) * gradient``.

    Args:
        learning_rate: The default, at least 0; must be fed if ``None``.
        beta1: How much of the direction is momentum, from 0 to below 1.
        beta2: How slowly the momentum changes, likewise.
        weight_decay: Decoupled, at least 0; none if ``None``.
        frozen: Hyperparameters to write into the program.

    Source: X. Chen et al., Symbolic Discovery of Optimization Algorithms, 2023.
    """

    is_elementwise = True

    slot_names = ("m",)

    def __init__(
        self,
        learning_rate: float | None = None,
        *,
        beta1: float = 0.9,
        beta2: float = 0.99,
        weight_decay: float | None = None,
        frozen: Sequence[str] = (),
    ) -> None:
        super().__init__(
            rate("learning_rate", learning_rate),
            fraction("beta1", beta1),
            fraction("beta2", beta2),
            *optional_rate("weight_decay", weight_decay),
            frozen=frozen,
        )

    def rule(self, parameter: Tensor, gradient: Tensor, slots: Slots, given: Given) -> Updated:
        """Return the new parameter and momentum."""
        direction = sign(moment(slots["m"], given["beta1"], gradient))
        direction = decayed(direction, parameter, given)
        m = moment(slots["m"], given["beta2"], gradient)
        return descended(parameter, given["learning_rate"], direction), {"m": m}
