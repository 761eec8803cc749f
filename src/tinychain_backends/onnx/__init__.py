"""Compiles training steps to ONNX, and runs them on ONNX Runtime (extra ``onnx``)."""

from __future__ import annotations

from tinychain_backends.onnx.container import OnnxContainer
from tinychain_backends.onnx.files import read_models, write_models
from tinychain_backends.onnx.function import OnnxFunction
from tinychain_backends.onnx.programs import OnnxProgram
from tinychain_backends.onnx.session import OnnxSession
from tinychain_backends.onnx.step_models import StepModels, step_models

__all__ = [
    "OnnxContainer",
    "OnnxFunction",
    "OnnxProgram",
    "OnnxSession",
    "StepModels",
    "read_models",
    "step_models",
    "write_models",
]
