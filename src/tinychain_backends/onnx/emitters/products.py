"""Matrix products, convolutions and windows."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from types import MappingProxyType
from typing import Any

import numpy as np

from tinychain_backends.onnx.emitters.arrangement import zeros
from tinychain_backends.onnx.emitters.elementwise import Emitter
from tinychain_backends.onnx.nodes import Writer
from tinychain_compile import operators as o
from tinychain_compile.operators import Operator


def _matmul(w: Writer, op: o.MatMul, a: str, b: str) -> str:
    def product(left: str, right: str) -> str:
        return matrix_product(w, op, left, right)

    return w.widened(product, a, b)


def matrix_product(w: Writer, op: o.MatMul, a: str, b: str) -> str:
    """Return a product: with transposed operands ``Gemm``, where there is no stack of matrices."""
    if not (op.transpose_a or op.transpose_b):
        return w.node("MatMul", a, b)
    if w.types[0].rank == 2 and w.result.is_floating:
        return w.node("Gemm", a, b, transA=int(op.transpose_a), transB=int(op.transpose_b))
    rank = w.types[0].rank
    swapped = (*range(rank - 2), rank - 1, rank - 2)
    a = w.node("Transpose", a, perm=swapped) if op.transpose_a else a
    b = w.node("Transpose", b, perm=swapped) if op.transpose_b else b
    return w.node("MatMul", a, b)


def _einsum(w: Writer, op: o.Einsum, *operands: str) -> str:
    return w.node("Einsum", *operands, equation=f"{','.join(op.operands)}->{op.result}")


def conv_attributes(op: Any) -> dict[str, Any]:
    """Return strides, padding, dilations and groups as ONNX writes them."""
    return {
        "strides": op.strides,
        "pads": [low for low, _ in op.padding] + [high for _, high in op.padding],
        "dilations": op.dilations,
        "group": op.groups,
    }


def _conv(w: Writer, op: o.Conv, x: str, kernel: str) -> str:
    return w.node("Conv", x, kernel, **conv_attributes(op))


def rests(op: o.ConvInputGradient, window: tuple[int, ...], counts: tuple[int, ...]) -> list[int]:
    """Return how far the last window ends before the end of each padded axis."""
    rows = zip(op.sizes, op.padding, window, counts, op.strides, op.dilations, strict=True)
    return [
        size + low + high - ((count - 1) * stride + dilation * (k - 1) + 1)
        for size, (low, high), k, count, stride, dilation in rows
    ]


def _conv_input_gradient(w: Writer, op: o.ConvInputGradient, g: str, kernel: str) -> str:
    window: Any = w.types[1].shape[2:]
    counts: Any = w.types[0].shape[2:]
    rest = rests(op, window, counts)
    return w.node("ConvTranspose", g, kernel, output_padding=rest, **conv_attributes(op))


def _conv_kernel_gradient(w: Writer, op: o.ConvKernelGradient, g: str, x: str) -> str:
    """Convolve the image with the cotangent, batch and channels exchanged, strides and dilations.

    Groups become channels of the image: ``[n, groups * c, s..]`` is read as
    ``[c, groups * n, s..]``. A last window that ends before the padded axis does gives places that
    are cut off.
    """
    spatial = list(range(2, w.types[0].rank))
    inner = w.result.shape[1]
    batch, _, *sizes = w.types[1].shape
    if op.groups > 1:
        x = w.reshape(x, (batch, op.groups, inner, *sizes))
        x = w.node("Transpose", x, perm=[2, 1, 0, *[axis + 1 for axis in spatial]])
        x = w.reshape(x, (inner, batch * op.groups, *sizes))
    else:
        x = w.node("Transpose", x, perm=[1, 0, *spatial])
    pulled = w.node("Transpose", g, perm=[1, 0, *spatial])
    attributes = conv_attributes(op)
    attributes |= {"strides": op.dilations, "dilations": op.strides}
    made = w.node("Conv", x, pulled, **attributes)
    ends = w.integers(op.window)
    starts = w.integers([0] * len(spatial))
    cut = w.node("Slice", made, starts, ends, w.integers(spatial))
    return w.node("Transpose", cut, perm=[1, 0, *spatial])


def window_attributes(op: Any) -> dict[str, Any]:
    """Return window, strides and padding as ONNX writes them."""
    return {
        "kernel_shape": op.window,
        "strides": op.strides,
        "pads": [low for low, _ in op.padding] + [high for _, high in op.padding],
    }


def _window_max(w: Writer, op: o.WindowMax, x: str) -> str:
    """Take the largest; the runtime's kernel gives the lowest number where all are -infinity."""
    found = w.node("MaxPool", x, **window_attributes(op))
    lowest = w.scalar(float(np.finfo(w.result.dtype).min))
    return w.node("Where", w.node("Equal", found, lowest), w.scalar(-np.inf), found)


def _window_max_gradient(w: Writer, op: o.WindowMaxGradient, x: str, g: str) -> str:
    """Add what each window gives at the flat place that it took its largest from."""
    _, places = w.outputs("MaxPool", 2, x, **window_attributes(op))
    flat = w.integers([-1])
    total = w.result.size
    target = zeros(w, (total,))
    added = w.node(
        "ScatterElements",
        target,
        w.node("Reshape", places, flat),
        w.node("Reshape", g, flat),
        axis=0,
        reduction="add",
    )
    return w.reshape(added, w.result.shape)


def _window_sum(w: Writer, op: o.WindowSum, x: str) -> str:
    mean = w.node("AveragePool", x, count_include_pad=1, **window_attributes(op))
    return w.node("Mul", mean, w.scalar(prod(op.window)))


PRODUCTS: Mapping[type[Operator], Emitter] = MappingProxyType(
    {
        o.MatMul: _matmul,
        o.Einsum: _einsum,
        o.Conv: _conv,
        o.ConvInputGradient: _conv_input_gradient,
        o.ConvKernelGradient: _conv_kernel_gradient,
        o.WindowMax: _window_max,
        o.WindowMaxGradient: _window_max_gradient,
        o.WindowSum: _window_sum,
    }
)
"""What is written for each."""
