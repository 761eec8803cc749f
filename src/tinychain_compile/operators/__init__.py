"""The vocabulary: one class per operator. Handlers, rules and decompositions are keyed by these."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from tinychain_compile.ir.operator import Operator
from tinychain_compile.operators.activation import (
    Elu,
    Gelu,
    GeluGradient,
    LeakyRelu,
    Relu,
    ReluGradient,
    Silu,
    Softplus,
)
from tinychain_compile.operators.arithmetic import (
    Abs,
    Add,
    Div,
    IntegerPow,
    Mul,
    Neg,
    Pow,
    Sign,
    Sub,
)
from tinychain_compile.operators.attention import Attention, AttentionWeights
from tinychain_compile.operators.comparison import Clip, Equal, Less, LessEqual, Maximum, Minimum
from tinychain_compile.operators.contraction import Einsum, MatMul
from tinychain_compile.operators.conversion import Cast, Named, StopGradient
from tinychain_compile.operators.convolution import Conv, ConvInputGradient, ConvKernelGradient
from tinychain_compile.operators.cumulative import CumProd, CumSum
from tinychain_compile.operators.exponential import (
    Exp,
    Expm1,
    Log,
    Log1p,
    Rsqrt,
    Sigmoid,
    SigmoidGradient,
    Sqrt,
    Tanh,
    TanhGradient,
)
from tinychain_compile.operators.indexing import Gather, OneHot, ScatterAdd
from tinychain_compile.operators.literals import Constant, DimensionSize, Iota
from tinychain_compile.operators.logic import And, Not, Or
from tinychain_compile.operators.movement import BroadcastTo, Reshape, Transpose
from tinychain_compile.operators.normalization import (
    BatchNorm,
    LayerNorm,
    RmsNorm,
    Standardize,
    StandardizeGradient,
)
from tinychain_compile.operators.ordering import ArgMax, ArgMin, ArgSort, Sort, TopK
from tinychain_compile.operators.pooling import WindowMax, WindowMaxGradient, WindowSum
from tinychain_compile.operators.random import Dropout, RandomBits, RandomUniform
from tinychain_compile.operators.reduction import (
    Mean,
    Norm,
    ReduceMax,
    ReduceMin,
    ReduceProd,
    ReduceSum,
)
from tinychain_compile.operators.rounding import Ceil, Floor, IsFinite, Round
from tinychain_compile.operators.selection import Annihilate, MulNoNan, Where
from tinychain_compile.operators.slicing import Concat, Pad, Reverse, Slice
from tinychain_compile.operators.softmax import (
    LogSoftmax,
    LogSoftmaxGradient,
    LogSumExp,
    Softmax,
    SoftmaxCrossEntropy,
    SoftmaxCrossEntropyGradient,
    SoftmaxGradient,
)
from tinychain_compile.operators.special import Erf
from tinychain_compile.operators.statistics import Std, Var
from tinychain_compile.operators.trigonometric import Atan2, Cos, Sin
from tinychain_compile.operators.updating import AdamDirection, Axpy, Lerp

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

CORE: tuple[type[Operator], ...] = (*BASIS, Slice, Pad, MatMul, Gather, ScatterAdd)
"""The seventeen with which most models no longer grow when they are decomposed."""

VISION: tuple[type[Operator], ...] = (
    *CORE,
    Sqrt,
    Tanh,
    Maximum,
    Conv,
    Reverse,
    WindowMax,
    WindowMaxGradient,
)
"""The twenty-four with which convolutional networks do not either."""

LITERALS: tuple[type[Operator], ...] = (Constant, Iota, DimensionSize)
"""What every backend must bring in some way of its own, beside the twelve."""

MARKS: tuple[type[Operator], ...] = (Named, StopGradient)
"""What says something of a value to the stages, and is gone before anything is lowered."""

OPERATORS: tuple[type[Operator], ...] = (
    *LITERALS,
    *BASIS,
    Neg,
    Sub,
    IntegerPow,
    Abs,
    Sign,
    Pow,
    Sqrt,
    Tanh,
    Log1p,
    Expm1,
    Rsqrt,
    Sigmoid,
    TanhGradient,
    SigmoidGradient,
    Sin,
    Cos,
    Atan2,
    Erf,
    Floor,
    Ceil,
    Round,
    IsFinite,
    Maximum,
    LessEqual,
    Equal,
    Minimum,
    Clip,
    Not,
    And,
    Or,
    Annihilate,
    MulNoNan,
    Mean,
    ReduceMin,
    ReduceProd,
    Norm,
    Var,
    Std,
    CumSum,
    CumProd,
    ArgMax,
    ArgMin,
    Sort,
    ArgSort,
    TopK,
    Slice,
    Pad,
    Concat,
    Reverse,
    Gather,
    ScatterAdd,
    OneHot,
    MatMul,
    Einsum,
    Conv,
    ConvInputGradient,
    ConvKernelGradient,
    WindowMax,
    WindowMaxGradient,
    WindowSum,
    Relu,
    LeakyRelu,
    Elu,
    Gelu,
    Silu,
    Softplus,
    ReluGradient,
    GeluGradient,
    Softmax,
    LogSoftmax,
    LogSumExp,
    SoftmaxCrossEntropy,
    SoftmaxGradient,
    LogSoftmaxGradient,
    SoftmaxCrossEntropyGradient,
    LayerNorm,
    RmsNorm,
    BatchNorm,
    Standardize,
    StandardizeGradient,
    Attention,
    AttentionWeights,
    Axpy,
    Lerp,
    AdamDirection,
    RandomBits,
    RandomUniform,
    Dropout,
    Cast,
    StopGradient,
    Named,
)
"""Every operator there is."""

_ELEMENTWISE_FAMILIES = (
    *("arithmetic", "exponential", "trigonometric", "special", "rounding", "comparison", "logic"),
    *("selection", "activation"),
)

ELEMENTWISE: tuple[type[Operator], ...] = (
    *(o for o in OPERATORS if o.__module__.rpartition(".")[2] in _ELEMENTWISE_FAMILIES),
    Cast,
)
"""Operators of which each element of the result depends on the elements at its place alone."""

FULL: tuple[type[Operator], ...] = tuple(
    operator
    for operator in OPERATORS
    if operator not in LITERALS and operator not in (Cast, StopGradient, Named)
)
"""Every operator that a handler can take, beside the literals and cast."""

TIERS: Mapping[str, tuple[type[Operator], ...]] = MappingProxyType(
    {"basis": BASIS, "core": CORE, "vision": VISION, "full": FULL}
)
"""Sets of operators by name, each within the next, that a backend can claim."""

__all__ = [
    "BASIS",
    "CORE",
    "ELEMENTWISE",
    "FULL",
    "LITERALS",
    "MARKS",
    "OPERATORS",
    "TIERS",
    "VISION",
    "Abs",
    "AdamDirection",
    "Add",
    "And",
    "Annihilate",
    "ArgMax",
    "ArgMin",
    "ArgSort",
    "Atan2",
    "Attention",
    "AttentionWeights",
    "Axpy",
    "BatchNorm",
    "BroadcastTo",
    "Cast",
    "Ceil",
    "Clip",
    "Concat",
    "Constant",
    "Conv",
    "ConvInputGradient",
    "ConvKernelGradient",
    "Cos",
    "CumProd",
    "CumSum",
    "DimensionSize",
    "Div",
    "Dropout",
    "Einsum",
    "Elu",
    "Equal",
    "Erf",
    "Exp",
    "Expm1",
    "Floor",
    "Gather",
    "Gelu",
    "GeluGradient",
    "IntegerPow",
    "Iota",
    "IsFinite",
    "LayerNorm",
    "LeakyRelu",
    "Lerp",
    "Less",
    "LessEqual",
    "Log",
    "Log1p",
    "LogSoftmax",
    "LogSoftmaxGradient",
    "LogSumExp",
    "MatMul",
    "Maximum",
    "Mean",
    "Minimum",
    "Mul",
    "MulNoNan",
    "Named",
    "Neg",
    "Norm",
    "Not",
    "OneHot",
    "Operator",
    "Or",
    "Pad",
    "Pow",
    "RandomBits",
    "RandomUniform",
    "ReduceMax",
    "ReduceMin",
    "ReduceProd",
    "ReduceSum",
    "Relu",
    "ReluGradient",
    "Reshape",
    "Reverse",
    "RmsNorm",
    "Round",
    "Rsqrt",
    "ScatterAdd",
    "Sigmoid",
    "SigmoidGradient",
    "Sign",
    "Silu",
    "Sin",
    "Slice",
    "Softmax",
    "SoftmaxCrossEntropy",
    "SoftmaxCrossEntropyGradient",
    "SoftmaxGradient",
    "Softplus",
    "Sort",
    "Sqrt",
    "Standardize",
    "StandardizeGradient",
    "Std",
    "StopGradient",
    "Sub",
    "Tanh",
    "TanhGradient",
    "TopK",
    "Transpose",
    "Var",
    "Where",
    "WindowMax",
    "WindowMaxGradient",
    "WindowSum",
]
