"""What a session keeps between steps: arrays by flat key, and a few counters."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from tinychain_backends.sessions.binding import Array, Binding
from tinychain_compile import (
    CompiledTrainingStep,
    TensorType,
    flatten,
)
from tinychain_compile.schedules import LossScaleState


@dataclass(frozen=True, slots=True)
class TrainingState:
    """Everything that a run needs to go on; a step makes a new one.

    Args:
        parameters: The value of each parameter, frozen ones last, by name; read-only arrays.
        buffers: The value of each buffer, likewise.
        slots: The optimizer's state and sums of gradients, by key such as ``w/m``, likewise.
        steps: How many updates there were.
        micro_batches: How many micro-batches are in the sums of gradients.
        loss_scale: Where a dynamic loss scale stands, if there is one.
    """

    parameters: Mapping[str, Array]
    buffers: Mapping[str, Array]
    slots: Mapping[str, Array]
    steps: int = 0
    micro_batches: int = 0
    loss_scale: LossScaleState | None = None

    @property
    def arrays(self) -> dict[str, Array]:
        """All arrays by key."""
        return {**self.parameters, **self.buffers, **self.slots}


def initial_state(
    record: CompiledTrainingStep,
    parameters: Mapping[str, Any],
    buffers: Mapping[str, Any],
    loss_scale: LossScaleState | None,
) -> TrainingState:
    """Return the state before step 1, in copies of what is given.

    Raises:
        BindingError: A parameter or buffer is missing, extra, or not of its declared type.
    """
    types = {name: value.type for name, value in record.source_forward_graph.inputs}
    names = [*(row.name for row in record.parameters), *record.frozen_parameters]
    own, sizes = _own("parameter", names, types, parameters)
    own_buffers, _ = _own("buffer", [row.name for row in record.buffers], types, buffers)
    slots = {
        slot.key: slot.start(own[row.name], sizes)
        for row in record.parameters
        for slot in (*row.slots, *filter(None, [row.accumulator]))
    }
    return TrainingState(own, own_buffers, read_only(slots), loss_scale=loss_scale)


def read_only(arrays: dict[str, Array]) -> Mapping[str, Array]:
    """Return arrays that can be shown to anybody."""
    for array in arrays.values():
        array.setflags(write=False)
    return MappingProxyType(arrays)


def _own(
    what: str, names: Collection[str], types: Mapping[str, TensorType], given: Mapping[str, Any]
) -> tuple[Mapping[str, Array], dict[str, int]]:
    """Return copies of the starting values, which must be exactly those of these names."""
    binding = Binding(what, {name: types[name] for name in names})
    arrays, sizes = binding.bind(flatten(given, what, names))
    return read_only({name: array.copy() for name, array in arrays.items()}), sizes
