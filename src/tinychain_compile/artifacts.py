"""The records that stages hand on. All frozen, all data; target values inside are never touched."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from enum import StrEnum
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

from tinychain_compile.capture_policies import POLICIES_BY_NAME, CapturePolicy
from tinychain_compile.errors import DeclarationError
from tinychain_compile.ir.dimensions import Shape
from tinychain_compile.ir.dtypes import DType
from tinychain_compile.ir.graph import Graph, NamedValue, Operation, Value
from tinychain_compile.ir.operator import Operator
from tinychain_compile.ir.printer import fingerprint
from tinychain_compile.ir.traversal import free_values
from tinychain_compile.ir.types import TensorType
from tinychain_compile.ledgers import Ledger, capture_ledger, constant_ledger
from tinychain_compile.reports import SupportReport
from tinychain_compile.runtime_inputs import OF_THE_STEP, RuntimeInput
from tinychain_compile.slots import Slot, SlotCompilation

TargetValue: TypeAlias = Any
"""Whatever a handler returned: carried, never inspected, compared, hashed or iterated."""

OnDisconnected: TypeAlias = Literal["error", "zero"]
"""What to do about a parameter without a path to the loss."""


# Declaration.


COMMON_SUBEXPRESSIONS = "common_subexpressions"
DEAD_CODE = "dead_code"

SIMPLIFICATIONS = (
    "constant_folding",
    "identities",
    "casts",
    "zero_cotangents",
    "movement",
    "sinking",
    COMMON_SUBEXPRESSIONS,
    DEAD_CODE,
)
"""The simplifications that there are; what each does is in ``simplification``."""


@dataclass(frozen=True, slots=True)
class CompileOptions:
    """Policies that are not part of the contract's signature.

    Args:
        on_disconnected: ``"error"`` names where a parameter's path breaks; ``"zero"`` gives zeros.
        nan_guard: Whether a zero cotangent annihilates a factor that is infinite or NaN, as in
            ``where(x > 0, log(x), 0)`` at 0; without it there is NaN, as elsewhere.
        approximate_decompositions: Whether an operator without a handler may be decomposed into an
            approximation, such as erf into polynomials; without it, it is reported as missing.
        gradient_transforms: What becomes of all gradients, one transform after another, before
            the updates: clipping, decay, and the like.
        accumulate_gradients: Whether gradients can be summed over micro-batches before an update.
        captures: What the derivative reads from the forward run, or the name of such a policy:
            ``"keep_all"``, ``"keep_named"``, ``"recompute_all"``, ``"minimum_cut"``.
        simplifications: The names of those to apply, of ``SIMPLIFICATIONS``; all by default.
    """

    on_disconnected: OnDisconnected = "error"
    nan_guard: bool = True
    approximate_decompositions: bool = True
    gradient_transforms: Sequence[object] = ()
    accumulate_gradients: bool = False
    captures: CapturePolicy | str = "keep_all"
    simplifications: Sequence[str] = SIMPLIFICATIONS

    def __post_init__(self) -> None:
        choices = get_args(OnDisconnected)
        if self.on_disconnected not in choices:
            raise DeclarationError(
                "option on_disconnected",
                expected=f"one of {', '.join(map(repr, choices))}",
                got=repr(self.on_disconnected),
            )
        for name in ("nan_guard", "approximate_decompositions", "accumulate_gradients"):
            given: object = getattr(self, name)
            if given not in (True, False):
                raise DeclarationError(f"option {name}", expected="True or False", got=repr(given))
        policy: object = self.captures
        if isinstance(policy, str):
            policy = POLICIES_BY_NAME.get(policy, policy)
            object.__setattr__(self, "captures", policy)
        if not isinstance(policy, get_args(CapturePolicy)):
            raise DeclarationError(
                "option captures",
                expected=f"a capture policy, or a name among {', '.join(POLICIES_BY_NAME)}",
                got=repr(self.captures),
            )
        names = (
            (self.simplifications,)
            if isinstance(self.simplifications, str)
            else tuple(self.simplifications)
        )
        for name in names:
            if name not in SIMPLIFICATIONS:
                near = get_close_matches(str(name), SIMPLIFICATIONS, n=1)
                raise DeclarationError(
                    "option simplifications",
                    expected=f"names among {', '.join(SIMPLIFICATIONS)}",
                    got=repr(name),
                    hint=f"Is {near[0]!r} meant?" if near else None,
                )
        object.__setattr__(self, "simplifications", names)


@dataclass(frozen=True, slots=True, eq=False)
class DeclaredOptimizer:
    """What one optimizer declares, checked.

    Args:
        label: What it is called.
        group: The pattern of the parameters it serves; ``None`` if it serves all.
        update: Its update function.
        inputs: The runtime scalars that the update reads, in order, by role.
        slots: Its state for a parameter of each type.
        template_key: Optimizers of equal key are traced alike.
        is_elementwise: Whether the update is traced alike for parameters of every shape.
    """

    label: str
    group: str | None
    update: Any
    inputs: tuple[RuntimeInput, ...]
    slots: Mapping[TensorType, tuple[Slot, ...]]
    template_key: Hashable
    is_elementwise: bool = False

    def runtime_input_of(self, role: RuntimeInput) -> RuntimeInput:
        """Return what the consumer feeds for a role: named for the group unless of the step."""
        if self.group is None or role.name in OF_THE_STEP:
            return role
        return replace(role, name=f"{self.group}/{role.name}")


@dataclass(frozen=True, slots=True, eq=False)
class DeclaredTransform:
    """What one gradient transform declares, checked.

    Args:
        label: What it is called.
        transform: Its function.
        inputs: The runtime scalars it reads, in order.
    """

    label: str
    transform: Any
    inputs: tuple[RuntimeInput, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Declaration:
    """What the caller declared, checked.

    Args:
        inputs: Type of each input, by name, in order.
        parameters: The names to differentiate by, in order.
        frozen_parameters: Parameters that stay as they are.
        optimizers: The optimizer of each parameter.
        transforms: What becomes of the gradients, in order.
        accumulates: Whether gradients are summed over micro-batches.
        runtime_inputs: All that the consumer feeds, each once.
        optimizer_label: What the optimizer is called in the record.
    """

    inputs: Mapping[str, TensorType]
    parameters: tuple[str, ...]
    frozen_parameters: tuple[str, ...]
    optimizers: Mapping[str, DeclaredOptimizer]
    transforms: tuple[DeclaredTransform, ...]
    accumulates: bool
    runtime_inputs: tuple[RuntimeInput, ...]
    optimizer_label: str


# Programs before lowering.


@dataclass(frozen=True, slots=True)
class DerivativeProgram:
    """The vector-Jacobian product of a forward graph, as a graph of its own.

    Args:
        graph: From what it reads (declared inputs, the seed, forward captures; the same ``Value``
            objects as in the forward graph) to one gradient per parameter, named by it, and what
            gradient transforms publish.
        forward: The graph that was differentiated.
        seed: The input that multiplies the derivative: a scalar of the loss's type.
        parameters: The inputs of the forward graph that were differentiated by, in order.
        own_inputs: What gradient transforms read beside these: runtime scalars named ``$`` and
            their name, accumulators.
    """

    graph: Graph
    forward: Graph
    seed: NamedValue
    parameters: tuple[NamedValue, ...]
    own_inputs: tuple[NamedValue, ...] = ()

    @staticmethod
    def assemble(
        forward: Graph,
        seed: NamedValue,
        parameters: tuple[NamedValue, ...],
        operations: Sequence[Operation],
        outputs: Sequence[NamedValue],
        own_inputs: tuple[NamedValue, ...] = (),
    ) -> DerivativeProgram:
        """Return the program of operations that the outputs need, inputs in canonical order.

        Declared inputs stand in declaration order, then the seed, then the program's own inputs,
        then captures in the forward graph's order, named ``@`` and their id. Outputs are the
        gradients, named by the parameters, in order, then what is published.
        """
        free = free_values(operations, [value for _, value in outputs])
        inputs = [item for item in forward.inputs if item.value in free]
        inputs += [seed, *own_inputs]
        inputs += [NamedValue(f"@{op.id}", op) for op in forward.operations if op in free]
        graph = Graph("derivative", tuple(inputs), tuple(operations), tuple(outputs))
        return DerivativeProgram(graph, forward, seed, parameters, own_inputs)

    @property
    def gradients(self) -> dict[Value, Value]:
        """The gradient of each parameter's value, in parameter order."""
        made = dict(self.graph.outputs)
        return {value: made[name] for name, value in self.parameters}

    def with_graph(self, graph: Graph) -> DerivativeProgram:
        """Return the program with its graph rewritten."""
        return replace(self, graph=graph)


