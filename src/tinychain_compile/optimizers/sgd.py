"""Stochastic gradient descent."""

from __future__ import annotations

from tinychain_compile.tensor import Tensor


class SGD:
    """``parameter - learning_rate * gradient``.

    The learning rate is a runtime input: change it at every step and nothing is compiled again.

    Source: H. Robbins and S. Monro, A Stochastic Approximation Method, 1951.
    """

    required_optimizer_inputs = ("learning_rate",)

    def update(self, *, parameter: Tensor, gradient: Tensor, learning_rate: Tensor) -> Tensor:
        """Return the new parameter, of the old one's type.

        Shapes:
            ``F[s], F[s], F[] -> F[s]``
        """
        return parameter - (learning_rate * gradient).astype(parameter.dtype)
