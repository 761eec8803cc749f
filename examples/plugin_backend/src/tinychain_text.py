"""A backend in a package of its own: it writes each operation as a line of text."""

from __future__ import annotations

from dependency_injector import providers

from tinychain_compile import (
    NO_FUSION,
    FusionHook,
    HandlerRegistry,
    OperationContext,
    OperationHandlerRegistry,
)
from tinychain_compile.container import TrainingStepContainer
from tinychain_compile.operators import OPERATORS


def line(context: OperationContext) -> str:
    """Return ``v3 = add(v1, v2)``."""
    operands = ", ".join(context.input_value_ids)
    return f"{context.output_value_id} = {context.operator.name}({operands})"


def text_registry() -> OperationHandlerRegistry:
    """Return a registry in which every operator has the one handler."""
    registry = OperationHandlerRegistry()
    for operator in OPERATORS:
        registry.handler(operator)(line)
    return registry


class TextContainer(TrainingStepContainer):
    """Compiles training steps to text."""

    handler_registry: providers.Provider[HandlerRegistry] = providers.Factory(text_registry)
    fusion_hook: providers.Provider[FusionHook] = providers.Object(NO_FUSION)
