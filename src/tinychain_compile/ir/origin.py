"""Where an operation comes from: a line of the user's code, or another operation.

Recording is cheap (a code object and an offset); file, line and text are looked up when printed.
"""

from __future__ import annotations

import inspect
import linecache
import sys
from collections.abc import Callable
from functools import lru_cache
from itertools import islice
from pathlib import Path
from types import CodeType, TracebackType
from typing import TypeAlias, cast

import numpy as np

from tinychain_compile.ir.frozen import Frozen, new, unfrozen

_PACKAGE = Path(__file__).parents[1]
_INTERNAL = (
    *(str(_PACKAGE / part) for part in ("tensor.py", "index_keys.py", "elementless.py", "ir")),
    *(
        str(_PACKAGE / part)
        for part in ("namespace", "numpy_dispatch", "array_api.py", "functions")
    ),
    str(_PACKAGE / "operators"),
    str(Path(np.__file__).parent),
)
"""Files whose frames stand between a line of tensor code and the operation it makes."""


class SourceLine(Frozen):
    """A place in the user's code: a code object and the offset of an instruction in it."""

    __slots__ = ("code", "instruction")

    code: CodeType
    instruction: int

    def __new__(cls, code: CodeType, instruction: int) -> SourceLine:
        """Make a place."""
        return SourceLine.of(code, instruction)

    @staticmethod
    def of(code: CodeType, instruction: int) -> SourceLine:
        """Return what the constructor returns, at half its cost."""
        made = new(_UnfrozenSourceLine)
        made.code = code
        made.instruction = instruction
        made.__class__ = SourceLine
        return made

    @property
    def file(self) -> str:
        """The path of the source file, as Python knows it."""
        return self.code.co_filename

    @property
    def line(self) -> int:
        """The line number, from 1."""
        return self._position[0] or self.code.co_firstlineno

    @property
    def text(self) -> str:
        """The expression, or its whole line where Python did not keep the columns."""
        line, end_line, column, end_column = self._position
        text = linecache.getline(self.file, self.line)
        if line is not None and line == end_line and column is not None:
            return text.encode()[column:end_column].decode(errors="replace").strip()
        return text.strip()

    @property
    def _position(self) -> tuple[int | None, int | None, int | None, int | None]:
        return next(
            islice(self.code.co_positions(), self.instruction // 2, None), (None, None, None, None)
        )

    def __str__(self) -> str:
        text = self.text
        place = f"{self.file}:{self.line}, in {self.code.co_name}"
        return f"{place}: {text}" if text else place


_UnfrozenSourceLine = unfrozen(SourceLine)


class Derived(Frozen):
    """Made by a rule on behalf of another operation.

    Args:
        how: ``"derivative"``, ``"decomposition"``, ...
        operator_name: The operator that the rule belongs to.
        parent: Where the operation that the rule was applied to comes from.
    """

    __slots__ = ("how", "operator_name", "parent")

    how: str
    operator_name: str
    parent: Origin | None

    def __new__(cls, how: str, operator_name: str, parent: Origin | None) -> Derived:
        """Make a step of a chain."""
        return Derived.of(how, operator_name, parent)

    @staticmethod
    def of(how: str, operator_name: str, parent: Origin | None) -> Derived:
        """Return what the constructor returns, at half its cost."""
        made = new(_UnfrozenDerived)
        made.how = how
        made.operator_name = operator_name
        made.parent = parent
        made.__class__ = Derived
        return made

    def __str__(self) -> str:
        steps: list[str] = []
        origin: Origin | None = self
        while isinstance(origin, Derived):
            steps.append(f"{origin.how} of {origin.operator_name}")
            origin = origin.parent
        return " <- ".join([*steps, str(origin)] if origin is not None else steps)


_UnfrozenDerived = unfrozen(Derived)

Origin: TypeAlias = SourceLine | Derived


def source_line(origin: Origin | None) -> SourceLine | None:
    """Return the user's line at the end of a chain of origins."""
    while isinstance(origin, Derived):
        origin = origin.parent
    return origin


@lru_cache(maxsize=1024)
def _is_internal(file: str) -> bool:
    """Return whether a file stands between a line of tensor code and the operation it makes."""
    return file.startswith(_INTERNAL)


def calling_line() -> SourceLine | None:
    """Return the nearest line of tensor code above the caller: in a loss, in an optimizer."""
    frame = sys._getframe(2)  # pyright: ignore[reportPrivateUsage]
    while _is_internal(frame.f_code.co_filename):
        back = frame.f_back
        if back is None:
            return None
        frame = back
    return SourceLine.of(frame.f_code, frame.f_lasti)


def raising_line(traceback: TracebackType | None) -> SourceLine | None:
    """Return the innermost of the user's lines that an exception passed through."""
    found: SourceLine | None = None
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if not _is_internal(code.co_filename):
            found = SourceLine(code, traceback.tb_lasti)
        traceback = traceback.tb_next
    return found


def definition_place(function: object) -> str | None:
    """Return where a function is defined, as ``file:line, in name``, if Python knows."""
    code = getattr(inspect.unwrap(cast(Callable[..., object], function)), "__code__", None)
    return f"{code.co_filename}:{code.co_firstlineno}, in {code.co_name}" if code else None
