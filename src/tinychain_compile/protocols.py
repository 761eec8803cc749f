"""Everything that can be plugged in: what a backend supplies, and the stages of the compiler.

Protocols, not base classes: a class fits a socket by having its methods, so a backend or a fake
needs nothing of ours but the shape. Handlers and hooks see the small context records below.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Any, NamedTuple, Protocol, TypeAlias, TypeVar

from tinychain_compile.artifacts import (
    CompileOptions,
    Declaration,
    DeclaredTransform,
    DependencyAnalysis,
    DerivativeProgram,
    LoweredProgram,
    OnDisconnected,
    Provenance,
    TargetValue,
    TracedUpdate,
    ValueDependency,
)
from tinychain_compile.capture_policies import CapturePolicy
from tinychain_compile.ir.dtypes import Array
from tinychain_compile.ir.graph import Graph, IdSource, Operation, Value
from tinychain_compile.ir.operator import Operator
from tinychain_compile.ir.origin import SourceLine, source_line
from tinychain_compile.ir.types import TensorType
from tinychain_compile.runtime_inputs import RuntimeInput
from tinychain_compile.slots import Slot
from tinychain_compile.tensor import Tensor

Artifact = TypeVar("Artifact")
BindInput: TypeAlias = Callable[[ValueDependency], TargetValue]
"""Makes the target value of a value that a program reads."""


# What a backend supplies.


class OperationContext(NamedTuple):
    """One operation, as its handler sees it.

    Attributes:
        operation: The operation itself.
        inputs: The operands' target values; an operand used twice stands twice.
        bound: Where each value that the program does not make comes from, read-only.
    """

    operation: Operation
    inputs: tuple[TargetValue, ...]
    bound: Mapping[str, Provenance]

    @property
    def node_id(self) -> str:
        """The operation's id, unique in the compilation."""
        return self.operation.node_id

    @property
    def operator(self) -> Operator:
        """The operator with its attributes."""
        return self.operation.operator

    @property
    def op_params(self) -> Mapping[str, object]:
        """The operator's attributes by name, read-only."""
        return self.operation.operator.params

    @property
    def input_value_ids(self) -> tuple[str, ...]:
        """The operands' ids; an operand used twice stands twice."""
        return tuple([value.id for value in self.operation.inputs])

    @property
    def input_typespecs(self) -> tuple[TensorType, ...]:
        """The operands' types."""
        return tuple([value.type for value in self.operation.inputs])

    @property
    def input_provenance(self) -> tuple[Provenance, ...]:
        """Where each operand comes from."""
        here = Provenance.LOCAL_VALUE
        return tuple([self.bound.get(value.id, here) for value in self.operation.inputs])

    @property
    def output_value_id(self) -> str:
        """The id of the output."""
        return self.operation.id

    @property
    def output_typespec(self) -> TensorType:
        """The type of the output."""
        return self.operation.type

    @property
    def source(self) -> SourceLine | None:
        """The user's line that the operation comes from."""
        return source_line(self.operation.origin)


class OperationHandler(Protocol):
    """Says what one operator becomes on the target.

    A handler that cannot take every operation of its class also has ``supports(operation)``, which
    returns ``True`` or the reason why not; what it cannot take is decomposed.
    """

    @property
    def operator_type(self) -> type[Operator]:
        """The exact class of the operators this handler takes."""
        ...

    def lower(self, context: OperationContext) -> TargetValue:
        """Return the target value of one operation; never ``None``."""
        ...


class HandlerRegistry(Protocol):
    """Finds the handler of an operator by its exact class."""

    def lookup(self, operator: Operator) -> OperationHandler:
        """Return the handler of an operator's class."""
        ...

    def has_handler(self, operator: Operator | type[Operator]) -> bool:
        """Return whether there is a handler for this operator."""
        ...

    def supported_types(self) -> Sequence[type[Operator]]:
        """Return the operator classes that have a handler."""
        ...