@dataclass(frozen=True, slots=True)
class TracedUpdate:
    """One optimizer update, for all parameters of one type.

    Args:
        graph: Inputs are roles (``parameter``, ``gradient``, slots, then runtime scalars); the
            outputs are the new ``parameter``, then each slot's new value by its name.
    """

    graph: Graph

    @property
    def updated_parameter_id(self) -> str:
        """The id of the new parameter."""
        return self.graph.output_ids["parameter"]

    @property
    def input_value_ids(self) -> dict[str, str]:
        """The id of each role."""
        return self.graph.input_ids


# Dependencies.


class Provenance(StrEnum):
    """Where a value comes from."""

    DECLARED_INPUT = "declared_input"
    SEED_INPUT = "seed_input"
    FORWARD_CAPTURE = "forward_capture"
    LOCAL_VALUE = "local_value"


class ValueDependency(NamedTuple):
    """A value that a selection depends on, and where it comes from."""

    value_id: str
    provenance: Provenance
    dtype: DType
    shape: Shape

    @staticmethod
    def of(value: Value, provenance: Provenance) -> ValueDependency:
        """Return the row of a value."""
        type = value.type
        return ValueDependency(value.id, provenance, type.dtype, type.shape)


@dataclass(frozen=True, slots=True)
class DependencyAnalysis:
    """What a selection of outputs depends on, and the order in which to compute it.

    Args:
        selected_outputs: The ids of the outputs.
        required_inputs: Everything that is not made inside: declared inputs in declaration order,
            seeds, captures in forward topological order.
        schedule: The operations, each as late as its consumers allow.
    """

    selected_outputs: tuple[str, ...]
    required_inputs: tuple[ValueDependency, ...]
    schedule: tuple[Operation, ...]

    @property
    def dependencies(self) -> tuple[ValueDependency, ...]:
        """What is required, then what is made inside, in schedule order."""
        return self.required_inputs + self.local_values

    @property
    def declared_inputs(self) -> tuple[ValueDependency, ...]:
        """What the consumer binds by name."""
        return self._of(Provenance.DECLARED_INPUT)

    @property
    def seed_inputs(self) -> tuple[ValueDependency, ...]:
        """The upstream cotangent."""
        return self._of(Provenance.SEED_INPUT)

    @property
    def forward_captures(self) -> tuple[ValueDependency, ...]:
        """What the consumer retains from the forward run."""
        return self._of(Provenance.FORWARD_CAPTURE)

    @property
    def local_values(self) -> tuple[ValueDependency, ...]:
        """What is made inside."""
        return tuple([ValueDependency.of(op, Provenance.LOCAL_VALUE) for op in self.schedule])

    def _of(self, provenance: Provenance) -> tuple[ValueDependency, ...]:
        return tuple([row for row in self.required_inputs if row.provenance is provenance])


