"""Compiles training steps to ONNX, and runs them on OpenVINO (extra ``openvino``)."""

from __future__ import annotations

from tinychain_backends.openvino.container import OpenVinoContainer
from tinychain_backends.openvino.programs import OpenVinoProgram
from tinychain_backends.openvino.session import OpenVinoFunction, OpenVinoSession

__all__ = ["OpenVinoContainer", "OpenVinoFunction", "OpenVinoProgram", "OpenVinoSession"]
