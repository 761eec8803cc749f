"""Every optimizer, transform and schedule that Optax defines, beside it, in f64."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from tests.optimizers.running import train, transformed
from tests.optimizers.scenarios import RATE, SCENARIOS, SETTINGS, gradients, start
from tinychain_compile import (
    LAMB,
    SGD,
    Adadelta,
    Adafactor,
    Adagrad,
    Adam,
    Adamax,
    AdamW,
    AMSGrad,
    CentralizeGradients,
    ClipByGlobalNorm,
    ClipByValue,
    Lion,
    NAdam,
    RMSprop,
    ScaleGradients,
    WeightDecay,
    schedules,
)


def adafactor(clip=1.0, weight_decay=None):
    """Return optax.adafactor with its one f32 computation, the decay, in f64."""
    parts = [
        optax.scale_by_factored_rms(
            min_dim_size_to_factor=1,
            decay_rate_fn=lambda step, power: (
                1.0 - (jnp.asarray(step, jnp.float64) + 1.0) ** -power
            ),
        ),
        optax.clip_by_block_rms(clip),
        optax.scale_by_learning_rate(RATE, flip_sign=False),
        optax.scale_by_param_block_rms(),
    ]
    if weight_decay is not None:
        parts.append(optax.add_decayed_weights(weight_decay * RATE))
    return optax.chain(*parts, optax.scale(-1.0))


PAIRS = {
    "sgd": (SGD(RATE), optax.sgd(RATE)),
    "sgd with decay": (
        SGD(RATE, weight_decay=0.1),
        optax.chain(optax.add_decayed_weights(0.1), optax.sgd(RATE)),
    ),
    "momentum": (SGD(RATE, momentum=0.9), optax.sgd(RATE, momentum=0.9)),
    "nesterov": (
        SGD(RATE, momentum=0.9, nesterov=True),
        optax.sgd(RATE, momentum=0.9, nesterov=True),
    ),
    "adagrad": (
        Adagrad(RATE, initial_total=0.1, epsilon=1e-7, epsilon_in_root=True),
        optax.adagrad(RATE),
    ),
    "adadelta": (Adadelta(RATE), optax.adadelta(RATE)),
    "rmsprop": (RMSprop(RATE, epsilon_in_root=True), optax.rmsprop(RATE)),
    "rmsprop, epsilon outside": (RMSprop(RATE), optax.rmsprop(RATE, eps_in_sqrt=False)),
    "rmsprop centred": (
        RMSprop(RATE, centered=True, epsilon=1e-3, epsilon_in_root=True),
        optax.rmsprop(RATE, centered=True, eps=1e-3),
    ),
    "rmsprop with momentum": (
        RMSprop(RATE, epsilon_in_root=True, momentum=0.5),
        optax.rmsprop(RATE, momentum=0.5),
    ),
    "adam": (Adam(RATE), optax.adam(RATE)),
    "adam with decay": (
        Adam(RATE, weight_decay=0.1),
        optax.chain(optax.add_decayed_weights(0.1), optax.adam(RATE)),
    ),
    "adamw": (AdamW(RATE, weight_decay=0.1), optax.adamw(RATE, weight_decay=0.1)),
    "amsgrad": (AMSGrad(RATE, of_corrected=True), optax.amsgrad(RATE)),
    "nadam": (NAdam(RATE, momentum_decay=None), optax.nadam(RATE)),
    "adamax": (Adamax(RATE), optax.adamax(RATE)),
    "lion": (Lion(RATE), optax.lion(RATE, weight_decay=0.0)),
    "lion with decay": (Lion(RATE, weight_decay=0.1), optax.lion(RATE, weight_decay=0.1)),
    "lamb": (LAMB(RATE), optax.lamb(RATE)),
    "lamb with decay": (LAMB(RATE, weight_decay=0.1), optax.lamb(RATE, weight_decay=0.1)),
    "adafactor": (Adafactor(RATE, relative_step=False), adafactor()),
    "adafactor with decay": (
        Adafactor(RATE, relative_step=False, weight_decay=0.1, clip=0.5),
        adafactor(0.5, 0.1),
    ),
}


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("name", PAIRS)
def test_steps_are_those_of_optax(name, scenario):
    ours, theirs = PAIRS[name]
    parameters = {k: jnp.asarray(v) for k, v in start().items()}
    state = theirs.init(parameters)
    update = jax.jit(theirs.update)
    for own, row in zip(train(ours, scenario), gradients(scenario), strict=True):
        updates, state = update({k: jnp.asarray(g) for k, g in row.items()}, state, parameters)
        parameters = optax.apply_updates(parameters, updates)
        for parameter, array in parameters.items():
            np.testing.assert_allclose(own[parameter], array, rtol=1e-10, atol=0.0)


def test_every_optimizer_is_compared():
    compared = {type(ours).__name__ for ours, _ in PAIRS.values()}
    assert compared == {setting.ours[0] for setting in SETTINGS.values()}


GRADIENTS = {
    "w": np.array([[3.0, -0.5], [0.25, 4.0], [-2.0, 1.0]]),
    "b": np.array([12.0, -0.125]),
}
PARAMETERS = {"w": np.full((3, 2), 0.5), "b": np.array([1.0, -2.0])}

TRANSFORMS = {
    "clip by value": (ClipByValue(0.75), optax.clip(0.75)),
    "clip by global norm": (ClipByGlobalNorm(6.5), optax.clip_by_global_norm(6.5)),
    "loose global norm": (ClipByGlobalNorm(100.0), optax.clip_by_global_norm(100.0)),
    "weight decay": (WeightDecay(0.3), optax.add_decayed_weights(0.3)),
    "scale": (ScaleGradients(-2.5), optax.scale(-2.5)),
    "centralize": (CentralizeGradients(0), optax.centralize()),
}


@pytest.mark.parametrize("name", TRANSFORMS)
def test_transforms_are_those_of_optax(name):
    ours, theirs = TRANSFORMS[name]
    own = transformed([ours], GRADIENTS, PARAMETERS)
    expected, _ = theirs.update(GRADIENTS, theirs.init(PARAMETERS), PARAMETERS)
    for parameter, gradient in expected.items():
        np.testing.assert_allclose(own[parameter], gradient, rtol=1e-13)


COUNTS = (0, 1, 2, 5, 9, 10, 11, 20, 30, 31, 50, 99, 100, 101, 1000)
SCHEDULES = {
    "constant": (schedules.constant(0.3), optax.constant_schedule(0.3)),
    "step": (
        schedules.step(0.5, {10: 0.1, 30: 0.5}),
        optax.piecewise_constant_schedule(0.5, {10: 0.1, 30: 0.5}),
    ),
    "exponential": (schedules.exponential(0.5, 0.9, 10), optax.exponential_decay(0.5, 10, 0.9)),
    "exponential in stairs to an end": (
        schedules.exponential(0.5, 0.5, 10, transition_begin=5, staircase=True, end=0.1),
        optax.exponential_decay(0.5, 10, 0.5, transition_begin=5, staircase=True, end_value=0.1),
    ),
    "exponential growth": (
        schedules.exponential(0.5, 1.5, 10, end=2.0),
        optax.exponential_decay(0.5, 10, 1.5, end_value=2.0),
    ),
    "cosine": (schedules.cosine(0.5, 100), optax.cosine_decay_schedule(0.5, 100)),
    "cosine to a floor": (
        schedules.cosine(0.5, 100, end_fraction=0.1, exponent=2.0),
        optax.cosine_decay_schedule(0.5, 100, alpha=0.1, exponent=2.0),
    ),
    "linear": (schedules.linear(0.1, 0.9, 30), optax.linear_schedule(0.1, 0.9, 30)),
    "warm-up": (schedules.linear_warmup(0.9, 30), optax.linear_schedule(0.0, 0.9, 30)),
    "warm-up and cosine": (
        schedules.warmup_cosine(0.5, 10, 100, initial=0.1, end=0.01),
        optax.warmup_cosine_decay_schedule(0.1, 0.5, 10, 100, end_value=0.01),
    ),
    "one cycle": (schedules.one_cycle(0.5, 100), optax.cosine_onecycle_schedule(100, 0.5)),
    "polynomial": (
        schedules.polynomial(0.5, 0.1, 3.0, 30, transition_begin=5),
        optax.polynomial_schedule(0.5, 0.1, 3.0, 30, transition_begin=5),
    ),
    "joined": (
        schedules.joined([schedules.linear_warmup(0.5, 10), schedules.cosine(0.5, 20)], [10]),
        optax.join_schedules(
            [optax.linear_schedule(0.0, 0.5, 10), optax.cosine_decay_schedule(0.5, 20)], [10]
        ),
    ),
}


@pytest.mark.parametrize("name", SCHEDULES)
def test_schedules_are_those_of_optax(name):
    ours, theirs = SCHEDULES[name]
    expected = [float(theirs(jnp.asarray(count, jnp.float64))) for count in COUNTS]
    np.testing.assert_allclose([ours(count) for count in COUNTS], expected, rtol=1e-12, atol=1e-15)
