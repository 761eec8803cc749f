"""Replaces what a backend lacks by decompositions, again and again."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from tinychain_compile.capability import Capability
from tinychain_compile.ir.graph import Graph, IdSource, Operation
from tinychain_compile.ir.operator import Operator
from tinychain_compile.passes.rewriting import rewrite
from tinychain_compile.protocols import Decomposition, HandlerRegistry
from tinychain_compile.templates import Templates


class DecomposingLegalizer:
    """Leaves whole what the registry supports, decomposes the rest as far as it can.

    What is left without support is reported by the support check, not here. A decomposition is
    asked once for an operator with its attributes and types, as VJP rules are.

    Args:
        decompositions: The decomposition of each operator class that has one.
        undecomposed: Why an operator class has none, where there is more to say.
        approximate: The classes whose decomposition is not exact to rounding.
    """

    def __init__(
        self,
        decompositions: Mapping[type[Operator], Decomposition],
        undecomposed: Mapping[type[Operator], str] | None = None,
        approximate: Collection[type[Operator]] = (),
    ) -> None:
        self._decompositions = decompositions
        self._undecomposed = undecomposed or {}
        self._approximate = approximate
        self._templates = Templates()

    def legalize(
        self, graph: Graph, handlers: HandlerRegistry, ids: IdSource, *, approximate: bool = True
    ) -> Graph:
        """Return the graph in what the registry supports; the same object if it supports all."""
        capability = Capability(handlers)
        if not capability.missing(graph.operations):
            return graph

        def rule_for(operation: Operation) -> Decomposition | None:
            if capability.why_not(operation) is None:
                return None
            kind = type(operation.operator)
            if kind in self._approximate and not approximate:
                return None
            return self._decompositions.get(kind)

        return rewrite(graph, rule_for, ids, how="decomposition", templates=self._templates)

    def why_kept(self, operation: Operation) -> str:
        """Return why an operation that is not supported was not decomposed."""
        kind = type(operation.operator)
        if kind in self._undecomposed:
            return self._undecomposed[kind]
        if kind in self._decompositions:
            return "its decomposition is approximate, and the options refuse that"
        return "it has no decomposition: every backend brings it"
