"""The backends that the examples can train on, by name."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

from tinychain_compile.container import TrainingStepContainer

NAMES = {"numpy": "Numpy", "onnx": "Onnx", "openvino": "OpenVino"}


class Backend(NamedTuple):
    """A container, and what runs the steps and functions that it compiles."""

    container: type[TrainingStepContainer]
    session: Callable[..., Any]
    function: Callable[..., Any]


def backend(name: str) -> Backend:
    """Return a backend; only the one that is asked for is imported.

    Args:
        name: ``numpy``, ``onnx`` or ``openvino``; the last two are extras.
    """
    module = import_module(f"tinychain_backends.{name}")
    parts = ("Container", "Session", "Function")
    return Backend(*(getattr(module, f"{NAMES[name]}{part}") for part in parts))
