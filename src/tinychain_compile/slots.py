"""The state that an optimizer keeps for each parameter: name, type and value before step 1."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

import numpy as np

from tinychain_compile.ir.dimensions import resolve_shape
from tinychain_compile.ir.dtypes import Array
from tinychain_compile.ir.types import TensorType


@dataclass(frozen=True, slots=True)
class Fill:
    """One number everywhere."""

    value: float


@dataclass(frozen=True, slots=True)
class CopyOfParameter:
    """The parameter's starting value, in the slot's dtype."""


Initial: TypeAlias = Fill | CopyOfParameter
"""What a slot holds before step 1."""


@dataclass(frozen=True, slots=True)
class Slot:
    """One tensor of state for one parameter.

    Args:
        name: The keyword of the optimizer's ``update``.
        type: Dtype and shape.
        initial: What it holds before step 1.
    """

    name: str
    type: TensorType
    initial: Initial = Fill(0.0)


class SlotCompilation(NamedTuple):
    """A slot of one parameter of a compiled step.

    Attributes:
        name: As the optimizer calls it.
        key: ``<parameter>/<name>``: stable, for checkpoints.
        type: Dtype and shape.
        initial: What it holds before step 1.
        input_value_id: The id of its value before the update, in the update program.
        output_value_id: The id of its value afterwards.
    """

    name: str
    key: str
    type: TensorType
    initial: Initial
    input_value_id: str
    output_value_id: str

    def start(self, parameter: Array, sizes: Mapping[str, int] = MappingProxyType({})) -> Array:
        """Return what the slot holds before step 1.

        Args:
            parameter: The parameter's starting value.
            sizes: The number each symbol is, where its type has symbols.
        """
        if isinstance(self.initial, Fill):
            shape = resolve_shape(self.type.shape, sizes)
            return np.full(shape, self.initial.value, self.type.dtype)
        return parameter.astype(self.type.dtype)
