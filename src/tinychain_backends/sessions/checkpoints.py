"""Saves a session's state in the safetensors format, and reads it back, whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

from tinychain_backends.sessions.binding import Array
from tinychain_backends.sessions.installed import Library
from tinychain_backends.sessions.state import TrainingState, read_only
from tinychain_compile import BindingError
from tinychain_compile.schedules import LossScaleState

_safetensors = Library("safetensors", "checkpoints")
_arrays = Library("safetensors.numpy", "checkpoints")

_FORMAT = "tinychain-compile 1"
_DTYPES: dict[str, Any] = {
    "BOOL": np.bool_,
    "U8": np.uint8,
    "U32": np.uint32,
    "I32": np.int32,
    "I64": np.int64,
    "F16": np.float16,
    "BF16": ml_dtypes.bfloat16,
    "F32": np.float32,
    "F64": np.float64,
}


def save_state(state: TrainingState, path: str | os.PathLike[str]) -> None:
    """Write a state; whoever reads meanwhile sees the old file or the new one."""
    _safetensors.check()
    metadata = {
        "format": _FORMAT,
        "step": str(state.steps),
        "micro_batches": str(state.micro_batches),
    }
    if state.loss_scale is not None:
        metadata["loss_scale"] = repr(state.loss_scale.scale)
        metadata["good_steps"] = str(state.loss_scale.good_steps)
    _replace(Path(path), _arrays.save(state.arrays, metadata))


def restored_state(state: TrainingState, path: str | os.PathLike[str]) -> TrainingState:
    """Return a state like this one with the arrays and counters of a file.

    Raises:
        BindingError: The file is of another format, or an entry is missing, extra, misshapen or
            mistyped; all are named.
    """
    arrays, metadata = _read(path)
    problems = _differences(state.arrays, arrays)
    counters, missing = _counters(state, metadata)
    if problems or missing:
        raise BindingError(
            f"checkpoint {os.fspath(path)}",
            expected="exactly the entries of this session",
            got="; ".join([*problems, *missing]),
            hint="Restore into a session of the same parameters, optimizer and options.",
        )
    return replace(
        state,
        parameters=read_only({name: arrays[name] for name in state.parameters}),
        buffers=read_only({name: arrays[name] for name in state.buffers}),
        slots=read_only({name: arrays[name] for name in state.slots}),
        **counters,
    )


def _read(path: str | os.PathLike[str]) -> tuple[dict[str, Array], dict[str, str]]:
    _safetensors.check()
    file = Path(path)
    content = file.read_bytes()
    try:
        entries = _safetensors.deserialize(content)
        with _safetensors.safe_open(file, framework="np") as opened:
            metadata: dict[str, str] = opened.metadata() or {}
        arrays = {
            name: np.frombuffer(entry["data"], _DTYPES[entry["dtype"]]).reshape(entry["shape"])
            for name, entry in entries
        }
    except (_safetensors.SafetensorError, KeyError) as error:
        raise BindingError(
            f"checkpoint {file}", expected="a safetensors file", got=str(error)
        ) from error
    return {name: array.copy() for name, array in arrays.items()}, metadata


def _differences(own: Mapping[str, Array], read: Mapping[str, Array]) -> list[str]:
    """Return what is wrong with each entry."""
    problems = [f"no {name!r}" for name in own if name not in read]
    problems += [f"an extra {name!r}" for name in read if name not in own]
    for name, array in own.items():
        other = read.get(name)
        if other is not None and (other.dtype, other.shape) != (array.dtype, array.shape):
            wanted, found = (f"{a.dtype}{list(a.shape)}" for a in (array, other))
            problems.append(f"{name!r} of {found} where {wanted} is wanted")
    return problems


def _counters(
    state: TrainingState, metadata: Mapping[str, str]
) -> tuple[dict[str, Any], list[str]]:
    """Return the counters of a file's metadata, and what is wrong with it."""
    if metadata.get("format") != _FORMAT:
        return {}, [f"format {metadata.get('format')!r} where {_FORMAT!r} is wanted"]
    wanted = ["step", "micro_batches"]
    if state.loss_scale is not None:
        wanted += ["loss_scale", "good_steps"]
    problems = [f"no {name!r} in the metadata" for name in wanted if name not in metadata]
    if state.loss_scale is None and "loss_scale" in metadata:
        problems.append("a dynamic 'loss_scale' in the metadata, which this session has not")
    if problems:
        return {}, problems
    try:
        counters: dict[str, Any] = {
            "steps": int(metadata["step"]),
            "micro_batches": int(metadata["micro_batches"]),
        }
        if state.loss_scale is not None:
            counters["loss_scale"] = LossScaleState(
                float(metadata["loss_scale"]), int(metadata["good_steps"])
            )
    except ValueError as error:
        return {}, [f"metadata that holds no numbers: {error}"]
    return counters, []


def _replace(path: Path, content: bytes) -> None:
    """Write a file beside its place, flush it, and rename it over."""
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
