"""Derivatives of convolution: both are convolutions, with stride and dilation exchanged."""

from __future__ import annotations

from tinychain_compile.ir.dimensions import Dimension
from tinychain_compile.ir.operator import Operator
from tinychain_compile.operators import Conv, Reverse
from tinychain_compile.protocols import VJPRule
from tinychain_compile.tensor import Tensor


def conv(op: Conv, g: Tensor, y: Tensor, x: Tensor, kernel: Tensor) -> tuple[Tensor, Tensor]:
    """``g``, spread by the stride, with the kernel reversed; ``x`` with ``g`` as the kernel."""
    return _to_image(op, g, x, kernel), _to_kernel(op, g, x, kernel)


def _to_image(op: Conv, g: Tensor, x: Tensor, kernel: Tensor) -> Tensor:
    """Return the cotangent of the image.

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
        high.append(x.shape[2 + axis] + before + spread * -1)
    wide = g.pad((0, 0, *low), (0, 0, *high), (0, 0, *(s - 1 for s in op.strides)))
    ones, none = (1,) * spatial, ((0, 0),) * spatial
    return wide.emit(Conv(ones, none, op.dilations, groups), backwards)


def _to_kernel(op: Conv, g: Tensor, x: Tensor, kernel: Tensor) -> Tensor:
    """Return the cotangent of the kernel.

    The image, its batch as channels, convolved with ``g``, its batch as channels too. The stride
    of the one is the dilation of the other.
    """
    spatial = len(op.strides)
    groups, batch = op.groups, x.shape[0]
    inner = kernel.shape[1]
    axes = tuple(range(3, 3 + spatial))
    low: list[Dimension] = []
    high: list[Dimension] = []
    for axis in range(spatial):
        reach = (kernel.shape[2 + axis] + -1) * op.dilations[axis]
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


RULES: dict[type[Operator], VJPRule] = {Conv: conv}
