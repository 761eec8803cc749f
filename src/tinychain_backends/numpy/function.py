"""Runs a compiled function on NumPy."""

from __future__ import annotations

from tinychain_backends.numpy.assembly import NumpyProgram
from tinychain_backends.sessions.function import FunctionRunner
from tinychain_compile import CompiledFunction


class NumpyFunction(FunctionRunner):
    """Runs a compiled function on NumPy.

    Args:
        record: A function compiled by ``NumpyContainer``.
    """

    def __init__(self, record: CompiledFunction) -> None:
        super().__init__(record, NumpyProgram(record.program, "function"))
