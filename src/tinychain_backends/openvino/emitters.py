"""What OpenVINO computes otherwise than ONNX says, written so that it does not matter."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from tinychain_backends.onnx.emitters import EMITTERS, Emitter
from tinychain_backends.onnx.nodes import Writer
from tinychain_compile import operators as o
from tinychain_compile.operators import Operator


def _keeping_nan(emit: Emitter) -> Emitter:
    """Return an emitter whose result is NaN where an operand is, which OpenVINO's is not."""

    def kept(w: Writer, op: Any, *operands: str) -> str:
        result = emit(w, op, *operands)
        if not w.result.is_floating:
            return result
        for operand in operands:
            result = w.node("Where", w.node("IsNaN", operand), operand, result)
        return result

    return kept


def _gelu(w: Writer, op: o.Gelu, x: str) -> str:
    """Keep infinity, of which OpenVINO makes NaN."""
    endless = w.node("Equal", x, w.constant(np.inf, w.result.dtype))
    return w.node("Where", endless, x, EMITTERS[o.Gelu](w, op, x))


OPENVINO_EMITTERS: Mapping[type[Operator], Emitter] = MappingProxyType(
    {
        **EMITTERS,
        o.Gelu: _gelu,
        **{
            kind: _keeping_nan(EMITTERS[kind])
            for kind in (o.Exp, o.Maximum, o.Minimum, o.Relu, o.Clip)
        },
    }
)
"""The function that writes each operator for OpenVINO."""
