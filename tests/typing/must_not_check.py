"""What type checkers must refuse, each on the line that says so; checked, never run."""

from __future__ import annotations

from dependency_injector import providers

from tinychain_compile import (
    NO_FUSION,
    SGD,
    CompileOptions,
    FusionHook,
    HandlerRegistry,
    OperationHandlerRegistry,
    compile_training_step,
)
from tinychain_compile.container import TrainingStepContainer
from tinychain_compile.protocols import Legalizer, Tracer
from tinychain_compile.testing import FakeLegalizer, RecordingRegistry


class LacksMembers:
    def lookup(self, operator: object) -> object:
        return operator


class TakesTooLittle:
    lookahead = 1

    def fuse(self) -> None:
        return None


class WrongRegistry(TrainingStepContainer):
    handler_registry: providers.Provider[HandlerRegistry] = providers.Factory(LacksMembers)  # error
    fusion_hook: providers.Provider[FusionHook] = providers.Object(NO_FUSION)


class WrongHook(TrainingStepContainer):
    handler_registry: providers.Provider[HandlerRegistry] = providers.Factory(
        OperationHandlerRegistry
    )
    fusion_hook: providers.Provider[FusionHook] = providers.Factory(TakesTooLittle)  # error


class NoProvider(TrainingStepContainer):
    handler_registry: providers.Provider[HandlerRegistry] = RecordingRegistry()  # error


tracer: Tracer = FakeLegalizer()  # error
legalizer: Legalizer = LacksMembers()  # error
options = CompileOptions(on_disconnected="maybe")  # error
misspelt = SGD(learning_rat=0.1)  # error
compile_training_step(  # error
    lambda w: w, inputs={}, parameters=["w"], optimizer=SGD()
)
