"""NumPy's functions that move elements."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tinychain_compile import namespace as xp
from tinychain_compile.errors import UnsupportedFunctionError
from tinychain_compile.ir.axes import Axes
from tinychain_compile.ir.dimensions import Dimension, Shape
from tinychain_compile.numpy_dispatch.arguments import refuse_arguments
from tinychain_compile.tensor import Tensor


def _reshape(
    a: Tensor, /, shape: Shape | Dimension, order: str = "C", *, copy: object = None
) -> Tensor:
    del copy
    refuse_arguments("np.reshape", {} if order == "C" else {"order": order})
    return a.reshape(shape)


def _ravel(a: Tensor, order: str = "C") -> Tensor:
    return _reshape(a, (a.size,), order)


def _transpose(a: Tensor, axes: Sequence[int] | None = None) -> Tensor:
    return a.transpose(axes)


def _take(
    a: Any, indices: Any, axis: int | None = None, out: None = None, mode: str = "raise"
) -> Tensor:
    refuse_arguments("np.take", {"out": out} if mode == "raise" else {"mode": mode})
    return xp.take(a, indices, axis=axis)


def _take_along_axis(arr: Any, indices: Any, axis: int | None = -1) -> Tensor:
    if axis is None:
        return xp.take_along_axis(xp.first_tensor(arr).ravel(), indices, axis=0)
    return xp.take_along_axis(arr, indices, axis=axis)


def _expand_dims(a: Tensor, axis: int | tuple[int, ...]) -> Tensor:
    return a.expand_dims(axis)


def _squeeze(a: Tensor, axis: Axes = None) -> Tensor:
    return a.squeeze(axis)


def _swapaxes(a: Tensor, axis1: int, axis2: int) -> Tensor:
    return a.swapaxes(axis1, axis2)


def _broadcast_to(array: Tensor, shape: Shape | int, subok: bool = False) -> Tensor:
    del subok
    return array.broadcast_to(shape if isinstance(shape, tuple) else (shape,))


def _concatenate(
    arrays: Sequence[Any],
    /,
    axis: int | None = 0,
    out: None = None,
    *,
    dtype: object = None,
    casting: str = "same_kind",
) -> Tensor:
    refuse_arguments("np.concatenate", {"out": out})
    joined = xp.concat(arrays, axis=axis)
    return joined if dtype is None else joined.astype(dtype)


def _stack(arrays: Sequence[Any], axis: int = 0, out: None = None, **others: Any) -> Tensor:
    refuse_arguments("np.stack", {"out": out, **others})
    return xp.stack(arrays, axis=axis)


def _at_least(rank: int, arrays: Sequence[Any]) -> list[Tensor]:
    context = xp.first_tensor(*arrays)
    tensors = [context.lift(x) for x in arrays]
    return [t if t.ndim >= rank else t.reshape((1,) * (rank - t.ndim) + t.shape) for t in tensors]


def _vstack(tup: Sequence[Any], **others: Any) -> Tensor:
    refuse_arguments("np.vstack", others)
    return xp.concat(_at_least(2, tup), axis=0)


def _hstack(tup: Sequence[Any], **others: Any) -> Tensor:
    refuse_arguments("np.hstack", others)
    tensors = _at_least(1, tup)
    return xp.concat(tensors, axis=0 if tensors[0].ndim == 1 else 1)


def _column_stack(tup: Sequence[Any]) -> Tensor:
    tensors = _at_least(1, tup)
    return xp.concat([t.expand_dims(1) if t.ndim == 1 else t for t in tensors], axis=1)


def _split(ary: Tensor, indices_or_sections: Any, axis: int = 0) -> list[Tensor]:
    return xp.split(ary, indices_or_sections, axis)


def _array_split(ary: Tensor, indices_or_sections: Any, axis: int = 0) -> list[Tensor]:
    size = ary.shape[axis]
    if isinstance(indices_or_sections, int) and isinstance(size, int):
        count = indices_or_sections
        wide = size % count
        widths = [size // count + (i < wide) for i in range(count)]
        indices_or_sections = [sum(widths[: i + 1]) for i in range(count - 1)]
    return xp.split(ary, indices_or_sections, axis)


def _pad(array: Tensor, pad_width: object, mode: str = "constant", **others: Any) -> Tensor:
    value = others.pop("constant_values", 0)
    if mode != "constant" or np.shape(value) != ():
        raise UnsupportedFunctionError(
            f"np.pad(mode={mode!r}) with {value!r} is not supported on traced tensors",
            hint="Pad with one constant, or put parts together with np.concatenate.",
        )
    refuse_arguments("np.pad", others)
    return xp.pad(array, pad_width, constant_values=value)


def _diagonal(a: Tensor, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Tensor:
    return xp.diagonal(xp.moveaxis(a, (axis1, axis2), (-2, -1)), offset=offset)


def _diag(v: Tensor, k: int = 0) -> Tensor:
    if v.ndim == 2:
        return xp.diagonal(v, offset=k)
    size = v.shape[0]
    if not isinstance(size, int):
        raise UnsupportedFunctionError(
            "np.diag of a symbolic size", hint="Declare the size of the vector."
        )
    wide = size + abs(k)
    row = v.reshape((size, 1)).pad((0, 0), (0, wide))  # each row ends one place further on
    flat = row.reshape((size * (wide + 1),)) if size else row.ravel()
    square = flat.pad(
        (max(k, 0) + max(-k, 0) * wide,),
        (wide * wide - size * (wide + 1) - max(k, 0) - max(-k, 0) * wide,),
    )
    return square.reshape((wide, wide))


def _flip(m: Tensor, axis: Axes = None) -> Tensor:
    return xp.flip(m, axis=axis)


def _roll(a: Tensor, shift: Any, axis: Axes = None) -> Tensor:
    return xp.roll(a, shift, axis=axis)


def _repeat(a: Tensor, repeats: Any, axis: int | None = None) -> Tensor:
    return xp.repeat(a, repeats, axis=axis)


def _tril(m: Tensor, k: int = 0) -> Tensor:
    return xp.tril(m, k=k)


def _triu(m: Tensor, k: int = 0) -> Tensor:
    return xp.triu(m, k=k)


def _rank(maker: int) -> Callable[..., Any]:
    def at_least(*arrays: Any) -> Any:
        made = _at_least(maker, arrays)
        return made[0] if len(made) == 1 else tuple(made)

    return at_least


def _broadcast_arrays(*arrays: Any, subok: bool = False) -> tuple[Tensor, ...]:
    return tuple(xp.broadcast_arrays(*arrays))


def _flipud(m: Tensor) -> Tensor:
    return xp.flip(m, axis=0)


def _fliplr(m: Tensor) -> Tensor:
    return xp.flip(m, axis=1)


FUNCTIONS: Mapping[Callable[..., Any], Callable[..., Any]] = {
    np.linalg.matrix_transpose: xp.matrix_transpose,
    np.linalg.diagonal: xp.diagonal,
    np.reshape: _reshape,
    np.ravel: _ravel,
    np.transpose: _transpose,
    np.permute_dims: _transpose,
    np.matrix_transpose: xp.matrix_transpose,
    np.moveaxis: xp.moveaxis,
    np.swapaxes: _swapaxes,
    np.broadcast_to: _broadcast_to,
    np.broadcast_arrays: _broadcast_arrays,
    np.expand_dims: _expand_dims,
    np.squeeze: _squeeze,
    np.atleast_1d: _rank(1),
    np.atleast_2d: _rank(2),
    np.concatenate: _concatenate,
    np.concat: _concatenate,
    np.stack: _stack,
    np.unstack: xp.unstack,
    np.vstack: _vstack,
    np.hstack: _hstack,
    np.column_stack: _column_stack,
    np.split: _split,
    np.array_split: _array_split,
    np.vsplit: _split,
    np.pad: _pad,
    np.flip: _flip,
    np.flipud: _flipud,
    np.fliplr: _fliplr,
    np.roll: _roll,
    np.repeat: _repeat,
    np.tile: xp.tile,
    np.tril: _tril,
    np.triu: _triu,
    np.diagonal: _diagonal,
    np.diag: _diag,
    np.meshgrid: xp.meshgrid,
    np.take: _take,
    np.take_along_axis: _take_along_axis,
}
