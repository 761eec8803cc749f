"""Runs lowered programs on ONNX Runtime."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np

from tinychain_backends.onnx.libraries import onnxruntime
from tinychain_backends.onnx.models import ModelBuilder, SymbolInput, types_of
from tinychain_backends.sessions.binding import Array
from tinychain_compile import BackendError, LoweredProgram


def runtime_session(model: Any, threads: int | None = None) -> Any:
    """Return the runtime's session of a model, on the CPU.

    Args:
        model: Checked.
        threads: How many threads an operation may use; ``None`` for the runtime's own choice.

    Raises:
        BackendError: The runtime rejects the model: its message, with the operation and its line.
    """
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    if threads is not None:
        options.intra_op_num_threads = threads
    content = model.SerializeToString()
    try:
        return onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    except Exception as error:
        raise runtime_error(model, error) from error


def runtime_error(model: Any, error: Exception) -> BackendError:
    """Return what a runtime says of a model, with the operation and the line it comes from."""
    message = str(error)
    return BackendError(
        f"model {model.graph.name!r}",
        expected="one that the runtime takes and runs",
        got=message,
        location=_place_in(model, message),
        hint="Leave its type to the decomposition (see Measured), or use another.",
    )


def _place_in(model: Any, message: str) -> str | None:
    """Return the operation, and its line of the loss, that a runtime's message names."""
    for node in model.graph.node:
        if re.search(rf"\b{re.escape(node.name)}(?![\w./])", message):
            return f"{node.name}: {node.doc_string}" if node.doc_string else str(node.name)
    return None


class ModelProgram(ABC):
    """A lowered program as an ONNX model that some runtime runs.

    Args:
        lowered: A program whose target values are nodes.
        name: What the graph is called.
        names: Names to show for ids, such as those of declared inputs.
        sources: Inputs that carry symbols that none of the program's own inputs does: by symbol,
            the input's id, name, type, and the axis.

    Attributes:
        model: The model.
    """

    def __init__(
        self,
        lowered: LoweredProgram,
        name: str,
        *,
        names: Mapping[str, str] | None = None,
        sources: Mapping[str, SymbolInput] | None = None,
    ) -> None:
        shown = names or {}
        builder = ModelBuilder(name, sources)
        types = types_of(lowered)
        for row in lowered.dependencies.required_inputs:
            value_id = row.value_id
            builder.input(value_id, shown.get(value_id, value_id), types[value_id])
        builder.program(lowered)
        self._output_ids = list(dict.fromkeys(lowered.selected_outputs))
        for value_id in self._output_ids:
            builder.output(value_id, f"{shown.get(value_id, value_id)}.out", types[value_id])
        self.model = builder.build()
        self._input_ids = builder.input_ids
        self.open()

    def run(
        self,
        values: Mapping[str, Array],
        sizes: Mapping[str, int],  # noqa: ARG002 (the model reads them off its inputs)
    ) -> dict[str, Array]:
        """Return the outputs by id, in new arrays."""
        feeds = {name: np.asarray(values[i]) for name, i in self._input_ids.items()}
        try:
            results = self.infer(feeds)
        except Exception as error:
            raise runtime_error(self.model, error) from error
        return dict(zip(self._output_ids, results, strict=True))

    @abstractmethod
    def open(self) -> None:
        """Hand the model to the runtime.

        Raises:
            BackendError: The runtime rejects it.
        """

    @abstractmethod
    def infer(self, feeds: Mapping[str, Array]) -> list[Array]:
        """Return the outputs of the model in order, in new arrays, given its inputs by name."""


class OnnxProgram(ModelProgram):
    """A lowered program as a model and a session of the runtime.

    Args:
        lowered: A program whose target values are nodes.
        name: What the graph is called.
        names: As for ``ModelProgram``.
        sources: As for ``ModelProgram``.
        threads: How many threads an operation may use.
    """

    def __init__(
        self,
        lowered: LoweredProgram,
        name: str,
        *,
        names: Mapping[str, str] | None = None,
        sources: Mapping[str, SymbolInput] | None = None,
        threads: int | None = None,
    ) -> None:
        self._threads = threads
        super().__init__(lowered, name, names=names, sources=sources)

    def open(self) -> None:
        """Make a session."""
        self._session = runtime_session(self.model, self._threads)

    def infer(self, feeds: Mapping[str, Array]) -> list[Array]:
        """Run the session."""
        return [np.asarray(result) for result in self._session.run(None, feeds)]
