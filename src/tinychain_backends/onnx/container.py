"""The ONNX backend's container: the skeleton's, with its two slots filled."""

from __future__ import annotations

from dependency_injector import providers

from tinychain_backends.onnx.handlers import onnx_registry
from tinychain_backends.onnx.hooks import onnx_hook
from tinychain_backends.onnx.programs import OnnxProgram
from tinychain_backends.sessions.adapter import ProgramAdapter
from tinychain_compile import FusionHook, HandlerRegistry
from tinychain_compile.container import TrainingStepContainer


class OnnxContainer(TrainingStepContainer):
    """Compiles for ONNX."""

    handler_registry: providers.Provider[HandlerRegistry] = providers.Singleton(onnx_registry)
    fusion_hook: providers.Provider[FusionHook] = providers.Singleton(onnx_hook)
    conformance_adapter: providers.Provider[ProgramAdapter] = providers.Factory(
        ProgramAdapter, providers.Object(OnnxProgram)
    )
