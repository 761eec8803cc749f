"""Derivatives of convolution. Image, kernel and cotangent take each other's part in all three."""

from __future__ import annotations

from typing import Any

from tinychain_compile.ir.operator import Operator
from tinychain_compile.operators import Conv, ConvInputGradient, ConvKernelGradient
from tinychain_compile.protocols import VJPRule
from tinychain_compile.tensor import Tensor


def conv(op: Conv, g: Tensor, y: Tensor, x: Tensor, kernel: Tensor) -> tuple[Tensor, Tensor]:
    """``g`` pulled back through the kernel, and ``g`` together with the image."""
    return _to_image(op, g, x, kernel), _to_kernel(op, g, x, kernel)


def conv_input_gradient(
    op: ConvInputGradient, h: Tensor, z: Tensor, g: Tensor, kernel: Tensor
) -> tuple[Tensor, Tensor]:
    """It is linear in both: ``h`` is the image."""
    return h.emit(_conv(op), kernel), _to_kernel(op, g, h, kernel)


def conv_kernel_gradient(
    op: ConvKernelGradient, h: Tensor, z: Tensor, g: Tensor, x: Tensor
) -> tuple[Tensor, Tensor]:
    """It is linear in both: ``h`` is the kernel."""
    return x.emit(_conv(op), h), _to_image(op, g, x, h)


def _to_image(op: Any, g: Tensor, x: Tensor, kernel: Tensor) -> Tensor:
    rest = (op.strides, op.padding, op.dilations, op.groups)
    return g.emit(ConvInputGradient(tuple(map(_known, x.shape[2:])), *rest), kernel)


def _to_kernel(op: Any, g: Tensor, x: Tensor, kernel: Tensor) -> Tensor:
    rest = (op.strides, op.padding, op.dilations, op.groups)
    return g.emit(ConvKernelGradient(tuple(map(_known, kernel.shape[2:])), *rest), x)


def _conv(op: ConvInputGradient | ConvKernelGradient) -> Conv:
    return Conv(op.strides, op.padding, op.dilations, op.groups)


def _known(size: object) -> int:
    assert isinstance(size, int), "spatial sizes are numbers: the type rule says so"
    return size


RULES: dict[type[Operator], VJPRule] = {
    Conv: conv,
    ConvInputGradient: conv_input_gradient,
    ConvKernelGradient: conv_kernel_gradient,
}
