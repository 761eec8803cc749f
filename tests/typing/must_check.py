"""Backends, fakes and optimizers that type checkers must accept; checked, never run."""

from __future__ import annotations

from collections.abc import Mapping

from dependency_injector import providers

from tinychain_compile import (
    FROZEN,
    NO_FUSION,
    SGD,
    AdamW,
    CompileOptions,
    FusionHook,
    HandlerRegistry,
    MixedPrecision,
    OperationHandlerRegistry,
    Slot,
    Tensor,
    TensorType,
    compile_training_step,
)
from tinychain_compile.container import TrainingStepContainer
from tinychain_compile.protocols import Legalizer, Tracer
from tinychain_compile.testing import FakeLegalizer, FakeTracer, RecordingRegistry, TextRegistry


class Backend(TrainingStepContainer):
    handler_registry: providers.Provider[HandlerRegistry] = providers.Factory(
        OperationHandlerRegistry
    )
    fusion_hook: providers.Provider[FusionHook] = providers.Object(NO_FUSION)


class WithText(TrainingStepContainer):
    handler_registry: providers.Provider[HandlerRegistry] = providers.Singleton(TextRegistry)
    fusion_hook: providers.Provider[FusionHook] = providers.Object(NO_FUSION)


tracer: Tracer = FakeTracer()
legalizer: Legalizer = FakeLegalizer()
registry: HandlerRegistry = RecordingRegistry()


class Momentum:
    required_optimizer_inputs = ("learning_rate",)

    def slots(self, parameter: TensorType) -> list[Slot]:
        return [Slot("m", parameter)]

    def update(
        self, *, parameter: Tensor, gradient: Tensor, m: Tensor, learning_rate: Tensor
    ) -> tuple[Tensor, Mapping[str, Tensor]]:
        m = m + gradient
        return parameter - learning_rate * m, {"m": m}


def loss(w: Tensor) -> Tensor:
    return (w * w).sum()


for optimizer in (SGD(), Momentum(), MixedPrecision(AdamW())):
    compile_training_step(
        loss,
        inputs={"w": TensorType("f32", (3,))},
        parameters=["w"],
        optimizer=optimizer,
        handlers=RecordingRegistry(),
    )
compile_training_step(
    loss,
    inputs={"w": TensorType("f32", (3,))},
    parameters=["w"],
    optimizer={"w": SGD(), "b*": FROZEN},
    handlers=RecordingRegistry(),
    options=CompileOptions(on_disconnected="zero"),
)
compiler = Backend(config={"policies": {"nan_guard": False}}).compiler()
step = compiler.compile_training_step(loss, inputs={}, parameters=["w"], optimizer=SGD())
names: tuple[str, ...] = step.frozen_parameters
