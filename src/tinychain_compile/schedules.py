"""Numbers over time, on the host: learning rates by the count of steps, and the loss scale.

A schedule is a function of a count from 0 to a number. It holds no state, so a restored run needs
the count alone; feed it as a runtime input and nothing is compiled again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple, TypeAlias

from tinychain_compile.errors import DeclarationError

Schedule: TypeAlias = Callable[[int], float]
"""From the count of steps before this one to a number."""


def constant(value: float) -> Schedule:
    """Return always ``value``."""
    return lambda _: value


def step(initial: float, factors: Mapping[int, float]) -> Schedule:
    """Return ``initial``, multiplied from each count on by the factor given there.

    Args:
        initial: The value at 0.
        factors: From counts to factors: ``{100: 0.1, 200: 0.1}``.
    """
    _check("step", all(at >= 0 for at in factors), "counts from 0", factors)
    return lambda count: initial * math.prod(f for at, f in factors.items() if count >= at)


def exponential(
    initial: float,
    decay_rate: float,
    transition_steps: int,
    *,
    transition_begin: int = 0,
    staircase: bool = False,
    end: float | None = None,
) -> Schedule:
    """Return ``initial * decay_rate ** ((count - transition_begin) / transition_steps)``.

    Args:
        initial: The value until ``transition_begin``.
        decay_rate: What it is multiplied by in ``transition_steps``; above 0.
        transition_steps: From 1.
        transition_begin: Where the change begins.
        staircase: Whether the exponent is rounded down.
        end: What the value stays at once there: the least of a decay, the most of a growth.
    """
    _check("exponential", decay_rate > 0.0, "a decay_rate above 0", decay_rate)
    _check("exponential", transition_steps > 0, "transition_steps from 1", transition_steps)

    def value(count: int) -> float:
        exponent = (count - transition_begin) / transition_steps
        decayed: float = initial * decay_rate ** (math.floor(exponent) if staircase else exponent)
        decayed = initial if count <= transition_begin else decayed
        if end is None:
            return decayed
        return max(decayed, end) if decay_rate < 1.0 else min(decayed, end)

    return value


def polynomial(
    initial: float, end: float, power: float, transition_steps: int, *, transition_begin: int = 0
) -> Schedule:
    """Return the way from ``initial`` to ``end`` as ``(1 - t) ** power``, ``t`` from 0 to 1.

    Args:
        initial: The value until ``transition_begin``.
        end: The value from ``transition_begin + transition_steps`` on.
        power: 1 is a straight line.
        transition_steps: How long the way is, from 1.
        transition_begin: Where it begins.
    """
    _check("polynomial", transition_steps > 0, "transition_steps from 1", transition_steps)

    def value(count: int) -> float:
        t = min(max(count - transition_begin, 0), transition_steps) / transition_steps
        way: float = (1.0 - t) ** power
        return (initial - end) * way + end

    return value


def linear(initial: float, end: float, transition_steps: int) -> Schedule:
    """Return the straight line from ``initial`` to ``end``, then ``end``."""
    return polynomial(initial, end, 1.0, transition_steps)


def linear_warmup(peak: float, warmup_steps: int, initial: float = 0.0) -> Schedule:
    """Return the straight line from ``initial`` at count 0 to ``peak``, then ``peak``."""
    return linear(initial, peak, warmup_steps)


def cosine(
    initial: float, decay_steps: int, *, end_fraction: float = 0.0, exponent: float = 1.0
) -> Schedule:
    """Return half a cosine from ``initial`` down to ``end_fraction * initial``, then that.

    Args:
        initial: The value at 0.
        decay_steps: How long it takes, from 1.
        end_fraction: Where it ends, as a part of ``initial``.
        exponent: The power that the cosine is raised to.

    Source: I. Loshchilov and F. Hutter, SGDR: Stochastic Gradient Descent with Warm Restarts, 2017.
    """
    _check("cosine", decay_steps > 0, "decay_steps from 1", decay_steps)

    def value(count: int) -> float:
        t = min(max(count, 0), decay_steps) / decay_steps
        wave: float = (0.5 * (1.0 + math.cos(math.pi * t))) ** exponent
        return initial * ((1.0 - end_fraction) * wave + end_fraction)

    return value


def warmup_cosine(
    peak: float, warmup_steps: int, decay_steps: int, *, initial: float = 0.0, end: float = 0.0
) -> Schedule:
    """Return a linear warm-up to ``peak``, then half a cosine down to ``end``.

    Args:
        peak: The largest value, other than 0.
        warmup_steps: How long the warm-up is.
        decay_steps: How long both are together; above ``warmup_steps``.
        initial: The value at 0.
        end: The value from ``decay_steps`` on.
    """
    _check("warmup_cosine", peak != 0.0, "a peak other than 0", peak)
    down = cosine(peak, decay_steps - warmup_steps, end_fraction=end / peak)
    if warmup_steps == 0:
        return down
    return joined([linear_warmup(peak, warmup_steps, initial), down], [warmup_steps])


def one_cycle(
    peak: float,
    total_steps: int,
    *,
    rise: float = 0.3,
    div_factor: float = 25.0,
    final_div_factor: float = 1e4,
) -> Schedule:
    """Return half a cosine up to ``peak``, then one down far below where it began.

    Args:
        peak: The largest value.
        total_steps: How long it all is.
        rise: The part of it that rises, between 0 and 1.
        div_factor: It begins at ``peak / div_factor``.
        final_div_factor: It ends at ``peak / (div_factor * final_div_factor)``.

    Source: L. Smith and N. Topin, Super-Convergence: Very Fast Training of Neural Networks Using
    Large Learning Rates, 2018.
    """
    top = int(rise * total_steps)
    _check("one_cycle", 0 < top < total_steps, "steps on both sides of the peak", total_steps)
    first = peak / div_factor
    points = [(0, first), (top, peak), (total_steps, first / final_div_factor)]

    def value(count: int) -> float:
        for (begin, low), (end, high) in pairwise(points):
            if count < end:
                t = (max(count, 0) - begin) / (end - begin)
                return high + (low - high) * 0.5 * (1.0 + math.cos(math.pi * t))
        return points[-1][1]

    return value


def joined(schedules: Sequence[Schedule], boundaries: Sequence[int]) -> Schedule:
    """Return one schedule after another, each counting from where it begins.

    Args:
        schedules: One more than boundaries.
        boundaries: The counts at which the next one begins, rising.
    """
    _check("joined", len(schedules) == len(boundaries) + 1, "one boundary between two", boundaries)
    rising = all(a < b for a, b in pairwise(boundaries))
    _check("joined", rising, "rising boundaries", boundaries)
    starts = [0, *boundaries]

    def value(count: int) -> float:
        place = sum(count >= boundary for boundary in boundaries)
        return schedules[place](count - starts[place])

    return value


class LossScaleState(NamedTuple):
    """Where a dynamic loss scale stands.

    Attributes:
        scale: What the loss is multiplied by.
        good_steps: How many steps had finite gradients since it last changed.
    """

    scale: float
    good_steps: int = 0


@dataclass(frozen=True, slots=True)
class DynamicLossScale:
    """A loss scale that grows while gradients are finite and shrinks when they are not.

    Args:
        initial: The scale at the start; a power of 2 keeps scaling exact.
        interval: After how many finite steps it grows.
        growth: What it then is multiplied by; above 1.
        backoff: What it is multiplied by when gradients are not finite; between 0 and 1.
        smallest: Below this it does not go.
        largest: Above this it does not go.
    """

    initial: float = 2.0**15
    interval: int = 2_000
    growth: float = 2.0
    backoff: float = 0.5
    smallest: float = 1.0
    largest: float = 2.0**24

    def __post_init__(self) -> None:
        _check("DynamicLossScale", self.growth > 1.0, "growth above 1", self.growth)
        _check("DynamicLossScale", 0.0 < self.backoff < 1.0, "backoff in 0 to 1", self.backoff)
        _check("DynamicLossScale", self.interval > 0, "an interval from 1", self.interval)
        inside = 0.0 < self.smallest <= self.initial <= self.largest
        _check("DynamicLossScale", inside, "0 < smallest <= initial <= largest", self.initial)

    def start(self) -> LossScaleState:
        """Return the state before step 1."""
        return LossScaleState(self.initial)

    def after(self, state: LossScaleState, is_finite: bool) -> LossScaleState:
        """Return the state after a step whose gradients were finite or not."""
        if not is_finite:
            return LossScaleState(max(state.scale * self.backoff, self.smallest))
        if state.good_steps + 1 < self.interval:
            return LossScaleState(state.scale, state.good_steps + 1)
        return LossScaleState(min(state.scale * self.growth, self.largest))


def _check(subject: str, holds: bool, expected: str, got: object) -> None:
    if not holds:
        raise DeclarationError(f"schedule {subject}", expected=expected, got=repr(got))
