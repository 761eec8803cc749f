"""The parts of updates in elementary arithmetic."""

from __future__ import annotations

from tinychain_compile import namespace as xp
from tinychain_compile.ir.operator import Operator
from tinychain_compile.operators import AdamDirection, Axpy, Lerp
from tinychain_compile.protocols import Decomposition
from tinychain_compile.tensor import Tensor


def axpy(op: Axpy, alpha: Tensor, x: Tensor, y: Tensor) -> Tensor:
    """``alpha * x + y``, or ``y - alpha * x``."""
    return y - alpha * x if op.is_negative else alpha * x + y


def lerp(op: Lerp, decay: Tensor, old: Tensor, new: Tensor) -> Tensor:
    """``decay * old + (1 - decay) * new``."""
    return decay * old + (1.0 - decay) * new


def adam_direction(
    op: AdamDirection,
    m: Tensor,
    v: Tensor,
    beta1: Tensor,
    beta2: Tensor,
    step: Tensor,
    epsilon: Tensor,
) -> Tensor:
    """``m_hat / (sqrt(v_hat) + epsilon)``."""
    return m / (1.0 - beta1**step) / (xp.sqrt(v / (1.0 - beta2**step)) + epsilon)


DECOMPOSITIONS: dict[type[Operator], Decomposition] = {
    Axpy: axpy,
    Lerp: lerp,
    AdamDirection: adam_direction,
}
