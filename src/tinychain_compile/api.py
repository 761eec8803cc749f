"""Function-style entry points over the container, for a caller who has handlers at hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from tinychain_compile.artifacts import (
    CompiledFunction,
    CompiledTrainingStep,
    CompileOptions,
    DependencyAnalysis,
    DerivativeProgram,
    LoweredProgram,
    TracedUpdate,
)
from tinychain_compile.container import TrainingStepContainer, compiler_for
from tinychain_compile.errors import BackendError, InvalidOutputError, SeedShapeError
from tinychain_compile.ir.graph import Graph, Value, fresh_ids
from tinychain_compile.ir.types import TensorType
from tinychain_compile.ir.verifier import verify
from tinychain_compile.operators import TIERS, Cast, Constant, Iota, Operator
from tinychain_compile.protocols import (
    BindInput,
    FusionHook,
    HandlerRegistry,
    HasTypeMetadata,
    InputSpec,
    Lowerer,
    Optimizer,
    OptimizerInputs,
    Pass,
    ProgramToLower,
)
from tinychain_compile.reports import HandlerRanking, SupportReport
from tinychain_compile.tensor import Tensor

Handlers: TypeAlias = HandlerRegistry | Callable[[], HandlerRegistry]
"""A registry that serves every program, or a function that makes one for each."""


def compile_training_step(
    loss: Callable[..., object],
    *,
    inputs: Mapping[str, InputSpec],
    parameters: Sequence[str],
    optimizer: Optimizer | Callable[..., Tensor],
    optimizer_inputs: OptimizerInputs = None,
    handlers: Handlers,
    fusion: FusionHook | None = None,
    bind_input: BindInput | None = None,
    seed_label: str = "seed",
    forward_expansions: Sequence[Pass[Graph]] = (),
    derivative_expansions: Sequence[Pass[DerivativeProgram]] = (),
    update_expansions: Sequence[Pass[TracedUpdate]] = (),
    options: CompileOptions | None = None,
) -> CompiledTrainingStep:
    """Compile a training step with these handlers.

    ``handlers`` is a registry, or a function that makes one per program; ``fusion`` serves every
    program. For everything else see ``TrainingStepCompiler.compile_training_step``.
    """
    return compiler_for(handlers, fusion).compile_training_step(
        loss,
        inputs=inputs,
        parameters=parameters,
        optimizer=optimizer,
        optimizer_inputs=optimizer_inputs,
        bind_input=bind_input,
        seed_label=seed_label,
        forward_expansions=forward_expansions,
        derivative_expansions=derivative_expansions,
        update_expansions=update_expansions,
        options=options,
    )


def compile_function(
    function: Callable[..., object],
    *,
    inputs: Mapping[str, InputSpec],
    handlers: Handlers,
    fusion: FusionHook | None = None,
    bind_input: BindInput | None = None,
    expansions: Sequence[Pass[Graph]] = (),
) -> CompiledFunction:
    """Compile a forward-only function with these handlers, for inference and evaluation."""
    return compiler_for(handlers, fusion).compile_function(
        function, inputs=inputs, bind_input=bind_input, expansions=expansions
    )


def explain_support(
    loss: Callable[..., object],
    *,
    inputs: Mapping[str, InputSpec],
    parameters: Sequence[str],
    optimizer: Optimizer | Callable[..., Tensor],
    optimizer_inputs: OptimizerInputs = None,
    container: TrainingStepContainer,
    options: CompileOptions | None = None,
) -> SupportReport:
    """Return what a container's backend supports of a step, before any handler runs.

    The report names every missing operator over all programs with lines and reasons, and what was
    decomposed at what cost. It prints as a table.
    """
    return container.compiler().explain_support(
        loss,
        inputs=inputs,
        parameters=parameters,
        optimizer=optimizer,
        optimizer_inputs=optimizer_inputs,
        options=options,
    )


def rank_next_handlers(
    loss: Callable[..., object],
    *,
    inputs: Mapping[str, InputSpec],
    parameters: Sequence[str],
    optimizer: Optimizer | Callable[..., Tensor],
    optimizer_inputs: OptimizerInputs = None,
    container: TrainingStepContainer,
    options: CompileOptions | None = None,
) -> HandlerRanking:
    """Return the handlers that a container's backend would gain most from, the best first."""
    return container.compiler().rank_next_handlers(
        loss,
        inputs=inputs,
        parameters=parameters,
        optimizer=optimizer,
        optimizer_inputs=optimizer_inputs,
        options=options,
    )


