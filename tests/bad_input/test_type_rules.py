"""An operator whose operands do not fit, written straight into a builder."""

from __future__ import annotations

import numpy as np
import pytest

from tinychain_compile import TensorType
from tinychain_compile.errors import (
    BroadcastShapeError,
    DtypeMismatchError,
    ExpiredTraceError,
    MalformedGraphError,
    MatMulShapeError,
    PermutationError,
    ReductionError,
    ShapeMismatchError,
)
from tinychain_compile.ir.builder import GraphBuilder
from tinychain_compile.ir.graph import Graph, NamedValue, fresh_ids
from tinychain_compile.ir.operator import Operator
from tinychain_compile.operators import (
    AdamDirection,
    Add,
    And,
    Annihilate,
    ArgMax,
    Attention,
    AttentionWeights,
    Axpy,
    BroadcastTo,
    Clip,
    Concat,
    Conv,
    ConvInputGradient,
    ConvKernelGradient,
    CumSum,
    Div,
    Dropout,
    Einsum,
    Exp,
    Gather,
    GeluGradient,
    IntegerPow,
    Iota,
    LayerNorm,
    Lerp,
    Less,
    LogSoftmax,
    LogSoftmaxGradient,
    LogSumExp,
    MatMul,
    Mean,
    MulNoNan,
    Neg,
    Norm,
    Not,
    Pad,
    RandomBits,
    RandomUniform,
    ReduceMax,
    ReduceSum,
    ReluGradient,
    Reshape,
    Reverse,
    RmsNorm,
    ScatterAdd,
    SigmoidGradient,
    Sin,
    Slice,
    SoftmaxCrossEntropy,
    SoftmaxCrossEntropyGradient,
    SoftmaxGradient,
    Sort,
    Standardize,
    StandardizeGradient,
    TanhGradient,
    TopK,
    Transpose,
    Where,
    WindowMax,
    WindowMaxGradient,
    WindowSum,
)
from tinychain_compile.passes.rewriting import rewrite

F, F2 = TensorType("f64", (2, 3)), TensorType("f32", (2, 3))
IMAGE, CONV = TensorType("f64", (2, 3, 5)), Conv((1,), ((0, 0),), (1,))
G, I, B = TensorType("f64", (3, 2)), TensorType("i64", (2, 3)), TensorType("bool", (2, 3))  # noqa: E741


