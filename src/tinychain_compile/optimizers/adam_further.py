"""Adam with momentum that looks ahead, and with steps as long as the parameter."""

from __future__ import annotations

from collections.abc import Sequence

from tinychain_compile.ir.types import TensorType
from tinychain_compile.namespace.elementwise import sqrt, where
from tinychain_compile.optimizers.adam import AdamFamily, corrected, new_moments
from tinychain_compile.optimizers.base import (
    Given,
    Scalar,
    Slots,
    Updated,
    decayed,
    descended,
    optional_rate,
    wide,
)
from tinychain_compile.slots import Fill, Slot
from tinychain_compile.tensor import Tensor


class NAdam(AdamFamily):
    """Adam that looks ahead by the momentum of the next step.

    With ``mu(t) = beta1 * (1 - 0.5 * 0.96**(t * momentum_decay))``, ``product`` that of all ``mu``
    so far and ``m``, ``v`` as in Adam, the direction is
    ``(mu(t+1) * m / (1 - product * mu(t+1)) + (1 - mu(t)) * g / (1 - product))`` over
    ``sqrt(v_hat) + epsilon``, as in PyTorch. Without momentum decay ``mu`` is ``beta1``, as in
    Optax. Weight decay is added to the gradient (L2).

    Args:
        learning_rate: This and all others are those of ``AdamFamily``.
        momentum_decay: At least 0; ``mu`` is constant if ``None``.

    Source: T. Dozat, Incorporating Nesterov Momentum into Adam, 2016.
    """

    is_elementwise = True

    def __init__(
        self,
        learning_rate: float | None = None,
        *,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        momentum_decay: float | None = 0.004,
        weight_decay: float | None = None,
        frozen: Sequence[str] = (),
    ) -> None:
        super().__init__(
            learning_rate,
            beta1=beta1,
            beta2=beta2,
            epsilon=epsilon,
            weight_decay=weight_decay,
            frozen=frozen,
            _further=optional_rate("momentum_decay", momentum_decay),
        )
        self._decays = momentum_decay is not None

    def slots(self, parameter: TensorType) -> tuple[Slot, ...]:
        """Return the moments, and the product of momenta, a scalar that starts at 1."""
        product = Slot("product", TensorType.of(wide(parameter.dtype), ()), Fill(1.0))
        return (*super().slots(parameter), *([product] if self._decays else []))

    def rule(self, parameter: Tensor, gradient: Tensor, slots: Slots, given: Given) -> Updated:
        """Return the new parameter, moments and product of momenta."""
        gradient = decayed(gradient, parameter, given)
        state = new_moments(gradient, slots, given)
        beta1, step = given["beta1"], given["step"]
        now = following = beta1
        product: Scalar = beta1**step
        if self._decays:
            decay = given["momentum_decay"]
            now = beta1 * (1.0 - 0.5 * 0.96 ** (step * decay))
            following = beta1 * (1.0 - 0.5 * 0.96 ** ((step + 1.0) * decay))
            state["product"] = product = slots["product"] * now
        ahead = following / (1.0 - product * following) * state["m"]
        direction = ahead + (1.0 - now) / (1.0 - product) * gradient
        v_hat = state["v"] / (1.0 - given["beta2"] ** step)
        step_taken = given["learning_rate"] * direction / (sqrt(v_hat) + given["epsilon"])
        return parameter - step_taken, state


class LAMB(AdamFamily):
    """AdamW whose step has the length of the parameter: for very large batches.

    With ``d = m_hat / (sqrt(v_hat) + epsilon) + weight_decay * parameter``, the parameter loses
    ``learning_rate * ratio * d``, where ``ratio = norm(parameter) / norm(d)``, and 1 where either
    norm is 0. Arguments are those of ``AdamFamily``; the default of epsilon is 1e-6.

    Source: Y. You et al., Large Batch Optimization for Deep Learning: Training BERT in 76 Minutes,
    2020.
    """

    def __init__(
        self,
        learning_rate: float | None = None,
        *,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-6,
        weight_decay: float | None = None,
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
        length = sqrt((parameter * parameter).sum())
        own = sqrt((direction * direction).sum())
        ratio = where((length > 0.0) & (own > 0.0), length / own, own.full(1.0))
        rate_now = given["learning_rate"] * ratio
        return descended(parameter, rate_now, direction), moments