# Lowered programs.


class LoweredOperation(NamedTuple):
    """What one handler call, or one fusion, made.

    Attributes:
        output_value_id: The id of the value that is computed.
        value: The target value.
        sources: The operations it stands for, in schedule order.
        is_fused: Whether a fusion hook made it.
    """

    output_value_id: str
    value: TargetValue
    sources: tuple[Operation, ...]
    is_fused: bool

    @property
    def source_node_ids(self) -> tuple[str, ...]:
        """The ids of the operations it stands for."""
        return tuple([operation.node_id for operation in self.sources])

    @property
    def source_operators(self) -> tuple[type[Operator], ...]:
        """The operator classes of the operations it stands for."""
        return tuple([type(operation.operator) for operation in self.sources])


@dataclass(frozen=True, slots=True, eq=False)
class LoweredProgram:
    """An ordered list of target values, and what they depend on.

    Args:
        selected_outputs: The ids of the outputs, in order.
        operations: In the order they were lowered.
        values: The target value of each bound or lowered id.
        dependencies: What the program reads.
    """

    selected_outputs: tuple[str, ...]
    operations: tuple[LoweredOperation, ...]
    values: Mapping[str, TargetValue] = field(repr=False)
    dependencies: DependencyAnalysis = field(repr=False)

    @property
    def output_values(self) -> tuple[TargetValue, ...]:
        """The target values of the outputs, in order."""
        return tuple(self.values[value_id] for value_id in self.selected_outputs)


