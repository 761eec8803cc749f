"""Runs compiled steps and functions on OpenVINO."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tinychain_backends.onnx.step_models import forward_names, symbol_inputs
from tinychain_backends.openvino.programs import OpenVinoProgram
from tinychain_backends.sessions.function import FunctionRunner
from tinychain_backends.sessions.scalars import Given
from tinychain_backends.sessions.session import TrainingSession, programs_of
from tinychain_compile import CompiledFunction, CompiledTrainingStep, LoweredProgram
from tinychain_compile.schedules import DynamicLossScale


class OpenVinoSession(TrainingSession):
    """Trains on OpenVINO with a step compiled by ``OpenVinoContainer``, in three models.

    Args:
        record: The compiled step.
        parameters: The starting value of each parameter, nested or by name; copied.
        buffers: The starting value of each buffer likewise.
        optimizer_inputs: What to feed at every step unless told otherwise, as for ``NumpySession``.
        loss_scale: How the loss scale changes, for a step that reads one.

    Raises:
        BindingError: A parameter or buffer is missing, extra, or not of its declared type.
        BackendError: OpenVINO rejects a model.
    """

    def __init__(
        self,
        record: CompiledTrainingStep,
        parameters: Mapping[str, Any],
        buffers: Mapping[str, Any] | None = None,
        *,
        optimizer_inputs: Mapping[str, Given] | None = None,
        loss_scale: DynamicLossScale | None = None,
    ) -> None:
        names, sources = forward_names(record), symbol_inputs(record)

        def program(lowered: LoweredProgram, name: str) -> OpenVinoProgram:
            shown = {} if name == "update" else names
            return OpenVinoProgram(lowered, name, names=shown, sources=sources)

        programs = programs_of(record, program)
        super().__init__(record, programs, parameters, buffers, optimizer_inputs, loss_scale)


class OpenVinoFunction(FunctionRunner):
    """Runs a compiled function on OpenVINO.

    Args:
        record: A function compiled by ``OpenVinoContainer``.
    """

    def __init__(self, record: CompiledFunction) -> None:
        names = {value_id: name for name, value_id in record.input_value_ids.items()}
        sources = symbol_inputs(record)
        program = OpenVinoProgram(record.program, "function", names=names, sources=sources)
        super().__init__(record, program)
