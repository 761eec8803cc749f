"""Reverse-mode differentiation of a graph into a graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np

from tinychain_compile.artifacts import DerivativeProgram, OnDisconnected
from tinychain_compile.errors import (
    DisconnectedParameterError,
    MalformedGraphError,
    MissingDerivativeError,
)
from tinychain_compile.ir.builder import GraphBuilder
from tinychain_compile.ir.graph import Graph, IdSource, NamedValue, Operation, Value, fresh_ids
from tinychain_compile.ir.operator import Operator
from tinychain_compile.ir.origin import Derived
from tinychain_compile.ir.traversal import reachable
from tinychain_compile.movement import movement_chain
from tinychain_compile.operators import (
    MARKS,
    Add,
    Annihilate,
    BroadcastTo,
    Cast,
    Constant,
    DimensionSize,
    Div,
    Mul,
    MulNoNan,
    Neg,
    Reshape,
    StopGradient,
    Transpose,
)
from tinychain_compile.protocols import Guard, VJPRule
from tinychain_compile.templates import Template, Templates
from tinychain_compile.tensor import Tensor

_ADD = Add()

_NOTHING, _PLAIN, _GUARDED = range(3)
"""What is wanted of a rule for one operand: nothing, its cotangent, or that under a guard."""


class ReverseModeEngine:
    """Walks the forward graph backwards, applying one rule per operation on a parameter's path.

    A rule is asked once for an operator with its attributes and types: what it wrote then is
    written again for every other operation like it, also in later compilations.

    Args:
        rules: The VJP rule of each operator class.
        without_derivative: Why an operator class has none, where it has none on purpose.
        guards: Which of an operator's cotangents are products with a factor that may be infinite.
    """

    def __init__(
        self,
        rules: Mapping[type[Operator], VJPRule],
        without_derivative: Mapping[type[Operator], str],
        guards: Mapping[type[Operator], Guard] = MappingProxyType({}),
    ) -> None:
        self._rules = dict(rules)
        self._without_derivative = without_derivative
        self._guards = guards
        self._templates = Templates()

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
        """Return the VJP of the graph's first output for the named inputs.

        Raises:
            MissingDerivativeError: Operators on a parameter's path have no rule; all are named.
            DisconnectedParameterError: A parameter does not reach the loss.
        """
        loss = forward.outputs[0].value
        inputs = dict(forward.inputs)
        named = tuple(NamedValue(name, inputs[name]) for name in parameters)
        builder = GraphBuilder(ids, Derived.of("derivative", "loss", None))
        seed = NamedValue(seed_label, builder.input(loss.type))
        guards: Mapping[type[Operator], Guard] = self._guards if nan_guard else {}
        cotangents = self._sweep(forward, loss, [v for _, v in named], builder, seed.value, guards)
        gradients: list[NamedValue] = []
        for name, value in named:
            cotangent = cotangents.get(value)
            if cotangent is None:
                if on_disconnected == "error":
                    self._check_disconnection_is_meant(forward, loss, name, value)
                builder.origin = Derived("zero derivative", name, None)
                zero = Tensor(builder, value).literal(0.0)
                cotangent = zero.broadcast_to(value.type.shape).value
            gradients.append(NamedValue(name, cotangent))
        needed = reachable(builder.operations, [value for _, value in gradients])
        return DerivativeProgram.assemble(forward, seed, named, needed, gradients)

    def _sweep(
        self,
        forward: Graph,
        loss: Value,
        parameters: Sequence[Value],
        builder: GraphBuilder,
        seed: Value,
        guards: Mapping[type[Operator], Guard],
    ) -> Mapping[Value, Value]:
        """Return the cotangent of each value on a path from a parameter to the loss."""
        active = _depending_on(forward, parameters)
        if loss not in active:
            return {}
        reader = _Reader(builder, forward)
        multiples = _MultiplesOfSeed(seed)
        cotangents = {loss: seed}
        missing: list[Operation] = []
        rules = self._rules
        for operation in reversed(forward.operations):
            g = cotangents.get(operation)
            if g is None:
                continue
            operator, inputs = operation.operator, operation.inputs
            kind = type(operator)
            rule = rules.get(kind)
            if rule is None:
                if kind not in self._without_derivative:
                    missing.append(operation)
                continue
            wants = [_PLAIN if value in active else _NOTHING for value in inputs]
            guard = guards.get(kind)
            if guard is not None and g not in multiples:
                needed = guard(operator, *inputs)
                wants = [
                    _GUARDED if needs and want else want
                    for needs, want in zip(needed, wants, strict=True)
                ]
            results = self._instantiated(rule, operation, g, wants, builder, reader)
            for value, cotangent in zip(inputs, results, strict=True):
                if cotangent is None:
                    continue
                known = cotangents.get(value)
                if known is not None:
                    cotangent = builder.append(value.type, _ADD, (known, cotangent))
                cotangents[value] = cotangent
        if missing:
            raise MissingDerivativeError(
                "VJP rules",
                expected="a rule for every operator on a path from a parameter to the loss",
                got="none for:\n"
                + "\n".join(f"    {op.operator.name}, at {op.origin}" for op in missing),
                hint="Add a rule to the engine's table, or cut the path with stop_gradient.",
            )
        return cotangents

    def _instantiated(
        self,
        rule: VJPRule,
        operation: Operation,
        g: Value,
        wants: Sequence[int],
        builder: GraphBuilder,
        reader: _Reader,
    ) -> Sequence[Value | None]:
        """Return the cotangents that are wanted: as the rule writes them, or wrote them before."""
        operator, inputs = operation.operator, operation.inputs
        key = (operator.exactly, *wants, *[value.type for value in inputs])
        template = self._templates.get(key)
        if template is None:
            template = self._templates.keep(key, _asked(rule, operation, wants))
        operands = [g, operation, *inputs]
        for place in template.reads:
            if place:
                operands[place] = reader.read(operands[place])
        builder.origin = Derived.of("derivative", operator.name, operation.origin)
        return template.write(builder, operands)

    def _check_disconnection_is_meant(
        self, forward: Graph, loss: Value, name: str, parameter: Value
    ) -> None:
        """Raise, naming where the path breaks, unless only ``stop_gradient`` cuts it."""
        depending = _depending_on(forward, [parameter])
        readers = [op for op in forward.operations if not depending.isdisjoint(op.inputs)]
        location: object | None = None
        if loss in depending:
            needed = set(reachable(forward.operations, [loss]))
            cuts = [op for op in readers if op in needed and self._cuts(op)]
            unmeant = [op for op in cuts if not isinstance(op.operator, StopGradient)]
            if cuts and not unmeant:
                return
            cut = unmeant[0] if unmeant else readers[-1]
            reason = self._without_derivative.get(
                type(cut.operator), "it passes no derivative to this operand"
            )
            got = f"a path that breaks at {cut.operator.name}: {reason}"
            location = cut.origin
        elif readers:
            got = f"a path that ends at {readers[-1].operator.name}, whose result is not used"
            location = readers[-1].origin
        else:
            got = "one that the loss never uses"
        raise DisconnectedParameterError(
            f"parameter {name!r}",
            expected="a differentiable path to the loss",
            got=got,
            location=location,
            hint="Use it in the loss, leave it out of the parameters, or ask for zeros with "
            'CompileOptions(on_disconnected="zero").',
        )

    def _cuts(self, operation: Operation) -> bool:
        """Return whether an operation passes no derivative on to what it reads.

        Its operator has none, or its value is not floating: a condition, an index, an integer.
        """
        has_none = type(operation.operator) in self._without_derivative
        return has_none or not operation.type.is_floating


class _Reader:
    """Reads values of the forward run; what is only moved, or a literal, is made again here."""

    def __init__(self, builder: GraphBuilder, forward: Graph) -> None:
        self._builder = builder
        self._free = {value for _, value in (*forward.inputs, *forward.outputs)}
        self._read: dict[Value, Value] = {}

    def read(self, value: Value) -> Value:
        """Return a value as the derivative reads it."""
        found = self._read.get(value)
        if found is None:
            for operation in reversed(movement_chain(value, self._free)):
                if operation not in self._read:
                    self._again(operation)
            found = self._read.setdefault(value, value)
        return found

    def _again(self, operation: Operation) -> None:
        inputs = tuple([self.read(value) for value in operation.inputs])
        if isinstance(operation.operator, MARKS):
            self._read[operation] = inputs[0]
        else:
            self._builder.origin = operation.origin
            made = self._builder.append(operation.type, operation.operator, inputs)
            self._read[operation] = made


class _MultiplesOfSeed:
    """The cotangents that are the seed times numbers known to be neither 0 nor infinite.

    They are not zero unless the seed is, so nothing needs to be annihilated.
    """

    _LINEAR = frozenset({BroadcastTo, Reshape, Transpose, Neg, Mul, Div, Cast})

    def __init__(self, seed: Value) -> None:
        self._known = {seed: True}

    def __contains__(self, value: Value) -> bool:
        chain: list[Value] = []
        while (answer := self._known.get(value)) is None:
            if (
                not isinstance(value, Operation)
                or type(value.operator) not in self._LINEAR
                or not all(map(_is_nonzero_number, value.inputs[1:]))
            ):
                answer = False
                break
            chain.append(value)
            value = value.inputs[0]
        if chain:
            self._known.update(dict.fromkeys(chain, answer))
        return answer


def _is_nonzero_number(value: Value | None) -> bool:
    """Return whether a value is one finite number, known now and not 0, or a size."""
    while isinstance(value, Operation):
        operator = value.operator
        if isinstance(operator, Constant):
            number = operator.value
            return number.ndim == 0 and bool(np.isfinite(number)) and bool(number)
        if isinstance(operator, DimensionSize):
            return True
        if not operator.is_movement:
            return False
        (value,) = value.inputs
    return False


def _asked(rule: VJPRule, operation: Operation, wants: Sequence[int]) -> Template:
    """Return what a rule writes for the cotangents that are wanted, annihilated where guarded."""
    ids, inputs = fresh_ids(), operation.inputs
    builder = GraphBuilder(ids, Derived("derivative", operation.operator.name, operation.origin))
    operands = [builder.input(value.type) for value in (operation, operation, *inputs)]
    g, *others = [Tensor(builder, value) for value in operands]
    results = rule(operation.operator, g, *others)
    if len(results) != len(inputs):
        raise _wrong_results(operation, results)
    wanted: list[Value | None] = []
    for want, result, value in zip(wants, results, inputs, strict=True):
        if result is not None and (result.builder is not builder or result.type != value.type):
            raise _wrong_results(operation, results)
        if result is not None and want == _GUARDED:
            result = _annihilated(g, result)
        wanted.append(result.value if result is not None and want else None)
    return Template.of(operands, builder.operations, wanted)


def _annihilated(g: Tensor, product: Tensor) -> Tensor:
    """Return a product with ``g``, 0 where that is 0."""
    made = product.value
    if isinstance(made, Operation) and type(made.operator) is Mul and made.inputs[0] is g.value:
        return g.emit(MulNoNan(), Tensor(g.builder, made.inputs[1]))
    return g.emit(Annihilate(), product)


def _depending_on(graph: Graph, values: Sequence[Value]) -> set[Value]:
    depending = set(values)
    for operation in graph.operations:
        if not depending.isdisjoint(operation.inputs):
            depending.add(operation)
    return depending


def _wrong_results(operation: Operation, results: tuple[Tensor | None, ...]) -> MalformedGraphError:
    """Return the error of a rule that did not give each operand a cotangent of its type."""
    expected = tuple(value.type for value in operation.inputs)
    got = tuple(None if result is None else result.type for result in results)
    return MalformedGraphError(
        f"VJP rule of {operation.operator.name}",
        expected=f"cotangents of types {expected}",
        got=str(got),
        location=operation.origin,
    )
