"""Errors of the loss and the optimizer pass untouched; those of handlers and hooks are wrapped."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.hooks import hook_returning
from tests.support.losses import REGRESSION_TYPES, compiled
from tinychain_compile import (
    SGD,
    HandlerContractError,
    OperationHandlerRegistry,
    compile_training_step,
)
from tinychain_compile.operators import OPERATORS
from tinychain_compile.testing import RecordingRegistry


class OwnError(Exception):
    pass


def raising(*args, **kwargs):
    raise OwnError("mine")


def test_an_exception_of_the_loss_is_the_same_object():
    error = OwnError("mine")

    def loss(x, y, w, b):
        raise error

    with pytest.raises(OwnError) as caught:
        compile_training_step(
            loss,
            inputs=REGRESSION_TYPES,
            parameters=["w"],
            optimizer=SGD(),
            handlers=RecordingRegistry(),
        )
    assert caught.value is error
    assert caught.value.__cause__ is None


def test_an_exception_of_the_update_is_the_same_object():
    def update(*, parameter, gradient):
        raise error

    error = OwnError("mine")
    with pytest.raises(OwnError) as caught:
        compile_training_step(
            lambda w: np.sum(w),
            inputs={"w": np.zeros(3)},
            parameters=["w"],
            optimizer=update,
            handlers=RecordingRegistry(),
        )
    assert caught.value is error


def registry_of(lower):
    registry = OperationHandlerRegistry()
    for operator in OPERATORS:
        registry.handler(operator)(lower)
    return registry


def test_an_exception_of_a_handler_is_wrapped_once_with_the_line():
    with pytest.raises(HandlerContractError, match="mine") as caught:
        compiled("regression", registry_of(raising))
    assert isinstance(caught.value.__cause__, OwnError)
    assert "losses.py" in str(caught.value)


def test_a_handler_that_returns_none_is_a_violation():
    with pytest.raises(HandlerContractError, match="None"):
        compiled("regression", registry_of(lambda context: None))


def test_an_exception_of_a_hook_is_wrapped_once():
    with pytest.raises(HandlerContractError, match="mine") as caught:
        compiled("regression", fusion=hook_returning(raising))
    assert isinstance(caught.value.__cause__, OwnError)


def test_an_exception_of_bind_input_is_wrapped_once():
    with pytest.raises(HandlerContractError, match="mine") as caught:
        compiled("regression", bind_input=raising)
    assert isinstance(caught.value.__cause__, OwnError)
    with pytest.raises(HandlerContractError, match="None"):
        compiled("regression", bind_input=lambda row: None)


def test_a_categorized_error_of_a_handler_passes_as_it_is():
    def lower(context):
        raise error

    error = HandlerContractError("not on this device")
    with pytest.raises(HandlerContractError) as caught:
        compiled("regression", registry_of(lower))
    assert caught.value is error
    for others in ({"fusion": hook_returning(lower)}, {"bind_input": lower}):
        with pytest.raises(HandlerContractError) as caught:
            compiled("regression", **others)
        assert caught.value is error
