"""Runs lowered programs on OpenVINO."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tinychain_backends.onnx.programs import model_of, runtime_error
from tinychain_backends.sessions.binding import Array
from tinychain_backends.sessions.installed import Library
from tinychain_compile import LoweredProgram, TensorType

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


class OpenVinoProgram:
    """A lowered program as a model compiled by OpenVINO.

    Args:
        lowered: A program whose target values are nodes.
        name: What the graph is called.
        names: Names to show for ids, such as those of declared inputs.
        sources: Inputs that carry symbols that none of the program's own inputs does.

    Attributes:
        model: The ONNX model.
    """

    def __init__(
        self,
        lowered: LoweredProgram,
        name: str,
        *,
        names: Mapping[str, str] | None = None,
        sources: Mapping[str, tuple[str, str, TensorType, int]] | None = None,
    ) -> None:
        self.model, self._input_ids, self._output_ids = model_of(lowered, name, names, sources)
        self._request = compiled_model(self.model).create_infer_request()

    def run(
        self,
        values: Mapping[str, Array],
        sizes: Mapping[str, int],  # noqa: ARG002 (the model reads them off its inputs)
    ) -> dict[str, Array]:
        """Return the outputs by id, in new arrays."""
        feeds = {name: np.asarray(values[i]) for name, i in self._input_ids.items()}
        try:
            results = self._request.infer(feeds, share_inputs=False)
        except Exception as error:
            raise runtime_error(self.model, error) from error
        arrays = [np.array(results[place]) for place in range(len(self._output_ids))]
        return dict(zip(self._output_ids, arrays, strict=True))
