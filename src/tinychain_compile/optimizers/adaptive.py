"""Rates of their own for every element: Adagrad, Adadelta, RMSprop."""

from __future__ import annotations

from collections.abc import Sequence

from tinychain_compile.ir.types import TensorType
from tinychain_compile.namespace.elementwise import maximum, sqrt
from tinychain_compile.optimizers.base import (
    COUNTED,
    CatalogueOptimizer,
    Given,
    Scalar,
    Slots,
    Updated,
    decayed,
    descended,
    fraction,
    moment,
    optional_rate,
    positive,
    rate,
)
from tinychain_compile.slots import Fill, Slot
from tinychain_compile.tensor import Tensor


def _root(square: Tensor, epsilon: Scalar, inside: bool) -> Tensor:
    """Return ``sqrt(square) + epsilon``, or ``sqrt(square + epsilon)``."""
    return sqrt(square + epsilon) if inside else sqrt(square) + epsilon


class Adagrad(CatalogueOptimizer):
    """``parameter - learning_rate * g / (sqrt(total) + epsilon)``, ``total`` that of all ``g**2``.

    Args:
        learning_rate: The default, at least 0; must be fed if ``None``.
        epsilon: Added to the root, as in PyTorch; above 0.
        initial_total: What the total is before step 1 (Optax: 0.1); at least 0.
        epsilon_in_root: Whether epsilon is added under the root, as in Optax.
        rate_decay: The rate is divided by ``1 + (step - 1) * rate_decay``; at least 0, not if
            ``None``.
        weight_decay: Added to the gradient (L2), at least 0; none if ``None``.
        frozen: Hyperparameters to write into the program.

    Source: J. Duchi, E. Hazan and Y. Singer, Adaptive Subgradient Methods for Online Learning and
    Stochastic Optimization, 2011.
    """

    is_elementwise = True

    def __init__(
        self,
        learning_rate: float | None = None,
        *,
        epsilon: float = 1e-10,
        initial_total: float = 0.0,
        epsilon_in_root: bool = False,
        rate_decay: float | None = None,
        weight_decay: float | None = None,
        frozen: Sequence[str] = (),
    ) -> None:
        super().__init__(
            rate("learning_rate", learning_rate),
            positive("epsilon", epsilon),
            *optional_rate("rate_decay", rate_decay),
            *([COUNTED] if rate_decay is not None else []),
            *optional_rate("weight_decay", weight_decay),
            frozen=frozen,
            choices=epsilon_in_root,
        )
        rate("initial_total", initial_total)  # checks it
        self._initial_total = initial_total
        self._epsilon_in_root = epsilon_in_root

    slot_names = ("total",)

    def slots(self, parameter: TensorType) -> tuple[Slot, ...]:
        """Return the total of squared gradients."""
        (total,) = super().slots(parameter)
        return (Slot(total.name, total.type, Fill(self._initial_total)),)

    def rule(self, parameter: Tensor, gradient: Tensor, slots: Slots, given: Given) -> Updated:
        """Return the new parameter and total."""
        gradient = decayed(gradient, parameter, given)
        total = slots["total"] + gradient * gradient
        rate_now = given["learning_rate"]
        if "rate_decay" in given:
            rate_now = rate_now / (1.0 + (given["step"] - 1.0) * given["rate_decay"])
        divisor = _root(total, given["epsilon"], self._epsilon_in_root)
        return parameter - rate_now * gradient / divisor, {"total": total}


