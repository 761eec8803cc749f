"""Adafactor: second moments of matrices in the room of a row and a column."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tinychain_compile.ir.dimensions import Shape
from tinychain_compile.ir.types import TensorType
from tinychain_compile.namespace.elementwise import maximum, minimum, sqrt
from tinychain_compile.optimizers.base import (
    COUNTED,
    CatalogueOptimizer,
    Given,
    Slots,
    Updated,
    moment,
    optional_rate,
    positive,
    rate,
    wide,
)
from tinychain_compile.runtime_inputs import ABOVE_ZERO, RuntimeInput
from tinychain_compile.slots import Slot
from tinychain_compile.tensor import Tensor


class Adafactor(CatalogueOptimizer):
    """Second moments as the product of a row's and a column's, and steps as long as the parameter.

    With ``s = g**2 + epsilon`` and ``beta = 1 - step**-decay_power``, a parameter of two axes or
    more keeps ``row = beta * row + (1 - beta) * mean(s, last axis)`` and ``column`` likewise over
    the last axis but one; ``v = row * column / mean(row)``. Others keep ``v`` itself. The direction
    ``u = g / sqrt(v)`` is divided by ``max(1, rms(u) / clip)``, and the parameter loses
    ``rate * max(smallest_scale, rms(parameter)) * u``, where ``rate`` is ``learning_rate`` and, if
    ``relative_step``, at most ``1 / sqrt(step)``. Decoupled decay takes off
    ``learning_rate * weight_decay * parameter`` more.

    PyTorch has the relative step and, in place of ``epsilon``, bounds ``v`` from below; Optax has
    neither. Both agree with this where gradients are not 0.

    Args:
        learning_rate: The default, at least 0; must be fed if ``None``.
        decay_power: How fast the decay nears 1; above 0.
        epsilon: Added to squared gradients; above 0.
        smallest_scale: The least length that a parameter is taken to have; above 0.
        clip: The largest root mean square of a direction; above 0.
        relative_step: Whether early rates are at most ``1 / sqrt(step)``.
        weight_decay: Decoupled, at least 0; none if ``None``.
        frozen: Hyperparameters to write into the program.

    Source: N. Shazeer and M. Stern, Adafactor: Adaptive Learning Rates with Sublinear Memory Cost,
    2018.
    """

    def __init__(
        self,
        learning_rate: float | None = None,
        *,
        decay_power: float = 0.8,
        epsilon: float = 1e-30,
        smallest_scale: float = 1e-3,
        clip: float = 1.0,
        relative_step: bool = True,
        weight_decay: float | None = None,
        frozen: Sequence[str] = (),
    ) -> None:
        super().__init__(
            COUNTED,
            rate("learning_rate", learning_rate),
            RuntimeInput("decay_power", default=decay_power, valid_range=(ABOVE_ZERO, math.inf)),
            positive("epsilon", epsilon),
            positive("smallest_scale", smallest_scale),
            positive("clip", clip),
            *optional_rate("weight_decay", weight_decay),
            frozen=frozen,
            choices=relative_step,
        )
        self._relative_step = relative_step

    def slots(self, parameter: TensorType) -> tuple[Slot, ...]:
        """Return ``row`` and ``column`` for two axes or more, else ``v``."""
        dtype, shape = wide(parameter.dtype), parameter.shape
        shapes: dict[str, Shape] = {"v": shape}
        if len(shape) > 1:
            shapes = {"row": shape[:-1], "column": (*shape[:-2], shape[-1])}
        return tuple(Slot(name, TensorType.of(dtype, own)) for name, own in shapes.items())

    def rule(self, parameter: Tensor, gradient: Tensor, slots: Slots, given: Given) -> Updated:
        """Return the new parameter and second moments."""
        learning_rate, step = given["learning_rate"], given["step"]
        beta = 1.0 - step ** (-given["decay_power"])
        square = gradient * gradient + given["epsilon"]
        state: dict[str, Tensor] = {}
        if "row" in slots:
            row = state["row"] = moment(slots["row"], beta, square.mean(-1))
            column = state["column"] = moment(slots["column"], beta, square.mean(-2))
            share = row / row.mean(-1, keepdims=True)
            direction = gradient / sqrt(share).expand_dims(-1) / sqrt(column).expand_dims(-2)
        else:
            v = state["v"] = moment(slots["v"], beta, square)
            direction = gradient / sqrt(v)
        direction = direction / maximum(_rms(direction) / given["clip"], 1.0)
        rate_now = learning_rate
        if self._relative_step:
            rate_now = minimum(learning_rate, 1.0 / sqrt(step))
        scale = maximum(_rms(parameter), given["smallest_scale"])
        taken = rate_now * scale * direction
        if "weight_decay" in given:
            taken = taken + learning_rate * given["weight_decay"] * parameter
        return parameter - taken, state


def _rms(x: Tensor) -> Tensor:
    """Return the root of the mean square."""
    return sqrt((x * x).mean())