def check_tier(handlers: HandlerRegistry, tier: str) -> None:
    """Check that a registry has every operator of a tier, the literals and cast.

    Raises:
        BackendError: There is no such tier, or the registry lacks some of it; all are named.
    """
    if tier not in TIERS:
        raise BackendError("tier", expected=f"one of {', '.join(TIERS)}", got=repr(tier))
    wanted: tuple[type[Operator], ...] = (*TIERS[tier], Constant, Iota, Cast)
    missing = [operator.name for operator in wanted if not handlers.has_handler(operator)]
    if missing:
        raise BackendError(
            f"tier {tier!r}",
            expected=f"handlers for its {len(TIERS[tier])} operators, the literals and cast",
            got=f"none for {', '.join(missing)}",
        )


def trace_parameter_update(
    update: Callable[..., object],
    *,
    parameter: HasTypeMetadata,
    gradient: HasTypeMetadata,
    optimizer_inputs: Mapping[str, HasTypeMetadata],
) -> TracedUpdate:
    """Trace one optimizer update by itself, for a parameter and scalars of these types."""
    traced = TrainingStepContainer.optimizer_tracer().trace(
        update,
        parameter=_type(parameter),
        gradient=_type(gradient),
        optimizer_inputs={name: _type(spec) for name, spec in optimizer_inputs.items()},
        ids=fresh_ids(),
    )
    verify(traced.graph)
    return traced


def lower_graph(
    graph: Graph,
    *,
    handlers: Handlers,
    outputs: Sequence[str] | None = None,
    fusion: FusionHook | None = None,
    bind_input: BindInput | None = None,
) -> LoweredProgram:
    """Lower a graph as it is, without legalization.

    Args:
        graph: What to lower; all its inputs are declared.
        handlers: A registry, or a function that makes one.
        outputs: The ids to compute; by default the graph's outputs.
        fusion: The fusion hook.
        bind_input: Makes the target value of an input; by default its row.
    """
    verify(graph)
    compiler = compiler_for(handlers, fusion)
    analysis = compiler.dependency_classifier.classify(graph, _selected(graph, outputs))
    return _lowered(graph.name, analysis, compiler.lowerer, bind_input)


def lower_derivative_program(
    program: DerivativeProgram,
    *,
    forward_graph: Graph,
    seed_value_ids: Sequence[str],
    handlers: Handlers,
    outputs: Sequence[str] | None = None,
    fusion: FusionHook | None = None,
    bind_input: BindInput | None = None,
) -> LoweredProgram:
    """Lower a derivative program as it is, without legalization.

    Args:
        program: What to lower.
        forward_graph: What its captures and declared inputs belong to.
        seed_value_ids: The id of its seed.
        handlers: A registry, or a function that makes one.
        outputs: The ids to compute; by default the gradients.
        fusion: The fusion hook.
        bind_input: Makes the target value of what it reads; by default its row.
    """
    verify(program.graph)
    seed = program.seed.value
    if tuple(seed_value_ids) != (seed.id,):
        raise SeedShapeError("seed", expected=f"the one id {seed.id}", got=repr(seed_value_ids))
    against = DerivativeProgram(program.graph, forward_graph, program.seed, program.parameters)
    compiler = compiler_for(handlers, fusion)
    analysis = compiler.dependency_classifier.classify_derivative(
        against, _selected(program.graph, outputs)
    )
    return _lowered(program.graph.name, analysis, compiler.lowerer, bind_input)


def _lowered(
    name: str, analysis: DependencyAnalysis, lowerer: Lowerer, bind_input: BindInput | None
) -> LoweredProgram:
    program = ProgramToLower(name, analysis, lowerer.open_target())
    lowerer.check_support([program])
    return lowerer.lower(program, bind_input)


def _type(spec: HasTypeMetadata) -> TensorType:
    return TensorType(spec.dtype, spec.shape)


def _selected(graph: Graph, outputs: Sequence[str] | None) -> list[Value] | None:
    if outputs is None:
        return None
    known = {value.id: value for _, value in graph.inputs}
    known |= {operation.output.id: operation.output for operation in graph.operations}
    for value_id in outputs:
        if value_id not in known:
            raise InvalidOutputError(
                f"{graph.name}: output {value_id!r}", expected="an id of the graph", got="none"
            )
    return [known[value_id] for value_id in outputs]
