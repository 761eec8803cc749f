"""The vocabulary: one class per operator. Handlers, rules and decompositions are keyed by these."""

from __future__ import annotations

from tinychain_compile.ir.operator import Operator
from tinychain_compile.operators.activation import LogSoftmax, Relu
from tinychain_compile.operators.arithmetic import Add, Div, IntegerPow, Mul, Neg, Sub
from tinychain_compile.operators.comparison import Less, Maximum
from tinychain_compile.operators.contraction import MatMul
from tinychain_compile.operators.conversion import Cast, StopGradient
from tinychain_compile.operators.exponential import Exp, Log, Sqrt, Tanh
from tinychain_compile.operators.indexing import Gather, ScatterAdd
from tinychain_compile.operators.literals import Constant, DimensionSize, Iota
from tinychain_compile.operators.movement import BroadcastTo, Reshape, Transpose
from tinychain_compile.operators.reduction import Mean, ReduceMax, ReduceSum
from tinychain_compile.operators.selection import Where

BASIS: tuple[type[Operator], ...] = (
    Add,
    Mul,
    Div,
    Exp,
    Log,
    Less,
    Where,
    ReduceSum,
    ReduceMax,
    Reshape,
    Transpose,
    BroadcastTo,
)
"""The twelve operators in which every decomposition ends."""

LITERALS: tuple[type[Operator], ...] = (Constant, Iota, DimensionSize)
"""What every backend must bring in some way of its own, beside the twelve."""

OPERATORS: tuple[type[Operator], ...] = (
    *LITERALS,
    *BASIS,
    Cast,
    Neg,
    Sub,
    IntegerPow,
    Sqrt,
    Tanh,
    Maximum,
    Relu,
    LogSoftmax,
    Mean,
    MatMul,
    Gather,
    ScatterAdd,
    StopGradient,
)
"""Every operator there is."""

__all__ = [
    "BASIS",
    "LITERALS",
    "OPERATORS",
    "Add",
    "BroadcastTo",
    "Cast",
    "Constant",
    "DimensionSize",
    "Div",
    "Exp",
    "Gather",
    "IntegerPow",
    "Iota",
    "Less",
    "Log",
    "LogSoftmax",
    "MatMul",
    "Maximum",
    "Mean",
    "Mul",
    "Neg",
    "Operator",
    "ReduceMax",
    "ReduceSum",
    "Relu",
    "Reshape",
    "ScatterAdd",
    "Sqrt",
    "StopGradient",
    "Sub",
    "Tanh",
    "Transpose",
    "Where",
]
