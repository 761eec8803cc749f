"""Handlers whose target values are a few ONNX nodes each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import zip_longest

from tinychain_backends.onnx.emitters import BROADCASTING, EMITTERS, Emitter
from tinychain_backends.onnx.nodes import Emission, Repeated, Writer
from tinychain_backends.onnx.support import Measured
from tinychain_compile import (
    Dimension,
    Operation,
    OperationContext,
    OperationHandlerRegistry,
    Shape,
    TensorType,
)
from tinychain_compile.operators import BroadcastTo, MatMul, Operator


class NodeHandlers:
    """Lowers operations to nodes.

    Args:
        emitters: The function that writes each operator.
    """

    def __init__(self, emitters: Mapping[type[Operator], Emitter] = EMITTERS) -> None:
        self.emitters = emitters

    def lower(self, context: OperationContext) -> Emission:
        """Return the nodes of one operation; broadcasts that operands are, are left to ONNX."""
        operator, types = context.operator, context.input_typespecs
        writer = Writer(context.output_value_id, types, context.output_typespec)
        names = list(context.input_value_ids)
        if type(operator) in BROADCASTING:
            names = _unrepeated(context)
        made = writer.finished(self.emitters[type(operator)](writer, operator, *names))
        if isinstance(operator, BroadcastTo):
            inner = _repeated(context.inputs[0])
            return made._replace(repeated=inner or Repeated(names[0], types[0].shape))
        return made

    def registry(
        self, supports: Callable[[Operation], bool | str] | None = None
    ) -> OperationHandlerRegistry:
        """Return a registry with a handler for every operator that ONNX expresses directly.

        Args:
            supports: Says what the runtime takes; everything if ``None``.
        """
        registry = OperationHandlerRegistry()
        for operator_type in self.emitters:
            registry.handler(operator_type, supports=supports)(self.lower)
        return registry


def _repeated(value: object) -> Repeated | None:
    return value.repeated if isinstance(value, Emission) else None


def _unrepeated(context: OperationContext) -> list[str]:
    """Return the operands' names, or of what they repeat, so that the result keeps its shape."""
    names = list(context.input_value_ids)
    if isinstance(context.operator, MatMul):
        flags = (context.operator.transpose_a, context.operator.transpose_b)
        rows = zip(context.inputs, flags, context.input_typespecs, strict=True)
        for place, (value, is_transposed, type) in enumerate(rows):
            repeated = _repeated(value)
            if repeated is not None and not is_transposed and _is_stacked(repeated, type):
                names[place] = repeated.name
        return names
    shapes = [type.shape for type in context.input_typespecs]
    for place, value in enumerate(context.inputs):
        repeated = _repeated(value)
        if repeated is None:
            continue
        tried = [*shapes[:place], repeated.shape, *shapes[place + 1 :]]
        if _together(tried) == context.output_typespec.shape:
            names[place], shapes = repeated.name, tried
    return names


def _is_stacked(repeated: Repeated, type: TensorType) -> bool:
    """Return whether a broadcast only stacks matrices."""
    return len(repeated.shape) >= 2 and repeated.shape[-2:] == type.shape[-2:]


def _together(shapes: list[Shape]) -> Shape:
    """Return the shape that shapes are broadcast to, the last axes first matched."""
    rows = zip_longest(*[shape[::-1] for shape in shapes], fillvalue=1)
    sizes: list[Dimension] = [next((d for d in row if d != 1), 1) for row in rows]
    return tuple(sizes[::-1])


def onnx_registry() -> OperationHandlerRegistry:
    """Return the registry for ONNX Runtime, by the table that was measured on it."""
    return NodeHandlers().registry(Measured("tinychain_backends.onnx").why_not)
