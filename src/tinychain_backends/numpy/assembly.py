"""Assembles a lowered program into straight-line Python, compiled once and run many times."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tinychain_backends.numpy.calls import Array
from tinychain_backends.numpy.fusing import Fused, fused
from tinychain_backends.numpy.handlers import Instruction
from tinychain_backends.numpy.storage import Storage
from tinychain_backends.numpy.symbols import symbols_of
from tinychain_compile import LoweredProgram
from tinychain_compile.operators import Operator


class NumpyProgram:
    """A lowered program as a Python function over arrays.

    Args:
        lowered: A program whose target values are instructions.
        name: What the function is called in tracebacks and in ``source``.
        reuses: Whether what stays inside is written into arrays that are used again, run after
            run; then it must not run twice at once.
        fast: Whether runs of elementwise operations become loops (extra ``fast``).

    Attributes:
        source: The text of the function.
        input_ids: The ids it reads, in order.
        output_ids: The ids it returns, in order.
    """

    def __init__(
        self, lowered: LoweredProgram, name: str, *, fast: bool = False, reuses: bool = False
    ) -> None:
        self.input_ids = tuple(row.value_id for row in lowered.dependencies.required_inputs)
        self.output_ids = lowered.selected_outputs
        storage = Storage(lowered.operations if reuses else (), self.output_ids)
        writer = _Writer(storage)
        parameters = [writer.variable(value_id) for value_id in self.input_ids]
        operations = (
            fused(lowered.operations, self.output_ids) if fast else list(lowered.operations)
        )
        body = [
            writer.fused_line(op)
            if isinstance(op, Fused)
            else writer.line(op.output_value_id, op.value)
            for op in operations
        ]
        results = [writer.variable(value_id) for value_id in self.output_ids]
        lines = [
            f"def {name}({', '.join(['sizes', *parameters])}):",
            *(f"    {line}" for line in body if line),
            f"    return [{', '.join(results)}]",
        ]
        self.source = "\n".join(lines) + "\n"
        exec(compile(self.source, f"<{name}>", "exec"), writer.names)
        self._function: Callable[..., list[Any]] = writer.names[name]

    def run(self, values: Mapping[str, Array], sizes: Mapping[str, int]) -> dict[str, Array]:
        """Return the outputs by id.

        Args:
            values: An array for each id in ``input_ids``; others are ignored.
            sizes: The number each symbol is.
        """
        with np.errstate(all="ignore"):
            results = self._function(sizes, *[values[i] for i in self.input_ids])
        return {i: np.asarray(result) for i, result in zip(self.output_ids, results, strict=True)}


class _Writer:
    """Writes lines, and keeps the global names they use: functions, literals, dtypes.

    Variables are ``v`` and a number, like the ids of a compilation; an id of another form gets a
    variable ``x`` and a number. Functions start with ``np_``, so nothing can clash.
    """

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self.names: dict[str, Any] = {f"store_{i}": a for i, a in enumerate(storage.arrays)}
        self._function_names: dict[Callable[..., Any], str] = {}
        self._variables: dict[str, str] = {}

    def variable(self, value_id: str) -> str:
        """Return the variable of a value."""
        if value_id[:1] == "v" and value_id[1:].isdecimal():
            return value_id
        return self._variables.setdefault(value_id, f"x{len(self._variables)}")

    def line(self, output_id: str, instruction: Instruction) -> str:
        """Return the line of an instruction; a literal has none, and is made once, here."""
        call, operands, source = instruction
        output = self.variable(output_id)
        if not operands and not symbols_of(call.keywords):
            self.names[output] = call.function(**call.keywords)
            return ""
        arguments = [self.variable(value_id) for value_id in operands]
        arguments += [f"{name}={self._text(value)}" for name, value in call.keywords.items()]
        for argument, places in (("out", self._storage.place), ("scratch", self._storage.scratch)):
            if output_id in places:
                arguments.append(f"{argument}=store_{places[output_id]}")
        line = f"{output} = {self._function_name(call.function)}({', '.join(arguments)})"
        return f"{line}  # {source}" if source else line

    def fused_line(self, loop: Fused) -> str:
        """Return the line of a loop."""
        name = f"loop_{len(self.names)}"
        self.names[name] = loop.function
        results = ", ".join(self.variable(value_id) for value_id in loop.results)
        operands = ", ".join(self.variable(value_id) for value_id in loop.operands)
        line = f"[{results}] = {name}({operands})"
        return f"{line}  # {loop.source}" if loop.source else line

    def _function_name(self, function: Callable[..., Any]) -> str:
        known = self._function_names.get(function)
        if known is None:
            known = f"np_{function.__name__.lstrip('_')}"
            while known in self.names:
                known += "_"
            self.names[known] = function
            self._function_names[function] = known
        return known

    def _text(self, value: Any) -> str:
        if isinstance(value, np.dtype):
            name = f"dtype_{value.name}"
            self.names[name] = value
            return name
        if callable(value) or isinstance(value, Operator):
            name = f"object_{len(self.names)}"
            self.names[name] = value
            return name
        if isinstance(value, float):
            return repr(value) if math.isfinite(value) else f'float("{value}")'
        if isinstance(value, tuple):
            shape: tuple[Any, ...] = value  # pyright: ignore[reportUnknownVariableType]
            sizes = [_size_text(size) for size in shape]
            return f"({', '.join(sizes)}{',' if len(sizes) == 1 else ''})"
        return repr(value)


def _size_text(size: Any) -> str:
    return str(size) if isinstance(size, int) else size.render("sizes[{!r}]".format)
