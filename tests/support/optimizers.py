"""Optimizers for tests."""

from __future__ import annotations


class PlainSGD:
    """Gradient descent in elementary arithmetic: a product and a difference."""

    required_optimizer_inputs = ("learning_rate",)

    def update(self, *, parameter, gradient, learning_rate):
        return parameter - learning_rate * gradient
