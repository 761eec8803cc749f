"""Arithmetic on literals, done now.

Exact: only operators that IEEE 754 rounds correctly, so a backend would compute the same number.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from tinychain_compile.ir.dtypes import Array
from tinychain_compile.ir.graph import Value
from tinychain_compile.ir.operator import Operator
from tinychain_compile.operators import (
    Abs,
    Add,
    And,
    Cast,
    Constant,
    Div,
    Equal,
    Less,
    LessEqual,
    Mul,
    Neg,
    Not,
    Or,
    Reshape,
    Sqrt,
    Sub,
    Transpose,
    Where,
)
from tinychain_compile.simplification.rules import LITERAL, Offer, Rules, Writer

LARGEST = 64
"""The elements that a folded result may have."""

_EXACT: Mapping[type[Operator], Callable[..., Any]] = MappingProxyType(
    {
        Add: np.add,
        Sub: np.subtract,
        Mul: np.multiply,
        Div: np.divide,
        Sqrt: np.sqrt,
        Neg: np.negative,
        Abs: np.abs,
        Less: np.less,
        LessEqual: np.less_equal,
        Equal: np.equal,
        Not: np.logical_not,
        And: np.logical_and,
        Or: np.logical_or,
        Where: np.where,
    }
)


def _folded(writer: Writer, operator: Operator, inputs: tuple[Value, ...]) -> Value | None:
    """The literal that an operation on literals is."""
    arrays: list[Array] = []
    for value in inputs:
        made = writer.maker_of(value)
        if made is None or not isinstance(made.operator, Constant):
            return None
        array = made.operator.value
        if array.size > LARGEST:
            return None
        arrays.append(array)
    return writer.write(Constant(_computed(operator, arrays)))


def _computed(operator: Operator, arrays: list[Array]) -> Array:
    with np.errstate(all="ignore"):
        if isinstance(operator, Cast):
            return arrays[0].astype(operator.dtype)
        if isinstance(operator, Reshape):
            return arrays[0].reshape([int(str(size)) for size in operator.shape])
        if isinstance(operator, Transpose):
            return arrays[0].transpose(operator.permutation)
        return np.asarray(_EXACT[type(operator)](*arrays))


def _cast(writer: Writer, operator: Operator, inputs: tuple[Value, ...]) -> Value | None:
    """Not of a float to an integer: what is out of range there is a backend's own."""
    if inputs[0].type.is_floating and not np.issubdtype(inputs[0].type.dtype, np.bool_):
        target = operator.infer(inputs[0].type)
        if not target.is_floating:
            return None
    return _folded(writer, operator, inputs)


def _reshape(writer: Writer, operator: Operator, inputs: tuple[Value, ...]) -> Value | None:
    """Where every size is a number."""
    if not all(isinstance(size, int) for size in getattr(operator, "shape")):  # noqa: B009
        return None
    return _folded(writer, operator, inputs)


RULES: Rules = {
    **dict.fromkeys((*_EXACT, Transpose), (Offer(_folded, LITERAL, each=True),)),
    Cast: (Offer(_cast, LITERAL),),
    Reshape: (Offer(_reshape, LITERAL),),
}
