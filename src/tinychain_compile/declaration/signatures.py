"""Whether a function can be called with exactly the keywords that were declared."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import cast

from tinychain_compile.errors import CompilationError, DeclarationError
from tinychain_compile.ir.origin import definition_place


def _takes_exactly(function: Callable[..., object], names: tuple[str, ...]) -> bool:
    """Return whether a plain function or method plainly takes these keywords and no others.

    The common case, at a tenth of the cost of asking for the signature.
    """
    code = getattr(function, "__code__", None)
    if code is None or code.co_posonlyargcount or hasattr(function, "__wrapped__"):
        return False
    taken = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    own = set(taken[1:] if inspect.ismethod(function) else taken)
    if code.co_flags & inspect.CO_VARKEYWORDS:
        return own.issubset(names)
    return own == set(names)


def check_signature(
    function: Callable[..., object],
    names: tuple[str, ...],
    what: str,
    error: type[CompilationError],
) -> None:
    """Check that a function can be called with exactly these names as keywords."""
    if not callable(cast(object, function)):
        raise DeclarationError(what, expected="a function", got=repr(function))
    if _takes_exactly(function, names):
        return
    expected = f"a function that can be called as f({', '.join(f'{n}=...' for n in names)})"
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError) as cause:
        raise error(what, expected=expected, got="one without a signature") from cause
    try:
        signature.bind(**dict.fromkeys(names))
    except TypeError as cause:
        raise error(
            what,
            expected=expected,
            got=f"({', '.join(map(str, signature.parameters.values()))}): {cause}",
            location=definition_place(function),
            hint="Declare every argument as an input, and name every input in the signature.",
        ) from cause
