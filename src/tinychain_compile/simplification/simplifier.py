"""Applies the rules of all simplifications in one walk over a graph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from tinychain_compile.artifacts import COMMON_SUBEXPRESSIONS, DEAD_CODE
from tinychain_compile.ir.graph import Graph, IdSource, NamedValue, Operation, Value
from tinychain_compile.ir.operator import Operator
from tinychain_compile.ir.origin import Derived, Origin
from tinychain_compile.ir.traversal import reachable
from tinychain_compile.operators import Add, BroadcastTo, Constant, Equal, Mul
from tinychain_compile.simplification.rules import Offer, Rules

_COMMUTATIVE = frozenset({Add, Mul, Equal})
"""Whose result has the same bits with the operands exchanged."""


class _Kind(NamedTuple):
    """What a walk knows of an operator class.

    Attributes:
        offers: The rules to ask.
        always: Whether one of them looks at whatever the operands are made by.
        is_shown: Whether a rule of another class looks into what this one makes.
        key_of: What equal operations have in common: operator, attributes, operands.
    """

    offers: tuple[Offer, ...]
    always: bool
    is_shown: bool
    key_of: Callable[[Operator, tuple[Value, ...]], object]


class _Kinds(dict[type[Operator], _Kind]):
    """What a walk knows of each operator class that it meets, found when it is first met."""

    def __init__(self, offers: Mapping[type[Operator], tuple[Offer, ...]]) -> None:
        super().__init__()
        self._offers = offers
        made_by = [offer.of for row in offers.values() for offer in row if offer.of is not None]
        shown = set[type[Operator]]().union(*made_by)
        if Constant in shown:
            shown.add(BroadcastTo)  # of a literal: taken for one
        self._shown = shown

    def __missing__(self, kind: type[Operator]) -> _Kind:
        offers = self._offers.get(kind, ())
        always = any(offer.of is None for offer in offers)
        known = self[kind] = _Kind(offers, always, kind in self._shown, _key_of(kind))
        return known


def _key_of(kind: type[Operator]) -> Callable[[Operator, tuple[Value, ...]], object]:
    if kind in _COMMUTATIVE:
        return lambda _, inputs: (kind, inputs if id(inputs[0]) < id(inputs[1]) else inputs[::-1])
    if not kind.__match_args__:
        return lambda _, inputs: (kind, inputs)
    return lambda operator, inputs: (operator.exactly, inputs)


class GraphSimplifier:
    """Simplifies graphs; every rule is exact.

    Args:
        rules: The rules of each simplification, by name, in the order in which they are tried.
    """

    def __init__(self, rules: Mapping[str, Rules]) -> None:
        self._rules = rules
        self._kinds: dict[tuple[str, ...], _Kinds] = {}

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
        kinds = self._kinds.get(chosen)
        if kinds is None:
            kinds = self._kinds[chosen] = self._kinds_of(chosen)
        walk = _Walk(graph, kinds, ids, COMMON_SUBEXPRESSIONS in chosen, supports)
        return walk.run(DEAD_CODE in chosen)

    def _kinds_of(self, chosen: tuple[str, ...]) -> _Kinds:
        table: dict[type[Operator], tuple[Offer, ...]] = {}
        for name, rules in self._rules.items():
            if name in chosen:
                for kind, own in rules.items():
                    table[kind] = (*table.get(kind, ()), *own)
        return _Kinds(table)


class _UnsupportedError(Exception):
    """A rule would write what the target does not have."""


class _Walk:
    """One walk: the ``Writer`` that rules write with."""

    def __init__(
        self,
        graph: Graph,
        kinds: _Kinds,
        ids: IdSource,
        merges: bool,
        supports: Callable[[Operation], bool] | None,
    ) -> None:
        self._graph = graph
        self._kinds = kinds
        self._ids = ids
        self._known: dict[object, Value] | None = {} if merges else None
        self._boundary = {value for _, value in graph.inputs}
        self._supports = supports
        pinned = () if supports is None else graph.outputs
        self._pinned = {value for _, value in pinned}
        self._moved: dict[Value, Value] = {}
        self._done: list[Operation] = []
        self._shown: dict[Value, type[Operator]] = {}
        self._origin: Origin | None = None
        self._uses: dict[Value, int] | None = None

    def run(self, drops_unused: bool) -> Graph:
        graph, moved, known, shown = self._graph, self._moved, self._known, self._shown
        kinds, pinned, done = self._kinds, self._pinned, self._done
        for operation in graph.operations:
            inputs, operator = operation.inputs, operation.operator
            if moved and not moved.keys().isdisjoint(inputs):
                inputs = tuple([moved.get(value, value) for value in inputs])
            offers, always, is_shown, key_of = kinds[type(operator)]
            key: object = None
            if operation not in pinned:
                if offers and (always or not shown.keys().isdisjoint(inputs)):
                    self._origin = operation.origin
                    found = self._by_rule(offers, operator, inputs)
                    if found is not None:
                        self._replace(operation, found)
                        continue
                if known is not None:
                    key = key_of(operator, inputs)
                    found = known.setdefault(key, operation)
                    if found is not operation:
                        self._replace(operation, found)
                        continue
            kept = operation
            if inputs is not operation.inputs:
                kept = operation.with_inputs(inputs)
                self._replace(operation, kept)
                if known is not None and key is not None:
                    known[key] = kept
            done.append(kept)
            if is_shown:
                self._show(kept)
        outputs = graph.outputs
        if moved:
            outputs = tuple([NamedValue(name, moved.get(value, value)) for name, value in outputs])
        needed = [value for _, value in outputs]
        left = reachable(done, needed) if drops_unused else tuple(done)
        if not moved and len(left) == len(graph.operations):
            return graph
        return Graph(graph.name, graph.inputs, left, outputs)

    def maker_of(self, value: Value) -> Operation | None:
        """Return the operation of this graph that makes a value; ``None`` for an input."""
        if value in self._boundary or not isinstance(value, Operation):
            return None
        return value

    def is_used_once(self, value: Value) -> bool:
        """Return whether at most one operation reads a value, and no output is it."""
        if self._uses is None:
            self._uses = self._count_uses()
        return self._uses.get(value, 1) <= 1

    def write(self, operator: Operator, *inputs: Value) -> Value:
        """Append an operation, simplified in turn, and return its value."""
        offers = self._kinds[type(operator)].offers
        found = self._by_rule(offers, operator, inputs) if offers else None
        return self.append(operator, *inputs) if found is None else found

    def append(self, operator: Operator, *inputs: Value) -> Value:
        """Append an operation as it is, unless there is an equal one, and return its value."""
        kind, known = self._kinds[type(operator)], self._known
        key = kind.key_of(operator, inputs)
        if known is not None:
            found = known.get(key)
            if found is not None:
                return found
        origin = Derived("simplification", operator.name, self._origin)
        operation = Operation(operator, inputs, next(self._ids), origin)
        if self._supports is not None and not self._supports(operation):
            raise _UnsupportedError
        if known is not None:
            known[key] = operation
        self._done.append(operation)
        if kind.is_shown:
            self._show(operation)
        return operation

    def _by_rule(
        self, offers: tuple[Offer, ...], operator: Operator, inputs: tuple[Value, ...]
    ) -> Value | None:
        """Return what the first rule says that has anything to say."""
        makers = [self._shown.get(value) for value in inputs]
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

    def _show(self, operation: Operation) -> None:
        """Note what makes a value that rules look into."""
        kind = type(operation.operator)
        if kind is BroadcastTo and self._shown.get(operation.inputs[0]) is Constant:
            kind = Constant
        self._shown[operation] = kind

    def _replace(self, old: Value, new: Value) -> None:
        """Note what a value has become; who read the one reads the other."""
        self._moved[old] = new
        if self._uses is not None:
            self._uses[new] = self._uses.get(new, 0) + self._uses.get(old, 0)

    def _count_uses(self) -> dict[Value, int]:
        """Return how often each value is read, as far as the walk has come."""
        uses = Counter(chain.from_iterable([op.inputs for op in self._graph.operations]))
        uses.update({value: 2 for _, value in self._graph.outputs})
        for old, new in self._moved.items():
            uses[new] += uses[old]
        return uses
