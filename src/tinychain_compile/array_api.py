"""The Array API namespace that a traced tensor gives to a loss: ``x.__array_namespace__()``.

The names are those of the 2024.12 standard. A function of traced tensors is the namespace's; the
same name with arrays alone is NumPy's, so that what depends on no tensor is computed at once and
enters the program as a literal.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from functools import reduce, wraps
from types import SimpleNamespace
from typing import Any, NoReturn, cast

import numpy as np

from tinychain_compile import namespace
from tinychain_compile.errors import MissingFunctionError
from tinychain_compile.ir import axes
from tinychain_compile.ir.dimensions import Shape
from tinychain_compile.ir.dtypes import DTYPES, DType, as_dtype, dtype_name
from tinychain_compile.namespace.special import SPECIAL
from tinychain_compile.tensor import Tensor

_NUMPY_AS_IT_IS = (
    *("arange", "e", "empty", "eye", "finfo", "full", "iinfo", "inf", "linspace", "nan"),
    *("newaxis", "ones", "pi", "zeros", "float32", "float64", "int32", "int64", "uint8", "uint32"),
    *("float16",),
)
_DATA_DEPENDENT = ("nonzero", "unique_all", "unique_counts", "unique_inverse", "unique_values")


class ArrayNamespace:
    """The namespace object; has functions, constants and dtypes as attributes."""

    __array_api_version__ = "2024.12"
    __name__ = __name__  # libraries ask a namespace for its name to know which it is

    def __init__(self, members: Mapping[str, Any]) -> None:
        vars(self).update(members)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"the namespace of traced tensors is fixed: {name} cannot be set")

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        if name in _DATA_DEPENDENT:
            hint = "The shape of its result depends on elements; choose with where instead."
        else:
            near = get_close_matches(name, vars(self), n=3)
            hint = f"It has {', '.join(near or sorted(vars(self)))}."
        raise MissingFunctionError(f"the namespace of traced tensors has no {name!r}", hint=hint)

    def __dir__(self) -> list[str]:
        return sorted(vars(self))

    def __repr__(self) -> str:
        return "<the Array API namespace of traced tensors>"


def _either(name: str, on_tensors: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of traced tensors that is NumPy's own where there are none."""
    on_arrays = getattr(np, name, None) or getattr(np.linalg, name, None)

    @wraps(on_tensors)
    def function(*args: Any, **kwargs: Any) -> Any:
        if on_arrays is None or _has_tensor(args) or _has_tensor(kwargs.values()):
            return on_tensors(*args, **kwargs)
        return on_arrays(*args, **kwargs)

    return function


def _has_tensor(values: Any) -> bool:
    return any(
        isinstance(value, Tensor)
        or (
            isinstance(value, (list, tuple))
            and any(isinstance(v, Tensor) for v in cast("list[object]", value))
        )
        for value in values
    )


def isdtype(dtype: object, kind: object) -> bool:
    """Return whether a dtype is of a kind, such as ``"real floating"``."""
    return bool(np.isdtype(as_dtype(dtype), kind))  # type: ignore[arg-type]


def broadcast_shapes(*shapes: Shape) -> Shape:
    """Return the shape that all shapes broadcast to."""
    return reduce(axes.broadcast_shapes, shapes, ())


def can_cast(from_: Any, to: object, /) -> bool:
    """Return whether every value of a dtype, or of a tensor's, is one of another dtype."""
    own = from_.dtype if isinstance(from_, Tensor) else from_
    return bool(np.can_cast(as_dtype(own), as_dtype(to)))


class Info:
    """What the namespace has and what not, as ``__array_namespace_info__`` says it."""

    def capabilities(self) -> Mapping[str, object]:
        """Return that shapes never depend on elements, and masks cannot index."""
        return {"boolean indexing": False, "data-dependent shapes": False, "max dimensions": 64}

    def default_device(self) -> str:
        """Return the name of the one device: a program under construction."""
        return "trace"

    def devices(self) -> list[str]:
        """Return the one device."""
        return ["trace"]

    def default_dtypes(self, *, device: object = None) -> dict[str, DType]:
        """Return the dtypes of what is made without one."""
        del device
        return {
            "real floating": np.dtype(np.float64),
            "integral": np.dtype(np.int64),
            "indexing": np.dtype(np.int64),
        }

    def dtypes(self, *, device: object = None, kind: object = None) -> dict[str, DType]:
        """Return the dtypes of a kind by name."""
        del device
        known = {d.name: d for d in DTYPES if dtype_name(d) != "bf16"}
        return {
            name: dtype
            for name, dtype in known.items()
            if kind is None or np.isdtype(dtype, kind)  # type: ignore[arg-type]
        }


_LINEAR_ALGEBRA = (
    *("cross", "diagonal", "matmul", "matrix_transpose", "outer", "tensordot", "trace", "vecdot"),
    "vector_norm",
)

_OWN: Mapping[str, Any] = {
    "bool": np.bool_,
    "isdtype": isdtype,
    "result_type": namespace.result_type,
    "can_cast": can_cast,
    "broadcast_shapes": broadcast_shapes,
    "__array_namespace_info__": Info,
    "special": SimpleNamespace(**SPECIAL),
    "linalg": SimpleNamespace(**{n: _either(n, getattr(namespace, n)) for n in _LINEAR_ALGEBRA}),
}

ARRAY_NAMESPACE = ArrayNamespace(
    {
        **{name: _either(name, getattr(namespace, name)) for name in namespace.__all__},
        **{name: getattr(np, name) for name in _NUMPY_AS_IT_IS},
        **_OWN,
    }
)
