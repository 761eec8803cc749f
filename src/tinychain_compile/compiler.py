"""The order of the work, nothing else: every step is a stage that was plugged in."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple, cast

from tinychain_compile.artifacts import (
    DEAD_CODE,
    CompiledFunction,
    CompiledTrainingStep,
    CompileOptions,
    Declaration,
    DeclaredOptimizer,
    DependencyAnalysis,
    DerivativeProgram,
    TracedUpdate,
)
from tinychain_compile.capability import Capability
from tinychain_compile.capture_policies import CapturePolicy
from tinychain_compile.errors import DeclarationError, LossOutputError
from tinychain_compile.ir.collection import paused_collection
from tinychain_compile.ir.dtypes import F32, F64
from tinychain_compile.ir.graph import Graph, IdSource, Operation, Value, fresh_ids
from tinychain_compile.ir.types import TensorType
from tinychain_compile.ir.verifier import verify
from tinychain_compile.laps import Laps, report
from tinychain_compile.operators import OPERATORS, Named, StopGradient
from tinychain_compile.protocols import (
    BindInput,
    CapturePlanner,
    DeclarationChecker,
    DependencyClassifier,
    GradientTransformer,
    InputSpec,
    Legalizer,
    Lowerer,
    LoweringTarget,
    OptimizerChoice,
    OptimizerInputs,
    OptimizerTracer,
    Pass,
    PassRunner,
    ProgramToLower,
    Simplifier,
    Tracer,
    VJPEngine,
    pass_label,
)
from tinychain_compile.records import (
    Prepared,
    Program,
    Programs,
    sources_of_symbols,
    step_record,
)
from tinychain_compile.reports import HandlerRank, HandlerRanking, SupportReport
from tinychain_compile.runtime_inputs import LOSS_SCALE
from tinychain_compile.settings import StepDefaults
from tinychain_compile.sharing import Update, UpdateKey, updates_of
from tinychain_compile.support import (
    LegalizedProgram,
    WithHandler,
    decompositions_in,
    size_of_programs,
    support_report,
)


class _Passes(NamedTuple):
    """The caller's passes."""

    forward: Sequence[Pass[Graph]] = ()
    derivative: Sequence[Pass[DerivativeProgram]] = ()
    update: Sequence[Pass[TracedUpdate]] = ()


_NO_PASSES = _Passes()


