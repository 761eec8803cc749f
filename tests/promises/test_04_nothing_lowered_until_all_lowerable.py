"""Nothing is lowered until everything is known to be lowerable; support never depends on fusion."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.hooks import ClaimAll
from tests.support.losses import compiled
from tinychain_compile import TensorType, compile_training_step
from tinychain_compile.errors import UnsupportedOperatorError
from tinychain_compile.operators import BASIS, LITERALS, Add, Exp, Log, Sub
from tinychain_compile.testing import RecordingRegistry


def test_all_missing_operators_are_reported_at_once_with_their_lines_and_programs():
    registry = RecordingRegistry(set(BASIS + LITERALS) - {Log, Exp, Add})
    with pytest.raises(UnsupportedOperatorError) as caught:
        compiled("network", registry)
    text = str(caught.value)
    assert registry.contexts == []
    for part in ("exp:", "log:", "add:", "forward", "derivative", "update of f64[4, 5]"):
        assert part in text
    assert "losses.py" in text
    assert "np.tanh(x @ w1 + b1)" in text
    assert "derivative of tanh" in text
    assert "decomposition of sub" in text


def test_an_operator_missing_in_the_update_alone_stops_the_forward_program_too():
    def loss(x, w):
        return np.sum(x * w)

    def update(*, parameter, gradient):
        return parameter + np.exp(gradient)

    registry = RecordingRegistry(set(BASIS + LITERALS) - {Exp})
    types = {"x": TensorType("f64", (3,)), "w": TensorType("f64", (3,))}
    with pytest.raises(
        UnsupportedOperatorError, match=r"exp: there is no handler.*\n\s+update of f64\[3\]"
    ) as caught:
        compile_training_step(
            loss, inputs=types, parameters=["w"], optimizer=update, handlers=registry
        )
    assert registry.contexts == []
    assert "np.exp(gradient)" in str(caught.value)


def test_a_hook_that_would_take_everything_does_not_hide_a_missing_operator():
    registry = RecordingRegistry(set(BASIS) - {Exp})
    with pytest.raises(UnsupportedOperatorError):
        compiled("reused", registry, fusion=ClaimAll())


def test_an_operator_that_is_missing_but_decomposes_is_no_obstacle():
    step = compiled("network", RecordingRegistry(BASIS + LITERALS))
    used = {type(op.operator) for op in step.lowered_forward_graph.operations}
    assert Sub not in used
    assert used <= set(BASIS + LITERALS)
