"""Assembles a lowered program into straight-line Python, compiled once and run many times."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tinychain_backends.numpy.calls import Array
from tinychain_backends.numpy.handlers import Instruction
from tinychain_backends.numpy.symbols import symbols_of
from tinychain_compile import LoweredProgram


class NumpyProgram:
    """A lowered program as a Python function over arrays.

    Args:
        lowered: A program whose target values are instructions.
        name: What the function is called in tracebacks and in ``source``.

    Attributes:
        source: The text of the function.
        input_ids: The ids it reads, in order.
        output_ids: The ids it returns, in order.
    """

    def __init__(self, lowered: LoweredProgram, name: str) -> None:
        self.input_ids = tuple(row.value_id for row in lowered.dependencies.required_inputs)
        self.output_ids = lowered.selected_outputs
        namespace = _Namespace()
        body = [namespace.line(op.output_value_id, op.value) for op in lowered.operations]
        parameters = ", ".join((*self.input_ids, "**sizes"))
        lines = [
            f"def {name}({parameters}):",
            *(f"    {symbol} = sizes[{symbol!r}]" for symbol in sorted(namespace.symbols)),
            *(f"    {line}" for line in body if line),
            f"    return {_tuple(self.output_ids)}",
        ]
        self.source = "\n".join(lines) + "\n"
        exec(compile(self.source, f"<{name}>", "exec"), namespace.names)
        self._function: Callable[..., tuple[Any, ...]] = namespace.names[name]

    def run(self, values: Mapping[str, Array], sizes: Mapping[str, int]) -> dict[str, Array]:
        """Return the outputs by id.

        Args:
            values: An array for each id in ``input_ids``; others are ignored.
            sizes: The number each symbol is.
        """
        with np.errstate(all="ignore"):
            results = self._function(*[values[i] for i in self.input_ids], **sizes)
        return {i: np.asarray(result) for i, result in zip(self.output_ids, results, strict=True)}


class _Namespace:
    """The global names of one program: functions, literals and arguments that have no text."""

    def __init__(self) -> None:
        self.names: dict[str, Any] = {}
        self.symbols: set[str] = set()
        self._name_by_function: dict[Callable[..., Any], str] = {}

    def line(self, output_id: str, instruction: Instruction) -> str:
        """Return the line of an instruction; a literal has none, and is made once, here."""
        call, operands, source = instruction
        if not operands and not symbols_of(call.keywords):
            self.names[output_id] = call.function(**call.keywords)
            return ""
        self.symbols.update(symbols_of(call.keywords))
        keywords = [f"{k}={self._text(v)}" for k, v in call.keywords.items()]
        arguments = ", ".join((*operands, *keywords))
        line = f"{output_id} = {self._function_name(call.function)}({arguments})"
        return f"{line}  # {source}" if source else line

    def _function_name(self, function: Callable[..., Any]) -> str:
        known = self._name_by_function.get(function)
        if known is None:
            known = getattr(function, "__name__", "call").lstrip("_")
            while known in self.names:
                known += "_"
            self.names[known] = function
            self._name_by_function[function] = known
        return known

    def _text(self, value: Any) -> str:
        if isinstance(value, np.dtype):
            name = f"dtype_{value.name}"
            self.names[name] = value
            return name
        return repr(value)


def _tuple(names: tuple[str, ...]) -> str:
    return f"({', '.join(names)}{',' if len(names) == 1 else ''})"
