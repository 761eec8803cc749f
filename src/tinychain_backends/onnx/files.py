"""Writes the models of a step to files, and reads them back."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tinychain_backends.onnx.libraries import onnx
from tinychain_backends.onnx.models import ModelBuilder
from tinychain_backends.onnx.step_models import FORMAT, METADATA, StepModels
from tinychain_backends.sessions.binding import Array, check_names
from tinychain_compile import BindingError, TensorType


def write_models(
    models: StepModels,
    folder: str | os.PathLike[str],
    *,
    start: Mapping[str, Array] | None = None,
) -> Path:
    """Write ``forward.onnx``, ``derivative.onnx``, ``update.onnx`` and ``step.onnx``.

    Args:
        models: The models.
        folder: Made if it is not there.
        start: What the step starts from, such as ``session.state.arrays``: everything that it
            holds, by name or key. Then there is ``start.onnx`` too, which reads nothing and gives
            these, and the scalars that have a default, by the names that the step reads them by.

    Raises:
        BindingError: ``start`` is not exactly what the step holds; nothing was written.
    """
    place = Path(folder)
    named = models._asdict()
    if start is not None:
        named["start"] = start_model(models.step, start)
    place.mkdir(parents=True, exist_ok=True)
    for name, model in named.items():
        onnx.save(model, str(place / f"{name}.onnx"))
    return place


def read_models(folder: str | os.PathLike[str]) -> StepModels:
    """Return the models that ``write_models`` wrote.

    Raises:
        BindingError: A file is missing, is no ONNX model, or describes no step of this format.
    """
    found: dict[str, Any] = {}
    for name in StepModels._fields:
        path = Path(folder) / f"{name}.onnx"
        try:
            found[name] = onnx.load(str(path))
            onnx.checker.check_model(found[name])
        except Exception as error:
            raise BindingError(
                f"model {path}", expected="an ONNX model", got=f"{type(error).__name__}: {error}"
            ) from error
    models = StepModels(**found)
    description_of(models.step)
    return models


def description_of(step: Any) -> dict[str, Any]:
    """Return what a merged step says of itself.

    Raises:
        BindingError: It says nothing, or in another format.
    """
    texts = {entry.key: entry.value for entry in step.metadata_props}
    described: dict[str, Any] = json.loads(texts.get(METADATA, "{}"))
    if described.get("format") != FORMAT:
        raise BindingError(
            f"model {step.graph.name!r}",
            expected=f"metadata {METADATA!r} of format {FORMAT!r}",
            got=repr(described.get("format")),
        )
    return described


def start_model(step: Any, start: Mapping[str, Array]) -> Any:
    """Return a model that reads nothing and gives what a merged step starts from.

    Raises:
        BindingError: A value is missing, extra, misshapen or mistyped.
    """
    described = description_of(step)
    inputs = {value.name: value.type.tensor_type for value in step.graph.input}
    held = [name for name, role in described["roles"].items() if role != "batch"]
    check_names("start of a step", start, held)
    builder = ModelBuilder("start")
    for name in held:
        array = np.asarray(start[name])
        _check_type(name, array, inputs[name])
        builder.initial(name, array)
        builder.output(name, name, TensorType.of(array.dtype, array.shape))
    for name, scalar in described["scalars"].items():
        if scalar["default"] is not None and name in inputs:
            dtype = onnx.helper.tensor_dtype_to_np_dtype(inputs[name].elem_type)
            builder.initial(name, np.asarray(scalar["default"], dtype))
            builder.output(name, name, TensorType.of(dtype, ()))
    return builder.build()


def _check_type(name: str, array: Array, wanted: Any) -> None:
    dtype = onnx.helper.tensor_dtype_to_np_dtype(wanted.elem_type)
    shape = [size.dim_value or size.dim_param for size in wanted.shape.dim]
    known = [b for b in shape if isinstance(b, int)]
    same = [a for a, b in zip(array.shape, shape, strict=False) if isinstance(b, int)]
    if array.dtype != dtype or len(array.shape) != len(shape) or same != known:
        raise BindingError(
            f"start of {name!r}",
            expected=f"{dtype}{shape}",
            got=f"{array.dtype}{list(array.shape)}",
        )