# The records.


@dataclass(frozen=True, slots=True, eq=False)
class ParameterCompilation:
    """One parameter of a compiled step.

    Args:
        name: As declared.
        value_id: Its id in the forward and derivative programs.
        gradient_value_id: The id of its gradient in the derivative program.
        source_update_graph: The update as traced; shared by parameters of equal type.
        lowered_update_graph: The same after legalization and passes.
        update: The lowered update.
        update_input_value_ids: The id of each role in the update.
        updated_parameter_value_id: The id of the new parameter in the update.
        runtime_inputs: The name of the runtime input that feeds each scalar role of the update.
        slots: The optimizer's state for this parameter.
        accumulator: The sum of its gradients over micro-batches, an input and an output of the
            derivative program; ``None`` if they are not accumulated.
        optimizer_label: What its optimizer is called.
    """

    name: str
    value_id: str
    gradient_value_id: str
    source_update_graph: Graph = field(repr=False)
    lowered_update_graph: Graph = field(repr=False)
    update: LoweredProgram = field(repr=False)
    update_input_value_ids: Mapping[str, str]
    updated_parameter_value_id: str
    runtime_inputs: Mapping[str, str]
    slots: tuple[SlotCompilation, ...]
    accumulator: SlotCompilation | None
    optimizer_label: str


class BufferCompilation(NamedTuple):
    """A state that no derivative changes: an input, and the forward output that is its new value.

    Attributes:
        name: As declared.
        value_id: The id of the input.
        updated_value_id: The id of the new value in the forward program.
    """

    name: str
    value_id: str
    updated_value_id: str


@dataclass(frozen=True, slots=True)
class StepProvenance:
    """Where a record comes from.

    Args:
        source: The source forward graph.
        contract_version: The version of the contracts this record follows.
        input_names: In declaration order.
        parameter_names: In declaration order.
        pass_labels: The caller's passes by stage, in order.
        optimizer_label: What the optimizer is called.
    """

    source: Graph = field(repr=False)
    contract_version: str
    input_names: tuple[str, ...]
    parameter_names: tuple[str, ...]
    pass_labels: Mapping[str, tuple[str, ...]]
    optimizer_label: str

    @property
    def graph_id(self) -> str:
        """The fingerprint of the source forward graph."""
        return fingerprint(self.source)


