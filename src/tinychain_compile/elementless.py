"""What a tensor whose elements are not known yet cannot do, and what to write instead."""

from __future__ import annotations

from typing import NoReturn

from tinychain_compile.errors import DataDependentValueError, UnsupportedFunctionError

_CHOOSE = "Choose with np.where; control flow that depends on data cannot be compiled."


class Elementless:
    """Base of the traced tensor: refuses, by name, all that would need an element."""

    __slots__ = ()
    __hash__ = object.__hash__

    def __bool__(self) -> NoReturn:
        self.refuse_elements("the truth value of a traced tensor", _CHOOSE)

    def __int__(self) -> NoReturn:
        self.refuse_elements("int() of a traced tensor", _CHOOSE)

    def __float__(self) -> NoReturn:
        self.refuse_elements("float() of a traced tensor", _CHOOSE)

    def __complex__(self) -> NoReturn:
        self.refuse_elements("complex() of a traced tensor", _CHOOSE)

    def __index__(self) -> NoReturn:
        self.refuse_elements(
            "a traced tensor as an index",
            "Use np.take(array, indices, axis=0) if the array is traced, else "
            "tinychain_compile.functions.take(array, indices, axis).",
        )

    def item(self, *index: int) -> NoReturn:
        """Refuse: there is no element yet."""
        del index
        self.refuse_elements("item() of a traced tensor", _CHOOSE)

    def tolist(self) -> NoReturn:
        """Refuse: there are no elements yet."""
        self.refuse_elements("tolist() of a traced tensor", _CHOOSE)

    def __array__(self, dtype: object = None, copy: object = None) -> NoReturn:
        del dtype, copy
        self.refuse_elements(
            "a traced tensor as a NumPy array",
            "Compute with the tensor itself; leave out np.asarray and np.array. To index a NumPy "
            "array with it, use tinychain_compile.functions.take(array, indices, axis).",
        )

    def __contains__(self, item: object) -> NoReturn:
        self.refuse("`in` with a tensor", "Compare with np.less and choose with np.where.")

    def refuse_elements(self, what: str, hint: str) -> NoReturn:
        """Raise the error of asking for an element."""
        raise DataDependentValueError(
            what,
            expected="only operations whose course does not depend on elements",
            got=f"{self!r}, which has no elements while it is traced",
            hint=hint,
        )

    def refuse(self, what: str, hint: str) -> NoReturn:
        """Raise the error of something that is not supported."""
        raise UnsupportedFunctionError(f"{what} is not supported", hint=hint)
