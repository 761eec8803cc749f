"""Replaces what a backend lacks by decompositions, again and again."""

from __future__ import annotations

from collections.abc import Mapping

from tinychain_compile.ir.graph import Graph, IdSource, Operation
from tinychain_compile.ir.operator import Operator
from tinychain_compile.passes.rewriting import rewrite
from tinychain_compile.protocols import Decomposition, HandlerRegistry


class DecomposingLegalizer:
    """Leaves whole what the registry has, decomposes the rest as far as there are decompositions.

    What is left without a handler is reported by the support check, not here.

    Args:
        decompositions: The decomposition of each operator class that has one.
    """

    def __init__(self, decompositions: Mapping[type[Operator], Decomposition]) -> None:
        self._decompositions = decompositions

    def legalize(self, graph: Graph, handlers: HandlerRegistry, ids: IdSource) -> Graph:
        """Return the graph in operators the registry has; the same object if it has them all."""

        def rule_for(operation: Operation) -> Decomposition | None:
            if handlers.has_handler(operation.operator):
                return None
            return self._decompositions.get(type(operation.operator))

        return rewrite(graph, rule_for, ids, how="decomposition")
