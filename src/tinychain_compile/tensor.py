"""The traced tensor: what losses, derivative rules, decompositions and optimizers compute with.

A tensor is a value and the builder that collects what is done with it; there is no other context.
Operands meet here: scalars become literals of the tensor's dtype, dtypes are promoted by an
explicit cast, shapes by an explicit broadcast.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import index as as_index
from typing import Self, SupportsIndex, TypeGuard, TypeVar, cast

import numpy as np

from tinychain_compile.elementless import Elementless
from tinychain_compile.errors import (
    BroadcastShapeError,
    DtypeMismatchError,
    ForeignTensorError,
    PermutationError,
    ShapeMismatchError,
)
from tinychain_compile.index_keys import plan_index
from tinychain_compile.ir.axes import Axes, broadcast_shapes, normalize_axes, normalize_axis
from tinychain_compile.ir.builder import GraphBuilder
from tinychain_compile.ir.dimensions import Dimension, Shape, Symbolic, exact_quotient, size_of
from tinychain_compile.ir.dtypes import (
    BF16,
    BOOL,
    F16,
    F32,
    F64,
    FLOATING,
    I32,
    Array,
    DType,
    as_dtype,
    dtype_name,
    promote,
)
from tinychain_compile.ir.graph import Value, described
from tinychain_compile.ir.operator import Operator
from tinychain_compile.ir.types import TensorType
from tinychain_compile.operators import (
    Abs,
    Add,
    And,
    BroadcastTo,
    Cast,
    Constant,
    DimensionSize,
    Div,
    Equal,
    Floor,
    Gather,
    IntegerPow,
    Less,
    LessEqual,
    MatMul,
    Maximum,
    Mean,
    Minimum,
    Mul,
    Neg,
    Not,
    Or,
    Pad,
    Pow,
    ReduceMax,
    ReduceSum,
    Reshape,
    Reverse,
    Round,
    Rsqrt,
    Slice,
    Sqrt,
    Sub,
    Transpose,
)
from tinychain_compile.operators.type_rules import can_hold


def is_scalar(value: object) -> TypeGuard[float]:
    """Return whether a value is a Python or NumPy scalar, which adapts to a tensor's dtype."""
    return isinstance(value, (bool, int, float, np.generic))


def is_tensor(value: object) -> TypeGuard[Tensor]:
    """Return whether a value is a traced tensor."""
    return isinstance(value, Tensor)


_ADD, _SUB, _MUL, _DIV, _NEG = Add(), Sub(), Mul(), Div(), Neg()
"""Made once: operators without attributes are all alike."""

