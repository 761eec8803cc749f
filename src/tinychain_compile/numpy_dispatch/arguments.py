"""Arguments of NumPy's functions that mean nothing in a program without state."""

from __future__ import annotations

from collections.abc import Mapping

from tinychain_compile.errors import UnsupportedFunctionError


def refuse_arguments(name: str, arguments: Mapping[str, object]) -> None:
    """Refuse arguments that were given a value with no meaning here."""
    for argument, value in arguments.items():
        if argument == "out" and (value is None or repr(value) == "(None,)"):
            continue
        if type(value).__name__ == "_NoValueType":  # what NumPy takes for 'not given'
            continue
        raise UnsupportedFunctionError(
            f"{name}({argument}=...) is not supported on traced tensors",
            hint="In-place results have no meaning in a program; use the result."
            if argument == "out"
            else _HINTS.get(argument, f"Leave out {argument}=."),
        )


_HINTS = {
    "where": "Choose before the reduction: np.where(mask, x, 0.0) for a sum, -np.inf for a max.",
    "initial": "Combine the result with the initial value afterwards, with + or np.maximum.",
}
