"""Fusion by declared patterns: operators, how they connect, and what replaces them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from tinychain_compile.artifacts import TargetValue
from tinychain_compile.errors import BackendError
from tinychain_compile.ir.operator import Operator
from tinychain_compile.lowering.regions import Region, claim, reasons_of, region_of
from tinychain_compile.protocols import Declined, FusionCandidate, FusionContext, FusionResult


@dataclass(frozen=True, slots=True)
class Wildcard:
    """Any value; the same name twice is the same value.

    Args:
        name: What the replacement gets it by.
    """

    name: str


@dataclass(frozen=True, slots=True)
class Pattern:
    """One operator and what makes its operands.

    Args:
        operator: Its exact class.
        operands: Patterns and wildcards, one for each operand.
        where: Whether an operation of this class will do, given its candidate.
    """

    operator: type[Operator]
    operands: tuple[Pattern | Wildcard, ...]
    where: Callable[[FusionCandidate], bool] | None = None


def pattern(
    operator: type[Operator],
    *operands: Pattern | str,
    where: Callable[[FusionCandidate], bool] | None = None,
) -> Pattern:
    """Return a pattern; a string is a wildcard of this name.

    Example:
        ``pattern(Sub, "a", pattern(Mul, "b", "c"))`` is ``a - b * c``.
    """
    made = tuple(Wildcard(o) if isinstance(o, str) else o for o in operands)
    return Pattern(operator, made, where)


Replacement: TypeAlias = Callable[
    [Mapping[str, TargetValue], Region], "TargetValue | Declined | None"
]
"""``replacement(values, region)``: the target value for what matched; ``values`` by wildcard."""


class PatternHook:
    """A fusion hook that takes the first of its patterns that matches and may be claimed.

    Args:
        rules: Each pattern with its replacement, in order.
        lookahead: How many operations the window holds.
    """

    def __init__(
        self, rules: Sequence[tuple[Pattern, Replacement]], *, lookahead: int = 16
    ) -> None:
        for declared, _ in rules:
            if not declared.operands or all(isinstance(o, Wildcard) for o in declared.operands):
                raise BackendError(
                    f"pattern of {declared.operator.name}",
                    expected="at least two operators",
                    got="one",
                    hint="A handler takes a single operator.",
                )
        self.rules = tuple(rules)
        self.lookahead = lookahead
        self._rules_with: dict[type[Operator], list[_Rule]] = {}
        for declared, replacement in self.rules:
            rule = _Rule(declared, replacement, _operators_in(declared))
            for operator in rule.operators:
                self._rules_with.setdefault(operator, []).append(rule)

    def fuse(self, context: FusionContext) -> FusionResult | Declined | None:
        """Return the first claim, or every reason why what matched was not claimed."""
        rules = self._rules_with.get(type(context.candidates[0].operator))
        if rules is None:
            return None
        declined: list[Declined] = []
        made = {candidate.output_value_id: candidate for candidate in context.candidates}
        roots: dict[type[Operator], list[FusionCandidate]] = {}
        for candidate in context.candidates:
            roots.setdefault(type(candidate.operator), []).append(candidate)
        for declared, replacement, operators in rules:
            if not roots.keys() >= operators:
                continue
            for root in roots[declared.operator]:
                found = _match(declared, root, made)
                if found is None:
                    continue
                nodes, names = found
                if context.candidates[0].node_id not in nodes:
                    continue
                region = region_of(nodes, context)
                if isinstance(region, Declined):
                    declined.append(region)
                    continue
                values = {name: context.value_of(i) for name, i in names.items()}
                result = claim(region, replacement(values, region))
                if isinstance(result, FusionResult):
                    return result
                if result is not None:
                    declined.append(result)
        return reasons_of(declined)


class _Rule(NamedTuple):
    """A pattern, its replacement, and the operator classes that a window must hold for it."""

    declared: Pattern
    replacement: Replacement
    operators: frozenset[type[Operator]]


def _operators_in(declared: Pattern) -> frozenset[type[Operator]]:
    """Return every operator class of a pattern."""
    found = frozenset((declared.operator,))
    for operand in declared.operands:
        if isinstance(operand, Pattern):
            found |= _operators_in(operand)
    return found


def _match(
    declared: Pattern, root: FusionCandidate, made: Mapping[str, FusionCandidate]
) -> tuple[set[str], dict[str, str]] | None:
    """Return the nodes that match and the id of each wildcard, if the pattern matches here."""
    nodes: set[str] = set()
    names: dict[str, str] = {}
    pending: list[tuple[Pattern, FusionCandidate]] = [(declared, root)]
    while pending:
        wanted, candidate = pending.pop()
        if type(candidate.operator) is not wanted.operator:
            return None
        if len(wanted.operands) != len(candidate.input_value_ids):
            return None
        if wanted.where is not None and not wanted.where(candidate):
            return None
        nodes.add(candidate.node_id)
        for operand, value_id in zip(wanted.operands, candidate.input_value_ids, strict=True):
            if isinstance(operand, Wildcard):
                if names.setdefault(operand.name, value_id) != value_id:
                    return None
            elif value_id in made:
                pending.append((operand, made[value_id]))
            else:
                return None
    return nodes, names
