"""Movement after movement becomes one. Exact: no element is computed."""

from __future__ import annotations

from typing import cast

from tinychain_compile.ir.graph import Value
from tinychain_compile.ir.operator import Operator
from tinychain_compile.operators import BroadcastTo, MatMul, Reshape, Reverse, Transpose
from tinychain_compile.simplification.rules import Offer, Rules, Writer


def _reshape(writer: Writer, operator: Operator, inputs: tuple[Value, ...]) -> Value | None:
    """Of a reshape, of a number repeated, or to the shape there is."""
    (x,) = inputs
    shape = cast(Reshape, operator).shape
    if shape == x.type.shape:
        return x
    made = writer.maker_of(x)
    if made is None:
        return None
    source = made.inputs[0] if made.inputs else x
    if type(made.operator) is Reshape:
        return source if shape == source.type.shape else writer.write(operator, source)
    if type(made.operator) is BroadcastTo and not source.type.shape:
        return writer.write(BroadcastTo(shape), source) if shape else source
    return None


def _broadcast(writer: Writer, operator: Operator, inputs: tuple[Value, ...]) -> Value | None:
    """Of a broadcast, or to the shape there is."""
    (x,) = inputs
    if cast(BroadcastTo, operator).shape == x.type.shape:
        return x
    made = writer.maker_of(x)
    if made is None or type(made.operator) is not BroadcastTo:
        return None
    return writer.write(operator, made.inputs[0])


def _transpose(writer: Writer, operator: Operator, inputs: tuple[Value, ...]) -> Value | None:
    """Of a transpose, of a number repeated, or into the order there is."""
    (x,) = inputs
    order = cast(Transpose, operator).permutation
    if order == tuple(range(len(order))):
        return x
    made = writer.maker_of(x)
    if made is None:
        return None
    if isinstance(made.operator, Transpose):
        first = made.operator.permutation
        return writer.write(Transpose(tuple([first[axis] for axis in order])), made.inputs[0])
    if type(made.operator) is BroadcastTo and not made.inputs[0].type.shape:
        shape = tuple([x.type.shape[axis] for axis in order])
        return writer.write(BroadcastTo(shape), made.inputs[0])
    return None


def _reverse(writer: Writer, operator: Operator, inputs: tuple[Value, ...]) -> Value | None:
    """Of the same reverse."""
    made = writer.maker_of(inputs[0])
    return made.inputs[0] if made is not None and made.operator == operator else None


def _product(writer: Writer, operator: Operator, inputs: tuple[Value, ...]) -> Value | None:
    """Of matrices that were transposed: the product transposes by itself."""
    product = cast(MatMul, operator)
    a, flips_a = _untransposed(writer, inputs[0])
    b, flips_b = _untransposed(writer, inputs[1])
    if not flips_a and not flips_b:
        return None
    flags = (product.transpose_a != flips_a, product.transpose_b != flips_b)
    return writer.write(MatMul(*flags), a, b)


def _untransposed(writer: Writer, value: Value) -> tuple[Value, bool]:
    """Return a matrix before it was transposed, and whether it was."""
    made = writer.maker_of(value)
    if made is None or not isinstance(made.operator, Transpose):
        return value, False
    order = made.operator.permutation
    last = len(order) - 1
    swapped = order[-2:] == (last, last - 1) and order[:-2] == tuple(range(last - 1))
    return (made.inputs[0], True) if swapped else (value, False)


RULES: Rules = {
    Reshape: (Offer(_reshape),),
    BroadcastTo: (Offer(_broadcast),),
    Transpose: (Offer(_transpose),),
    Reverse: (Offer(_reverse, frozenset({Reverse})),),
    MatMul: (Offer(_product, frozenset({Transpose})),),
}
