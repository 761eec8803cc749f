"""What every ready-made hook does: find a region in the window, check it, and have it replaced."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple

from tinychain_compile.artifacts import TargetValue
from tinychain_compile.protocols import Declined, FusionCandidate, FusionContext, FusionResult


class Region(NamedTuple):
    """Operations of a window that may become one.

    Attributes:
        operations: In schedule order; the last one's value is the one that leaves.
        context: What the hook was offered.
    """

    operations: tuple[FusionCandidate, ...]
    context: FusionContext

    @property
    def root(self) -> FusionCandidate:
        """The operation whose value leaves."""
        return self.operations[-1]

    @property
    def input_ids(self) -> tuple[str, ...]:
        """The ids of the values that enter, in the order they are read; each once."""
        made = {candidate.output_value_id for candidate in self.operations}
        read = (i for candidate in self.operations for i in candidate.input_value_ids)
        return tuple(dict.fromkeys(i for i in read if i not in made))

    def value_of(self, value_id: str) -> TargetValue:
        """Return the target value of a value that enters."""
        return self.context.value_of(value_id)


def region_of(nodes: Collection[str], context: FusionContext) -> Region | Declined:
    """Return the region of these nodes, or why it is none that a hook may claim."""
    operations = tuple(c for c in context.candidates if c.node_id in nodes)
    region = Region(operations, context)
    if context.candidates[0].node_id not in nodes:
        return Declined("the operation offered is not in it")
    for candidate in operations[:-1]:
        outside = [node for node in candidate.consumer_ids if node not in nodes]
        if candidate.is_output or outside:
            readers = ", ".join(outside) or "the program's consumer"
            return Declined(f"{readers} reads {candidate.output_value_id} too")
    later = {c.output_value_id for c in context.candidates if c.node_id not in nodes}
    waiting = [value_id for value_id in region.input_ids if value_id in later]
    if waiting:
        return Declined(f"{waiting[0]}, which enters, is not lowered yet")
    return region


def claim(region: Region, value: TargetValue | Declined | None) -> FusionResult | Declined | None:
    """Return the claim of a region for what its replacement returned."""
    if value is None or isinstance(value, Declined):
        return value
    return FusionResult(value, tuple(candidate.node_id for candidate in region.operations))


def reasons_of(declined: Iterable[Declined]) -> Declined | None:
    """Return several refusals as one."""
    reasons = list(dict.fromkeys(refusal.reason for refusal in declined))
    return Declined("; ".join(reasons)) if reasons else None
