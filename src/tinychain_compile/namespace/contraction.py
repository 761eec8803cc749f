"""Products summed over shared axes."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index as as_index
from typing import cast

from tinychain_compile.errors import ShapeMismatchError, UnsupportedFunctionError
from tinychain_compile.ir.axes import normalize_axis
from tinychain_compile.ir.dimensions import Dimension, size_of
from tinychain_compile.ir.dtypes import promote
from tinychain_compile.namespace.elementwise import where
from tinychain_compile.namespace.movement import stack
from tinychain_compile.namespace.operands import Operand, first_tensor, meet
from tinychain_compile.operators import Einsum, Iota
from tinychain_compile.tensor import Tensor


def matmul(x1: Operand, x2: Operand, /) -> Tensor:
    """Return the matrix product; vectors and stacks as in ``numpy.matmul``."""
    return first_tensor(x1, x2).lift(x1).matmul(x2)


def vecdot(x1: Operand, x2: Operand, /, *, axis: int = -1) -> Tensor:
    """Return the sum of products along an axis."""
    a, b = meet(x1, x2)
    return (a * b).sum(axis)


def outer(x1: Operand, x2: Operand, /) -> Tensor:
    """Return the product of every element with every other."""
    context = first_tensor(x1, x2)
    a, b = (context.lift(x).ravel() for x in (x1, x2))
    return a.expand_dims(1) * b


def inner(x1: Operand, x2: Operand, /) -> Tensor:
    """Return the sum of products over the last axis of both."""
    context = first_tensor(x1, x2)
    a, b = context.lift(x1), context.lift(x2)
    if not a.ndim or not b.ndim:
        return a * b
    return tensordot(a, b, axes=((-1,), (-1,)))


def tensordot(
    x1: Operand, x2: Operand, /, *, axes: int | Sequence[int | Sequence[int]] = 2
) -> Tensor:
    """Return the product of two tensors, summed over pairs of axes, as one matrix product."""
    context = first_tensor(x1, x2)
    a, b = context.lift(x1), context.lift(x2)
    left, right = _paired_axes(a, b, axes)
    for i, j in zip(left, right, strict=True):
        if a.shape[i] != b.shape[j]:
            raise ShapeMismatchError(
                "tensordot",
                expected="axes of equal size in pairs",
                got=f"axis {i} of {a.type} and axis {j} of {b.type}",
            )
    kept_a = [i for i in range(a.ndim) if i not in left]
    kept_b = [j for j in range(b.ndim) if j not in right]
    summed = size_of(a.shape[i] for i in left)
    rows = a.transpose([*kept_a, *left]).reshape((size_of(a.shape[i] for i in kept_a), summed))
    columns = b.transpose([*right, *kept_b]).reshape((summed, size_of(b.shape[j] for j in kept_b)))
    shape = (*(a.shape[i] for i in kept_a), *(b.shape[j] for j in kept_b))
    return rows.matmul(columns).reshape(shape)


def _paired_axes(
    a: Tensor, b: Tensor, axes: int | Sequence[int | Sequence[int]]
) -> tuple[list[int], list[int]]:
    if not isinstance(axes, Sequence):
        count = as_index(axes)
        if not 0 <= count <= min(a.ndim, b.ndim):
            raise ShapeMismatchError(
                "tensordot", expected=f"from 0 to {min(a.ndim, b.ndim)} axes", got=str(count)
            )
        return list(range(a.ndim - count, a.ndim)), list(range(count))
    left, right = (
        [normalize_axis(axis, x.type) for axis in (row if isinstance(row, Sequence) else [row])]
        for row, x in zip(axes, (a, b), strict=True)
    )
    if len(left) != len(right) or len(set(left)) != len(left) or len(set(right)) != len(right):
        raise ShapeMismatchError(
            "tensordot", expected="as many different axes of each", got=repr(axes)
        )
    return left, right


def kron(x1: Operand, x2: Operand, /) -> Tensor:
    """Return every element of the first times the whole of the second, as blocks."""
    a, b = (first_tensor(x1, x2).lift(x) for x in (x1, x2))
    rank = max(a.ndim, b.ndim)
    left, right = ((1,) * (rank - x.ndim) + x.shape for x in (a, b))
    blocks = a.reshape(tuple(d for size in left for d in (size, 1))) * b.reshape(
        tuple(d for size in right for d in (1, size))
    )
    return blocks.reshape(tuple(m * n for m, n in zip(left, right, strict=True)))


def cross(x1: Operand, x2: Operand, /, *, axis: int = -1) -> Tensor:
    """Return the vector at right angles to two vectors of three elements."""
    a, b = meet(x1, x2)
    number = normalize_axis(axis, a.type)
    if a.shape[number] != 3:
        raise ShapeMismatchError("cross", expected="vectors of 3 elements", got=str(a.type))
    before = (slice(None),) * number
    (a0, a1, a2), (b0, b1, b2) = ([x[(*before, i)] for i in range(3)] for x in (a, b))
    parts = (a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0)
    return stack(parts, axis=number)


# Einstein's notation.


def einsum(subscripts: str, /, *operands: Operand) -> Tensor:
    """Return a product of tensors whose axes are named by letters, as in ``numpy.einsum``.

    Repeated letters take diagonals; an ellipsis stands for axes that broadcast.

    Raises:
        ShapeMismatchError: The subscripts do not parse, or do not fit the operands.
    """
    context = first_tensor(*operands)
    tensors = [context.lift(x) for x in operands]
    terms, result = _parsed(subscripts, tensors)
    dtype = tensors[0].dtype
    for tensor in tensors[1:]:
        dtype = promote(dtype, tensor.dtype)
    ready: list[Tensor] = []
    letters: list[str] = []
    for term, tensor in zip(terms, tensors, strict=True):
        term, tensor = _without_repeats(term, tensor.astype(dtype))
        ready.append(tensor)
        letters.append(term)
    ready = _broadcast(letters, ready)
    first, *others = ready
    return first.emit(Einsum(tuple(letters), result), *others)


def _parsed(subscripts: str, tensors: Sequence[Tensor]) -> tuple[list[str], str]:
    """Return the letters of each operand and of the result, ellipses written out."""
    text = cast(object, subscripts)
    if not isinstance(text, str):
        raise UnsupportedFunctionError(
            "einsum", expected='subscripts such as "ij,jk->ik"', got=repr(text)
        )
    left, arrow, right = text.replace(" ", "").partition("->")
    terms = left.split(",")

    def fail(expected: str) -> ShapeMismatchError:
        return ShapeMismatchError(
            "einsum", expected=expected, got=repr(subscripts), hint='Write it as in "ij,jk->ik".'
        )

    if len(terms) != len(tensors):
        raise fail(f"a term for each of {len(tensors)} operands")
    used = {c for c in text if c.isalpha()}
    spare = [c for c in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz" if c not in used]
    widest = 0
    written: list[str] = []
    for term, tensor in zip(terms, tensors, strict=True):
        named = term.replace("...", "", 1)
        if not (named == "" or named.isalpha()) or not named.isascii():
            raise fail("letters and at most one ellipsis in each term")
        hidden = tensor.ndim - len(named)
        if hidden < 0 or (hidden and "..." not in term):
            raise fail(f"{tensor.ndim} letters for {tensor.type} in the term {term!r}")
        widest = max(widest, hidden)
        written.append(term.replace("...", "".join(spare[-hidden:]) if hidden else ""))
    dots = "".join(spare[-widest:]) if widest else ""
    if arrow:
        result = right.replace("...", dots, 1)
        if dots and "..." not in right:
            raise fail("an ellipsis in the result, since an operand has one")
    else:
        letters = "".join(term.replace("...", "") for term in terms)
        result = dots + "".join(sorted(c for c in set(letters) if letters.count(c) == 1))
    known = set("".join(written))
    if not set(result) <= known or len(set(result)) != len(result):
        raise fail("different letters of the operands in the result")
    return written, result


def _without_repeats(letters: str, tensor: Tensor) -> tuple[str, Tensor]:
    """Return an operand with each letter once: of repeated ones, the diagonal."""
    for letter in dict.fromkeys(letters):
        while letters.count(letter) > 1:
            i = letters.index(letter)
            j = letters.index(letter, i + 1)
            if tensor.shape[i] != tensor.shape[j]:
                raise ShapeMismatchError(
                    "einsum",
                    expected=f"one size for the letter {letter!r}",
                    got=f"{tensor.shape[i]} and {tensor.shape[j]}",
                )
            plane = tuple(d if axis in (i, j) else 1 for axis, d in enumerate(tensor.shape))
            here, there = (tensor.emit_literal(Iota(plane, axis)) for axis in (i, j))
            tensor = where(here == there, tensor, 0).sum(j)
            letters = letters[:j] + letters[j + 1 :]
    return letters, tensor


def _broadcast(letters: Sequence[str], tensors: Sequence[Tensor]) -> list[Tensor]:
    """Return the operands with sizes of 1 repeated to what another operand has."""
    sizes: dict[str, Dimension] = {}
    for term, tensor in zip(letters, tensors, strict=True):
        for letter, size in zip(term, tensor.shape, strict=True):
            known = sizes.get(letter, 1)
            if known != 1 and size not in (1, known):
                raise ShapeMismatchError(
                    "einsum",
                    expected=f"one size for the letter {letter!r}",
                    got=f"{known} and {size}",
                )
            sizes[letter] = size if known == 1 else known
    return [
        tensor.broadcast_to(tuple(sizes[letter] for letter in term))
        for term, tensor in zip(letters, tensors, strict=True)
    ]
