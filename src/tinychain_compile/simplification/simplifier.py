"""Applies the rules of all simplifications in one walk over a graph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from typing import TypeAlias

from tinychain_compile.artifacts import COMMON_SUBEXPRESSIONS, DEAD_CODE
from tinychain_compile.ir.graph import Graph, IdSource, NamedValue, Operation, Value
from tinychain_compile.ir.operator import Operator
from tinychain_compile.ir.origin import Derived, Origin
from tinychain_compile.ir.traversal import reachable
from tinychain_compile.operators import Add, BroadcastTo, Constant, Equal, Mul
from tinychain_compile.simplification.rules import Offer, Rules

_Table: TypeAlias = Mapping[type[Operator], tuple[Offer, ...]]

_COMMUTATIVE = frozenset({Add, Mul, Equal})
"""Whose result has the same bits with the operands exchanged."""


class GraphSimplifier:
    """Simplifies graphs; every rule is exact.

    Args:
        rules: The rules of each simplification, by name, in the order in which they are tried.
    """

    def __init__(self, rules: Mapping[str, Rules]) -> None:
        self._rules = rules
        self._tables: dict[tuple[str, ...], _Table] = {}

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
        chosen = tuple(names)
        if not chosen:
            return graph
        table = self._tables.get(chosen)
        if table is None:
            table = self._tables[chosen] = self._table(chosen)
        walk = _Walk(graph, table, ids, COMMON_SUBEXPRESSIONS in chosen, supports)
        return walk.run(DEAD_CODE in chosen)

    def _table(self, chosen: tuple[str, ...]) -> _Table:
        table: dict[type[Operator], tuple[Offer, ...]] = {}
        for name, rules in self._rules.items():
            if name in chosen:
                for kind, own in rules.items():
                    table[kind] = (*table.get(kind, ()), *own)
        return table


class _UnsupportedError(Exception):
    """A rule would write what the target does not have."""


class _Walk:
    """One walk: the ``Writer`` that rules write with."""

    def __init__(
        self,
        graph: Graph,
        table: _Table,
        ids: IdSource,
        merges: bool,
        supports: Callable[[Operation], bool] | None,
    ) -> None:
        self._graph = graph
        self._table = table
        self._ids = ids
        self._known: dict[object, Value] | None = {} if merges else None
        self._boundary = {value for _, value in graph.inputs}
        self._supports = supports
        pinned = () if supports is None else graph.outputs
        self._pinned = {value for _, value in pinned}
        self._moved: dict[Value, Value] = {}
        self._done: list[Operation] = []
        self._origin: Origin | None = None
        self._uses = self._count_uses()

    def run(self, drops_unused: bool) -> Graph:
        graph, moved, done, table, known = (
            self._graph,
            self._moved,
            self._done,
            self._table,
            self._known,
        )
        for operation in graph.operations:
            inputs, operator, output = operation.inputs, operation.operator, operation
            for value in inputs:
                if value in moved:
                    inputs = tuple([moved.get(value, value) for value in inputs])
                    break
            if output not in self._pinned:
                offers = table.get(type(operator))
                if offers is not None:
                    self._origin = operation.origin
                    found = self._by_rule(offers, operator, inputs)
                    if found is not None:
                        self._replace(output, found)
                        continue
                if known is not None:
                    key = _key(operator, inputs)
                    found = known.get(key)
                    if found is not None:
                        self._replace(output, found)
                        continue
                    known[key] = self._keep(operation, inputs)
                    continue
            self._keep(operation, inputs)
        outputs = graph.outputs
        if moved:
            outputs = tuple([NamedValue(name, moved.get(value, value)) for name, value in outputs])
        needed = [value for _, value in outputs]
        kept = reachable(done, needed) if drops_unused else tuple(done)
        if not moved and len(kept) == len(graph.operations):
            return graph
        return Graph(graph.name, graph.inputs, kept, outputs)

    def maker_of(self, value: Value) -> Operation | None:
        """Return the operation of this graph that makes a value; ``None`` for an input."""
        if value in self._boundary or not isinstance(value, Operation):
            return None
        return value

    def is_used_once(self, value: Value) -> bool:
        """Return whether at most one operation reads a value, and no output is it."""
        return self._uses.get(value, 1) <= 1

    def write(self, operator: Operator, *inputs: Value) -> Value:
        """Append an operation, simplified in turn, and return its value."""
        offers = self._table.get(type(operator))
        if offers is not None:
            found = self._by_rule(offers, operator, inputs)
            if found is not None:
                return found
        return self.append(operator, *inputs)

    def append(self, operator: Operator, *inputs: Value) -> Value:
        """Append an operation as it is, unless there is an equal one, and return its value."""
        key = None
        if self._known is not None:
            key = _key(operator, inputs)
            found = self._known.get(key)
            if found is not None:
                return found
        origin = Derived("simplification", operator.name, self._origin)
        operation = Operation(operator, inputs, next(self._ids), origin)
        if self._supports is not None and not self._supports(operation):
            raise _UnsupportedError
        self._done.append(operation)
        if self._known is not None:
            self._known[key] = operation
        return operation

    def _by_rule(
        self, offers: tuple[Offer, ...], operator: Operator, inputs: tuple[Value, ...]
    ) -> Value | None:
        """Return what the first rule says that has anything to say."""
        makers: list[type[Operator] | None] = []
        for value in inputs:
            if not isinstance(value, Operation):
                makers.append(None)
                continue
            kind = type(value.operator)
            if kind is BroadcastTo:
                (source,) = value.inputs
                if isinstance(source, Operation) and type(source.operator) is Constant:
                    kind = Constant
            makers.append(kind)
        for rule, of, each in offers:
            if of is not None:
                offered = of.issuperset(makers) if each else not of.isdisjoint(makers)
                if not offered:
                    continue
            try:
                found = rule(self, operator, inputs)
            except _UnsupportedError:
                continue
            if found is not None:
                return found
        return None

    def _keep(self, operation: Operation, inputs: tuple[Value, ...]) -> Value:
        """Keep an operation under its id, reading what its operands have become."""
        output = operation
        if inputs is not operation.inputs:
            operation = operation.with_inputs(inputs)
            self._moved[output] = operation
            if output in self._uses:
                self._uses[operation] = self._uses[output]
        self._done.append(operation)
        return operation

    def _replace(self, old: Value, new: Value) -> None:
        """Note what an operation's value is instead; who read the one reads the other."""
        self._moved[old] = new
        self._uses[new] = self._uses.get(new, 0) + self._uses.get(old, 0)

    def _count_uses(self) -> dict[Value, int]:
        uses = Counter(chain.from_iterable([op.inputs for op in self._graph.operations]))
        uses.update({value: 2 for _, value in self._graph.outputs})
        return uses


def _key(operator: Operator, inputs: tuple[Value, ...]) -> object:
    """Return what equal operations have in common: operator, attributes, operands."""
    if type(operator) in _COMMUTATIVE:
        return type(operator), frozenset(inputs)
    return operator.exactly, inputs
