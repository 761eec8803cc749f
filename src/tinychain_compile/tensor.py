"""The traced tensor: what losses, derivative rules, decompositions and optimizers compute with.

A tensor is a value and the builder that collects what is done with it; there is no other context.
Operands meet here: scalars become literals of the tensor's dtype, dtypes are promoted by an
explicit cast, shapes by an explicit broadcast.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import index as as_index
from typing import Self, SupportsIndex, TypeGuard, TypeVar, cast

import numpy as np

from tinychain_compile.elementless import Elementless
from tinychain_compile.errors import (
    DtypeMismatchError,
    ForeignTensorError,
    PermutationError,
    ShapeMismatchError,
    UnsupportedFunctionError,
)
from tinychain_compile.ir.axes import Axes, broadcast_shapes, normalize_axes, normalize_axis
from tinychain_compile.ir.builder import GraphBuilder
from tinychain_compile.ir.dimensions import Dimension, Shape, Symbolic, exact_quotient, size_of
from tinychain_compile.ir.dtypes import (
    BOOL,
    F64,
    FLOATING,
    INTEGER,
    Array,
    DType,
    as_dtype,
    dtype_name,
    promote,
)
from tinychain_compile.ir.graph import Value
from tinychain_compile.ir.operator import Operator
from tinychain_compile.ir.types import TensorType
from tinychain_compile.operators import (
    Add,
    BroadcastTo,
    Cast,
    Constant,
    DimensionSize,
    Div,
    IntegerPow,
    Less,
    MatMul,
    Mean,
    Mul,
    Neg,
    ReduceMax,
    ReduceSum,
    Reshape,
    Sub,
    Transpose,
)


def is_scalar(value: object) -> TypeGuard[float]:
    """Return whether a value is a Python or NumPy scalar, which adapts to a tensor's dtype."""
    return isinstance(value, (bool, int, float, np.generic))


