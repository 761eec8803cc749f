"""The OpenVINO backend's container: ONNX handlers, with the types that OpenVINO takes."""

from __future__ import annotations

from dependency_injector import providers

from tinychain_backends.onnx.handlers import NodeHandlers
from tinychain_backends.onnx.hooks import onnx_hook
from tinychain_backends.onnx.support import Measured
from tinychain_backends.openvino.emitters import OPENVINO_EMITTERS
from tinychain_backends.openvino.programs import OpenVinoProgram
from tinychain_backends.sessions.adapter import ProgramAdapter
from tinychain_compile import FusionHook, HandlerRegistry, OperationHandlerRegistry
from tinychain_compile.container import TrainingStepContainer


def openvino_registry() -> OperationHandlerRegistry:
    """Return the registry for OpenVINO, by the table that was measured on it."""
    supports = Measured("tinychain_backends.openvino").why_not
    return NodeHandlers(OPENVINO_EMITTERS).registry(supports)


class OpenVinoContainer(TrainingStepContainer):
    """Compiles for OpenVINO, through its reader of ONNX."""

    handler_registry: providers.Provider[HandlerRegistry] = providers.Singleton(openvino_registry)
    fusion_hook: providers.Provider[FusionHook] = providers.Singleton(onnx_hook)
    conformance_adapter: providers.Provider[ProgramAdapter] = providers.Factory(
        ProgramAdapter, providers.Object(OpenVinoProgram)
    )
