"""Short parameters with values and state in f32, and gradients of a scaled loss."""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import Any, cast

from tinychain_compile.errors import DeclarationError
from tinychain_compile.ir.dtypes import BF16, F16, F32
from tinychain_compile.ir.types import TensorType
from tinychain_compile.protocols import Optimizer
from tinychain_compile.runtime_inputs import ABOVE_ZERO, LOSS_SCALE, RuntimeInput
from tinychain_compile.slots import CopyOfParameter, Slot
from tinychain_compile.tensor import Tensor

_MASTER = "master"


class MixedPrecision:
    """Another optimizer, on an f32 copy of a parameter of f16 or bf16, and on unscaled gradients.

    A parameter of f16 or bf16 gets a slot ``master``, an f32 copy that starts as the parameter. The
    other optimizer updates the copy and keeps its state for f32; the parameter is the copy,
    rounded. Steps that are too small for the parameter's own format add up in the copy. Longer
    parameters are handed on as they are.

    Gradients are divided by ``loss_scale`` in f32 first. The consumer multiplies the seed by it, so
    that small gradients do not vanish in f16; where the derivative publishes that they are not
    finite, it leaves the step out.

    Args:
        optimizer: What updates the copies.
        loss_scale: The default of the scale; above 0.

    Source: P. Micikevicius et al., Mixed Precision Training, 2018.
    """

    def __init__(self, optimizer: Optimizer, *, loss_scale: float = 1.0) -> None:
        inner: object = optimizer
        if not callable(getattr(inner, "update", None)):
            raise DeclarationError(
                "MixedPrecision", expected="an optimizer with update()", got=repr(inner)
            )
        scale = RuntimeInput(LOSS_SCALE, default=loss_scale, valid_range=(ABOVE_ZERO, math.inf))
        described = cast("tuple[RuntimeInput, ...]", tuple(getattr(inner, "runtime_inputs", ())))
        names = [row.name for row in described]
        required = tuple(optimizer.required_optimizer_inputs)
        plain = [RuntimeInput(name) for name in required if name not in names]
        if LOSS_SCALE in required:
            raise DeclarationError(
                "MixedPrecision", expected="an optimizer that is not mixed", got=repr(inner)
            )
        self._inner = optimizer
        self.runtime_inputs = (*described, *plain, scale)
        self.required_optimizer_inputs = tuple(row.name for row in self.runtime_inputs)
        self.template_key: Hashable = (
            type(self),
            getattr(inner, "template_key", id(optimizer)),
        )
        self.is_elementwise = bool(getattr(inner, "is_elementwise", False))

    def slots(self, parameter: TensorType) -> tuple[Slot, ...]:
        """Return the f32 copy, and the state of the other optimizer for it."""
        describe = getattr(self._inner, "slots", None)
        copy = TensorType.of(F32, parameter.shape)
        if parameter.dtype not in (F16, BF16):
            return tuple(describe(parameter)) if describe else ()
        state: tuple[Slot, ...] = tuple(describe(copy)) if describe else ()
        return (Slot(_MASTER, copy, CopyOfParameter()), *state)

    def update(self, *, parameter: Tensor, gradient: Tensor, **inputs: Any) -> Any:
        """Return the new parameter, the new copy and the new state."""
        dtype = parameter.dtype
        master = inputs.pop(_MASTER, parameter)
        scale = inputs.pop(LOSS_SCALE)
        true_gradient = (gradient.astype(master.dtype) / scale).astype(master.dtype)
        result = self._inner.update(parameter=master, gradient=true_gradient, **inputs)
        if master is parameter:
            return result
        if isinstance(result, tuple):
            updated, state = result
            return updated.astype(dtype), {_MASTER: updated, **state}
        return result.astype(dtype), {_MASTER: result}

    def __repr__(self) -> str:
        return f"MixedPrecision({self._inner!r})"
