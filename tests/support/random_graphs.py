"""Random well-typed losses for property tests: a recipe is a list of small numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from tinychain_compile.functions import (
    erf,
    gelu,
    log_softmax,
    logsumexp,
    relu,
    sigmoid,
    silu,
    softmax,
    softplus,
    stop_gradient,
)

SHAPES = {"a": (2, 3), "b": (3,), "c": (2, 1), "d": ()}


def recipes(largest_kind):
    """Return a strategy for lists of (kind of step, operand, other operand)."""
    step = st.tuples(st.integers(0, largest_kind), st.integers(0, 40), st.integers(0, 40))
    return st.lists(step, min_size=1, max_size=12)


STEPS = recipes(53)
SMOOTH_STEPS = recipes(52)
"""Without ``stop_gradient``, whose derivative is meant to differ from the difference quotient."""


def arrays_for(seed: int) -> dict[str, np.ndarray[Any, Any]]:
    """Return seeded inputs, bounded so that no step leaves the range where it is smooth."""
    rng = np.random.default_rng(seed)
    return {name: rng.uniform(-1.0, 1.0, shape) for name, shape in SHAPES.items()}


def loss_of(steps):
    """Return a loss that follows a recipe; every step keeps values bounded and derivatives finite.

    Kinks are moved to irrational places, so that a difference quotient does not straddle one.
    """

    def loss(**inputs):
        values = list(inputs.values())
        for kind, i, j in steps:
            x, y = values[i % len(values)], values[j % len(values)]
            values.append(STEP_KINDS[kind](x, y))
        total = sum((np.mean(np.tanh(value)) for value in values[4:]), start=np.mean(values[0]))
        return total + sum(np.sum(value) * 0.1 for value in values[:4])

    return loss


def _gathered(x, _):
    if not np.ndim(x):
        return x
    return np.take(x, np.array([0, -1, 0]), axis=np.ndim(x) - 1)


def _along(x, _):
    if not np.ndim(x):
        return x
    positions = np.zeros((*np.shape(x)[:-1], 2), np.int64)
    return np.take_along_axis(x, positions, axis=-1)


def _product(x, y):
    if np.ndim(x) == 2 and np.ndim(y) == 2 and np.shape(x) == np.shape(y):
        return np.tanh(x @ np.transpose(y))
    return x * 0.5


def _both(x, y):
    """Return operands that broadcast, or one twice."""
    try:
        np.broadcast_shapes(np.shape(x), np.shape(y))
    except ValueError:
        return x, x
    return x, y


def _pair(function):
    return lambda x, y: function(*_both(x, y))


STEP_KINDS = [
    _pair(lambda x, y: np.tanh(x + y)),
    _pair(lambda x, y: np.tanh(x - y)),
    _pair(lambda x, y: np.tanh(x) * np.tanh(y)),
    _pair(lambda x, y: x / (y * y + 1.5)),
    _pair(lambda x, y: np.maximum(x + 0.0137, y - 0.0071)),
    _pair(lambda x, y: np.where(x < y - 0.00317, np.tanh(x), np.tanh(y) * 0.5)),
    lambda x, _: np.exp(np.tanh(x)),
    lambda x, _: np.log(x * x + 1.0),
    lambda x, _: np.sqrt(x * x + 0.5),
    lambda x, _: np.tanh(x),
    lambda x, _: np.tanh(x) ** 3,
    lambda x, _: (x * x + 1.0) ** -2,
    lambda x, _: relu(x + 0.00713),
    lambda x, _: -x,
    lambda x, _: np.sum(x) * 0.1,
    lambda x, _: np.mean(x, axis=0) if np.ndim(x) else x,
    lambda x, _: np.sum(x, axis=-1, keepdims=True) * 0.3 if np.ndim(x) else x,
    lambda x, _: np.max(x * np.tanh(x + 0.37)),
    lambda x, _: np.max(x, axis=-1, keepdims=True) if np.ndim(x) else x,
    lambda x, _: np.transpose(x),
    lambda x, _: np.reshape(x, (-1,)),
    lambda x, _: np.expand_dims(x, 0) if np.ndim(x) < 3 else x,
    lambda x, _: np.broadcast_to(x, (2, *np.shape(x))) if np.ndim(x) < 3 else x,
    lambda x, _: log_softmax(x, axis=-1) * 0.2 if np.ndim(x) else x,
    _gathered,
    _along,
    _product,
    lambda x, _: np.sin(x) + np.cos(x * 0.7),
    lambda x, _: np.arctan2(x, x * x + 0.4),
    lambda x, _: gelu(x) + silu(x) * 0.5,
    lambda x, _: softplus(x) - sigmoid(x * 1.3),
    lambda x, _: erf(x) + np.expm1(np.tanh(x)) * 0.3,
    lambda x, _: np.log1p(x * x) + np.abs(x + 0.0093),
    _pair(lambda x, y: np.minimum(x + 0.0193, y - 0.0051)),
    _pair(lambda x, y: np.clip(x, -0.3137, 0.4177) + np.tanh(y) * 0.1),
    _pair(lambda x, y: (np.tanh(x) + 1.7) ** np.tanh(y)),
    _pair(lambda x, y: np.where(x > 0.00271, np.log(np.abs(x)) * 0.1, y * 0.5)),
    lambda x, _: np.std(x, axis=-1, keepdims=True) + np.var(x) if np.size(x) > 1 else x,
    lambda x, _: np.linalg.norm(x + 0.5, axis=-1) * 0.3 if np.ndim(x) else x,
    lambda x, _: np.prod(np.tanh(x) + 0.2, axis=-1) if np.ndim(x) else x,
    lambda x, _: np.cumsum(np.tanh(x), axis=-1) * 0.3 if np.ndim(x) else x,
    lambda x, _: np.cumprod(np.tanh(x) + 0.3, axis=0) if np.ndim(x) else x,
    lambda x, _: softmax(x, axis=0) if np.ndim(x) else x,
    lambda x, _: logsumexp(x) * 0.4 if np.ndim(x) else x,
    lambda x, _: x[..., ::-1] * 0.9 + x if np.ndim(x) else x,
    lambda x, _: x[..., -1:] if np.ndim(x) else x,
    lambda x, _: x[0] if np.ndim(x) else x,
    lambda x, _: np.concatenate([x, x * 0.5], axis=-1) if np.ndim(x) else x,
    lambda x, _: np.pad(x, 1, constant_values=0.25) if 0 < np.ndim(x) < 3 else x,
    lambda x, _: np.stack([x, -x], axis=-1) if np.ndim(x) < 3 else x,
    lambda x, _: np.roll(x, 1, axis=0) + x * 0.5 if np.ndim(x) else x,
    lambda x, _: np.einsum("...i,...i->...", x, x) * 0.2 if np.ndim(x) else x,
    lambda x, _: np.outer(x, x)[:3] * 0.3 if np.ndim(x) == 1 else x,
    lambda x, _: stop_gradient(x * 0.5) + x,
]