@pytest.mark.parametrize(
    ("operator", "operands", "error"),
    [
        (Add(), (F, G), ShapeMismatchError),
        (Add(), (F, F2), DtypeMismatchError),
        (Add(), (B, B), DtypeMismatchError),
        (Less(), (B, B), DtypeMismatchError),
        (Neg(), (B,), DtypeMismatchError),
        (Div(), (I, I), DtypeMismatchError),
        (Exp(), (I,), DtypeMismatchError),
        (Mean((0,)), (I,), DtypeMismatchError),
        (IntegerPow(-1), (I,), DtypeMismatchError),
        (Where(), (F, F, F), DtypeMismatchError),
        (Where(), (B, G, G), ShapeMismatchError),
        (Where(), (B, F, F2), DtypeMismatchError),
        (ReduceSum((2,)), (F,), ReductionError),
        (ReduceSum((1, 0)), (F,), ReductionError),
        (ReduceSum((0, 0)), (F,), ReductionError),
        (ReduceSum((-1,)), (F,), ReductionError),
        (ReduceMax((0,)), (TensorType("f64", (0, 3)),), ReductionError),
        (LogSoftmax(2), (F,), ReductionError),
        (Reshape((5,)), (F,), ShapeMismatchError),
        (Transpose((0,)), (F,), PermutationError),
        (Transpose((0, 0)), (F,), PermutationError),
        (BroadcastTo((3,)), (F,), BroadcastShapeError),
        (BroadcastTo((2, 4)), (F,), BroadcastShapeError),
        (MatMul(), (F, F), MatMulShapeError),
        (MatMul(True, False), (F, G), MatMulShapeError),
        (MatMul(), (TensorType("f64", (3,)), G), MatMulShapeError),
        (MatMul(), (F, TensorType("f32", (3, 2))), DtypeMismatchError),
        (Gather(2), (F, I), ShapeMismatchError),
        (Gather(0), (F, F), DtypeMismatchError),
        (Gather(0), (TensorType("f64", (0, 3)), I), ShapeMismatchError),
        (Gather(0, along=True), (F, TensorType("i64", (2, 4))), ShapeMismatchError),
        (ScatterAdd(0, 4, along=True), (F, TensorType("i64", (3, 3))), ShapeMismatchError),
        (ScatterAdd(0, 4), (F, TensorType("i64", (3,))), ShapeMismatchError),
        (Iota((2, 3), 2), (), ShapeMismatchError),
        (Clip(), (F, F, G), ShapeMismatchError),
        (Sin(), (I,), DtypeMismatchError),
        (Not(), (F,), DtypeMismatchError),
        (And(), (B, TensorType("bool", (3,))), ShapeMismatchError),
        (Annihilate(), (F, F2), DtypeMismatchError),
        (MulNoNan(), (F, F2), DtypeMismatchError),
        (Norm((2,)), (F,), ReductionError),
        (ReduceMax((2,)), (F,), ReductionError),
        (LogSumExp((5,)), (F,), ReductionError),
        (CumSum(2), (F,), ReductionError),
        (Sort(0), (B,), DtypeMismatchError),
        (TopK(1, 4), (F,), ShapeMismatchError),
        (TopK(0, 1), (TensorType("f64", ("n", 3)),), ShapeMismatchError),
        (ArgMax(0), (TensorType("f64", (0, 3)),), ReductionError),
        (Slice((0,), (1,), (1,)), (F,), ShapeMismatchError),
        (Slice((0, 0), (2, 4), (1, 1)), (F,), ShapeMismatchError),
        (Slice((1, 0), (0, 3), (1, 1)), (F,), ShapeMismatchError),
        (Pad((0,), (0,), (0,)), (F,), ShapeMismatchError),
        (Pad((0, 0), (0, 0), (0, -1)), (F,), ShapeMismatchError),
        (Pad((-3, 0), (0, 0), (0, 0)), (F,), ShapeMismatchError),
        (Pad((0, 0), (1, 0), (0, 0), 0.5), (I,), DtypeMismatchError),
        (Concat(0), (F, F2), DtypeMismatchError),
        (Concat(0), (F, G), ShapeMismatchError),
        (Reverse((2,)), (F,), ReductionError),
        (Einsum(("ij", "jk"), "ik"), (F, TensorType("f32", (3, 2))), DtypeMismatchError),
        (Einsum(("ij",), "i"), (TensorType("f64", (2,)),), ShapeMismatchError),
        (Einsum(("ij", "ik"), "jk"), (F, G), ShapeMismatchError),
        (Einsum(("ij",), "k"), (F,), ShapeMismatchError),
        (CONV, (IMAGE, TensorType("f32", (2, 3, 2))), DtypeMismatchError),
        (CONV, (F, F), ShapeMismatchError),
        (CONV, (IMAGE, TensorType("f64", (2, 4, 2))), ShapeMismatchError),
        (CONV, (IMAGE, TensorType("f64", (2, 3, 6))), ShapeMismatchError),
        (CONV, (TensorType("f64", (2, 3, "n")), TensorType("f64", (2, 3, 2))), ShapeMismatchError),
        (WindowSum((2, 2), (1,), ((0, 0),)), (IMAGE,), ShapeMismatchError),
        (WindowMax((2,), (1,), ((2, 0),)), (IMAGE,), ShapeMismatchError),
        (WindowMaxGradient((2,), (1,), ((0, 0),)), (IMAGE, IMAGE), ShapeMismatchError),
        (LayerNorm(0.1), (F, TensorType("f64", (2,)), TensorType("f64", (2,))), ShapeMismatchError),
        (RmsNorm(0.1), (F, TensorType("f32", (3,))), DtypeMismatchError),
        (SoftmaxCrossEntropy(), (F, I), ShapeMismatchError),
        (SoftmaxCrossEntropy(), (F, F), DtypeMismatchError),
        (Attention(1.0), (F, F, F2), DtypeMismatchError),
        (Attention(1.0), (F, G, F), ShapeMismatchError),
        (Attention(1.0), (F, F, F, B), ShapeMismatchError),
        (Attention(1.0), (F, F2, F), DtypeMismatchError),
        (Attention(1.0), (F, F, G), ShapeMismatchError),
        (AttentionWeights(1.0), (F, F, B), ShapeMismatchError),
        (AttentionWeights(1.0), (F, G), ShapeMismatchError),
        (ReluGradient(), (F, G), ShapeMismatchError),
        (TanhGradient(), (F, G), ShapeMismatchError),
        (SigmoidGradient(), (F, F2), DtypeMismatchError),
        (GeluGradient(), (I, I), DtypeMismatchError),
        (SoftmaxGradient(2), (F, F), ReductionError),
        (LogSoftmaxGradient(0), (F, F2), DtypeMismatchError),
        (SoftmaxCrossEntropyGradient(), (F, F, TensorType("i64", (2,))), ShapeMismatchError),
        (Standardize((2,), 0.1), (F,), ReductionError),
        (StandardizeGradient((0,), 0.1), (F, G), ShapeMismatchError),
        (ConvInputGradient((5,), (1,), ((0, 0),), (1,)), (IMAGE, IMAGE), ShapeMismatchError),
        (ConvKernelGradient((2,), (1,), ((0, 0),), (1,)), (IMAGE, IMAGE), ShapeMismatchError),
        (Axpy(), (F, F, F), ShapeMismatchError),
        (Axpy(), (TensorType("f32", ()), F, F), DtypeMismatchError),
        (Lerp(), (TensorType("f64", ()), F, G), ShapeMismatchError),
        (AdamDirection(), (I, I, *[TensorType("i64", ())] * 4), DtypeMismatchError),
        (RandomBits((3,)), (I,), DtypeMismatchError),
        (RandomUniform((3,), "f16"), (TensorType("u32", (2,)),), DtypeMismatchError),
        (Dropout(1.0), (F, TensorType("u32", (2,))), ShapeMismatchError),
    ],
)
def test_it_is_refused(operator, operands, error):
    builder = GraphBuilder(fresh_ids())
    with pytest.raises(error):
        builder.emit(operator, *map(builder.input, operands))
    assert builder.operations == []


