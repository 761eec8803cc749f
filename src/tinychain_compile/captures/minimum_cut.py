"""The cheapest set of values to keep, as a minimum cut of the forward graph."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from typing import Any, NamedTuple

from tinychain_compile.captures.costs import PRODUCTS, total_work, weight_of, work_of
from tinychain_compile.errors import DeclarationError
from tinychain_compile.ir.graph import Operation, Value
from tinychain_compile.operators import Slice

_SOURCE, _SINK = -1, -2
_SCALE = 2**30
_STEPS = 24
"""Bisections of the price: they tell prices a factor of 1.0001 apart over eight decades."""


class Cut(NamedTuple):
    """What one price of work leads to.

    Attributes:
        kept: The values to keep.
        bytes: What they weigh.
        work: The multiplications that are done again.
    """

    kept: frozenset[Value]
    bytes: int
    work: int


class Problem:
    """The choice between keeping and making again.

    Args:
        operations: Those of the forward graph that what is wanted depends on, in order.
        wanted: The values that the derivative reads.
        free: The values that are there anyway.
        recompute_products: Whether products may be done again.
    """

    def __init__(
        self,
        operations: Sequence[Operation],
        wanted: Iterable[Value],
        free: set[Value],
        recompute_products: bool,
    ) -> None:
        self._operations = operations
        self._wanted = [value for value in wanted if value not in free]
        self._free = free
        self._recompute_products = recompute_products
        self._index: dict[Value, int] = {operation: i for i, operation in enumerate(operations)}
        self._weights = [weight_of(operation) for operation in operations]
        self._work = [work_of(operation) for operation in operations]
        self._flow: Any = _networkx()

    def fewest_bytes(self) -> Cut:
        """Return the cut of the fewest bytes, and among those of the least work."""
        return self._cut(total_work(self._operations) + 1, 1)

    def within_work(self, budget: float) -> Cut:
        """Return the cut of the fewest bytes among those of at most so much work."""
        return self._cheapest(lambda cut: cut.work <= budget, rising=True)

    def within_bytes(self, budget: int) -> Cut:
        """Return the cut of the least work among those of at most so many bytes."""
        return self._cheapest(lambda cut: cut.bytes <= budget, rising=False)

    def _cheapest(self, fits: Callable[[Cut], bool], *, rising: bool) -> Cut:
        """Bisect the price of work, which exchanges bytes for work, for the last cut that fits."""
        best = self.fewest_bytes()
        if rising and fits(best):
            return best
        low, high = -20.0, 12.0  # powers of two, in bytes for a multiplication
        for _ in range(_STEPS):
            middle = (low + high) / 2
            cut = self._cut(_SCALE, max(round(_SCALE * 2.0**middle), 1))
            is_fitting = fits(cut)
            if is_fitting:
                best = cut
            if is_fitting == rising:
                high = middle
            else:
                low = middle
        return best

    def _cut(self, price_of_bytes: int, price_of_work: int) -> Cut:
        """Return the cut of least total price.

        Of each value, the node ``2 * i`` stands for its making and ``2 * i + 1`` for having it.
        """
        graph: Any = self._flow.DiGraph()
        graph.add_nodes_from((_SOURCE, _SINK))
        index = self._index
        for i, operation in enumerate(self._operations):
            if operation in self._free:
                continue
            operator = operation.operator
            if (operator.is_movement and not isinstance(operator, Slice)) or operator.is_literal:
                graph.add_edge(2 * i, 2 * i + 1)
            else:
                graph.add_edge(2 * i, 2 * i + 1, capacity=price_of_bytes * self._weights[i])
            if type(operator) in PRODUCTS and not self._recompute_products:
                graph.add_edge(_SOURCE, 2 * i)
            elif self._work[i]:
                graph.add_edge(_SOURCE, 2 * i, capacity=price_of_work * self._work[i])
            for value in operation.inputs:
                if value in index and value not in self._free:
                    graph.add_edge(2 * index[value] + 1, 2 * i)
        for value in self._wanted:
            graph.add_edge(2 * index[value] + 1, _SINK)
        _, (kept_side, _) = self._flow.minimum_cut(graph, _SOURCE, _SINK)
        kept = frozenset(
            value
            for value, i in index.items()
            if 2 * i in kept_side and 2 * i + 1 in graph and 2 * i + 1 not in kept_side
        )
        again = (i for i in index.values() if 2 * i in graph and 2 * i not in kept_side)
        weight = sum(self._weights[index[value]] for value in kept)
        return Cut(kept, weight, sum(self._work[i] for i in again))


def _networkx() -> Any:
    """Return the graph library."""
    try:
        return import_module("networkx")
    except ImportError as error:
        raise DeclarationError(
            "option captures",
            expected="networkx, which finds minimum cuts",
            got=str(error),
            hint='Install the extra: pip install "tinychain-compile[captures]".',
        ) from error
