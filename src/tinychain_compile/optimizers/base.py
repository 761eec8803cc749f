"""What the optimizers of the catalogue share: hyperparameters, state, the dtype of arithmetic."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, ClassVar, TypeAlias

from tinychain_compile.errors import DeclarationError
from tinychain_compile.ir.dtypes import F32, F64, DType
from tinychain_compile.ir.types import TensorType
from tinychain_compile.operators import Axpy, Lerp
from tinychain_compile.runtime_inputs import ABOVE_ZERO, BELOW_ONE, STEP, RuntimeInput
from tinychain_compile.slots import Slot
from tinychain_compile.tensor import Tensor

Scalar: TypeAlias = Tensor | float
"""A hyperparameter: a traced scalar, or a number where it is frozen into the program."""

Given: TypeAlias = Mapping[str, Scalar]
"""Each hyperparameter by name, and ``step`` where it is read."""

Slots: TypeAlias = Mapping[str, Tensor]
"""The value of each slot by name."""

Updated: TypeAlias = tuple[Tensor, Slots]
"""The new parameter, and the new value of each slot."""


def rate(name: str, default: float | None) -> RuntimeInput:
    """Declare a number from 0 upwards, such as a learning rate or a decay."""
    return RuntimeInput(name, default=default, valid_range=(0.0, math.inf))


def optional_rate(name: str, default: float | None) -> list[RuntimeInput]:
    """Declare a number from 0 upwards, or nothing at all if there is no default."""
    return [] if default is None else [rate(name, default)]


def fraction(name: str, default: float) -> RuntimeInput:
    """Declare a number from 0 to below 1, such as the decay of a moment."""
    return RuntimeInput(name, default=default, valid_range=(0.0, BELOW_ONE))


def positive(name: str, default: float) -> RuntimeInput:
    """Declare a number above 0, such as what is added to a divisor."""
    return RuntimeInput(name, default=default, valid_range=(ABOVE_ZERO, math.inf))


COUNTED = RuntimeInput(STEP, valid_range=(1.0, math.inf))
"""Declares that an update reads the number of the step."""


def moment(old: Tensor, beta: Scalar, new: Tensor) -> Tensor:
    """Return the exponential moving average ``beta * old + (1 - beta) * new``."""
    return old.scalar(beta).emit(Lerp(), old, new)


def add_scaled(y: Tensor, alpha: Scalar, x: Tensor) -> Tensor:
    """Return ``alpha * x + y``."""
    return x.scalar(alpha).emit(Axpy(), x, y)


def descended(parameter: Tensor, rate: Scalar, direction: Tensor) -> Tensor:
    """Return ``parameter - rate * direction``."""
    return direction.scalar(rate).emit(Axpy(is_negative=True), direction, parameter)


def decayed(gradient: Tensor, parameter: Tensor, given: Given) -> Tensor:
    """Return ``gradient + weight_decay * parameter``, where there is such a decay."""
    if "weight_decay" not in given:
        return gradient
    return add_scaled(gradient, given["weight_decay"], parameter)


def wide(dtype: DType) -> DType:
    """Return the dtype in which a parameter is updated: f32 at least."""
    return F64 if dtype == F64 else F32


class CatalogueOptimizer:
    """An optimizer whose update is ``rule``, computed in f32 at least.

    Args:
        hyperparameters: What the rule reads; one with a default of ``None`` must be fed.
        frozen: The names of those to write into the program with their default, instead of reading
            them at each step.
        choices: What decides how the rule is traced, beside what is read and frozen.

    Raises:
        DeclarationError: A default is out of range, or what is frozen is no hyperparameter.
    """

    is_elementwise: ClassVar[bool] = False
    """Whether ``rule`` computes each element from the elements at its place and scalars alone.

    Then it is traced for one shape and serves every other. A class that overrides what this says
    something of has to say it again.
    """

    def __init_subclass__(cls) -> None:
        own = vars(cls)
        if "is_elementwise" not in own and not {"rule", "update", "slots"}.isdisjoint(own):
            cls.is_elementwise = False

    slot_names: tuple[str, ...] = ()
    """The state, each of the parameter's shape, zero before step 1."""

    def __init__(
        self,
        *hyperparameters: RuntimeInput,
        frozen: Sequence[str] = (),
        choices: Hashable = (),
    ) -> None:
        label = type(self).__name__
        known = {row.name: row.default for row in hyperparameters if row is not COUNTED}
        given = (frozen,) if isinstance(frozen, str) else tuple(frozen)
        for name in given:
            if known.get(name) is None:
                raise DeclarationError(
                    f"frozen {name!r} of {label}",
                    expected=f"hyperparameters with a value, among {', '.join(known)}",
                    got="one without a value" if name in known else "no such hyperparameter",
                )
        self._frozen = {n: v for n, v in known.items() if n in given and v is not None}
        self.runtime_inputs = tuple(row for row in hyperparameters if row.name not in given)
        self.template_key: Hashable = (
            type(self),
            tuple(row.name for row in self.runtime_inputs),
            tuple(self._frozen.items()),
            choices,
        )

    @property
    def required_optimizer_inputs(self) -> tuple[str, ...]:
        """The names of the runtime scalars that the update reads."""
        return tuple(row.name for row in self.runtime_inputs)

    def slots(self, parameter: TensorType) -> tuple[Slot, ...]:
        """Return the state of a parameter before step 1: zeros of its shape, in f32 at least."""
        type = TensorType.of(wide(parameter.dtype), parameter.shape)
        return tuple(Slot(name, type) for name in self.slot_names)

    def update(self, *, parameter: Tensor, gradient: Tensor, **inputs: Tensor) -> Any:
        """Return the new parameter and every slot's new value; without slots, the parameter.

        Shapes:
            ``F[s], F[s], slots, F[] ... -> F[s], slots``
        """
        dtype = wide(parameter.dtype)
        scalars = {row.name: inputs.pop(row.name) for row in self.runtime_inputs}
        updated, state = self.rule(
            parameter.astype(dtype), gradient.astype(dtype), inputs, {**scalars, **self._frozen}
        )
        new = {name: value.astype(inputs[name].dtype) for name, value in state.items()}
        updated = updated.astype(parameter.dtype)
        return (updated, new) if new else updated

    def rule(self, parameter: Tensor, gradient: Tensor, slots: Slots, given: Given) -> Updated:
        """Return the new parameter and slots, all in the dtype of arithmetic.

        Args:
            parameter: The old parameter.
            gradient: Its gradient.
            slots: The old slots.
            given: What the rule reads beside.
        """
        raise NotImplementedError

    def __repr__(self) -> str:
        values = {row.name: row.default for row in self.runtime_inputs if row is not COUNTED}
        told = {**values, **self._frozen}
        return f"{type(self).__name__}({', '.join(f'{n}={v}' for n, v in told.items())})"
