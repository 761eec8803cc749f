"""The Array API namespace of traced tensors: the 2024.12 names of the operators there are.

Rules and decompositions are written with these and with Python's operators; a loss reaches them as
``x.__array_namespace__()``. One argument at least is a traced tensor; the others may be arrays or
scalars. Creation functions are NumPy's: what they make enters a program as a literal.
"""

from __future__ import annotations

import builtins
from typing import Any, NoReturn

import numpy as np
from numpy import (
    arange,
    e,
    float16,
    float32,
    float64,
    full,
    inf,
    int32,
    int64,
    nan,
    newaxis,
    ones,
    pi,
    uint8,
    uint32,
    zeros,
)
from numpy import bool_ as bool

from tinychain_compile.errors import MissingFunctionError, UnsupportedFunctionError
from tinychain_compile.ir.axes import Axes, broadcast_shapes, normalize_axis
from tinychain_compile.ir.dimensions import Dimension, Shape
from tinychain_compile.ir.dtypes import BOOL, I64
from tinychain_compile.ir.operator import Operator
from tinychain_compile.operators import (
    Add,
    Exp,
    Gather,
    Less,
    Log,
    Maximum,
    Mul,
    Sqrt,
    Sub,
    Tanh,
    Where,
)
from tinychain_compile.tensor import Tensor, is_scalar

Operand = Any
"""A traced tensor, an array or a scalar."""

__all__ = [
    "add",
    "arange",
    "asarray",
    "astype",
    "bool",
    "broadcast_to",
    "divide",
    "e",
    "exp",
    "expand_dims",
    "float16",
    "float32",
    "float64",
    "full",
    "greater",
    "inf",
    "int32",
    "int64",
    "less",
    "log",
    "matmul",
    "matrix_transpose",
    "max",
    "maximum",
    "mean",
    "multiply",
    "nan",
    "negative",
    "newaxis",
    "ones",
    "permute_dims",
    "pi",
    "positive",
    "pow",
    "reshape",
    "sqrt",
    "square",
    "squeeze",
    "subtract",
    "sum",
    "take",
    "take_along_axis",
    "tanh",
    "uint8",
    "uint32",
    "where",
    "zeros",
]


def __getattr__(name: str) -> NoReturn:
    raise MissingFunctionError(
        f"the namespace of traced tensors has no {name!r}",
        hint=f"It has {', '.join(sorted(__all__))}.",
    )


def first_tensor(*operands: object) -> Tensor:
    """Return the first traced tensor among the operands."""
    for operand in operands:
        if isinstance(operand, Tensor):
            return operand
    raise UnsupportedFunctionError(
        "a function of traced tensors",
        expected="at least one traced tensor",
        got=", ".join(map(repr, operands)),
        hint="Use NumPy's function on arrays.",
    )


def _binary(operator: Operator, left: Operand, right: Operand) -> Tensor:
    if isinstance(left, Tensor):
        return left.binary(operator, right)
    return first_tensor(right).reversed_binary(operator, left)


def _unary(operator: Operator, x: Operand) -> Tensor:
    return first_tensor(x).as_floating().emit(operator)


# Elementwise.


def add(x1: Operand, x2: Operand, /) -> Tensor:
    """Return ``x1 + x2``."""
    return _binary(Add(), x1, x2)


def subtract(x1: Operand, x2: Operand, /) -> Tensor:
    """Return ``x1 - x2``."""
    return _binary(Sub(), x1, x2)


def multiply(x1: Operand, x2: Operand, /) -> Tensor:
    """Return ``x1 * x2``."""
    return _binary(Mul(), x1, x2)


def divide(x1: Operand, x2: Operand, /) -> Tensor:
    """Return ``x1 / x2``; integers are divided in f64."""
    return x1.__truediv__(x2) if isinstance(x1, Tensor) else first_tensor(x2).__rtruediv__(x1)


def negative(x: Operand, /) -> Tensor:
    """Return ``-x``."""
    return -first_tensor(x)


def positive(x: Operand, /) -> Tensor:
    """Return ``x``."""
    return first_tensor(x)


def exp(x: Operand, /) -> Tensor:
    """Return ``e ** x``."""
    return _unary(Exp(), x)


def log(x: Operand, /) -> Tensor:
    """Return the natural logarithm."""
    return _unary(Log(), x)


def sqrt(x: Operand, /) -> Tensor:
    """Return the square root."""
    return _unary(Sqrt(), x)


def tanh(x: Operand, /) -> Tensor:
    """Return the hyperbolic tangent."""
    return _unary(Tanh(), x)


def square(x: Operand, /) -> Tensor:
    """Return ``x ** 2``."""
    return first_tensor(x) ** 2


def pow(x1: Operand, x2: Operand, /) -> Tensor:
    """Return ``x1 ** x2`` for an integer ``x2`` that is known when compiling."""
    return x1.__pow__(x2) if isinstance(x1, Tensor) else first_tensor(x2).__rpow__(x1)


def maximum(x1: Operand, x2: Operand, /) -> Tensor:
    """Return the larger of two, NaN where either is NaN."""
    return _binary(Maximum(), x1, x2)


