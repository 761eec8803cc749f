"""Dispatch is by the concrete operator class, never by a name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import pytest

from tinychain_compile import HandlerContractError, OperationHandlerRegistry
from tinychain_compile.operators import Add, Mul, Operator


@dataclass(frozen=True, slots=True)
class NamedLikeAdd(Operator):
    name: ClassVar[str] = "add"


class SpecialAdd(Add):
    __slots__ = ()


def test_a_class_of_the_same_name_is_another_operator():
    registry = OperationHandlerRegistry()
    registry.handler(Add)(lambda context: "sum")
    assert registry.has_handler(Add)
    assert registry.has_handler(Add())
    assert not registry.has_handler(NamedLikeAdd)
    with pytest.raises(HandlerContractError, match="NamedLikeAdd"):
        registry.lookup(NamedLikeAdd())


def test_a_subclass_is_another_operator():
    registry = OperationHandlerRegistry()
    registry.handler(Add)(lambda context: "sum")
    assert not registry.has_handler(SpecialAdd())


def test_classes_and_functions_register_and_types_are_listed_in_order():
    registry = OperationHandlerRegistry()

    @registry.handler(Mul)
    class LowerMul:
        def lower(self, context):
            return "product"

    class LowerAdd:
        operator_type = Add

        def lower(self, context):
            return "sum"

    registry.register(LowerAdd())
    assert registry.supported_types() == (Mul, Add)
    assert registry.lookup(Mul()).lower(None) == "product"
    assert registry.lookup(Add()).lower(None) == "sum"
    assert LowerMul().lower(None) == "product"