class FusionCandidate(NamedTuple):
    """An operation in a fusion hook's window.

    Attributes:
        node_id: The operation's id.
        operator: The operator with its attributes.
        input_value_ids: The operands' ids.
        input_typespecs: The operands' types.
        output_value_id: The id of the output.
        output_typespec: The type of the output.
        producer_ids: The operations in this program that make the operands, where one does.
        consumer_ids: The operations in this program that read the output.
        is_output: Whether the program's consumer reads the output.
    """

    node_id: str
    operator: Operator
    input_value_ids: tuple[str, ...]
    input_typespecs: tuple[TensorType, ...]
    output_value_id: str
    output_typespec: TensorType
    producer_ids: tuple[str, ...]
    consumer_ids: tuple[str, ...]
    is_output: bool


class FusionContext(NamedTuple):
    """What a fusion hook is offered.

    Attributes:
        candidates: The next unclaimed operations in schedule order; the first is the one offered.
        value_of: Gives the target value of an id that is bound or lowered already.
    """

    candidates: tuple[FusionCandidate, ...]
    value_of: Callable[[str], TargetValue]


class FusionResult(NamedTuple):
    """A hook's claim: one target value in place of several operations.

    Attributes:
        value: The target value of the one value that leaves the region.
        consumed_node_ids: The operations it stands for, the offered one among them.
    """

    value: TargetValue
    consumed_node_ids: tuple[str, ...]


class Declined(NamedTuple):
    """A hook's refusal, with its reason."""

    reason: str


class FusionHook(Protocol):
    """May take several operations at once."""

    @property
    def lookahead(self) -> int:
        """How many operations the window holds at most; at least 1."""
        ...

    def fuse(self, context: FusionContext) -> FusionResult | Declined | None:
        """Return a claim that includes the offered operation, or decline."""
        ...


class Optimizer(Protocol):
    """Updates one parameter from its gradient, in tensor arithmetic.

    An optimizer with state also has ``slots(parameter)``, which gives the ``Slot`` of each named
    state for a parameter of a type; ``update`` then takes each by name and returns the new
    parameter and a mapping of every slot's new value. It may have ``runtime_inputs``, a sequence of
    ``RuntimeInput`` with the default and the range of what it requires.
    """

    @property
    def required_optimizer_inputs(self) -> Sequence[str]:
        """The names of the runtime scalars that ``update`` reads."""
        ...

    @property
    def update(self) -> Callable[..., Tensor | tuple[Tensor, Mapping[str, Tensor]]]:
        """Return the new parameter; called as ``update(parameter=, gradient=, **inputs)``."""
        ...


class Frozen(Enum):
    """In place of an optimizer: these parameters stay as they are."""

    FROZEN = "frozen"


FROZEN = Frozen.FROZEN
"""In place of an optimizer: these parameters stay as they are."""

AnyOptimizer: TypeAlias = (
    Optimizer | Callable[..., Tensor] | Callable[..., tuple[Tensor, Mapping[str, Tensor]]]
)
"""An object with ``update``, or a function that is the update of an optimizer without state."""

OptimizerChoice: TypeAlias = AnyOptimizer | Mapping[str, AnyOptimizer | Frozen]
"""One optimizer for all parameters, or one for each pattern of parameter names."""


class GradientTransform(Protocol):
    """Changes all gradients at once, before the updates, in tensor arithmetic.

    It may have ``runtime_inputs``, a sequence of ``RuntimeInput``. A function can stand for one
    that has none.
    """

    @property
    def transform(
        self,
    ) -> Callable[..., Mapping[str, Tensor] | tuple[Mapping[str, Tensor], Mapping[str, Tensor]]]:
        """Return new gradients of the same names and types, or these and outputs to publish.

        Called as ``transform(gradients=, parameters=, **inputs)`` with mappings by name.
        """
        ...


class Pass(Protocol[Artifact]):
    """A caller's rewriting of one artifact, checked afterwards."""

    def __call__(self, artifact: Artifact, /) -> Artifact:
        """Return the artifact, rewritten: same inputs, same outputs."""
        ...


def pass_label(item: object) -> str:
    """Return what a pass is called: its ``name``, or that of its function or class."""
    name = getattr(item, "name", None) or getattr(item, "__name__", None)
    return name if isinstance(name, str) else type(item).__name__


