"""A registry, handler or slot that is wrong."""

from __future__ import annotations

import pytest

from tinychain_compile import HandlerContractError, OperationHandlerRegistry
from tinychain_compile.operators import Add, Operator


def test_a_second_handler_for_an_operator_is_refused_and_the_first_stays():
    registry = OperationHandlerRegistry()
    registry.handler(Add)(lambda context: "first")
    with pytest.raises(HandlerContractError, match="Add"):
        registry.handler(Add)(lambda context: "second")
    assert registry.lookup(Add()).lower(None) == "first"


class NoType:
    def lower(self, context):
        return 1


class NotAnOperator:
    operator_type = int

    def lower(self, context):
        return 1


class TheBase:
    operator_type = Operator

    def lower(self, context):
        return 1


class NoLower:
    operator_type = Add


@pytest.mark.parametrize("handler", [NoType(), NotAnOperator(), TheBase(), NoLower(), 3])
def test_a_handler_that_is_none_is_refused(handler):
    with pytest.raises(HandlerContractError, match="handler"):
        OperationHandlerRegistry().register(handler)


@pytest.mark.parametrize("handler", [NoLower, NotAnOperator])
def test_a_decorated_class_that_is_no_handler_is_refused(handler):
    with pytest.raises(HandlerContractError, match=handler.__name__):
        OperationHandlerRegistry().handler(Add)(handler)