class Adadelta(CatalogueOptimizer):
    """``parameter - learning_rate * d``, with steps in the parameter's own units.

    ``v = rho * v + (1 - rho) * g**2``, ``d = sqrt(u + epsilon) / sqrt(v + epsilon) * g`` and then
    ``u = rho * u + (1 - rho) * d**2``.

    Args:
        learning_rate: The default, at least 0; must be fed if ``None``. The source has 1.
        rho: Decay of both means, from 0 to below 1.
        epsilon: Added under both roots, above 0.
        weight_decay: Added to the gradient (L2), at least 0; none if ``None``.
        frozen: Hyperparameters to write into the program.

    Source: M. Zeiler, ADADELTA: An Adaptive Learning Rate Method, 2012.
    """

    is_elementwise = True

    slot_names = ("v", "u")

    def __init__(
        self,
        learning_rate: float | None = None,
        *,
        rho: float = 0.9,
        epsilon: float = 1e-6,
        weight_decay: float | None = None,
        frozen: Sequence[str] = (),
    ) -> None:
        super().__init__(
            rate("learning_rate", learning_rate),
            fraction("rho", rho),
            positive("epsilon", epsilon),
            *optional_rate("weight_decay", weight_decay),
            frozen=frozen,
        )

    def rule(self, parameter: Tensor, gradient: Tensor, slots: Slots, given: Given) -> Updated:
        """Return the new parameter and means."""
        gradient = decayed(gradient, parameter, given)
        rho, epsilon = given["rho"], given["epsilon"]
        v = moment(slots["v"], rho, gradient * gradient)
        direction = sqrt(slots["u"] + epsilon) / sqrt(v + epsilon) * gradient
        u = moment(slots["u"], rho, direction * direction)
        return descended(parameter, given["learning_rate"], direction), {"v": v, "u": u}


class RMSprop(CatalogueOptimizer):
    """``parameter - learning_rate * g / (sqrt(v) + epsilon)``, ``v`` the mean of ``g**2``.

    ``v = decay * v + (1 - decay) * g**2``; ``centered`` divides by the deviation instead: the mean
    gradient's square is taken off ``v`` (not below 0). With momentum the quotient is
    ``m = momentum * m + quotient`` and the parameter loses ``learning_rate * m``.

    Args:
        learning_rate: The default, at least 0; must be fed if ``None``.
        decay: Decay of the means, from 0 to below 1 (PyTorch calls it alpha, with 0.99).
        epsilon: Added to the root, as in PyTorch; above 0.
        centered: Whether to divide by the deviation.
        epsilon_in_root: Whether epsilon is added under the root, as Optax does by default.
        momentum: From 0 to below 1; no momentum if ``None``.
        weight_decay: Added to the gradient (L2), at least 0; none if ``None``.
        frozen: Hyperparameters to write into the program.

    Source: T. Tieleman and G. Hinton, Lecture 6.5: RMSprop, 2012; centred: A. Graves, Generating
    Sequences with Recurrent Neural Networks, 2013.
    """

    is_elementwise = True

    def __init__(
        self,
        learning_rate: float | None = None,
        *,
        decay: float = 0.9,
        epsilon: float = 1e-8,
        centered: bool = False,
        epsilon_in_root: bool = False,
        momentum: float | None = None,
        weight_decay: float | None = None,
        frozen: Sequence[str] = (),
    ) -> None:
        super().__init__(
            rate("learning_rate", learning_rate),
            fraction("decay", decay),
            positive("epsilon", epsilon),
            *([] if momentum is None else [fraction("momentum", momentum)]),
            *optional_rate("weight_decay", weight_decay),
            frozen=frozen,
            choices=(centered, epsilon_in_root),
        )
        self._centered = centered
        self._epsilon_in_root = epsilon_in_root
        self.slot_names = (
            "v",
            *(["mean"] if centered else []),
            *([] if momentum is None else ["m"]),
        )

    def rule(self, parameter: Tensor, gradient: Tensor, slots: Slots, given: Given) -> Updated:
        """Return the new parameter, means and momentum."""
        gradient = decayed(gradient, parameter, given)
        square = moment(slots["v"], given["decay"], gradient * gradient)
        state = {"v": square}
        if self._centered:
            mean = state["mean"] = moment(slots["mean"], given["decay"], gradient)
            square = maximum(square - mean * mean, 0.0)
        direction = gradient / _root(square, given["epsilon"], self._epsilon_in_root)
        if "momentum" in given:
            direction = state["m"] = given["momentum"] * slots["m"] + direction
        return descended(parameter, given["learning_rate"], direction), state
