"""Convolution as a sum, over the places of the kernel, of a slice of the image times a matrix.

Its gradients are convolutions.
"""

from __future__ import annotations

from itertools import product

from tinychain_compile.ir.dimensions import Dimension, size_of
from tinychain_compile.ir.operator import Operator
from tinychain_compile.operators import (
    Conv,
    ConvInputGradient,
    ConvKernelGradient,
    MatMul,
    Reverse,
    Slice,
)
from tinychain_compile.protocols import Decomposition
from tinychain_compile.tensor import Tensor


def conv(op: Conv, x: Tensor, kernel: Tensor) -> Tensor:
    """For each place of the kernel: ``[g, o / g, c / g] @ [n, g, c / g, windows]``."""
    groups = op.groups
    counts = tuple(op.infer(x.type, kernel.type).shape[2:])
    batch, outputs, inner = x.shape[0], kernel.shape[0], kernel.shape[1]
    windows = size_of(counts)
    share = _share(outputs, groups)
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


def conv_input_gradient(op: ConvInputGradient, g: Tensor, kernel: Tensor) -> Tensor:
    """``g``, spread by the stride, with the kernel reversed: a convolution.

    ``g`` with ``stride - 1`` zeros between its elements, convolved with the kernel of which the
    spatial axes are reversed and, in each group, inputs and outputs exchanged. Rows that no window
    covered are padded; padding that windows covered is cut off.
    """
    spatial = len(op.strides)
    groups, (outputs, inner) = op.groups, kernel.shape[:2]
    window = kernel.shape[2:]
    split = kernel.reshape((groups, _share(outputs, groups), inner, *window))
    order = (0, 2, 1, *range(3, 3 + spatial))
    swapped = split.transpose(order).reshape((inner * groups, _share(outputs, groups), *window))
    backwards = swapped.emit(Reverse(tuple(range(2, 2 + spatial))))
    low: list[Dimension] = []
    high: list[Dimension] = []
    for axis in range(spatial):
        reach = (window[axis] + -1) * op.dilations[axis]
        before = op.padding[axis][0]
        spread = (g.shape[2 + axis] + -1) * op.strides[axis] + 1
        low.append(reach + -before)
        high.append(op.sizes[axis] + before + spread * -1)
    wide = g.pad((0, 0, *low), (0, 0, *high), (0, 0, *(s - 1 for s in op.strides)))
    ones, none = (1,) * spatial, ((0, 0),) * spatial
    return wide.emit(Conv(ones, none, op.dilations, groups), backwards)


def conv_kernel_gradient(op: ConvKernelGradient, g: Tensor, x: Tensor) -> Tensor:
    """``x`` with ``g`` as the kernel: a convolution, stride and dilation exchanged.

    The image, its batch as channels, convolved with ``g``, its batch as channels too. The stride
    of the one is the dilation of the other.
    """
    spatial = len(op.strides)
    groups, batch = op.groups, x.shape[0]
    inner = _share(x.shape[1], groups)
    axes = tuple(range(3, 3 + spatial))
    low: list[Dimension] = []
    high: list[Dimension] = []
    for axis in range(spatial):
        reach = (op.window[axis] + -1) * op.dilations[axis]
        covered = (g.shape[2 + axis] + -1) * op.strides[axis] + 1
        before = op.padding[axis][0]
        low.append(before)
        high.append(reach + covered + x.shape[2 + axis] * -1 + -before)
    padded = x.pad((0, 0, *low), (0, 0, *high))
    parts = padded.reshape((batch, groups, inner, *padded.shape[2:]))
    image = parts.transpose((2, 1, 0, *axes)).reshape((inner, batch * groups, *padded.shape[2:]))
    weights = g.transpose((1, 0, *range(2, 2 + spatial)))
    none = ((0, 0),) * spatial
    product = image.emit(Conv(op.dilations, none, op.strides, groups), weights)
    return product.transpose((1, 0, *range(2, 2 + spatial)))


def _share(outputs: Dimension, groups: int) -> Dimension:
    return outputs // groups if isinstance(outputs, int) else outputs


def _known(size: object) -> int:
    assert isinstance(size, int), "spatial sizes are numbers: the type rule says so"
    return size


DECOMPOSITIONS: dict[type[Operator], Decomposition] = {
    Conv: conv,
    ConvInputGradient: conv_input_gradient,
    ConvKernelGradient: conv_kernel_gradient,
}
