"""Which operations a runtime takes: by type, as measured on it, and by what ONNX can say."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from importlib.resources import files
from math import prod
from types import MappingProxyType
from typing import Any

from tinychain_backends.onnx.emitters.products import rests
from tinychain_compile import Operation, TensorType
from tinychain_compile import operators as o
from tinychain_compile.operators import Operator

TABLE = "measured.json"
"""A table of types, in the package of the backend. Written by the command that stands in it."""


def signature(types: Sequence[TensorType], result: TensorType) -> str:
    """Return the dtypes of an operation, such as ``f32,i64->f32``; equal operands once."""
    names = dict.fromkeys(str(type).partition("[")[0] for type in types)
    return f"{','.join(names)}->{str(result).partition('[')[0]}"


class Measured:
    """What a runtime computes rightly, by the table in a package.

    Args:
        package: The package that holds the table.
    """

    def __init__(self, package: str) -> None:
        table: dict[str, Any] = json.loads(files(package).joinpath(TABLE).read_text("utf-8"))
        self.runtime: str = table["runtime"]
        self._signatures: dict[str, frozenset[str]] = {
            name: frozenset(signatures) for name, signatures in table["operators"].items()
        }

    def why_not(self, operation: Operation) -> bool | str:
        """Return ``True`` for an operation that the runtime takes, else the reason why not."""
        reason = why_unwritable(operation)
        if reason:
            return reason
        found = signature([value.type for value in operation.inputs], operation.type)
        name = operation.operator.name
        if found in self._signatures.get(name, ()):
            return True
        return f"{self.runtime} was not measured to compute {name} of {found}"


def why_unwritable(operation: Operation) -> str:
    """Return why no nodes say what an operation is, whatever its types; empty if some do."""
    check = _LIMITS.get(type(operation.operator))
    return check(operation) if check else ""


def _pad(operation: Operation) -> str:
    op: Any = operation.operator
    return "ONNX pads around elements, not between them" if any(op.interior) else ""


def _standardize(operation: Operation) -> str:
    op: Any = operation.operator
    rank = operation.type.rank
    if op.axes and op.axes == tuple(range(op.axes[0], rank)):
        return ""
    return "ONNX normalizes over the last axes"


def _variance(operation: Operation) -> str:
    op: Any = operation.operator
    axes: tuple[int, ...] = op.axes
    sizes = [operation.inputs[0].type.shape[axis] for axis in axes]
    known = [size for size in sizes if isinstance(size, int)]
    if not sizes or (op.correction and (len(known) < len(sizes) or prod(known) <= op.correction)):
        return "the number of elements must be known, and above the correction"
    return ""


def _attention_weights(operation: Operation) -> str:
    if len(operation.inputs) > 2:
        return "a query that sees no key would get NaN"
    sizes = operation.type.shape[-2:]
    return "" if all(isinstance(size, int) for size in sizes) else "the mask needs known sizes"


def _convolution(operation: Operation) -> str:
    op: Any = operation.operator
    return "" if len(op.strides) <= 3 else "the runtime convolves up to three axes"


def _conv_input_gradient(operation: Operation) -> str:
    op: Any = operation.operator
    g, kernel = (value.type for value in operation.inputs)
    window: Any = kernel.shape[2:]
    counts: Any = g.shape[2:]
    rows = zip(rests(op, window, counts), op.strides, op.dilations, strict=True)
    if any(rest >= max(stride, dilation) for rest, stride, dilation in rows):
        return "ConvTranspose adds fewer places than a stride"
    return _convolution(operation)


_LIMITS: Mapping[type[Operator], Callable[[Operation], str]] = MappingProxyType(
    {
        o.Pad: _pad,
        o.Standardize: _standardize,
        o.Var: _variance,
        o.Std: _variance,
        o.AttentionWeights: _attention_weights,
        o.Conv: _convolution,
        o.ConvInputGradient: _conv_input_gradient,
        o.ConvKernelGradient: _convolution,
    }
)
