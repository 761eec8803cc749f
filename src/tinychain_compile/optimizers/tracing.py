"""Traces an update once for all parameters of one type."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

from tinychain_compile.artifacts import TracedUpdate
from tinychain_compile.errors import (
    CompilationError,
    ShapeMismatchError,
    UpdateOutputError,
)
from tinychain_compile.ir.builder import GraphBuilder
from tinychain_compile.ir.graph import Graph, IdSource, NamedValue
from tinychain_compile.ir.origin import definition_place, raising_line
from tinychain_compile.ir.types import TensorType
from tinychain_compile.numpy_dispatch import NumpyTensor
from tinychain_compile.tensor import Tensor


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
        builder = GraphBuilder(ids)
        types = {"parameter": parameter, "gradient": gradient, **optimizer_inputs}
        roles = tuple(NamedValue(role, builder.input(type)) for role, type in types.items())
        try:
            result = update(**{role: NumpyTensor(builder, value) for role, value in roles})
        except CompilationError as error:
            error.at(raising_line(error.__traceback__))
            raise
        finally:
            builder.close()
        if not isinstance(result, Tensor) or result.builder is not builder:
            raise UpdateOutputError(
                "optimizer update",
                expected="the new parameter, a tensor computed from the arguments",
                got=f"{result!r} of type {type(cast(Any, result)).__name__}",
                location=definition_place(update),
            )
        if result.type != parameter:
            raise UpdateOutputError(
                "optimizer update",
                expected=f"a new parameter of the old one's type, {parameter}",
                got=str(result.type),
                location=definition_place(update),
                hint="Check for broadcasting, and cast back with .astype(parameter.dtype).",
            )
        outputs = (NamedValue("parameter", result.value),)
        return TracedUpdate(Graph("update", roles, tuple(builder.operations), outputs))