@dataclass(frozen=True, slots=True, eq=False)
class CompiledTrainingStep:
    """The record of one compiled training step.

    Args:
        source_forward_graph: The loss as traced.
        source_derivative_program: Its VJP as derived.
        lowered_forward_graph: The forward graph after capture planning, legalization and passes.
        lowered_derivative_program: The derivative likewise.
        forward: Lowered; its outputs are the loss, auxiliary outputs, then the captures, without
            repeats.
        derivative: Lowered; its outputs are the gradients in parameter order, then what gradient
            transforms publish.
        input_value_ids: The id of each declared input.
        loss_value_id: The id of the loss.
        auxiliary_value_ids: The id of each auxiliary output of the forward program, by name.
        buffers: Inputs whose new values are auxiliary outputs.
        forward_capture_value_ids: What to retain from the forward run for the derivative.
        seed_value_ids: The id of the seed.
        parameters: One row each, in order.
        frozen_parameters: The names of those that stay as they are.
        derivative_input_value_ids: The id of each runtime scalar that the derivative reads.
        published_value_ids: The id of each output that gradient transforms publish, by name.
        runtime_inputs: The scalars that updates and the derivative read.
        support: What of all programs the backend supports, and what was decomposed.
        symbol_sources: For each symbolic size, the input and the axis it can be read off.
        timings: The seconds of each stage.
        provenance: Where the record comes from.
    """

    source_forward_graph: Graph = field(repr=False)
    source_derivative_program: DerivativeProgram = field(repr=False)
    lowered_forward_graph: Graph = field(repr=False)
    lowered_derivative_program: DerivativeProgram = field(repr=False)
    forward: LoweredProgram
    derivative: LoweredProgram
    input_value_ids: Mapping[str, str]
    loss_value_id: str
    auxiliary_value_ids: Mapping[str, str]
    buffers: tuple[BufferCompilation, ...]
    forward_capture_value_ids: tuple[str, ...]
    seed_value_ids: tuple[str, ...]
    parameters: tuple[ParameterCompilation, ...]
    frozen_parameters: tuple[str, ...]
    derivative_input_value_ids: Mapping[str, str]
    published_value_ids: Mapping[str, str]
    runtime_inputs: tuple[RuntimeInput, ...]
    support: SupportReport = field(repr=False)
    symbol_sources: Mapping[str, tuple[str, int]]
    timings: Mapping[str, float] = field(repr=False)
    provenance: StepProvenance

    @property
    def capture_ledger(self) -> Ledger:
        """What is retained from the forward run, by line, type and bytes."""
        return capture_ledger(self.lowered_forward_graph, self.forward_capture_value_ids)

    @property
    def constant_ledger(self) -> Ledger:
        """What is written into the programs, by line, type and bytes; shared updates once."""
        updates = {id(row.update): row.lowered_update_graph for row in self.parameters}
        derivative = self.lowered_derivative_program.graph
        return constant_ledger([self.lowered_forward_graph, derivative, *updates.values()])

    @property
    def slots(self) -> tuple[SlotCompilation, ...]:
        """All state beside parameters and buffers: slots and accumulators, in parameter order."""
        return tuple(
            slot
            for row in self.parameters
            for slot in (*row.slots, *filter(None, [row.accumulator]))
        )

    @property
    def shared_updates(self) -> tuple[tuple[str, ...], ...]:
        """The names of the parameters that share each lowered update, in order."""
        names: dict[int, list[str]] = {}
        for row in self.parameters:
            names.setdefault(id(row.update), []).append(row.name)
        return tuple(map(tuple, names.values()))

    def parameter(self, name: str) -> ParameterCompilation:
        """Return the row of this name.

        Raises:
            KeyError: The step has no such parameter.
        """
        return {row.name: row for row in self.parameters}[name]


@dataclass(frozen=True, slots=True, eq=False)
class CompiledFunction:
    """The record of a forward-only function, for inference and evaluation.

    Args:
        source_graph: The function as traced.
        lowered_graph: The same after legalization and passes.
        program: Lowered; its outputs are the function's, in order.
        input_value_ids: The id of each input.
        output_value_ids: The id of each output; a function that returns one tensor names it
            ``output``.
        symbol_sources: For each symbolic size, the input and the axis it can be read off.
        timings: The seconds of each stage.
    """

    source_graph: Graph = field(repr=False)
    lowered_graph: Graph = field(repr=False)
    program: LoweredProgram
    input_value_ids: Mapping[str, str]
    output_value_ids: Mapping[str, str]
    symbol_sources: Mapping[str, tuple[str, int]]
    timings: Mapping[str, float] = field(repr=False)
