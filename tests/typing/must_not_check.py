"""What type checkers must refuse; checked, never run.

The note above a wrong statement has the error that mypy, and the one that pyright, must give.
"""

from __future__ import annotations

from dependency_injector import providers

from tinychain_compile import (
    NO_FUSION,
    SGD,
    CompileOptions,
    FusionHook,
    HandlerRegistry,
    OperationHandlerRegistry,
    Tensor,
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
    # wrong: arg-type, reportAssignmentType
    handler_registry: providers.Provider[HandlerRegistry] = providers.Factory(LacksMembers)
    fusion_hook: providers.Provider[FusionHook] = providers.Object(NO_FUSION)


class WrongHook(TrainingStepContainer):
    handler_registry: providers.Provider[HandlerRegistry] = providers.Factory(
        OperationHandlerRegistry
    )
    # wrong: arg-type, reportAssignmentType
    fusion_hook: providers.Provider[FusionHook] = providers.Factory(TakesTooLittle)


class NoProvider(TrainingStepContainer):
    # wrong: assignment, reportAssignmentType
    handler_registry: providers.Provider[HandlerRegistry] = RecordingRegistry()


# wrong: assignment, reportAssignmentType
tracer: Tracer = FakeLegalizer()
# wrong: assignment, reportAssignmentType
legalizer: Legalizer = LacksMembers()
# wrong: arg-type, reportArgumentType
options = CompileOptions(on_disconnected="maybe")
# wrong: call-arg, reportCallIssue
misspelt = SGD(learning_rat=0.1)


def loss(w: Tensor) -> Tensor:
    return w


# wrong: call-arg, reportCallIssue
compile_training_step(loss, inputs={}, parameters=["w"], optimizer=SGD())