def less(x1: Operand, x2: Operand, /) -> Tensor:
    """Return whether ``x1 < x2``."""
    return _binary(Less(), x1, x2)


def greater(x1: Operand, x2: Operand, /) -> Tensor:
    """Return whether ``x1 > x2``."""
    return _binary(Less(), x2, x1)


def where(condition: Operand, x1: Operand, x2: Operand, /) -> Tensor:
    """Return ``x1`` where the condition holds, else ``x2``."""
    context = first_tensor(condition, x1, x2)
    if isinstance(x1, Tensor):
        a, b = x1.meet(x2)
    elif isinstance(x2, Tensor):
        b, a = x2.meet(x1)
    else:
        dtype = np.result_type(x1, x2)
        a, b = (context.literal(np.asarray(x, dtype=dtype)) for x in (x1, x2))
        a, b = a.meet(b)
    if is_scalar(condition):
        condition = context.literal(condition, BOOL)
    chooser = context.lift(condition)
    if chooser.shape == a.shape:
        return chooser.emit(Where(), a, b)
    shape = broadcast_shapes(chooser.shape, a.shape)
    return chooser.broadcast_to(shape).emit(Where(), a.broadcast_to(shape), b.broadcast_to(shape))


# Reductions.


def sum(
    x: Operand, /, *, axis: Axes = None, dtype: object = None, keepdims: builtins.bool = False
) -> Tensor:
    """Return the sum over axes, in the dtype of ``x`` unless another is given."""
    return first_tensor(x).sum(axis, keepdims, dtype)


def mean(x: Operand, /, *, axis: Axes = None, keepdims: builtins.bool = False) -> Tensor:
    """Return the mean over axes."""
    return first_tensor(x).mean(axis, keepdims)


def max(x: Operand, /, *, axis: Axes = None, keepdims: builtins.bool = False) -> Tensor:
    """Return the largest over axes, NaN where one is NaN."""
    return first_tensor(x).max(axis, keepdims)


# Products.


def matmul(x1: Operand, x2: Operand, /) -> Tensor:
    """Return the matrix product; vectors and stacks as in ``numpy.matmul``."""
    return first_tensor(x1, x2).lift(x1).matmul(x2)


# Movement.


def reshape(x: Operand, /, shape: Shape | Dimension) -> Tensor:
    """Return the same elements in another shape, of which one size may be -1."""
    return first_tensor(x).reshape(shape)


def permute_dims(x: Operand, /, axes: tuple[int, ...]) -> Tensor:
    """Return the axes in another order."""
    return first_tensor(x).transpose(axes)


def matrix_transpose(x: Operand, /) -> Tensor:
    """Return the last two axes exchanged."""
    return first_tensor(x).mT


def broadcast_to(x: Operand, /, shape: Shape) -> Tensor:
    """Return ``x`` repeated to a shape."""
    return first_tensor(x).broadcast_to(tuple(shape))


def expand_dims(x: Operand, /, *, axis: int | tuple[int, ...] = 0) -> Tensor:
    """Return new axes of size 1 at these positions of the result."""
    return first_tensor(x).expand_dims(axis)


def squeeze(x: Operand, /, axis: Axes) -> Tensor:
    """Return ``x`` without these axes, all of size 1."""
    return first_tensor(x).squeeze(axis)


# Indexing.


def take(x: Operand, indices: Operand, /, *, axis: int | None = None) -> Tensor:
    """Return whole slices of ``x`` at integer indices along one axis."""
    context = first_tensor(x, indices)
    table = context.lift(x)
    if axis is None:
        table, axis = table.ravel() if table.ndim != 1 else table, 0
    number = normalize_axis(axis, table.type)
    return table.emit(Gather(number), _indices(context, indices))


def take_along_axis(x: Operand, indices: Operand, /, *, axis: int = -1) -> Tensor:
    """Return one element of ``x`` for each integer index along one axis."""
    context = first_tensor(x, indices)
    table, positions = context.lift(x), _indices(context, indices)
    number = normalize_axis(axis, table.type)
    if table.ndim == positions.ndim:
        before = broadcast_shapes(table.shape[:number], positions.shape[:number])
        after = broadcast_shapes(table.shape[number + 1 :], positions.shape[number + 1 :])
        table = table.broadcast_to((*before, table.shape[number], *after))
        positions = positions.broadcast_to((*before, positions.shape[number], *after))
    return table.emit(Gather(number, along=True), positions)


def _indices(context: Tensor, indices: Operand) -> Tensor:
    if is_scalar(indices):
        return context.literal(indices, I64)
    return context.lift(indices)


# Conversion.


def astype(x: Operand, dtype: object, /, *, copy: builtins.bool = True) -> Tensor:
    """Return ``x`` in another dtype."""
    return first_tensor(x).astype(dtype, copy)


def asarray(x: Operand, /, *, dtype: object = None, copy: builtins.bool | None = None) -> Any:
    """Return a traced tensor as it is, anything else as a NumPy array."""
    if isinstance(x, Tensor):
        return x if dtype is None else x.astype(dtype)
    return np.asarray(x, dtype=dtype, copy=copy)  # type: ignore[call-overload]
