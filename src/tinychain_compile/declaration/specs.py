"""Reads the type that an input is declared with."""

from __future__ import annotations

from typing import cast

from tinychain_compile.errors import CompilationError, MissingDtypeError, MissingShapeError
from tinychain_compile.ir.dtypes import DTYPES, as_dtype, dtype_name
from tinychain_compile.ir.types import TensorType
from tinychain_compile.protocols import HasTypeMetadata


def type_of_spec(name: str, spec: object, what: str = "input") -> TensorType:
    """Return the type that a spec declares: a ``TensorType``, an array, anything like these.

    Raises:
        MissingDtypeError: It has no dtype that we know.
        MissingShapeError: It has no usable shape.
    """
    if isinstance(spec, TensorType):
        return spec
    hint = "Declare it with TensorType(dtype, shape), or with an array of that dtype and shape."
    for attribute, missing in (("dtype", MissingDtypeError), ("shape", MissingShapeError)):
        if getattr(spec, attribute, None) is None:
            raise missing(
                f"{what} {name!r}",
                expected=f"a spec with a {attribute}",
                got=repr(spec),
                hint=hint,
            )
    given = cast(HasTypeMetadata, spec)
    try:
        dtype = as_dtype(given.dtype)
    except CompilationError as error:
        raise MissingDtypeError(
            f"{what} {name!r}",
            expected=f"one of the dtypes {', '.join(map(dtype_name, DTYPES))}",
            got=repr(given.dtype),
            hint=hint,
        ) from error
    try:
        return TensorType(dtype, given.shape)
    except CompilationError as error:
        raise MissingShapeError(
            f"{what} {name!r}", expected=error.expected, got=error.got, hint=hint
        ) from error
