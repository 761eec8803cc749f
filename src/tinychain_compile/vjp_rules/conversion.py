"""Derivatives of conversions."""

from __future__ import annotations

from tinychain_compile.ir.dtypes import FLOATING
from tinychain_compile.ir.operator import Operator
from tinychain_compile.operators import Cast, Named, StopGradient
from tinychain_compile.protocols import VJPRule
from tinychain_compile.tensor import Tensor


def cast(op: Cast, g: Tensor, y: Tensor, x: Tensor) -> tuple[Tensor | None]:
    """Cast back; a tensor that is not floating has no cotangent."""
    return (g.astype(x.dtype) if x.dtype in FLOATING and g.dtype in FLOATING else None,)


def named(op: Named, g: Tensor, y: Tensor, x: Tensor) -> tuple[Tensor]:
    """``g``."""
    return (g,)


RULES: dict[type[Operator], VJPRule] = {Cast: cast, Named: named}

WITHOUT_DERIVATIVE: dict[type[Operator], str] = {StopGradient: "it was asked to pass none"}
