"""Runs lowered programs on OpenVINO."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tinychain_backends.onnx.programs import ModelProgram, runtime_error
from tinychain_backends.sessions.binding import Array
from tinychain_backends.sessions.installed import Library

openvino = Library("openvino", "openvino")


def compiled_model(model: Any) -> Any:
    """Return an ONNX model compiled for the CPU, computing in f32 what is written in f32.

    Raises:
        BackendError: OpenVINO rejects the model: its message, with the operation and its line.
    """
    core = openvino.Core()
    try:
        read = core.read_model(model.SerializeToString())
        return core.compile_model(read, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    except Exception as error:
        raise runtime_error(model, error) from error


class OpenVinoProgram(ModelProgram):
    """A lowered program as a model compiled by OpenVINO; made as every ``ModelProgram``."""

    def open(self) -> None:
        """Compile the model."""
        self._request = compiled_model(self.model).create_infer_request()

    def infer(self, feeds: Mapping[str, Array]) -> list[Array]:
        """Run the request; what it returns shares its memory, so it is copied."""
        results = self._request.infer(feeds, share_inputs=False)
        return [np.array(results[place]) for place in range(len(results))]
