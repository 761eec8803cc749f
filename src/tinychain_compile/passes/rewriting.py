"""Rewrites a graph operation by operation, keeping the ids of all that stays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count
from typing import NamedTuple

from tinychain_compile.errors import MalformedGraphError
from tinychain_compile.ir.builder import GraphBuilder
from tinychain_compile.ir.graph import Graph, IdSource, NamedValue, Operation, Value, fresh_ids
from tinychain_compile.ir.origin import Derived
from tinychain_compile.operators import Reshape
from tinychain_compile.protocols import Decomposition
from tinychain_compile.templates import Template, Templates
from tinychain_compile.tensor import Tensor

_DEEPEST = 1_000
"""Replacements within replacements; beyond it a rule is taken not to end."""


class _Alias(NamedTuple):
    """Once the operations before it are done: a value is now another one."""

    old: Value
    new: Value


def rewrite(
    graph: Graph,
    rule_for: Callable[[Operation], Decomposition | None],
    ids: IdSource | None = None,
    *,
    how: str = "rewriting",
    templates: Templates | None = None,
) -> Graph:
    """Replace each operation that has a rule by what the rule writes, until none has one.

    What a rule writes is looked at in turn. The last operation of a replacement takes the id of the
    value it replaces, so outputs and captures keep theirs. Iterative.

    Args:
        graph: What to rewrite; if nothing has a rule, this very object comes back.
        rule_for: Gives the rule of an operation, or ``None`` to leave it.
        ids: Where new values take their ids; by default ids made from that of the graph's first
            output, which no other program of the compilation uses.
        how: What the new operations' origin is called.
        templates: Where to keep what the rules wrote, to write it again for operations alike; then
            a rule must depend on the operator and the types alone, and be its operator's only one.
            ``None`` asks the rule of every operation.

    Raises:
        MalformedGraphError: A rule changes the type, or does not end.
    """
    if not any(map(rule_for, graph.operations)):
        return graph
    return _Rewriting(graph, rule_for, ids or _own_ids(graph), how, templates).run()


def _own_ids(graph: Graph) -> IdSource:
    """Return ids such as ``v12.1`` that are not taken in the graph."""
    taken = {operation.id for operation in graph.operations}
    prefix = graph.outputs[0].value.id
    return (name for n in count(1) if (name := f"{prefix}.{n}") not in taken)


class _Rewriting:
    def __init__(
        self,
        graph: Graph,
        rule_for: Callable[[Operation], Decomposition | None],
        ids: IdSource,
        how: str,
        templates: Templates | None,
    ) -> None:
        self._graph = graph
        self._rule_for = rule_for
        self._ids = ids
        self._how = how
        self._templates = templates
        self._moved: dict[Value, Value] = {}
        self._id_of: dict[Value, str] = {}
        self._pinned = {value for _, value in graph.outputs}
        self._depth: dict[Operation, int] = {}
        self._done: list[Operation] = []
        self._pending: list[Operation | _Alias] = list(reversed(graph.operations))

    def run(self) -> Graph:
        pending = self._pending
        while pending:
            item = pending.pop()
            if isinstance(item, _Alias):
                self._moved[item.old] = self._moved.get(item.new, item.new)
                continue
            rule = self._rule_for(item)
            if rule is None:
                self._keep(item)
            else:
                self._replace(item, rule)
        outputs = tuple(
            NamedValue(name, self._moved.get(value, value)) for name, value in self._graph.outputs
        )
        return Graph(self._graph.name, self._graph.inputs, tuple(self._done), outputs)

    def _keep(self, operation: Operation) -> None:
        inputs = self._operands(operation)
        new_id = self._id_of.pop(operation, operation.id)
        if inputs != operation.inputs or new_id != operation.id:
            kept = operation.with_inputs(inputs, new_id)
            self._moved[operation] = kept
            operation = kept
        self._done.append(operation)

    def _replace(self, operation: Operation, rule: Decomposition) -> None:
        name = operation.operator.name
        depth = self._depth.pop(operation, 0) + 1
        if depth > _DEEPEST:
            raise MalformedGraphError(
                f"{self._how} of {name}",
                expected="a rule that ends in operators without one",
                got=f"{name} again after {_DEEPEST} replacements, one within another",
                location=operation.origin,
            )
        builder = GraphBuilder(self._ids, Derived(self._how, name, operation.origin))
        operands = self._operands(operation)
        if self._templates is None:
            value = self._asked(rule, operation, operands, builder)
        else:
            value = self._template(rule, operation, self._templates).write_one(builder, operands)
        new_id = self._id_of.pop(operation, operation.id)
        is_new = any(value is made for made in builder.operations)
        if not is_new and (new_id != operation.id or operation in self._pinned):
            value = builder.emit(Reshape(operation.type.shape), value)
            is_new = True
        if is_new:
            self._id_of[value] = new_id
        self._depth.update((made, depth) for made in builder.operations)
        self._pending.append(_Alias(operation, value))
        self._pending.extend(reversed(builder.operations))

    def _asked(
        self,
        rule: Decomposition,
        operation: Operation,
        operands: Sequence[Value],
        builder: GraphBuilder,
    ) -> Value:
        """Return what a rule writes in the place of an operation's value."""
        result = rule(operation.operator, *[Tensor(builder, value) for value in operands])
        is_own = result.builder is builder
        if not is_own or result.type != operation.type:
            raise MalformedGraphError(
                f"{self._how} of {operation.operator.name}",
                expected=f"the type {operation.type}" if is_own else "what its operands make",
                got=str(result.type) if is_own else "a tensor of another trace",
                location=operation.origin,
            )
        return result.value

    def _template(
        self, rule: Decomposition, operation: Operation, templates: Templates
    ) -> Template:
        """Return what a rule writes for an operator and types, asked once."""
        types = [value.type for value in operation.inputs]
        key = (operation.operator.exactly, *types)
        template = templates.get(key)
        if template is None:
            origin = Derived(self._how, operation.operator.name, operation.origin)
            builder = GraphBuilder(fresh_ids(), origin)
            operands = [builder.input(type) for type in types]
            value = self._asked(rule, operation, operands, builder)
            template = templates.keep(key, Template.of(operands, builder.operations, [value]))
        return template

    def _operands(self, operation: Operation) -> tuple[Value, ...]:
        moved = self._moved
        return tuple([moved.get(value, value) for value in operation.inputs])