def test_an_operator_without_a_type_rule_cannot_be_used():
    with pytest.raises(NotImplementedError):
        Operator().infer()


def test_a_closed_builder_takes_nothing():
    builder = GraphBuilder(fresh_ids())
    x = builder.input(F)
    builder.close()
    with pytest.raises(ExpiredTraceError):
        builder.emit(Exp(), x)


def test_a_decomposition_that_changes_the_type_is_named():
    builder = GraphBuilder(fresh_ids())
    x = builder.input(F)
    y = builder.emit(Exp(), x)
    graph = Graph("g", (NamedValue("x", x),), tuple(builder.operations), (NamedValue("y", y),))
    with pytest.raises(MalformedGraphError, match=r"rewriting of exp: expected the type f64"):
        rewrite(graph, lambda op: lambda o, t: t.sum(), fresh_ids())


def test_a_rule_that_does_not_end_is_named():
    builder = GraphBuilder(fresh_ids())
    x = builder.input(F)
    y = builder.emit(Exp(), x)
    graph = Graph("g", (NamedValue("x", x),), tuple(builder.operations), (NamedValue("y", y),))

    def rule_for(operation):
        return (lambda op, t: -t + t) if isinstance(operation.operator, (Exp, Neg)) else None

    with pytest.raises(MalformedGraphError, match=r"rewriting of neg: expected a rule that ends"):
        rewrite(graph, rule_for)


@pytest.mark.parametrize(
    "rule", [lambda op, g, y, x: (g.sum(),), lambda op, g, y, x: (g, g), lambda op, g, y, x: ()]
)
def test_a_vjp_rule_that_gives_the_wrong_cotangents_is_named(rule):
    from tinychain_compile.autodiff import ReverseModeEngine
    from tinychain_compile.operators import Tanh
    from tinychain_compile.tracing import FunctionTracer
    from tinychain_compile.vjp_rules import VJP_RULES

    ids = fresh_ids()
    graph = FunctionTracer().trace_loss(lambda x: np.tanh(x).sum(), {"x": F}, ids)
    engine = ReverseModeEngine({**VJP_RULES, Tanh: rule}, {})
    with pytest.raises(MalformedGraphError, match="VJP rule of tanh") as caught:
        engine.derive(
            graph, ["x"], ids=ids, seed_label="seed", on_disconnected="error", nan_guard=True
        )
    assert "np.tanh(x)" in str(caught.value)
