"""The libraries of the extra ``onnx``."""

from __future__ import annotations

from tinychain_backends.sessions.installed import Library

onnx = Library("onnx", "onnx")
onnxruntime = Library("onnxruntime", "onnx")
