"""Fusion hooks that most backends can use: elementwise chains, and broadcasts folded in."""

from __future__ import annotations

from collections.abc import Callable, Collection

from tinychain_compile.artifacts import TargetValue
from tinychain_compile.ir.operator import Operator
from tinychain_compile.lowering.regions import Region, claim, region_of
from tinychain_compile.operators import ELEMENTWISE, BroadcastTo
from tinychain_compile.protocols import Declined, FusionCandidate, FusionContext, FusionResult


class ElementwiseChainHook:
    """Takes elementwise operators that follow each other, where nobody else reads between them.

    Args:
        replacement: Gives the target value of a chain, whose last operation's value leaves.
        operators: The classes that may be in a chain.
        longest: How many operations a chain has at most.
    """

    def __init__(
        self,
        replacement: Callable[[Region], TargetValue | Declined | None],
        *,
        operators: Collection[type[Operator]] = ELEMENTWISE,
        longest: int = 16,
    ) -> None:
        self.lookahead = longest
        self._replacement = replacement
        self._operators = frozenset(operators)

    def fuse(self, context: FusionContext) -> FusionResult | Declined | None:
        """Return the longest chain that starts with the operation offered."""
        last = context.candidates[0]
        if type(last.operator) not in self._operators:
            return None
        nodes = [last.node_id]
        for candidate in context.candidates[1:]:
            if not self._continues(last, candidate):
                break
            nodes.append(candidate.node_id)
            last = candidate
        while len(nodes) > 1:
            region = region_of(nodes, context)
            if isinstance(region, Region):
                return claim(region, self._replacement(region))
            nodes.pop()
        return None

    def _continues(self, last: FusionCandidate, candidate: FusionCandidate) -> bool:
        """Return whether a candidate alone reads what the chain makes so far."""
        return (
            type(candidate.operator) in self._operators
            and not last.is_output
            and last.consumer_ids == (candidate.node_id,)
            and candidate.output_typespec.shape == last.output_typespec.shape
        )


class BroadcastFoldingHook:
    """Takes explicit broadcasts together with the elementwise operator that alone reads them.

    For runtimes whose operators broadcast by themselves.

    Args:
        replacement: Gives the target value of a region: broadcasts, then their reader.
        operators: The classes that broadcast by themselves.
        lookahead: How many operations the window holds.
    """

    def __init__(
        self,
        replacement: Callable[[Region], TargetValue | Declined | None],
        *,
        operators: Collection[type[Operator]] = ELEMENTWISE,
        lookahead: int = 8,
    ) -> None:
        self.lookahead = lookahead
        self._replacement = replacement
        self._operators = frozenset(operators)

    def fuse(self, context: FusionContext) -> FusionResult | Declined | None:
        """Return the broadcast that is offered, its reader, and what else is broadcast for it."""
        offered, *others = context.candidates
        if type(offered.operator) is not BroadcastTo:
            return None
        reader = next((c for c in others if (c.node_id,) == offered.consumer_ids), None)
        if reader is None or type(reader.operator) not in self._operators or offered.is_output:
            return None
        also = [
            c.node_id
            for c in others
            if type(c.operator) is BroadcastTo
            and c.consumer_ids == (reader.node_id,)
            and not c.is_output
        ]
        region = region_of([offered.node_id, *also, reader.node_id], context)
        if isinstance(region, Declined):
            region = region_of([offered.node_id, reader.node_id], context)
        if isinstance(region, Declined):
            return region
        return claim(region, self._replacement(region))
