"""What settings name in the tests: stages, passes, things that fit nothing."""

from __future__ import annotations

from tinychain_compile.tracing import FunctionTracer


class HalvingTracer(FunctionTracer):
    """Halves every loss."""

    def trace_loss(self, loss, inputs, ids):
        return super().trace_loss(lambda **given: loss(**given) * 0.5, inputs, ids)


class NeedsArguments(FunctionTracer):
    def __init__(self, depth):
        self.depth = depth


READY = HalvingTracer()
NOTHING = object()
CALLS = []


def noted(graph):
    """A pass that changes nothing and is written down."""
    CALLS.append(graph.name)
    return graph