class Tensor(Elementless):
    """A tensor of a program that is being written.

    Python's operators, and the methods below, append operations. ``dtype`` and ``shape`` are known;
    elements are not, so asking for a number or a truth value is an error.
    """

    __slots__ = ("_builder", "_value")
    __array_priority__ = 1000

    def __init__(self, builder: GraphBuilder, value: Value) -> None:
        self._builder = builder
        self._value = value

    # What is known without elements.

    @property
    def type(self) -> TensorType:
        """Dtype and shape together."""
        return self._value.type

    @property
    def dtype(self) -> DType:
        """The NumPy dtype."""
        return self._value.type.dtype

    @property
    def shape(self) -> Shape:
        """The sizes; a symbolic one is an expression."""
        return self._value.type.shape

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self._value.type.shape)

    @property
    def size(self) -> Dimension:
        """The number of elements."""
        return self._value.type.size

    def __len__(self) -> int:
        if not self.shape:
            raise ShapeMismatchError("len() of a tensor", expected="an axis", got=str(self.type))
        if not isinstance(self.shape[0], int):
            self.refuse_elements("len() of a symbolic size", "Use x.shape[0].")
        return self.shape[0]

    # For this package: how an operation is appended.

    @property
    def value(self) -> Value:
        """The value in the graph."""
        return self._value

    @property
    def builder(self) -> GraphBuilder:
        """The builder of the program this tensor belongs to."""
        return self._builder

    def emit(self, operator: Operator, *others: Tensor) -> Self:
        """Append an operator whose first operand is this tensor."""
        builder = self._builder
        inputs = [self._value]
        for other in others:
            inputs.append(other._value)
            if other._builder is not builder:
                raise ForeignTensorError(
                    f"{operator.name}",
                    expected="tensors of one trace",
                    got="a tensor that another trace made",
                    hint="Do not keep traced tensors beyond the function that was traced; "
                    "pass values as inputs.",
                )
        return type(self)(builder, builder.emit(operator, *inputs))

    def emit_literal(self, operator: Operator) -> Self:
        """Append an operator without operands to this tensor's program."""
        return type(self)(self._builder, self._builder.emit(operator))

    def literal(self, value: object, dtype: DType | None = None) -> Self:
        """Return a scalar or array as a constant of this tensor's program.

        Args:
            value: A Python or NumPy scalar, which takes this tensor's dtype, or an array, which
                keeps its own.
            dtype: Which dtype to take instead.
        """
        if is_scalar(value):
            target = self.dtype if dtype is None else dtype
            if not _can_hold(target, value):
                raise DtypeMismatchError(
                    "scalar",
                    expected=f"a number that a {dtype_name(target)} tensor can meet",
                    got=repr(value),
                    hint="Convert the tensor with .astype(...) first.",
                )
            return self.emit_literal(Constant.scalar(value, target))
        array = _array(value)
        return self.emit_literal(Constant(array if dtype is None else array.astype(dtype)))

    def full(self, value: float) -> Self:
        """Return this tensor's type filled with one number."""
        return self.literal(value).broadcast_to(self.shape)

    def size_literal(self, size: Dimension) -> Self:
        """Return a size as a scalar of this tensor's dtype, also where it is symbolic."""
        if isinstance(size, int):
            return self.literal(size)
        return self.emit_literal(DimensionSize(size, self.dtype))

    def lift(self, other: object) -> Self:
        """Return the operand as a tensor of this program: a tensor itself, else a literal."""
        return cast(Self, other) if isinstance(other, Tensor) else self.literal(other)

    # Arithmetic.

    def meet(self, other: object) -> tuple[Self, Self]:
        """Return both operands in one dtype and one shape."""
        if is_scalar(other):
            return self, self.literal(other).broadcast_to(self.shape)
        left, right = self, self.lift(other)
        if left.dtype is not right.dtype:
            dtype = promote(left.dtype, right.dtype)
            left, right = left.astype(dtype), right.astype(dtype)
        if left.shape != right.shape:
            shape = broadcast_shapes(left.shape, right.shape)
            left, right = left.broadcast_to(shape), right.broadcast_to(shape)
        return left, right

    def binary(self, operator: Operator, other: object) -> Self:
        """Append a binary operator after the operands have met."""
        if isinstance(other, Tensor):
            mine, theirs = self._value.type, other._value.type
            if mine is theirs or mine == theirs:
                return self.emit(operator, other)
        left, right = self.meet(other)
        return left.emit(operator, right)

    def reversed_binary(self, operator: Operator, other: object) -> Self:
        """Append a binary operator of which this tensor is the right operand."""
        right, left = self.meet(other)
        return left.emit(operator, right)

    def __add__(self, other: object) -> Self:
        return self.binary(Add(), other)

    def __radd__(self, other: object) -> Self:
        return self.reversed_binary(Add(), other)

    def __sub__(self, other: object) -> Self:
        return self.binary(Sub(), other)

    def __rsub__(self, other: object) -> Self:
        return self.reversed_binary(Sub(), other)

    def __mul__(self, other: object) -> Self:
        return self.binary(Mul(), other)

    def __rmul__(self, other: object) -> Self:
        return self.reversed_binary(Mul(), other)

    def _meet_floating(self, other: object) -> tuple[Self, Self]:
        """Return both operands in one floating dtype, f64 if neither is floating, and one shape."""
        if is_scalar(other):
            return self.as_floating().meet(other)
        left, right = self.meet(other)
        return left.as_floating(), right.as_floating()

    def __truediv__(self, other: object) -> Self:
        left, right = self._meet_floating(other)
        return left.emit(Div(), right)

    def __rtruediv__(self, other: object) -> Self:
        right, left = self._meet_floating(other)
        return left.emit(Div(), right)

    def __neg__(self) -> Self:
        return self.emit(Neg())

    def __pos__(self) -> Self:
        return self

    def __pow__(self, exponent: object) -> Self:
        number = float(exponent) if is_scalar(exponent) else math.nan
        if not number.is_integer():
            raise UnsupportedFunctionError(
                "power",
                expected="an exponent that is an integer known when compiling",
                got=repr(exponent),
                hint="Use np.sqrt(x) for x ** 0.5, or np.exp(y * np.log(x)) for a positive base.",
            )
        return self if number == 1 else self.emit(IntegerPow(int(number)))

    def __lt__(self, other: object) -> Self:
        return self.binary(Less(), other)

    def __gt__(self, other: object) -> Self:
        return self.reversed_binary(Less(), other)

    def __matmul__(self, other: object) -> Self:
        return self.matmul(other)

    def __rmatmul__(self, other: object) -> Self:
        return self.lift(other).matmul(self)

    def matmul(self, other: object) -> Self:
        """Return the matrix product; vectors and stacks of matrices as in ``numpy.matmul``."""
        a, b = self, self.lift(other)
        if not a.ndim or not b.ndim:
            raise ShapeMismatchError(
                "matmul",
                expected="operands with at least one axis",
                got=f"{a.type} @ {b.type}",
                hint="Use * for a scalar.",
            )
        if a.dtype is not b.dtype:
            dtype = promote(a.dtype, b.dtype)
            a, b = a.astype(dtype), b.astype(dtype)
        if a.ndim == b.ndim == 2:
            return a.emit(MatMul(), b)
        is_row, is_column = a.ndim == 1, b.ndim == 1
        a = a.reshape((1, *a.shape)) if is_row else a
        b = b.reshape((*b.shape, 1)) if is_column else b
        product = _matrix_product(a, b)
        *stack, rows, columns = product.shape
        rows_kept = () if is_row else (rows,)
        columns_kept = () if is_column else (columns,)
        return product.reshape((*stack, *rows_kept, *columns_kept))

    dot = matmul

    # Movement.

    def astype(self, dtype: object, copy: bool = True) -> Self:
        """Return the tensor in another dtype."""
        del copy
        if dtype is self.dtype:
            return self
        target = as_dtype(dtype)
        return self if target is self.dtype else self.emit(Cast(target))

    def broadcast_to(self, shape: Shape) -> Self:
        """Return the tensor repeated to a shape."""
        return self if shape == self.shape else self.emit(BroadcastTo(shape))

    def reshape(self, *shape: Dimension | Sequence[Dimension]) -> Self:
        """Return the same elements in another shape, of which one size may be -1."""
        wanted = _flattened(shape)
        if -1 in wanted:
            known = [d for d in wanted if d != -1]
            if len(known) != len(wanted) - 1:
                raise ShapeMismatchError(
                    "reshape", expected="one size of -1 at most", got=str(wanted)
                )
            missing = exact_quotient(self.size, size_of(known))
            wanted = tuple(missing if d == -1 else d for d in wanted)
        return self if wanted == self.shape else self.emit(Reshape(wanted))

    def transpose(self, *axes: int | Sequence[int] | None) -> Self:
        """Return the axes in another order, reversed by default."""
        if not axes or axes == (None,):
            permutation = tuple(reversed(range(self.ndim)))
        else:
            given = axes[0] if len(axes) == 1 and isinstance(axes[0], Sequence) else axes
            permutation = tuple(normalize_axis(a, self.type, PermutationError) for a in given)
        if permutation == tuple(range(self.ndim)):
            return self
        return self.emit(Transpose(permutation))

    @property
    def T(self) -> Self:
        """The axes in reverse order."""
        return self.transpose()

    @property
    def mT(self) -> Self:
        """The last two axes exchanged."""
        return self.swapaxes(-1, -2)

    def swapaxes(self, axis1: int, axis2: int) -> Self:
        """Return two axes exchanged."""
        axes = list(range(self.ndim))
        i, j = (normalize_axis(a, self.type, PermutationError) for a in (axis1, axis2))
        axes[i], axes[j] = axes[j], axes[i]
        return self.transpose(axes)

    def expand_dims(self, axis: int | Sequence[int]) -> Self:
        """Return new axes of size 1 at these positions of the result."""
        given = list(axis) if isinstance(axis, Sequence) else [axis]
        rank = self.ndim + len(given)
        new = {normalize_axis(a, self.type, ShapeMismatchError, rank=rank) for a in given}
        if len(new) != len(given):
            raise ShapeMismatchError("expand_dims", expected="different axes", got=repr(axis))
        old = iter(self.shape)
        return self.reshape(tuple(1 if i in new else next(old) for i in range(rank)))

    def squeeze(self, axis: Axes = None) -> Self:
        """Return the tensor without these axes, all of size 1."""
        if axis is None:
            dropped = tuple(i for i, size in enumerate(self.shape) if size == 1)
        else:
            dropped = normalize_axes(axis, self.type)
        for i in dropped:
            if self.shape[i] != 1:
                raise ShapeMismatchError(
                    "squeeze", expected="axes of size 1", got=f"axis {i} of {self.type}"
                )
        return self.reshape(tuple(d for i, d in enumerate(self.shape) if i not in dropped))

    def ravel(self) -> Self:
        """Return the elements as one axis, in row-major order."""
        return self.reshape((self.size,))

    def flatten(self) -> Self:
        """Return the elements as one axis, in row-major order."""
        return self.ravel()

    def __getitem__(self, key: object) -> Self:
        """Return the tensor with new axes: ``None``, ``...`` and full slices are understood."""
        keys = cast(tuple[object, ...], key if isinstance(key, tuple) else (key,))
        full = slice(None)
        used = sum(1 for k in keys if isinstance(k, slice))
        shape: list[Dimension] = []
        sizes = iter(self.shape)
        for k in keys:
            if k is None:
                shape.append(1)
            elif k is Ellipsis:
                shape.extend(next(sizes) for _ in range(self.ndim - used))
            elif isinstance(k, slice) and k == full and used <= self.ndim:
                shape.append(next(sizes))
            else:
                self.refuse(
                    f"indexing with {k!r}",
                    "Use np.take(x, indices, axis) or np.take_along_axis(x, indices, axis).",
                )
        return self.reshape((*shape, *sizes))

    # Reductions.

    def sum(self, axis: Axes = None, keepdims: bool = False, dtype: object = None) -> Self:
        """Return the sum over axes, in this tensor's dtype; booleans are counted as i64."""
        x = self if dtype is None else self.astype(dtype)
        x = x.astype(np.int64) if x.dtype == BOOL else x
        axes = normalize_axes(axis, self.type)
        return x.emit(ReduceSum(axes, keepdims)) if axes else x

    def max(self, axis: Axes = None, keepdims: bool = False) -> Self:
        """Return the largest over axes."""
        axes = normalize_axes(axis, self.type)
        return self.emit(ReduceMax(axes, keepdims)) if axes else self

    def mean(self, axis: Axes = None, keepdims: bool = False, dtype: object = None) -> Self:
        """Return the mean over axes; integers are averaged in f64."""
        x = (self if dtype is None else self.astype(dtype)).as_floating()
        axes = normalize_axes(axis, self.type)
        return x.emit(Mean(axes, keepdims)) if axes else x

    def as_floating(self) -> Self:
        """Return the tensor itself if it is floating, else in f64."""
        return self if self.dtype in FLOATING else self.astype(F64)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        del memo
        return self

    def __repr__(self) -> str:
        return f"<tensor {self._value.id}: {self.type}>"


