"""Convolution as a sum, over the places of the kernel, of a slice of the image times a matrix."""

from __future__ import annotations

from itertools import product

from tinychain_compile.ir.dimensions import size_of
from tinychain_compile.ir.operator import Operator
from tinychain_compile.operators import Conv, MatMul, Slice
from tinychain_compile.protocols import Decomposition
from tinychain_compile.tensor import Tensor


def conv(op: Conv, x: Tensor, kernel: Tensor) -> Tensor:
    """For each place of the kernel: ``[g, o / g, c / g] @ [n, g, c / g, windows]``."""
    groups = op.groups
    counts = tuple(op.infer(x.type, kernel.type).shape[2:])
    batch, outputs, inner = x.shape[0], kernel.shape[0], kernel.shape[1]
    windows = size_of(counts)
    share = outputs // groups if isinstance(outputs, int) else outputs
    low, high = (tuple(pair[i] for pair in op.padding) for i in (0, 1))
    image = x.pad((0, 0, *low), (0, 0, *high))
    total: Tensor | None = None
    for place in product(*(range(_known(size)) for size in kernel.shape[2:])):
        start = [at * gap for at, gap in zip(place, op.dilations, strict=True)]
        stop = [
            first + (_known(count) - 1) * stride + 1
            for first, count, stride in zip(start, counts, op.strides, strict=True)
        ]
        part = image.emit(Slice((0, 0, *start), (*image.shape[:2], *stop), (1, 1, *op.strides)))
        weights = kernel[(slice(None), slice(None), *place)].reshape((1, groups, share, inner))
        columns = part.reshape((batch, groups, inner, windows))
        rows = weights.broadcast_to((batch, groups, share, inner))
        term = rows.emit(MatMul(), columns)
        total = term if total is None else total + term
    if total is None:
        return x.literal(0, x.dtype).broadcast_to((batch, outputs, *counts))
    return total.reshape((batch, outputs, *counts))


def _known(size: object) -> int:
    assert isinstance(size, int), "spatial sizes are numbers: the type rule says so"
    return size


DECOMPOSITIONS: dict[type[Operator], Decomposition] = {Conv: conv}
