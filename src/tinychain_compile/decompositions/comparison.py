"""Choice by comparison in terms of less and where."""

from __future__ import annotations

from tinychain_compile.ir.operator import Operator
from tinychain_compile.namespace import where
from tinychain_compile.operators import Maximum
from tinychain_compile.protocols import Decomposition
from tinychain_compile.tensor import Tensor


def maximum(op: Maximum, a: Tensor, b: Tensor) -> Tensor:
    """B where a is less, else a; and b where b is NaN: neither less than infinity nor above minus.

    A NaN in a stays, since nothing is less than it.
    """
    larger = where(a < b, b, a)
    if not b.type.is_floating:
        return larger
    return where(b < float("inf"), larger, where(b > -float("inf"), larger, b))


DECOMPOSITIONS: dict[type[Operator], Decomposition] = {Maximum: maximum}