# The stages.


class HasTypeMetadata(Protocol):
    """What an input is declared with: a ``TensorType``, an array, anything with these two."""

    @property
    def dtype(self) -> Any:
        """Anything NumPy takes for a dtype, or a short name."""
        ...

    @property
    def shape(self) -> Any:
        """A sequence of sizes."""
        ...


InputSpec: TypeAlias = "HasTypeMetadata | Mapping[str, InputSpec] | Sequence[InputSpec]"
"""A spec, or a nested structure of specs; a leaf's name is the path to it, with dots."""

OptimizerInputs: TypeAlias = Sequence[str] | Mapping[str, RuntimeInput | HasTypeMetadata] | None
"""The runtime scalars of an update: names, or a description of each; ``None`` for what it needs."""


class DeclarationChecker(Protocol):
    """Checks what the caller declared, completely, before any of the caller's code runs."""

    def check(
        self,
        loss: Callable[..., object],
        *,
        inputs: Mapping[str, InputSpec],
        parameters: Sequence[str],
        optimizer: OptimizerChoice,
        optimizer_inputs: OptimizerInputs,
        bind_input: BindInput | None,
        seed_label: str,
        passes: Mapping[str, Sequence[object]],
        options: CompileOptions,
    ) -> Declaration:
        """Return the declaration, checked."""
        ...

    def check_function(
        self,
        function: Callable[..., object],
        *,
        inputs: Mapping[str, InputSpec],
        bind_input: BindInput | None,
        passes: Mapping[str, Sequence[object]],
    ) -> Mapping[str, TensorType]:
        """Return the input types of a forward-only function, checked."""
        ...


class Tracer(Protocol):
    """Runs a function once on traced tensors."""

    def trace_loss(
        self, loss: Callable[..., object], inputs: Mapping[str, TensorType], ids: IdSource
    ) -> Graph:
        """Return the graph of a loss, whose one output ``loss`` is a scalar."""
        ...

    def trace_function(
        self, function: Callable[..., object], inputs: Mapping[str, TensorType], ids: IdSource
    ) -> Graph:
        """Return the graph of a function with named outputs."""
        ...


class VJPEngine(Protocol):
    """Differentiates a graph into a graph."""

    def derive(
        self,
        forward: Graph,
        parameters: Sequence[str],
        *,
        ids: IdSource,
        seed_label: str,
        on_disconnected: OnDisconnected,
        nan_guard: bool,
    ) -> DerivativeProgram:
        """Return the VJP of the graph's one scalar output for the named inputs."""
        ...


class GradientTransformer(Protocol):
    """Appends gradient transforms, and the sums over micro-batches, to a derivative program."""

    def append(
        self,
        program: DerivativeProgram,
        transforms: Sequence[DeclaredTransform],
        *,
        accumulates: bool,
        is_scaled: bool,
        ids: IdSource,
    ) -> DerivativeProgram:
        """Return the program with its gradients transformed; the same object if nothing is."""
        ...


class CapturePlanner(Protocol):
    """Decides what the derivative reads from the forward run. The sole owner of that decision."""

    def plan(
        self, program: DerivativeProgram, ids: IdSource, *, policy: CapturePolicy
    ) -> DerivativeProgram:
        """Return the program with its captures chosen."""
        ...


class DependencyClassifier(Protocol):
    """Says where each value that a selection depends on comes from."""

    def classify(self, graph: Graph, outputs: Sequence[Value] | None = None) -> DependencyAnalysis:
        """Analyse a graph all of whose inputs are declared."""
        ...

    def classify_derivative(
        self, program: DerivativeProgram, outputs: Sequence[Value] | None = None
    ) -> DependencyAnalysis:
        """Analyse a derivative program against its forward graph and seed."""
        ...

    def select_forward(self, forward: Graph, derivative: DependencyAnalysis) -> Graph:
        """Return the forward graph with the derivative's captures as further outputs."""
        ...


class OptimizerTracer(Protocol):
    """Traces an optimizer's update for one parameter type."""

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
        """Return the update as a graph of roles."""
        ...


