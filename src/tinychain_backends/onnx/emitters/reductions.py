"""Operators that reduce over axes, run along one, or put it in order."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from types import MappingProxyType

import numpy as np

from tinychain_backends.onnx.emitters.arrangement import indices_of
from tinychain_backends.onnx.emitters.elementwise import Emitter, node
from tinychain_backends.onnx.nodes import NARROW, Writer
from tinychain_compile import operators as o
from tinychain_compile.operators import Operator


def _reduction(op_type: str, of_none: str = "Identity") -> Emitter:
    """Return the emitter of a reduction; ``of_none`` is what one over no axes comes to."""

    def emit(w: Writer, op: o.ReduceSum, x: str) -> str:
        if not op.axes:
            return w.node(of_none, x)
        axes = w.integers(op.axes)

        def reduced(y: str) -> str:
            return w.node(op_type, y, axes, keepdims=int(op.keepdims))

        return w.widened(reduced, x)

    return emit


def _extreme(op_type: str) -> Emitter:
    """Return the emitter of a largest or smallest, NaN where one is NaN, which ONNX passes over."""
    plain = _reduction(op_type)

    def emit(w: Writer, op: o.ReduceMax, x: str) -> str:
        found = plain(w, op, x)
        if not op.axes or not w.result.is_floating:
            return found
        marks = w.cast(w.node("IsNaN", x), np.dtype("float32"))
        spoiled = w.node("ReduceMax", marks, w.integers(op.axes), keepdims=int(op.keepdims))
        return w.node("Where", w.cast(spoiled, np.dtype("bool")), w.scalar(np.nan), found)

    return emit


def _variance(w: Writer, op: o.Var, x: str) -> str:
    def spread(y: str) -> str:
        axes = w.integers(op.axes)
        centred = w.node("Sub", y, w.node("ReduceMean", y, axes, keepdims=1))
        squares = w.node("Mul", centred, centred)
        kept = int(op.keepdims)
        if not op.correction:
            return w.node("ReduceMean", squares, axes, keepdims=kept)
        count = prod(int(str(w.types[0].shape[axis])) for axis in op.axes)
        total = w.node("ReduceSum", squares, axes, keepdims=kept)
        dtype = np.float32 if w.result.dtype in NARROW else w.result.dtype
        return w.node("Div", total, w.constant(count - op.correction, dtype))

    return w.widened(spread, x)


def _deviation(w: Writer, op: o.Std, x: str) -> str:
    return w.node("Sqrt", _variance(w, op, x))


def _cumulative_sum(w: Writer, op: o.CumSum, x: str) -> str:
    return w.node("CumSum", x, w.integers([op.axis]), reverse=int(op.reverse))


def _position(op_type: str) -> Emitter:
    def emit(w: Writer, op: o.ArgMax, x: str) -> str:
        return w.node(op_type, x, axis=op.axis, keepdims=0)

    return emit


def _in_order(part: int) -> Emitter:
    """Return the emitter of all elements in order: their values, or their positions."""

    def emit(w: Writer, op: o.Sort | o.ArgSort, x: str) -> str:
        count = w.size(w.types[0].shape[op.axis])
        return w.outputs("TopK", 2, x, count, axis=op.axis, largest=int(op.descending))[part]

    return emit


def _top_k(w: Writer, op: o.TopK, x: str) -> str:
    return w.outputs("TopK", 2, x, w.integers([op.k]), axis=op.axis)[0]


def _softmax_gradient(w: Writer, op: o.SoftmaxGradient, g: str, y: str) -> str:
    along = w.node("ReduceSum", w.node("Mul", g, y), w.integers([op.axis]), keepdims=1)
    return w.node("Mul", y, w.node("Sub", g, along))


def _log_softmax_gradient(w: Writer, op: o.LogSoftmaxGradient, g: str, y: str) -> str:
    total = w.node("ReduceSum", g, w.integers([op.axis]), keepdims=1)
    return w.node("Sub", g, w.node("Mul", w.node("Exp", y), total))


def _softmax_cross_entropy(w: Writer, op: o.SoftmaxCrossEntropy, scores: str, labels: str) -> str:
    logs = w.node("LogSoftmax", scores, axis=-1)
    places = w.node("Unsqueeze", indices_of(w, labels), w.integers([-1]))
    chosen = w.node("GatherElements", logs, places, axis=-1)
    return w.node("Neg", w.node("Squeeze", chosen, w.integers([-1])))


def _softmax_cross_entropy_gradient(
    w: Writer, op: o.SoftmaxCrossEntropyGradient, g: str, scores: str, labels: str
) -> str:
    last = w.integers([-1])
    weights = w.node("Softmax", scores, axis=-1)
    places = w.node("Unsqueeze", indices_of(w, labels), last)
    shape = w.node("Shape", places)
    ones = w.node("Expand", w.scalar(-1), shape)
    less = w.node("ScatterElements", weights, places, ones, axis=-1, reduction="add")
    return w.node("Mul", less, w.node("Unsqueeze", g, last))


def _layer_norm(w: Writer, op: o.LayerNorm, x: str, scale: str, bias: str) -> str:
    axis = w.types[0].rank - w.types[1].rank
    return w.node("LayerNormalization", x, scale, bias, axis=axis, epsilon=op.epsilon)


def _standardize(w: Writer, op: o.Standardize, x: str) -> str:
    one = w.node("Expand", w.scalar(1), w.shape(w.types[0].shape[op.axes[0] :]))
    return w.node("LayerNormalization", x, one, axis=op.axes[0], epsilon=op.epsilon)


def _attention_weights(w: Writer, op: o.AttentionWeights, q: str, k: str) -> str:
    """Add minus infinity, written into the model, where a query sees no key."""
    rank = w.result.rank
    swapped = w.node("Transpose", k, perm=[*range(rank - 2), rank - 1, rank - 2])
    scores = w.node("Mul", w.node("MatMul", q, swapped), w.scalar(op.scale))
    if op.is_causal:
        queries, keys = (int(str(size)) for size in w.result.shape[-2:])
        past = np.tril(np.ones((queries, keys), bool))
        hidden = np.where(past, 0.0, -np.inf)
        scores = w.node("Add", scores, w.constant(hidden, w.result.dtype))
    return w.node("Softmax", scores, axis=-1)


REDUCTIONS: Mapping[type[Operator], Emitter] = MappingProxyType(
    {
        o.ReduceSum: _reduction("ReduceSum"),
        o.ReduceMax: _extreme("ReduceMax"),
        o.ReduceMin: _extreme("ReduceMin"),
        o.ReduceProd: _reduction("ReduceProd"),
        o.Mean: _reduction("ReduceMean"),
        o.Norm: _reduction("ReduceL2", of_none="Abs"),
        o.LogSumExp: _reduction("ReduceLogSumExp"),
        o.Var: _variance,
        o.Std: _deviation,
        o.CumSum: _cumulative_sum,
        o.ArgMax: _position("ArgMax"),
        o.ArgMin: _position("ArgMin"),
        o.Sort: _in_order(0),
        o.ArgSort: _in_order(1),
        o.TopK: _top_k,
        o.Softmax: node("Softmax", axis="axis"),
        o.LogSoftmax: node("LogSoftmax", axis="axis"),
        o.SoftmaxGradient: _softmax_gradient,
        o.LogSoftmaxGradient: _log_softmax_gradient,
        o.SoftmaxCrossEntropy: _softmax_cross_entropy,
        o.SoftmaxCrossEntropyGradient: _softmax_cross_entropy_gradient,
        o.AttentionWeights: _attention_weights,
        o.LayerNorm: _layer_norm,
        o.Standardize: _standardize,
    }
)
"""What is written for each."""