@dataclass(frozen=True, slots=True)
class TrainingStepCompiler:
    """Compiles training steps and functions through its stages.

    Each stage is documented at its Protocol. Build one by hand, or get it from a container.
    """

    declaration_checker: DeclarationChecker
    tracer: Tracer
    vjp_engine: VJPEngine
    gradient_transformer: GradientTransformer
    capture_planner: CapturePlanner
    dependency_classifier: DependencyClassifier
    optimizer_tracer: OptimizerTracer
    simplifier: Simplifier
    legalizer: Legalizer
    pass_runner: PassRunner
    lowerer: Lowerer
    defaults: StepDefaults = field(default_factory=StepDefaults)

    @paused_collection()
    def compile_training_step(
        self,
        loss: Callable[..., object],
        *,
        inputs: Mapping[str, InputSpec],
        parameters: Sequence[str],
        optimizer: OptimizerChoice | None = None,
        optimizer_inputs: OptimizerInputs = None,
        bind_input: BindInput | None = None,
        seed_label: str = "seed",
        forward_expansions: Sequence[Pass[Graph]] = (),
        derivative_expansions: Sequence[Pass[DerivativeProgram]] = (),
        update_expansions: Sequence[Pass[TracedUpdate]] = (),
        options: CompileOptions | None = None,
    ) -> CompiledTrainingStep:
        """Return the record of one training step.

        Args:
            loss: Takes every input by keyword, returns a floating scalar, or one and a mapping of
                auxiliary outputs. Called once.
            inputs: The dtype and shape of each input, parameters included; may be nested.
            parameters: The names to differentiate by, in order; a prefix stands for all below it.
            optimizer: Gives each new parameter; by default the configured one.
            optimizer_inputs: The runtime scalars of the update; by default what it requires.
            bind_input: Makes the target value of what a program reads; by default its row.
            seed_label: What the seed is called in the derivative program.
            forward_expansions: Passes over the forward graph, after the configured ones.
            derivative_expansions: Passes over the derivative program.
            update_expansions: Passes over each update.
            options: Policies; by default the configured ones.

        Raises:
            CompilationError: Or the member of the family that says what is wrong. What the loss or
                the update itself raises passes through.
        """
        laps = Laps()
        options = options or self.defaults.options
        passes = _Passes(
            self.defaults.with_configured("forward", forward_expansions),
            self.defaults.with_configured("derivative", derivative_expansions),
            self.defaults.with_configured("update", update_expansions),
        )
        prepared = self._prepared(
            loss,
            inputs=inputs,
            parameters=parameters,
            optimizer=optimizer,
            optimizer_inputs=optimizer_inputs,
            bind_input=bind_input,
            seed_label=seed_label,
            passes=passes,
            options=options,
            laps=laps,
        )
        programs = self._programs(prepared, prepared.targets, passes, options)
        laps.end("legalizer, pass_runner")
        self.lowerer.check_support(
            [
                programs.forward.to_lower,
                programs.derivative_to_lower,
                *(program.to_lower for program in programs.updates.values()),
            ],
            self.legalizer.why_kept,
        )
        lowered_forward = self.lowerer.lower(programs.forward.to_lower, bind_input)
        lowered_derivative = self.lowerer.lower(programs.derivative_to_lower, bind_input)
        lowered_updates = {
            key: self.lowerer.lower(program.to_lower, bind_input)
            for key, program in programs.updates.items()
        }
        laps.end("lowerer")
        record = step_record(
            prepared,
            programs,
            lowered_forward,
            lowered_derivative,
            lowered_updates,
            self._support(prepared, programs, None),
            {stage: _labels(items) for stage, items in passes._asdict().items()},
            laps.seconds(),
        )
        laps.end("record")
        report("a training step", sum(len(g.operations) for g in programs.graphs), laps.seconds())
        return record

    def explain_support(
        self,
        loss: Callable[..., object],
        *,
        inputs: Mapping[str, InputSpec],
        parameters: Sequence[str],
        optimizer: OptimizerChoice | None = None,
        optimizer_inputs: OptimizerInputs = None,
        options: CompileOptions | None = None,
    ) -> SupportReport:
        """Return what the backend supports of a step, without lowering anything.

        Missing handlers do not stop it: all are in the report.
        """
        options = options or self.defaults.options
        prepared = self._prepared(
            loss,
            inputs=inputs,
            parameters=parameters,
            optimizer=optimizer,
            optimizer_inputs=optimizer_inputs,
            options=options,
        )
        programs = self._programs(prepared, prepared.targets, _NO_PASSES, options)
        return self._support(prepared, programs, self.legalizer.why_kept)

    def rank_next_handlers(
        self,
        loss: Callable[..., object],
        *,
        inputs: Mapping[str, InputSpec],
        parameters: Sequence[str],
        optimizer: OptimizerChoice | None = None,
        optimizer_inputs: OptimizerInputs = None,
        options: CompileOptions | None = None,
    ) -> HandlerRanking:
        """Return the handlers worth adding, by the operations and bytes that each would remove.

        Everything is legalized again as if there were one more handler, for each operator that was
        decomposed anywhere.
        """
        options = options or self.defaults.options
        prepared = self._prepared(
            loss,
            inputs=inputs,
            parameters=parameters,
            optimizer=optimizer,
            optimizer_inputs=optimizer_inputs,
            options=options,
        )
        graphs = self._programs(prepared, prepared.targets, _NO_PASSES, options).graphs
        names = set[str]().union(*map(decompositions_in, graphs))
        count, size = size_of_programs(graphs)
        rows: list[HandlerRank] = []
        for operator in OPERATORS:
            if operator.name in names and operator not in (StopGradient, Named):
                better = {
                    key: LoweringTarget(WithHandler(target.handlers, operator), target.fusion)
                    for key, target in prepared.targets.items()
                }
                extended = self._programs(prepared, better, _NO_PASSES, options).graphs
                fewer, smaller = size_of_programs(extended)
                saved = None if size is None or smaller is None else size - smaller
                rows.append(HandlerRank(operator, count - fewer, saved))
        rows.sort(key=lambda row: (-row.operations_removed, -(row.bytes_removed or 0)))
        return HandlerRanking(tuple(rows))

    @paused_collection()
    def compile_function(
        self,
        function: Callable[..., object],
        *,
        inputs: Mapping[str, InputSpec],
        bind_input: BindInput | None = None,
        expansions: Sequence[Pass[Graph]] = (),
    ) -> CompiledFunction:
        """Return the record of a function without derivative, for inference and evaluation.

        Args:
            function: Takes every input by keyword, returns a tensor or a mapping of them.
            inputs: The dtype and shape of each input.
            bind_input: Makes the target value of an input; by default its row.
            expansions: Passes over the graph.

        Raises:
            CompilationError: Or the member of the family that says what is wrong.
        """
        laps = Laps()
        expansions = self.defaults.with_configured("function", expansions)
        types = self.declaration_checker.check_function(
            function, inputs=inputs, bind_input=bind_input, passes={"function": expansions}
        )
        laps.end("declaration_checker")
        target = self.lowerer.open_target()
        ids = fresh_ids()
        graph = self.tracer.trace_function(function, types, ids)
        verify(graph)
        laps.end("tracer")
        simple = self._simplified(graph, ids, self.defaults.options.simplifications)
        laps.end("simplifier")
        program = self._ready("function", simple, target, expansions, ids, self.defaults.options)
        laps.end("legalizer, pass_runner")
        self.lowerer.check_support([program.to_lower], self.legalizer.why_kept)
        lowered = self.lowerer.lower(program.to_lower, bind_input)
        laps.end("lowerer")
        report("a function", len(program.graph.operations), laps.seconds())
        return CompiledFunction(
            source_graph=graph,
            lowered_graph=program.graph,
            program=lowered,
            input_value_ids=MappingProxyType(graph.input_ids),
            output_value_ids=MappingProxyType(program.graph.output_ids),
            symbol_sources=sources_of_symbols(types),
            timings=laps.seconds(),
        )

    def _prepared(
        self,
        loss: Callable[..., object],
        *,
        inputs: Mapping[str, InputSpec],
        parameters: Sequence[str],
        optimizer: OptimizerChoice | None,
        optimizer_inputs: OptimizerInputs,
        options: CompileOptions,
        bind_input: BindInput | None = None,
        seed_label: str = "seed",
        passes: _Passes = _NO_PASSES,
        laps: Laps | None = None,
    ) -> Prepared:
        """Do all that comes before legalization."""
        laps = laps or Laps()
        chosen = self.defaults.optimizer if optimizer is None else optimizer
        if chosen is None:
            raise DeclarationError(
                "optimizer",
                expected="one, in the call or in the container's settings",
                got="none",
            )
        declaration = self.declaration_checker.check(
            loss,
            inputs=inputs,
            parameters=parameters,
            optimizer=chosen,
            optimizer_inputs=optimizer_inputs,
            bind_input=bind_input,
            seed_label=seed_label,
            passes=passes._asdict(),
            options=options,
        )
        update_keys = {
            name: UpdateKey(declaration.inputs[name], optimizer.template_key)
            for name, optimizer in declaration.optimizers.items()
        }
        keys: tuple[str | UpdateKey, ...] = (
            "forward",
            "derivative",
            *dict.fromkeys(update_keys.values()),
        )
        laps.end("declaration_checker")
        targets = {key: self.lowerer.open_target() for key in keys}
        laps.end("lowerer")
        ids, names = fresh_ids(), options.simplifications

        forward = self.tracer.trace_loss(loss, declaration.inputs, ids)
        verify(forward)
        _check_parameters_are_no_buffers(forward, declaration.parameters)
        laps.end("tracer")
        simple = self._simplified(forward, ids, [n for n in names if n != DEAD_CODE])
        laps.end("simplifier")
        derivative = self.vjp_engine.derive(
            simple,
            declaration.parameters,
            ids=ids,
            seed_label=seed_label,
            on_disconnected=options.on_disconnected,
            nan_guard=options.nan_guard,
        )
        verify(derivative.graph)
        laps.end("vjp_engine")
        derivative = self._transformed(derivative, declaration, ids)
        laps.end("gradient_transformer")
        planned = self.capture_planner.plan(
            derivative, ids, policy=cast(CapturePolicy, options.captures)
        )
        if planned is not derivative:
            verify(planned.graph)
        laps.end("capture_planner")
        graph = self._simplified(planned.graph, ids, names)
        if graph is not planned.graph:
            planned = planned.with_graph(graph)
        laps.end("simplifier")
        captures = self.dependency_classifier.classify_derivative(planned)
        selected = self.dependency_classifier.select_forward(simple, captures)
        if selected is not simple:
            verify(selected)
        laps.end("dependency_classifier")
        servers = {key: declaration.optimizers[name] for name, key in update_keys.items()}

        def update_of(key: UpdateKey, optimizer: DeclaredOptimizer) -> Update:
            traced = self._traced_update(key.type, optimizer, ids)
            laps.end("optimizer_tracer")
            simple = self._simple_update(traced, ids, names)
            laps.end("simplifier")
            return Update(traced, simple)

        updates = updates_of(servers, update_of, ids)
        laps.end("optimizer_tracer")
        return Prepared(
            declaration,
            update_keys,
            _update_names(servers),
            targets,
            ids,
            forward,
            derivative,
            planned,
            captures,
            selected,
            updates,
        )

    def _transformed(
        self, derivative: DerivativeProgram, declaration: Declaration, ids: IdSource
    ) -> DerivativeProgram:
        """Append what becomes of the gradients before the updates."""
        transformed = self.gradient_transformer.append(
            derivative,
            declaration.transforms,
            accumulates=declaration.accumulates,
            is_scaled=any(row.name == LOSS_SCALE for row in declaration.runtime_inputs),
            ids=ids,
        )
        if transformed is not derivative:
            verify(transformed.graph)
        return transformed

    def _programs(
        self,
        prepared: Prepared,
        targets: Mapping[str | UpdateKey, LoweringTarget],
        passes: _Passes,
        options: CompileOptions,
    ) -> Programs:
        """Legalize every program for its target, and run the caller's passes."""
        ids = prepared.ids
        forward = self._ready(
            "forward", prepared.selected, targets["forward"], passes.forward, ids, options
        )
        derivative, derivative_to_lower = self._ready_derivative(
            prepared.planned,
            prepared.captures,
            targets["derivative"],
            passes.derivative,
            ids,
            options,
        )
        updates = {
            key: self._ready_update(
                prepared.update_names[key], update.simple, targets[key], passes.update, ids, options
            )
            for key, update in prepared.updates.items()
        }
        return Programs(forward, derivative, derivative_to_lower, updates)

    def _support(
        self,
        prepared: Prepared,
        programs: Programs,
        why_kept: Callable[[Operation], str] | None,
    ) -> SupportReport:
        """Return what became of every operator of every program."""
        sources = [prepared.selected, prepared.planned.graph]
        sources += [update.simple.graph for update in prepared.updates.values()]
        names = ["forward", "derivative", *(prepared.update_names[k] for k in prepared.updates)]
        return support_report(
            [
                LegalizedProgram(name, source, legal, target.handlers)
                for name, source, legal, target in zip(
                    names, sources, programs.graphs, prepared.targets.values(), strict=True
                )
            ],
            why_kept,
        )

    def _traced_update(
        self, type: TensorType, optimizer: DeclaredOptimizer, ids: IdSource
    ) -> TracedUpdate:
        """Trace the update that all parameters of one type and optimizer share."""
        own = F64 if type.dtype == F64 else F32
        update = self.optimizer_tracer.trace(
            optimizer.update,
            parameter=type,
            gradient=type,
            optimizer_inputs={
                row.name: TensorType.of(row.dtype or own, ()) for row in optimizer.inputs
            },
            slots=optimizer.slots[type],
            ids=ids,
        )
        verify(update.graph)
        return update

    def _simple_update(
        self, update: TracedUpdate, ids: IdSource, names: Sequence[str]
    ) -> TracedUpdate:
        graph = self._simplified(update.graph, ids, names)
        return update if graph is update.graph else TracedUpdate(graph)

    def _ready(
        self,
        name: str,
        graph: Graph,
        target: LoweringTarget,
        passes: Sequence[Pass[Graph]],
        ids: IdSource,
        options: CompileOptions,
    ) -> Program:
        """Legalize a graph for its target, run the caller's passes, and analyse it."""
        legal = self._legalized(graph, target, ids, options)
        legal = self.pass_runner.run_graph(legal, passes, stage=name)
        analysis = self.dependency_classifier.classify(legal, _once(legal))
        return Program(legal, ProgramToLower(name, analysis, target))

    def _ready_derivative(
        self,
        program: DerivativeProgram,
        analysis: DependencyAnalysis,
        target: LoweringTarget,
        passes: Sequence[Pass[DerivativeProgram]],
        ids: IdSource,
        options: CompileOptions,
    ) -> tuple[DerivativeProgram, ProgramToLower]:
        """Do the same for the derivative, whose analysis holds for as long as nothing changes."""
        graph = self._legalized(program.graph, target, ids, options)
        legal = program if graph is program.graph else program.with_graph(graph)
        legal = self.pass_runner.run_derivative(legal, passes)
        if legal is not program:
            analysis = self.dependency_classifier.classify_derivative(legal)
        return legal, ProgramToLower("derivative", analysis, target)

    def _ready_update(
        self,
        name: str,
        update: TracedUpdate,
        target: LoweringTarget,
        passes: Sequence[Pass[TracedUpdate]],
        ids: IdSource,
        options: CompileOptions,
    ) -> Program:
        """Do the same for an update."""
        legal = TracedUpdate(self._legalized(update.graph, target, ids, options))
        graph = self.pass_runner.run_update(legal, passes).graph
        analysis = self.dependency_classifier.classify(graph)
        return Program(graph, ProgramToLower(name, analysis, target))

    def _legalized(
        self, graph: Graph, target: LoweringTarget, ids: IdSource, options: CompileOptions
    ) -> Graph:
        legal = self.legalizer.legalize(
            graph, target.handlers, ids, approximate=options.approximate_decompositions
        )
        if legal is graph:
            return graph
        verify(legal)
        capability = Capability(target.handlers)

        def supports(operation: Operation) -> bool:
            return capability.why_not(operation) is None

        return self._simplified(legal, ids, options.simplifications, supports)

    def _simplified(
        self,
        graph: Graph,
        ids: IdSource,
        names: Sequence[str],
        supports: Callable[[Operation], bool] | None = None,
    ) -> Graph:
        simple = self.simplifier.simplify(graph, ids, names=names, supports=supports)
        if simple is not graph:
            verify(simple)
        return simple


def _update_names(servers: Mapping[UpdateKey, DeclaredOptimizer]) -> dict[UpdateKey, str]:
    """Return what each update is called: with the optimizer, where several serve one type."""
    types = [key.type for key in servers]
    return {
        key: f"update of {key.type}"
        + (f" by {optimizer.label}" if types.count(key.type) > 1 else "")
        for key, optimizer in servers.items()
    }


def _check_parameters_are_no_buffers(forward: Graph, parameters: Sequence[str]) -> None:
    """Check that no auxiliary output would be a parameter's new value beside the update's."""
    for name, value in forward.outputs[1:]:
        if name in parameters:
            raise LossOutputError(
                f"auxiliary output {name!r}",
                expected="another name: the optimizer gives the parameter of this name its value",
                got=str(value.type),
            )


def _once(graph: Graph) -> list[Value]:
    """Return the outputs of a graph, a value with two names once."""
    return list(dict.fromkeys(value for _, value in graph.outputs))


def _labels(passes: Sequence[object]) -> tuple[str, ...]:
    return tuple(map(pass_label, passes))
