"""Traces an update once for all parameters of one type."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tinychain_compile.artifacts import TracedUpdate
from tinychain_compile.calling import call_on_tensors
from tinychain_compile.errors import ShapeMismatchError, UpdateOutputError
from tinychain_compile.ir.graph import IdSource, NamedValue
from tinychain_compile.ir.origin import definition_place
from tinychain_compile.ir.types import TensorType


class UpdateTracer:
    """Calls the update with each role by keyword; whatever it raises passes through."""

    def trace(
        self,
        update: Callable[..., object],
        *,
        parameter: TensorType,
        gradient: TensorType,
        optimizer_inputs: Mapping[str, TensorType],
        ids: IdSource,
    ) -> TracedUpdate:
        """Return the update as a graph from roles to the new parameter.

        Raises:
            ShapeMismatchError: The gradient's type is not the parameter's.
            UpdateOutputError: The new parameter is none, or is not of the parameter's type.
        """
        if gradient != parameter:
            raise ShapeMismatchError(
                "gradient", expected=f"the parameter's type, {parameter}", got=str(gradient)
            )
        roles = {"parameter": parameter, "gradient": gradient, **optimizer_inputs}
        call = call_on_tensors(update, roles, ids)
        updated = call.value_of(call.result)
        if updated is None:
            raise UpdateOutputError(
                "optimizer update",
                expected="the new parameter, a tensor computed from the arguments",
                got=f"{call.result!r} of type {type(call.result).__name__}",
                location=definition_place(update),
            )
        if updated.type != parameter:
            raise UpdateOutputError(
                "optimizer update",
                expected=f"a new parameter of the old one's type, {parameter}",
                got=str(updated.type),
                location=definition_place(update),
                hint="Check for broadcasting, and cast back with .astype(parameter.dtype).",
            )
        return TracedUpdate(call.graph("update", (NamedValue("parameter", updated),)))