class Legalizer(Protocol):
    """Rewrites a graph into operations that one program's registry supports."""

    def legalize(
        self, graph: Graph, handlers: HandlerRegistry, ids: IdSource, *, approximate: bool = True
    ) -> Graph:
        """Return the graph, decomposed where needed; the same object if nothing was."""
        ...

    def why_kept(self, operation: Operation) -> str:
        """Return why an operation that is not supported was not decomposed."""
        ...


class PassRunner(Protocol):
    """Runs the caller's passes and checks each one's result."""

    def run_graph(self, graph: Graph, passes: Sequence[Pass[Graph]], *, stage: str) -> Graph:
        """Return the graph after the passes."""
        ...

    def run_derivative(
        self, program: DerivativeProgram, passes: Sequence[Pass[DerivativeProgram]]
    ) -> DerivativeProgram:
        """Return the derivative program after the passes."""
        ...

    def run_update(
        self, update: TracedUpdate, passes: Sequence[Pass[TracedUpdate]]
    ) -> TracedUpdate:
        """Return the update after the passes."""
        ...


class Simplifier(Protocol):
    """Makes a graph smaller without changing a bit of what it computes."""

    def simplify(
        self,
        graph: Graph,
        ids: IdSource,
        *,
        names: Sequence[str],
        supports: Callable[[Operation], bool] | None = None,
    ) -> Graph:
        """Return the graph simplified; the same object if there is nothing to do.

        Args:
            graph: What to simplify.
            ids: Where new values take their ids.
            names: The simplifications to apply.
            supports: Says whether the target of a legalized graph has an operation: no other one is
                written, and each output keeps its id, since other programs refer to it.
        """
        ...


class LoweringTarget(NamedTuple):
    """The registry and the hook that serve one program.

    Attributes:
        handlers: What each operator becomes.
        fusion: What may take several at once.
    """

    handlers: HandlerRegistry
    fusion: FusionHook


class ProgramToLower(NamedTuple):
    """A program, its analysis, and the target that serves it.

    Attributes:
        name: ``forward``, ``derivative``, ``update of f32[3]``, ...
        analysis: What to lower, in which order, from what.
        target: What serves this program.
    """

    name: str
    analysis: DependencyAnalysis
    target: LoweringTarget


class Lowerer(Protocol):
    """Turns scheduled operations into target values, each exactly once."""

    def open_target(self) -> LoweringTarget:
        """Ask the backend for the registry and the hook of one program."""
        ...

    def check_support(
        self,
        programs: Sequence[ProgramToLower],
        why_kept: Callable[[Operation], str] | None = None,
    ) -> None:
        """Raise one error naming every operator that some program's registry lacks."""
        ...

    def lower(self, program: ProgramToLower, bind_input: BindInput | None) -> LoweredProgram:
        """Return the lowered program; call after ``check_support``."""
        ...


class Evaluator(Protocol):
    """Runs a graph on NumPy arrays. The skeleton has none of its own."""

    def evaluate(self, graph: Graph, inputs: Mapping[str, Array]) -> dict[str, Array]:
        """Return the outputs by name."""
        ...


Guard: TypeAlias = Callable[..., tuple[bool, ...]]
"""``guard(operator, *operands)``: for each operand, a value, whether its cotangent needs a guard.

It does where the factor that the output's cotangent is multiplied by may be infinite or NaN. There
a zero cotangent annihilates the factor: it is selected, not multiplied.
"""

VJPRule: TypeAlias = Callable[..., tuple[Tensor | None, ...]]
"""``rule(operator, g, y, *operands)``: the cotangent of each operand; ``None`` where there is none.

``g`` is the cotangent of the output ``y``. What a rule writes depends on the operator and the types
alone: it is asked once for these, and what it wrote is written again for all operations alike.
"""

Decomposition: TypeAlias = Callable[..., Tensor]
"""``decomposition(operator, *operands)``: the output written in simpler operators.

Like a VJP rule it depends on the operator and the types alone, and is asked once for these.
"""
