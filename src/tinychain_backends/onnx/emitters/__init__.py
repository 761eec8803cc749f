"""What each operator is in ONNX: functions that write its nodes, in one table."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from tinychain_backends.onnx.emitters.arrangement import ARRANGEMENT
from tinychain_backends.onnx.emitters.elementwise import ELEMENTWISE, Emitter
from tinychain_backends.onnx.emitters.products import PRODUCTS
from tinychain_backends.onnx.emitters.random import RANDOM
from tinychain_backends.onnx.emitters.reductions import REDUCTIONS
from tinychain_compile.operators import MatMul, Operator

EMITTERS: Mapping[type[Operator], Emitter] = MappingProxyType(
    {**ARRANGEMENT, **ELEMENTWISE, **REDUCTIONS, **PRODUCTS, **RANDOM}
)
"""The function that writes each operator."""

BROADCASTING = frozenset((*ELEMENTWISE, MatMul))
"""The operators that repeat their operands by themselves."""

__all__ = ["BROADCASTING", "EMITTERS", "Emitter"]
