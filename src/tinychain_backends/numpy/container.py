"""The NumPy backend's container: the skeleton's, with its two slots filled."""

from __future__ import annotations

from dependency_injector import providers

from tinychain_backends.numpy.assembly import NumpyProgram
from tinychain_backends.numpy.handlers import numpy_registry
from tinychain_backends.sessions.adapter import ProgramAdapter
from tinychain_compile import NO_FUSION, FusionHook, HandlerRegistry
from tinychain_compile.container import TrainingStepContainer


class NumpyContainer(TrainingStepContainer):
    """Compiles for NumPy: the embedded default backend."""

    handler_registry: providers.Provider[HandlerRegistry] = providers.Singleton(numpy_registry)
    fusion_hook: providers.Provider[FusionHook] = providers.Object(NO_FUSION)
    conformance_adapter: providers.Provider[ProgramAdapter] = providers.Factory(
        ProgramAdapter, providers.Object(NumpyProgram)
    )
