"""The schema of an operator: what every class of the vocabulary has."""

from __future__ import annotations

from collections.abc import Mapping
from math import copysign
from types import MappingProxyType
from typing import Any, ClassVar

from tinychain_compile.ir.types import TensorType


class Operator:
    """Base of operator classes; an instance holds the attributes of one use.

    A subclass is a frozen, slotted dataclass. The class is what handlers, rules and decompositions
    are keyed by; ``name`` is for printing only.
    """

    __slots__ = ()
    __match_args__: ClassVar[tuple[str, ...]] = ()

    name: ClassVar[str]
    is_literal: ClassVar[bool] = False
    """Whether it makes a value from attributes alone."""
    is_movement: ClassVar[bool] = False
    """Whether its elements are its operand's, elsewhere or repeated."""
    float_attributes: ClassVar[tuple[str, ...]] = ()
    """The attributes of which 0.0 and -0.0 are equal and yet not the same."""

    def __init_subclass__(cls) -> None:
        own = [
            name for name, kind in vars(cls).get("__annotations__", {}).items() if kind == "float"
        ]
        cls.float_attributes = tuple(dict.fromkeys((*cls.float_attributes, *own)))

    def infer(self, *operands: Any, **_: Any) -> TensorType:
        """Return the output's type, or raise if the operands' types do not fit.

        A subclass takes exactly its operands, in order, as ``TensorType``.
        """
        raise NotImplementedError

    @property
    def exactly(self) -> object:
        """What is equal for operators that do the same to the bit: 0.0 is not -0.0 here."""
        if not self.__match_args__:
            return type(self)
        names = self.float_attributes
        if not names:
            return self
        return self, tuple([copysign(1.0, getattr(self, name)) for name in names])

    @property
    def params(self) -> Mapping[str, object]:
        """The attributes by name, read-only."""
        names = self.__match_args__
        if not names:
            return _NO_PARAMS
        return MappingProxyType({name: getattr(self, name) for name in names})


_NO_PARAMS: Mapping[str, object] = MappingProxyType({})
