"""Runs a compiled function on ONNX Runtime."""

from __future__ import annotations

from tinychain_backends.onnx.programs import OnnxProgram
from tinychain_backends.onnx.step_models import symbol_inputs
from tinychain_backends.sessions.function import FunctionRunner
from tinychain_compile import CompiledFunction


class OnnxFunction(FunctionRunner):
    """Runs a compiled function on ONNX Runtime.

    Args:
        record: A function compiled by ``OnnxContainer``.
        threads: How many threads an operation may use; by default the runtime's choice.
    """

    def __init__(self, record: CompiledFunction, *, threads: int | None = None) -> None:
        names = {value_id: name for name, value_id in record.input_value_ids.items()}
        sources = symbol_inputs(record)
        program = OnnxProgram(
            record.program, "function", names=names, sources=sources, threads=threads
        )
        super().__init__(record, program)
