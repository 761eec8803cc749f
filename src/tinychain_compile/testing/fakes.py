"""A ready fake for every stage: each makes the least that lets the others go on.

Together they compile ``loss = the sum of all floating inputs``, whatever the loss is; each alone
stands in for its stage while all others are real. Where a fake takes an argument, that is what it
answers with.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tinychain_compile.artifacts import (
    Declaration,
    DeclaredOptimizer,
    DeclaredTransform,
    DependencyAnalysis,
    DerivativeProgram,
    LoweredOperation,
    LoweredProgram,
    Provenance,
    TracedUpdate,
    ValueDependency,
)
from tinychain_compile.capture_policies import CapturePolicy
from tinychain_compile.ir.builder import GraphBuilder
from tinychain_compile.ir.graph import Graph, IdSource, NamedValue, Operation, Value
from tinychain_compile.ir.types import TensorType
from tinychain_compile.protocols import BindInput, HandlerRegistry, LoweringTarget, ProgramToLower
from tinychain_compile.runtime_inputs import RuntimeInput
from tinychain_compile.slots import Slot
from tinychain_compile.tensor import Tensor
from tinychain_compile.testing.recording import RecordingRegistry
from tinychain_compile.trees import flatten


class FakeDeclarationChecker:
    """Takes every declaration as right.

    Args:
        declaration: What to answer; by default what is declared, unchecked.
    """

    def __init__(self, declaration: Declaration | None = None) -> None:
        self._declaration = declaration

    def check(
        self,
        loss: Callable[..., object],
        *,
        inputs: Mapping[str, Any],
        parameters: Sequence[str],
        optimizer: Any,
        optimizer_inputs: Any,
        bind_input: BindInput | None,
        seed_label: str,
        passes: Mapping[str, Sequence[object]],
        options: Any,
    ) -> Declaration:
        """Return the declaration."""
        if self._declaration is not None:
            return self._declaration
        types = self.check_function(loss, inputs=inputs, bind_input=None, passes={})
        rows = tuple(map(RuntimeInput, getattr(optimizer, "required_optimizer_inputs", ())))
        update = getattr(optimizer, "update", optimizer)
        describe: Callable[[TensorType], Any] = getattr(optimizer, "slots", _no_slots)
        slots = {types[name]: tuple(describe(types[name])) for name in parameters}
        only = DeclaredOptimizer("fake", None, update, rows, slots, "fake")
        optimizers = dict.fromkeys(parameters, only)
        names = tuple(parameters)
        return Declaration(types, names, (), optimizers, (), False, rows, "fake")

    def check_function(
        self,
        function: Callable[..., object],
        *,
        inputs: Mapping[str, Any],
        bind_input: BindInput | None,
        passes: Mapping[str, Sequence[object]],
    ) -> Mapping[str, TensorType]:
        """Return the type of each input."""
        leaves = flatten(inputs)
        return {name: TensorType(spec.dtype, spec.shape) for name, spec in leaves.items()}


def _no_slots(parameter: TensorType) -> tuple[Slot, ...]:  # noqa: ARG001
    return ()


class FakeTracer:
    """Calls nothing: the loss is the sum of all floating inputs.

    Args:
        graph: What to answer instead.
    """

    def __init__(self, graph: Graph | None = None) -> None:
        self._graph = graph

    def trace_loss(
        self, loss: Callable[..., object], inputs: Mapping[str, TensorType], ids: IdSource
    ) -> Graph:
        """Return the graph of the sum."""
        return self._graph or self._sum(inputs, ids, "forward", "loss")

    def trace_function(
        self, function: Callable[..., object], inputs: Mapping[str, TensorType], ids: IdSource
    ) -> Graph:
        """Return the graph of the sum."""
        return self._graph or self._sum(inputs, ids, "function", "output")

    def _sum(
        self, inputs: Mapping[str, TensorType], ids: IdSource, name: str, output: str
    ) -> Graph:
        builder = GraphBuilder(ids)
        named = tuple(NamedValue(key, builder.input(type)) for key, type in inputs.items())
        tensors = [Tensor(builder, value) for _, value in named if value.type.is_floating]
        first, *others = [tensor.sum() for tensor in tensors]
        for other in others:
            first = first + other.astype(first.dtype)
        outputs = (NamedValue(output, first.value),)
        return Graph(name, named, tuple(builder.operations), outputs)


class FakeVJPEngine:
    """Derives nothing: every gradient is the seed, in the parameter's shape.

    Args:
        program: What to answer instead.
    """

    def __init__(self, program: DerivativeProgram | None = None) -> None:
        self._program = program

    def derive(
        self,
        forward: Graph,
        parameters: Sequence[str],
        *,
        ids: IdSource,
        seed_label: str,
        on_disconnected: str,
        nan_guard: bool,
    ) -> DerivativeProgram:
        """Return the program of seeds."""
        if self._program is not None:
            return self._program
        builder = GraphBuilder(ids)
        inputs = dict(forward.inputs)
        named = tuple(NamedValue(name, inputs[name]) for name in parameters)
        seed = NamedValue(seed_label, builder.input(forward.outputs[0].value.type))
        outputs = [
            NamedValue(
                name,
                Tensor(builder, seed.value)
                .astype(value.type.dtype)
                .broadcast_to(value.type.shape)
                .value,
            )
            for name, value in named
        ]
        return DerivativeProgram.assemble(forward, seed, named, builder.operations, outputs)


class FakeGradientTransformer:
    """Leaves the gradients as they are."""

    def append(
        self,
        program: DerivativeProgram,
        transforms: Sequence[DeclaredTransform],
        *,
        accumulates: bool,
        is_scaled: bool,
        ids: IdSource,
    ) -> DerivativeProgram:
        """Return the program."""
        return program


class FakeCapturePlanner:
    """Captures whatever the derivative reads."""

    def plan(
        self, program: DerivativeProgram, ids: IdSource, *, policy: CapturePolicy
    ) -> DerivativeProgram:
        """Return the program."""
        return program


class FakeDependencyClassifier:
    """Schedules every operation, needed or not, in the order of the graph."""

    def classify(self, graph: Graph, outputs: Sequence[Value] | None = None) -> DependencyAnalysis:
        """Return an analysis in which every input is declared."""
        rows = [(value, Provenance.DECLARED_INPUT) for _, value in graph.inputs]
        return self._analysis(graph, outputs, rows)

    def classify_derivative(
        self, program: DerivativeProgram, outputs: Sequence[Value] | None = None
    ) -> DependencyAnalysis:
        """Return an analysis in which what a forward operation made is captured."""
        made = set[Value](program.forward.operations)
        rows = [
            (
                value,
                Provenance.FORWARD_CAPTURE
                if value in made
                else Provenance.SEED_INPUT
                if value is program.seed.value
                else Provenance.DECLARED_INPUT,
            )
            for _, value in program.graph.inputs
        ]
        return self._analysis(program.graph, outputs, rows)

    def select_forward(self, forward: Graph, derivative: DependencyAnalysis) -> Graph:
        """Return the forward graph with every capture as a further output."""
        captured = {row.value_id for row in derivative.forward_captures}
        known = {value for _, value in forward.outputs}
        further = tuple(
            NamedValue(f"@{operation.id}", operation)
            for operation in forward.operations
            if operation.id in captured and operation not in known
        )
        return Graph(forward.name, forward.inputs, forward.operations, (*forward.outputs, *further))

    def _analysis(
        self,
        graph: Graph,
        outputs: Sequence[Value] | None,
        inputs: Sequence[tuple[Value, Provenance]],
    ) -> DependencyAnalysis:
        selected = [value for _, value in graph.outputs] if outputs is None else outputs
        rows = tuple(ValueDependency.of(value, provenance) for value, provenance in inputs)
        return DependencyAnalysis(tuple(value.id for value in selected), rows, graph.operations)


class FakeOptimizerTracer:
    """Calls no update: parameters and slots stay as they are."""

    def trace(
        self,
        update: Callable[..., object],
        *,
        parameter: TensorType,
        gradient: TensorType,
        optimizer_inputs: Mapping[str, TensorType],
        slots: Sequence[Slot] = (),
        ids: IdSource,
    ) -> TracedUpdate:
        """Return the update that changes nothing."""
        state = {slot.name: slot.type for slot in slots}
        roles = {"parameter": parameter, "gradient": gradient, **state, **optimizer_inputs}
        inputs = tuple(NamedValue(name, Value(next(ids), type)) for name, type in roles.items())
        outputs = tuple(row for row in inputs if row.name in ("parameter", *state))
        return TracedUpdate(Graph("update", inputs, (), outputs))


class FakeLegalizer:
    """Decomposes nothing."""

    def legalize(
        self, graph: Graph, handlers: HandlerRegistry, ids: IdSource, *, approximate: bool = True
    ) -> Graph:
        """Return the graph."""
        return graph

    def why_kept(self, operation: Operation) -> str:
        """Return that this is a fake."""
        return "the legalizer is a fake"


class FakeSimplifier:
    """Simplifies nothing."""

    def simplify(
        self,
        graph: Graph,
        ids: IdSource,
        *,
        names: Sequence[str],
        supports: Callable[[Operation], bool] | None = None,
    ) -> Graph:
        """Return the graph."""
        return graph


class FakePassRunner:
    """Runs no pass."""

    def run_graph(self, graph: Graph, passes: Sequence[Any], *, stage: str) -> Graph:
        """Return the graph."""
        return graph

    def run_derivative(
        self, program: DerivativeProgram, passes: Sequence[Any]
    ) -> DerivativeProgram:
        """Return the program."""
        return program

    def run_update(self, update: TracedUpdate, passes: Sequence[Any]) -> TracedUpdate:
        """Return the update."""
        return update


class _FusesNothing:
    """A fusion hook that takes nothing."""

    lookahead = 1

    def fuse(self, context: object) -> None:
        """Return nothing."""


class FakeLowerer:
    """Asks no handler: an operation becomes a line of text."""

    def open_target(self) -> LoweringTarget:
        """Return a registry that supports everything, and no fusion."""
        return LoweringTarget(RecordingRegistry(), _FusesNothing())

    def check_support(
        self,
        programs: Sequence[ProgramToLower],
        why_kept: Callable[[Operation], str] | None = None,
    ) -> None:
        """Find nothing missing."""

    def lower(self, program: ProgramToLower, bind_input: BindInput | None) -> LoweredProgram:
        """Return the program as lines of text."""
        analysis = program.analysis
        lowered = tuple(
            LoweredOperation(operation.id, str(operation), (operation,), False)
            for operation in analysis.schedule
        )
        values = {row.value_id: row.value_id for row in analysis.required_inputs}
        values |= {row.output_value_id: row.value for row in lowered}
        return LoweredProgram(analysis.selected_outputs, lowered, values, analysis)