_LOGIC: dict[type[Operator], Operator] = {
    Add: Or(),
    Mul: And(),
    Maximum: Or(),
    Minimum: And(),
}
"""What arithmetic on conditions means, as in NumPy."""


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
        for other in others:
            if other._builder is not builder:
                raise ForeignTensorError(
                    f"{operator.name}",
                    expected="tensors of one trace",
                    got=f"one that another trace made: {described(other._value)}",
                    hint="Do not keep traced tensors beyond the function that was traced; "
                    "pass values as inputs.",
                )
        values = [other._value for other in others]
        return type(self)(builder, builder.emit(operator, self._value, *values))

    def emit_literal(self, operator: Operator) -> Self:
        """Append an operator without operands to this tensor's program."""
        builder = self._builder
        if builder.is_closed:
            builder.refuse_expired(operator.name, self._value)
        return type(self)(builder, builder.emit(operator))

    def literal(self, value: object, dtype: DType | None = None) -> Self:
        """Return a scalar or array as a constant of this tensor's program.

        Args:
            value: A Python or NumPy scalar, which takes this tensor's dtype, or an array, which
                keeps its own.
            dtype: Which dtype to take instead.
        """
        if is_scalar(value):
            target = self.dtype if dtype is None else dtype
            if not can_hold(target, value):
                raise DtypeMismatchError(
                    "scalar",
                    expected=f"a number that a {dtype_name(target)} tensor can meet",
                    got=repr(value),
                    hint="Convert the tensor with .astype(...) first.",
                )
            return self.emit_literal(Constant.scalar(value, target))
        array = _array(value)
        return self.emit_literal(Constant(array if dtype is None else array.astype(dtype)))

    def scalar(self, value: Self | float) -> Self:
        """Return a scalar in this tensor's dtype: a tensor cast, or a number as a constant."""
        return value.astype(self.dtype) if isinstance(value, Tensor) else self.literal(value)

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
        if isinstance(other, Tensor):
            return cast(Self, other)
        return self.size_literal(other) if isinstance(other, Symbolic) else self.literal(other)

    # Arithmetic.

    def meet(self, other: object) -> tuple[Self, Self]:
        """Return both operands in one dtype and one shape."""
        if is_scalar(other):
            mine = self if can_hold(self.dtype, other) else self._of_kind(other)
            return mine, mine.literal(other).broadcast_to(self.shape)
        left, right = self, self.lift(other)
        if left.dtype is not right.dtype:
            dtype = promote(left.dtype, right.dtype)
            left, right = left.astype(dtype), right.astype(dtype)
        if left.shape != right.shape:
            try:
                shape = broadcast_shapes(left.shape, right.shape)
            except BroadcastShapeError as error:
                error.got = (
                    f"{left.shape} and {right.shape}:"
                    f"\n    {described(left.value)}\n    {described(right.value)}"
                )
                raise
            left, right = left.broadcast_to(shape), right.broadcast_to(shape)
        return left, right

    def _of_kind(self, scalar: object) -> Self:
        """Return integers or conditions in the dtype in which they meet a scalar, as in NumPy."""
        kind = np.asarray(scalar).dtype.kind
        if kind == "f" and not self.type.is_floating:
            return self.astype(F64)
        return self.astype(np.int64) if kind == "i" and self.dtype is BOOL else self

    def binary(self, operator: Operator, other: object) -> Self:
        """Append a binary operator after the operands have met; on conditions it is logic."""
        left = self
        if not isinstance(other, Tensor) or other._value.type is not self._value.type:
            left, other = self.meet(other)
        if left._value.type.dtype is BOOL:
            operator = _LOGIC.get(type(operator), operator)
            if isinstance(operator, (Less, LessEqual, Equal)):
                left, other = left.astype(I32), other.astype(I32)
        return left.emit(operator, other)

    def reversed_binary(self, operator: Operator, other: object) -> Self:
        """Append a binary operator of which this tensor is the right operand."""
        right, left = self.meet(other)
        return left.binary(operator, right)

    def __add__(self, other: object) -> Self:
        return self.binary(_ADD, other)

    def __radd__(self, other: object) -> Self:
        return self.reversed_binary(_ADD, other)

    def __sub__(self, other: object) -> Self:
        return self.binary(_SUB, other)

    def __rsub__(self, other: object) -> Self:
        return self.reversed_binary(_SUB, other)

    def __mul__(self, other: object) -> Self:
        return self.binary(_MUL, other)

    def __rmul__(self, other: object) -> Self:
        return self.reversed_binary(_MUL, other)

    def _meet_floating(self, other: object) -> tuple[Self, Self]:
        """Return both operands in one floating dtype, f64 if neither is floating, and one shape."""
        if is_scalar(other):
            return self.as_floating().meet(other)
        left, right = self.meet(other)
        return left.as_floating(), right.as_floating()

    def __truediv__(self, other: object) -> Self:
        left, right = self._meet_floating(other)
        return left.emit(_DIV, right)

    def __rtruediv__(self, other: object) -> Self:
        right, left = self._meet_floating(other)
        return left.emit(_DIV, right)

    def __neg__(self) -> Self:
        return self.emit(_NEG)

    def __pos__(self) -> Self:
        return self

    def __pow__(self, exponent: object) -> Self:
        if not is_scalar(exponent):
            return self._power(*self.meet(exponent))
        number = float(exponent)
        if not number.is_integer():
            base = self.as_floating()
            if abs(number) == 0.5:
                return base.emit(Sqrt() if number > 0 else Rsqrt())
            return base.emit(Pow(), base.full(number))
        return self if number == 1 else self.emit(IntegerPow(int(number)))

    def __rpow__(self, base: object) -> Self:
        exponent, mine = self.meet(base)
        return self._power(mine, exponent)

    def _power(self, base: Self, exponent: Self) -> Self:
        """Return a power of tensors; of integers in f64, rounded back, exact below 2 ** 53."""
        if base.type.is_floating:
            return base.emit(Pow(), exponent)
        power = base.astype(F64).emit(Pow(), exponent.astype(F64))
        return power.emit(Round()).astype(base.dtype)

    def __floordiv__(self, other: object) -> Self:
        left, right = self.meet(other)
        return (left / right).emit(Floor()).astype(left.dtype)

    def __rfloordiv__(self, other: object) -> Self:
        right, left = self.meet(other)
        return (left / right).emit(Floor()).astype(left.dtype)

    def __mod__(self, other: object) -> Self:
        left, right = self.meet(other)
        return left - left // right * right

    def __rmod__(self, other: object) -> Self:
        right, left = self.meet(other)
        return left - left // right * right

    def __abs__(self) -> Self:
        return self if self.dtype.kind in "ub" else self.emit(Abs())

    def __round__(self, digits: int | None = None) -> Self:
        if digits:
            self.refuse("round() to digits", "Use np.round(x * 10.0 ** digits) / 10.0 ** digits.")
        return self.emit(Round()) if self.type.is_floating else self

    def __and__(self, other: object) -> Self:
        return self._logic(And(), other)

    __rand__ = __and__

    def __or__(self, other: object) -> Self:
        return self._logic(Or(), other)

    __ror__ = __or__

    def __xor__(self, other: object) -> Self:
        left, right = self._conditions("^", other)
        return left.binary(Equal(), right).emit(Not())

    __rxor__ = __xor__

    def __invert__(self) -> Self:
        return self._conditions("~", True)[0].emit(Not())

    def _logic(self, operator: Operator, other: object) -> Self:
        left, right = self._conditions("&" if isinstance(operator, And) else "|", other)
        return left.emit(operator, right)

    def _conditions(self, sign: str, other: object) -> tuple[Self, Self]:
        """Return both operands as conditions of one shape."""
        left, right = self.meet(other)
        if left.dtype is not BOOL:
            raise DtypeMismatchError(
                sign,
                expected="boolean tensors",
                got=f"{self.type} and {other.type if isinstance(other, Tensor) else other!r}",
                hint="Compare first, as in (x > 0) & (y > 0); the parentheses are needed.",
            )
        return left, right

    def __eq__(self, other: object) -> Self:  # type: ignore[override]
        return self.binary(Equal(), other)

    def __ne__(self, other: object) -> Self:  # type: ignore[override]
        return self.binary(Equal(), other).emit(Not())

    __hash__ = object.__hash__

    def __le__(self, other: object) -> Self:
        return self.binary(LessEqual(), other)

    def __ge__(self, other: object) -> Self:
        return self.reversed_binary(LessEqual(), other)

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
        """Return a part: integers, slices, ``...``, ``None`` and integer arrays, as in NumPy."""
        plan = plan_index(key, self.shape, is_tensor)
        x = self
        steps = (1,) * self.ndim
        if plan.step != steps or plan.stop != self.shape or any(plan.start):
            x = x.emit(Slice(plan.start, plan.stop, plan.step))
        if plan.reversed_axes:
            x = x.emit(Reverse(plan.reversed_axes))
        x = x.reshape(plan.shape)
        return x._taken(plan.positions) if plan.positions else x

    def __iter__(self) -> Iterator[Self]:
        """Return the parts along the first axis, whose size must be known."""
        return iter([self[i] for i in range(len(self))])

    def slice_axis(self, axis: int, start: Dimension, stop: Dimension, step: int = 1) -> Self:
        """Return ``x[start:stop:step]`` along one axis, all counted from 0."""
        if start == 0 and step == 1 and stop == self.shape[axis]:
            return self
        before, after = axis, self.ndim - axis - 1
        starts = ((0,) * before) + (start,) + ((0,) * after)
        stops = (*self.shape[:axis], stop, *self.shape[axis + 1 :])
        return self.emit(Slice(starts, stops, (1,) * before + (step,) + (1,) * after))

    def pad(
        self,
        low: Sequence[Dimension],
        high: Sequence[Dimension],
        interior: Sequence[int] | None = None,
        value: float = 0,
    ) -> Self:
        """Return the tensor with elements around and between its own; negative numbers cut off."""
        if all(size == 0 for size in (*low, *high, *(interior or ()))):
            return self
        gaps = (0,) * self.ndim if interior is None else tuple(interior)
        return self.emit(Pad(tuple(low), tuple(high), gaps, value))

    def _taken(self, positions: Sequence[tuple[int, object]]) -> Self:
        """Return elements at integer positions along axes; several pair up, as in NumPy."""
        indices = [self._index(position) for _, position in positions]
        axes = [axis for axis, _ in positions]
        if len(axes) == 1:
            return self.emit(Gather(axes[0]), indices[0])
        x, first = self, axes[0]
        if axes != list(range(first, first + len(axes))):
            x = x.transpose([*axes, *(a for a in range(self.ndim) if a not in axes)])
            first = 0
        sizes = x.shape[first : first + len(axes)]
        flat = indices[0].counted_from_zero(sizes[0])
        for index, size in zip(indices[1:], sizes[1:], strict=True):
            flat = flat * flat.size_literal(size) + index.counted_from_zero(size)
        rows = (*x.shape[:first], size_of(sizes), *x.shape[first + len(axes) :])
        return x.reshape(rows).emit(Gather(first), flat)

    def _index(self, position: object) -> Self:
        """Return integer positions as a tensor of i64."""
        index = self.lift(position)
        return index if index.dtype.kind == "i" else index.astype(np.int64)

    def counted_from_zero(self, size: Dimension) -> Self:
        """Return integer positions, negative ones counted from the end, counted from the start."""
        return self + (self < 0).astype(self.dtype) * self.size_literal(size)

    # Reductions.

    def sum(self, axis: Axes = None, keepdims: bool = False, dtype: object = None) -> Self:
        """Return the sum over axes, in this tensor's dtype; booleans are counted as i64."""
        x = self if dtype is None else self.astype(dtype)
        x = x.astype(np.int64) if x.dtype == BOOL else x
        axes = normalize_axes(axis, self.type)
        return x.emit(ReduceSum(axes, keepdims)) if axes else x

    def max(self, axis: Axes = None, keepdims: bool = False) -> Self:
        """Return the largest over axes; of conditions, whether one holds."""
        axes = normalize_axes(axis, self.type)
        if self.dtype is BOOL:
            return self.astype(I32).max(axes, keepdims).astype(BOOL)
        return self.emit(ReduceMax(axes, keepdims)) if axes else self

    def mean(self, axis: Axes = None, keepdims: bool = False, dtype: object = None) -> Self:
        """Return the mean over axes; integers are averaged in f64."""
        x = (self if dtype is None else self.astype(dtype)).as_floating()
        axes = normalize_axes(axis, self.type)
        return x.emit(Mean(axes, keepdims)) if axes else x

    def widened(self) -> Self:
        """Return the tensor itself, in f32 if its dtype is too short to sum in."""
        return self.astype(F32) if self.dtype in (F16, BF16) else self

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
