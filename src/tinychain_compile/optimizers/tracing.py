"""Traces an update once for all parameters of one type."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import cast

from tinychain_compile.artifacts import TracedUpdate
from tinychain_compile.calling import TracedCall, call_on_tensors
from tinychain_compile.errors import ShapeMismatchError, UpdateOutputError
from tinychain_compile.ir.graph import IdSource, NamedValue, Value
from tinychain_compile.ir.origin import definition_place
from tinychain_compile.ir.types import TensorType
from tinychain_compile.slots import Slot


class UpdateTracer:
    """Calls the update with each role by keyword; whatever it raises passes through."""

    def trace(
        self,
        update: Callable[..., object],
        *,
        parameter: TensorType,
        gradient: TensorType,
        optimizer_inputs: Mapping[str, TensorType],
        slots: Sequence[Slot] = (),
        ids: IdSource,
    ) -> TracedUpdate:
        """Return the update as a graph from roles to the new parameter and the new slots.

        Raises:
            ShapeMismatchError: The gradient's type is not the parameter's.
            UpdateOutputError: The new parameter, or a slot's new value, is missing or not of the
                old one's type.
        """
        if gradient != parameter:
            raise ShapeMismatchError(
                "gradient", expected=f"the parameter's type, {parameter}", got=str(gradient)
            )
        state = {slot.name: slot.type for slot in slots}
        roles = {"parameter": parameter, "gradient": gradient, **state, **optimizer_inputs}
        call = call_on_tensors(update, roles, ids)
        result, new_state = _with_state(call.result, state, update)
        outputs = [NamedValue("parameter", _checked(call, result, "parameter", parameter, update))]
        for name, type in state.items():
            outputs.append(NamedValue(name, _checked(call, new_state[name], name, type, update)))
        return TracedUpdate(call.graph("update", tuple(outputs)))


def _with_state(
    result: object, state: Mapping[str, TensorType], update: Callable[..., object]
) -> tuple[object, Mapping[str, object]]:
    """Return what an update returned as the new parameter and the new slots, all of them."""
    if not state:
        return result, {}
    pair = cast(tuple[object, ...], result) if isinstance(result, tuple) else (result,)
    if len(pair) == 2 and isinstance(pair[1], Mapping):
        new = cast(Mapping[str, object], pair[1])
        if set(new) == set(state):
            return pair[0], new
        got = f"slots {', '.join(map(str, new)) or 'none'}"
    else:
        got = type(result).__name__  # pyright: ignore[reportUnknownArgumentType]
    raise UpdateOutputError(
        "optimizer update",
        expected=f"the new parameter, and a mapping with a new value of {', '.join(state)}",
        got=got,
        location=definition_place(update),
        hint="Return parameter, {'slot': new_value, ...} with every slot.",
    )


def _checked(
    call: TracedCall, result: object, role: str, type: TensorType, update: Callable[..., object]
) -> Value:
    """Return the value of a result that has exactly the type of what it replaces."""
    what = "the new parameter" if role == "parameter" else f"the new value of slot {role!r}"
    updated = call.value_of(result)
    if updated is None:
        raise UpdateOutputError(
            "optimizer update",
            expected=f"{what}, a tensor computed from the arguments",
            got=f"{result!r} of type {result.__class__.__name__}",
            location=definition_place(update),
        )
    if updated.type != type:
        raise UpdateOutputError(
            "optimizer update",
            expected=f"{what} of the old one's type, {type}",
            got=str(updated.type),
            location=definition_place(update),
            hint=f"Check for broadcasting, and cast back with .astype({role}.dtype).",
        )
    return updated
