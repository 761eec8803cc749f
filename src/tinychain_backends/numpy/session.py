"""Runs a compiled step on NumPy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tinychain_backends.numpy.assembly import NumpyProgram
from tinychain_backends.numpy.fusing import numba
from tinychain_backends.sessions.scalars import Given
from tinychain_backends.sessions.session import TrainingSession, programs_of
from tinychain_compile import CompiledTrainingStep, LoweredProgram
from tinychain_compile.schedules import DynamicLossScale


class NumpySession(TrainingSession):
    """Trains on NumPy with a step compiled by ``NumpyContainer``.

    Args:
        record: The compiled step.
        parameters: The starting value of each parameter, nested or by name; copied.
        buffers: The starting value of each buffer likewise.
        optimizer_inputs: What to feed at every step unless told otherwise: numbers, or schedules,
            which are called with the number of steps before. With groups of parameters, one for all
            or a mapping from patterns.
        loss_scale: How the loss scale changes, for a step that reads one.
        fast: Whether runs of elementwise operations are compiled to loops by numba (extra
            ``fast``), when they first run.

    Raises:
        BindingError: A parameter or buffer is missing, extra, or not of its declared type.
    """

    def __init__(
        self,
        record: CompiledTrainingStep,
        parameters: Mapping[str, Any],
        buffers: Mapping[str, Any] | None = None,
        *,
        optimizer_inputs: Mapping[str, Given] | None = None,
        loss_scale: DynamicLossScale | None = None,
        fast: bool = False,
    ) -> None:
        if fast:
            numba.check()

        def program(lowered: LoweredProgram, name: str) -> NumpyProgram:
            return NumpyProgram(lowered, name, fast=fast, reuses=True)

        programs = programs_of(record, program)
        super().__init__(record, programs, parameters, buffers, optimizer_inputs, loss_scale)