AnyTensor = TypeVar("AnyTensor", bound=Tensor)


def _matrix_product(a: AnyTensor, b: AnyTensor) -> AnyTensor:
    """Return the product of matrices or stacks of matrices, whose leading axes broadcast."""
    if b.ndim == 2 and a.ndim > 2 and a.shape[-1] == b.shape[0]:
        rows = a.reshape((size_of(a.shape[:-1]), a.shape[-1]))
        return rows.emit(MatMul(), b).reshape((*a.shape[:-1], b.shape[1]))
    if a.shape[:-2] != b.shape[:-2]:
        stack = broadcast_shapes(a.shape[:-2], b.shape[:-2])
        a = a.broadcast_to((*stack, *a.shape[-2:]))
        b = b.broadcast_to((*stack, *b.shape[-2:]))
    return a.emit(MatMul(), b)


def _can_hold(dtype: DType, value: float) -> bool:
    """Return whether a scalar adapts to a dtype: a float needs a floating one, an integer a range.

    A float too large for a floating dtype becomes infinite, as in NumPy.
    """
    if type(value) is float or (type(value) is int and dtype in FLOATING and abs(value) < 2**64):
        return dtype in FLOATING
    own: DType = np.asarray(value).dtype
    if own == BOOL:
        return True
    if dtype in FLOATING:
        return own in FLOATING or own.kind in "fiu"
    if dtype in INTEGER and own.kind in "iu":
        limits = np.iinfo(dtype)
        return limits.min <= int(value) <= limits.max
    return False


def _array(value: object) -> Array:
    """Return the array that a literal is made from."""
    array: Array = np.asarray(value)
    return array.astype(as_dtype(array.dtype), copy=False)


def _flattened(shape: tuple[Dimension | Sequence[Dimension], ...]) -> Shape:
    """Return ``(2, 3)`` for both ``(2, 3)`` and ``((2, 3),)``."""
    flat: list[Dimension] = []
    for size in shape:
        if isinstance(size, (tuple, list)):
            flat.extend([d if type(d) is int else _size(d) for d in size])
        else:
            flat.append(_size(size))
    return tuple(flat)


def _size(size: object) -> Dimension:
    if isinstance(size, Symbolic):
        return size
    try:
        return as_index(cast(SupportsIndex, size))
    except TypeError:
        raise ShapeMismatchError("shape", expected="integers", got=repr(size)) from None
