"""Runs a lowered program by itself, for the conformance kit."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tinychain_backends.sessions.binding import Array, read_sizes
from tinychain_backends.sessions.session import Program
from tinychain_compile import LoweredProgram, symbol_sources


class ProgramAdapter:
    """Loads and runs lowered programs.

    Args:
        make: Makes a program that can be run of a lowered one.
    """

    def __init__(self, make: Callable[[LoweredProgram, str], Program]) -> None:
        self._make = make

    def load(self, program: LoweredProgram) -> tuple[LoweredProgram, Program]:
        """Return a program ready to be run."""
        return program, self._make(program, "program")

    def run(
        self, loaded: tuple[LoweredProgram, Program], values: Mapping[str, Array]
    ) -> dict[str, Array]:
        """Return the outputs by id."""
        lowered, program = loaded
        shapes = {row.value_id: row.shape for row in lowered.dependencies.required_inputs}
        sizes = read_sizes(symbol_sources(shapes), values)
        return program.run(values, sizes)
