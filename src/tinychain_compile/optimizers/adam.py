"""Adam and its nearest kin: first and second moments of the gradient."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

from tinychain_compile.namespace.elementwise import abs, maximum, sqrt
from tinychain_compile.operators import AdamDirection
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
from tinychain_compile.runtime_inputs import RuntimeInput
from tinychain_compile.tensor import Tensor


class AdamFamily(CatalogueOptimizer):
    """The hyperparameters and moments that Adam and its kin share.

    Args:
        learning_rate: The default, at least 0; must be fed if ``None``.
        beta1: Decay of the first moment, from 0 to below 1.
        beta2: Decay of the second moment, likewise.
        epsilon: Keeps the divisor from 0; above 0.
        weight_decay: At least 0; none if ``None``.
        frozen: Hyperparameters to write into the program.
    """

    slot_names: tuple[str, ...] = ("m", "v")

    def __init__(
        self,
        learning_rate: float | None = None,
        *,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        weight_decay: float | None = None,
        frozen: Sequence[str] = (),
        _further: Sequence[RuntimeInput] = (),
        _choices: Hashable = (),
    ) -> None:
        super().__init__(
            COUNTED,
            rate("learning_rate", learning_rate),
            fraction("beta1", beta1),
            fraction("beta2", beta2),
            positive("epsilon", epsilon),
            *_further,
            *optional_rate("weight_decay", weight_decay),
            frozen=frozen,
            choices=_choices,
        )


def new_moments(gradient: Tensor, slots: Slots, given: Given) -> dict[str, Tensor]:
    """Return the first moment ``m`` and the second moment ``v`` after this gradient."""
    return {
        "m": moment(slots["m"], given["beta1"], gradient),
        "v": moment(slots["v"], given["beta2"], gradient * gradient),
    }


def corrected(moments: Mapping[str, Tensor], given: Mapping[str, Scalar]) -> Tensor:
    """Return ``m_hat / (sqrt(v_hat) + epsilon)``: without the bias of moments that began at 0."""
    m = moments["m"]
    scalars = [m.scalar(given[name]) for name in ("beta1", "beta2", "step", "epsilon")]
    return m.emit(AdamDirection(), moments["v"], *scalars)


class Adam(AdamFamily):
    """``parameter - learning_rate * m_hat / (sqrt(v_hat) + epsilon)``.

    ``m = beta1 * m + (1 - beta1) * g``, ``v = beta2 * v + (1 - beta2) * g**2``,
    ``m_hat = m / (1 - beta1**step)``, ``v_hat = v / (1 - beta2**step)``, ``step`` from 1. Weight
    decay, where there is any, is added to the gradient: ``g = gradient + weight_decay * parameter``
    (L2; for decoupled decay see ``AdamW``). Arguments are those of ``AdamFamily``.

    Source: D. Kingma and J. Ba, Adam: A Method for Stochastic Optimization, 2015.
    """

    is_elementwise = True

    def rule(self, parameter: Tensor, gradient: Tensor, slots: Slots, given: Given) -> Updated:
        """Return the new parameter and moments."""
        moments = new_moments(decayed(gradient, parameter, given), slots, given)
        return descended(parameter, given["learning_rate"], corrected(moments, given)), moments


class AdamW(AdamFamily):
    """Adam with decoupled decay: it loses ``learning_rate * (adam + weight_decay * parameter)``.

    The decay is not a part of the gradient and does not enter the moments. Arguments are those of
    ``AdamFamily``; the decay's default is 0.01.

    Source: I. Loshchilov and F. Hutter, Decoupled Weight Decay Regularization, 2019.
    """

    is_elementwise = True

    def __init__(
        self,
        learning_rate: float | None = None,
        *,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        weight_decay: float = 0.01,
        frozen: Sequence[str] = (),
    ) -> None:
        super().__init__(
            learning_rate,
            beta1=beta1,
            beta2=beta2,
            epsilon=epsilon,
            weight_decay=weight_decay,
            frozen=frozen,
        )

    def rule(self, parameter: Tensor, gradient: Tensor, slots: Slots, given: Given) -> Updated:
        """Return the new parameter and moments."""
        moments = new_moments(gradient, slots, given)
        direction = decayed(corrected(moments, given), parameter, given)
        return descended(parameter, given["learning_rate"], direction), moments


class AMSGrad(AdamFamily):
    """Adam divided by the largest second moment so far, so that its divisor never shrinks.

    ``largest = max(largest, v)`` and ``v_hat = largest / (1 - beta2**step)``, as in PyTorch. With
    ``of_corrected``, ``v_hat = largest = max(largest, v / (1 - beta2**step))``, as in Optax. The
    two differ in early steps. Weight decay is added to the gradient (L2).

    Args:
        learning_rate: This and all others are those of ``AdamFamily``.
        of_corrected: Whether the largest is taken of corrected moments.

    Source: S. Reddi et al., On the Convergence of Adam and Beyond, 2018.
    """

    is_elementwise = True

    slot_names = ("m", "v", "largest")

    def __init__(
        self,
        learning_rate: float | None = None,
        *,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        weight_decay: float | None = None,
        of_corrected: bool = False,
        frozen: Sequence[str] = (),
    ) -> None:
        super().__init__(
            learning_rate,
            beta1=beta1,
            beta2=beta2,
            epsilon=epsilon,
            weight_decay=weight_decay,
            frozen=frozen,
            _choices=of_corrected,
        )
        self._of_corrected = of_corrected

    def rule(self, parameter: Tensor, gradient: Tensor, slots: Slots, given: Given) -> Updated:
        """Return the new parameter, moments and largest second moment."""
        moments = new_moments(decayed(gradient, parameter, given), slots, given)
        correction = 1.0 - given["beta2"] ** given["step"]
        if self._of_corrected:
            largest = v_hat = maximum(slots["largest"], moments["v"] / correction)
        else:
            largest = maximum(slots["largest"], moments["v"])
            v_hat = largest / correction
        m_hat = moments["m"] / (1.0 - given["beta1"] ** given["step"])
        direction = m_hat / (sqrt(v_hat) + given["epsilon"])
        new = {**moments, "largest": largest}
        return descended(parameter, given["learning_rate"], direction), new


class Adamax(AdamFamily):
    """Adam with the largest gradient in place of the second moment.

    ``u = max(beta2 * u, abs(g) + epsilon)`` and
    ``parameter - learning_rate / (1 - beta1**step) * m / u``. Weight decay is added to the gradient
    (L2). Arguments are those of ``AdamFamily``.

    Source: D. Kingma and J. Ba, Adam: A Method for Stochastic Optimization, 2015, section 7.1.
    """

    is_elementwise = True

    slot_names = ("m", "u")

    def rule(self, parameter: Tensor, gradient: Tensor, slots: Slots, given: Given) -> Updated:
        """Return the new parameter, moment and largest gradient."""
        gradient = decayed(gradient, parameter, given)
        m = moment(slots["m"], given["beta1"], gradient)
        u = maximum(given["beta2"] * slots["u"], abs(gradient) + given["epsilon"])
        rate_now = given["learning_rate"] / (1.0 - given["beta1"] ** given["step"])
        return parameter - rate_now * m / u, {"m": m, "u": u}
