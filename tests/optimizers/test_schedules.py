"""Schedules: their ends and corners, and what they refuse; values are Optax's (tests/oracle)."""

from __future__ import annotations

import pytest

from tests.optimizers.running import batch_of, compiled_for_gradients
from tests.optimizers.scenarios import gradients, start
from tinychain_backends.numpy import NumpySession
from tinychain_compile import SGD, Adam, schedules
from tinychain_compile.errors import DeclarationError


def test_a_schedule_is_asked_with_the_number_of_steps_before():
    counts = []

    def rate(count):
        counts.append(count)
        return 0.0

    session = NumpySession(
        compiled_for_gradients(SGD()), start(), optimizer_inputs={"learning_rate": rate}
    )
    for row in gradients("ordinary")[:3]:
        session.step(batch_of(row))
    session.step(batch_of(row), learning_rate=0.5)  # beats the schedule
    assert counts == [0, 1, 2]


def test_a_first_rate_of_zero_moves_nothing_but_updates_the_moments():
    rates = {"learning_rate": schedules.linear_warmup(0.5, 10)}
    session = NumpySession(compiled_for_gradients(Adam()), start(), optimizer_inputs=rates)
    session.step(batch_of(gradients("ordinary")[0]))
    assert (session.parameters["w"] == start()["w"]).all()
    assert session.state.slots["w/m"].all()
    session.step(batch_of(gradients("ordinary")[1]))
    assert (session.parameters["w"] != start()["w"]).all()


@pytest.mark.parametrize(
    ("schedule", "values"),
    [
        (schedules.constant(0.3), {0: 0.3, 99: 0.3}),
        (schedules.step(1.0, {2: 0.5, 4: 0.1}), {0: 1.0, 1: 1.0, 2: 0.5, 3: 0.5, 4: 0.05}),
        (schedules.exponential(1.0, 0.25, 2), {0: 1.0, 1: 0.5, 2: 0.25}),
        (schedules.exponential(1.0, 0.25, 2, staircase=True), {1: 1.0, 2: 0.25, 3: 0.25}),
        (schedules.exponential(1.0, 0.25, 2, end=0.3), {1: 0.5, 2: 0.3, 9: 0.3}),
        (schedules.exponential(1.0, 4.0, 2, end=3.0), {1: 2.0, 2: 3.0}),
        (schedules.polynomial(1.0, 0.0, 2.0, 4), {0: 1.0, 2: 0.25, 4: 0.0, 9: 0.0}),
        (schedules.linear_warmup(1.0, 4), {0: 0.0, 1: 0.25, 4: 1.0, 9: 1.0}),
        (schedules.cosine(1.0, 4), {0: 1.0, 2: 0.5, 4: 0.0, 9: 0.0}),
        (schedules.cosine(1.0, 4, end_fraction=0.5), {0: 1.0, 2: 0.75, 4: 0.5}),
        (schedules.warmup_cosine(1.0, 2, 6), {0: 0.0, 1: 0.5, 2: 1.0, 4: 0.5, 6: 0.0}),
        (schedules.warmup_cosine(1.0, 0, 4), {0: 1.0, 2: 0.5, 4: 0.0}),
        (schedules.one_cycle(1.0, 10), {0: 0.04, 3: 1.0, 10: 0.04e-4, 20: 0.04e-4}),
        (
            schedules.joined([schedules.constant(1.0), schedules.linear_warmup(1.0, 2)], [3]),
            {2: 1.0, 3: 0.0, 4: 0.5, 5: 1.0},
        ),
    ],
)
def test_values_at_ends_and_corners(schedule, values):
    assert {count: pytest.approx(schedule(count), abs=1e-15) for count in values} == values


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: schedules.step(1.0, {-1: 0.5}),
        lambda: schedules.exponential(1.0, 0.0, 10),
        lambda: schedules.exponential(1.0, 0.5, 0),
        lambda: schedules.polynomial(1.0, 0.0, 1.0, 0),
        lambda: schedules.linear_warmup(1.0, 0),
        lambda: schedules.cosine(1.0, 0),
        lambda: schedules.warmup_cosine(0.0, 1, 2),
        lambda: schedules.warmup_cosine(1.0, 2, 2),
        lambda: schedules.one_cycle(1.0, 2),
        lambda: schedules.joined([schedules.constant(1.0)], [1]),
        lambda: schedules.joined([schedules.constant(1.0)] * 3, [2, 1]),
    ],
)
def test_what_makes_no_sense_is_refused(wrong):
    with pytest.raises(DeclarationError, match="schedule"):
        wrong()


def test_a_dynamic_loss_scale_stays_within_its_bounds():
    policy = schedules.DynamicLossScale(initial=4.0, interval=1, smallest=2.0, largest=8.0)
    state = policy.start()
    for is_finite, scale in ((True, 8.0), (True, 8.0), (False, 4.0), (False, 2.0), (False, 2.0)):
        state = policy.after(state, is_finite)
        assert state.scale == scale
