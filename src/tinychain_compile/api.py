"""Function-style entry points over the container, for a caller who has handlers at hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias, cast

import numpy as np

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
    OptimizerChoice,
    OptimizerInputs,
    Pass,
    ProgramToLower,
)
from tinychain_compile.reports import ClaimRow, FusionProof, HandlerRanking, SupportReport
from tinychain_compile.runtime_inputs import STEP
from tinychain_compile.slots import Slot
from tinychain_compile.trees import flatten

Handlers: TypeAlias = HandlerRegistry | Callable[[], HandlerRegistry]
"""A registry that serves every program, or a function that makes one for each."""


def compile_training_step(
    loss: Callable[..., object],
    *,
    inputs: Mapping[str, InputSpec],
    parameters: Sequence[str],
    optimizer: OptimizerChoice,
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
    optimizer: OptimizerChoice,
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
    optimizer: OptimizerChoice,
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


def check_fusion(
    fusion: FusionHook,
    loss: Callable[..., object],
    *,
    inputs: Mapping[str, Any],
    parameters: Sequence[str],
    optimizer: OptimizerChoice,
    optimizer_inputs: Mapping[str, float],
    handlers: Handlers,
    run: Callable[[LoweredProgram, Mapping[str, Any]], Mapping[str, Any]],
    tolerance: float = 1e-6,
) -> FusionProof:
    """Compile a step with a fusion hook and without, run both, and compare every result.

    Args:
        fusion: The hook to prove.
        loss: A loss that holds what the hook is meant to take.
        inputs: An array for each input, nested or by name, parameters included.
        parameters: The names to differentiate by.
        optimizer: Gives each new parameter.
        optimizer_inputs: The value of each runtime scalar, but for defaults; ``step`` is 1.
        handlers: The backend's.
        run: Runs a lowered program: from arrays by id, of all that it reads, to its outputs by id.
        tolerance: The largest difference allowed, relative to the largest element of a result.
    """
    leaves = flatten(inputs)
    declares_its_own = hasattr(optimizer, "update") or isinstance(cast(object, optimizer), Mapping)
    steps = [
        compile_training_step(
            loss,
            inputs=leaves,
            parameters=parameters,
            optimizer=optimizer,
            optimizer_inputs=None if declares_its_own else list(optimizer_inputs),
            handlers=handlers,
            fusion=hook,
        )
        for hook in (fusion, None)
    ]
    fused, plain = (_results(step, leaves, optimizer_inputs, run) for step in steps)
    worst = max(_difference(fused[name], plain[name]) for name in plain)
    return FusionProof(tuple(_claims(steps[0])), worst, tolerance)


def _results(
    step: CompiledTrainingStep,
    leaves: Mapping[str, Any],
    scalars: Mapping[str, float],
    run: Callable[[LoweredProgram, Mapping[str, Any]], Mapping[str, Any]],
) -> dict[str, Any]:
    """Return the loss, auxiliary outputs, gradients, new parameters and state of one step."""
    defaults = {row.name: row.default for row in step.runtime_inputs if row.default is not None}
    fed = {**defaults, STEP: 1.0, **scalars}
    values = {i: np.asarray(leaves[name]) for name, i in step.input_value_ids.items()}
    values |= run(step.forward, values)
    loss = np.asarray(values[step.loss_value_id])
    values |= {seed: np.ones((), loss.dtype) for seed in step.seed_value_ids}
    gradients = run(step.derivative, values)
    named = {"loss": step.loss_value_id, **step.auxiliary_value_ids}
    results: dict[str, Any] = {name: values[i] for name, i in named.items()}
    for row in step.parameters:
        gradient = gradients[row.gradient_value_id]
        bound: dict[str, Any] = {}
        parameter = values[row.value_id]
        given = {"parameter": parameter, "gradient": gradient}
        given |= {slot.name: slot.start(np.asarray(parameter)) for slot in row.slots}
        for role, value in row.lowered_update_graph.inputs:
            scalar = fed[row.runtime_inputs[role]] if role in row.runtime_inputs else None
            bound[value.id] = (
                given[role] if scalar is None else np.asarray(scalar, value.type.dtype)
            )
        updated = run(row.update, bound)
        results[f"gradient of {row.name}"] = gradient
        results[f"new {row.name}"] = updated[row.updated_parameter_value_id]
        results |= {f"new {slot.key}": updated[slot.output_value_id] for slot in row.slots}
    return results


def _difference(left: Any, right: Any) -> float:
    """Return the largest difference, relative to the largest element; infinite if kinds differ."""
    a, b = (np.asarray(x, np.float64) for x in (left, right))
    if a.shape != b.shape or not np.array_equal(np.isnan(a), np.isnan(b)):
        return float("inf")
    same = (a == b) | np.isnan(a)
    scale = float(np.max(np.abs(b), initial=0.0, where=np.isfinite(b))) or 1.0
    return float(np.max(np.abs(np.where(same, 0.0, a - b)), initial=0.0)) / scale


def _claims(step: CompiledTrainingStep) -> Iterator[ClaimRow]:
    programs = {"forward": step.forward, "derivative": step.derivative}
    programs |= {f"update of {row.name}": row.update for row in step.parameters}
    for name, program in programs.items():
        for lowered in program.operations:
            if lowered.is_fused:
                sources = tuple(str(operation.origin) for operation in lowered.sources)
                yield ClaimRow(name, lowered.source_operators, sources)


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
    slots: Sequence[Slot] = (),
) -> TracedUpdate:
    """Trace one optimizer update by itself, for a parameter, slots and scalars of these types."""
    traced = TrainingStepContainer.optimizer_tracer().trace(
        update,
        parameter=_type(parameter),
        gradient=_type(gradient),
        optimizer_inputs={name: _type(spec) for name, spec in optimizer_inputs.items()},
        slots=slots,
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
    against = replace(program, forward=forward_graph)
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
    known |= {operation.id: operation for operation in graph.operations}
    for value_id in outputs:
        if value_id not in known:
            raise InvalidOutputError(
                f"{graph.name}: output {value_id!r}", expected="an id of the graph", got="none"
            )
    return [known[value_id] for value_id in outputs]
