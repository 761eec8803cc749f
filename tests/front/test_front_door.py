"""What a loss may write: Python's operators, NumPy's functions, the Array API namespace."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from tests.support.derivatives import traced
from tinychain_backends.numpy import NumpyEvaluator
from tinychain_compile import TensorType, print_graph
from tinychain_compile.functions import log_softmax, relu, stop_gradient, take
from tinychain_compile.ir.dtypes import BF16
from tinychain_compile.operators import Cast, DimensionSize, Iota

RNG = np.random.default_rng(5)
X = RNG.normal(size=(2, 3))
P = RNG.uniform(0.5, 2.0, size=(2, 3))
V = RNG.normal(size=(3,))
S = RNG.normal(size=(4, 2, 3))
I = np.array([2, 0, -1])  # noqa: E741
TABLE = RNG.normal(size=(5, 2))


def agree(function, **arrays):
    """Check that a function gives the same under NumPy and through the graph."""
    expected = function(**arrays)
    graph, _ = traced(lambda **t: weighted(function(**t), np.shape(expected)), arrays)
    result = NumpyEvaluator().evaluate(graph, arrays)["loss"]
    weights = weights_for(np.shape(expected))
    np.testing.assert_allclose(result, np.sum(np.asarray(expected) * weights), rtol=1e-13)


def weights_for(shape):
    return np.random.default_rng(1).normal(size=shape)


def weighted(tensor, shape):
    assert tensor.shape == shape
    return (tensor.astype("f64") * weights_for(shape)).sum()


CASES = {
    "arithmetic": lambda x, v: x + v - x * v / (x * x + 1.0),
    "reflected": lambda x: 1.0 - x + 2.0 * x + 3.0 / (x * x + 1.0),
    "array first": lambda v: np.ones((2, 3)) * v + np.ones(3) - v,
    "negative": lambda x: -x + +x - np.negative(x) + np.positive(x),
    "powers": lambda x: x**2 + x**3 + x**1 + np.square(x) + np.power(x, 2) + x**2.0,
    "comparison": lambda x, v: np.where(x < v, x, v) + np.where(np.greater(x, 0.5), 1.0, x),
    "where of scalars": lambda x: np.where(x > 0, 1.0, 0.0),
    "where scalar first": lambda x: np.where(x > 0, 0.0, x) + np.where(x < 0, x, 0.0),
    "where of arrays": lambda x: np.where(np.array([True, False, True]), x, 0.0),
    "where with a bool": lambda x: np.where(True, x, 0.0),
    "exponentials": lambda p: np.exp(p) + np.log(p) + np.sqrt(p) + np.tanh(p),
    "maximum": lambda x, v: np.maximum(x, v) + np.maximum(x, 0.25) + np.maximum(0.25, x),
    "sums": lambda x: x.sum() + np.sum(x, axis=0) + np.sum(x, axis=-1, keepdims=True),
    "sum over no axis": lambda x: np.sum(x, axis=()) + x,
    "means": lambda x: np.mean(x) + x.mean(axis=(0, 1)) + np.mean(x, 1, keepdims=True),
    "maxima": lambda x: np.max(x) + np.amax(x, axis=1, keepdims=True) + x.max(axis=(0, 1)),
    "matrix vector": lambda x, v: x @ v,
    "vector matrix": lambda v, x: v @ x.T,
    "vector vector": lambda v: v @ v,
    "matrix matrix": lambda x: np.matmul(x, x.T) + x @ np.ones((3, 2)) + np.ones((2, 3)) @ x.T,
    "stack matrix": lambda s, x: s @ x.T,
    "matrix stack": lambda s, x: x @ s.transpose(0, 2, 1),
    "stack stack": lambda s: s @ np.swapaxes(s, 1, 2),
    "stack vector": lambda s, v: s @ v,
    "broadcast stacks": lambda s, x: s[:, None] @ x.T,
    "dot": lambda x, v: np.dot(x, v) + x.dot(v) + np.dot(2.0, v).sum(),
    "reshape": lambda x: x.reshape(3, 2) + np.reshape(x, (3, -1)) + x.reshape((-1, 2)),
    "ravel": lambda x: x.ravel() + x.flatten() + np.ravel(x) + x.reshape(-1),
    "transpose": lambda s: s.transpose(2, 0, 1) + np.transpose(s, (2, 0, 1)),
    "T": lambda x: x.T + np.transpose(x) + np.matrix_transpose(x) + np.swapaxes(x, 0, 1),
    "new axes": lambda v: v[None, :] + v[:, None] + v[..., None] + v[np.newaxis],
    "full slices": lambda x: x[:] + x[:, :] + x[...] + x[..., :],
    "expand and squeeze": lambda x: (
        np.squeeze(np.expand_dims(x, (0, 3))) + np.expand_dims(x, 1).squeeze(1)
    ),
    "broadcast_to": lambda v: np.broadcast_to(v, (2, 3)),
    "take by function": lambda x, i: take(x, i, axis=1) + take(x, [0, 1, 1], axis=1),
    "take": lambda x, i: np.take(x, i, axis=1) + np.take(x, 1, axis=0),
    "take flat": lambda x, i: np.take(x, i),
    "take from a table": lambda i: take(TABLE, i, axis=0) + take(TABLE, i + 1),
    "take_along_axis": lambda x, i: np.take_along_axis(x, i[None, :], axis=1),
    "take_along_axis flat": lambda x, i: np.take_along_axis(x, i, axis=None),
    "astype": lambda i, x: i.astype(np.float64) * x + np.astype(i, np.float64),
    "integers": lambda i: (i * i - i + 3) / 2,
    "integer mean": lambda i: np.mean(i) + i.sum() / 3.0,
    "bool times float": lambda x: (x > 0) * x,
    "count": lambda x: (x > 0).sum(axis=0) * 1,
    "relu": lambda x: relu(x),
    "log_softmax": lambda x: log_softmax(x) + log_softmax(x, axis=0),
    "stop_gradient": lambda x: stop_gradient(x) * x,
    "numpy scalar": lambda x: x * np.float64(2.5) + np.int64(3),
    "list": lambda x: np.add(x, [1.0, 2.0, 3.0]),
    "list at the left": lambda x: [1.0, 2.0] @ x + ([1.0, 2.0] @ (x + 1.0)),
    "other names of a dtype": lambda i, x: (
        np.arange(3, dtype=np.longlong) @ i * x + np.ones((2, 3), ">f8") @ x.T.astype(float) @ x
    ),
    "arrays of a tensor's shape": lambda x: x * np.ones(x.shape) + np.arange(x.shape[1]),
    "whole division": lambda x, i: x // 0.3 + 2.0 // (x + 9.0) + i // 2 + 7 // (i * i + 1),
    "remainders": lambda x, i: x % 0.3 + 2.0 % (x + 9.0) + i % 2 + 7 % (i * i + 1),
    "absolute": lambda x, i: abs(x) + abs(i) + abs(i > 0) * 1.0,
    "conditions": lambda x, v: (
        ((x > 0) & (v < 0.5) | ~(x < v)) * 1.0 + ((x > 0) ^ (v > 0)) + (True & (x > 0)) * x
    ),
    "comparisons": lambda x, i: (x <= 0.5) * x + (i == 2) + (i != 2) * 2 + (x <= 0.1) * x,
    "conditions compared": lambda x, v: ((x > 0) == (v > 0)) * x + ((x > 0) < (v > 0)) * 1.0,
    "conditions reduced": lambda x: np.max(x > 0, axis=0) * 1.0 + np.min(x > 9, axis=0),
    "integer powers": lambda i, x: abs(i) ** abs(i) + 2 ** abs(i) + x,
    "integer bounds": lambda i: np.clip(i, None, 1) + np.clip(i, 0, None) + np.clip(i, -9, 9),
    "products of two dtypes": lambda x, i: np.matmul(x, i) + i @ x.T,
    "mixed stacks": lambda x, i: (
        np.stack([x[0], i, np.ones(3, "f4")]) + np.concatenate([i, x[1]])[0]
    ),
    "concatenated rows": lambda x: np.concatenate(x) + np.concatenate(x, axis=-1),
    "python helpers": lambda x: x * (np.ndim(x) + np.shape(x)[0] + np.size(x) + len(x) + x.ndim),
}
ARRAYS = {"x": X, "p": P, "v": V, "s": S, "i": I}


@pytest.mark.parametrize("name", CASES)
def test_the_same_text_gives_the_same_under_numpy_and_traced(name):
    function = CASES[name]
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    agree(function, **{n: ARRAYS[n] for n in names})


def test_the_array_api_namespace_is_enough_to_write_a_loss():
    def loss(x, w, i):
        xp = x.__array_namespace__()
        h = xp.tanh(xp.matmul(x, w)) + xp.asarray(np.ones(2)) * xp.pi
        h = xp.where(xp.less(h, 0.0), xp.negative(h), xp.square(h))
        h = xp.permute_dims(xp.reshape(h, (2, 2)), (1, 0)) + xp.maximum(h, xp.exp(h))
        h = xp.subtract(xp.add(h, 1.0), xp.divide(h, 2.0)) + xp.pow(xp.multiply(h, 2.0), 3)
        h = xp.expand_dims(h, axis=0) + xp.broadcast_to(xp.mean(h, axis=0), (1, 2, 2))
        h = xp.matrix_transpose(xp.squeeze(h, axis=0))
        taken = xp.take(h, i, axis=1) + xp.take_along_axis(h[None], i[None, :, None], axis=1)
        return xp.sum(xp.log(xp.sqrt(taken * taken + 1.0))) + xp.max(xp.astype(h, xp.float32))

    arrays = {"x": X, "w": RNG.normal(size=(3, 2)), "i": np.array([1, 0])}
    graph, _ = traced(loss, arrays)
    result = NumpyEvaluator().evaluate(graph, arrays)["loss"]
    np.testing.assert_allclose(result, array_api_loss_by_hand(**arrays), rtol=1e-6)


def array_api_loss_by_hand(x, w, i):
    h = np.tanh(x @ w) + np.pi
    h = np.where(h < 0, -h, h**2)
    h = h.reshape(2, 2).T + np.maximum(h, np.exp(h))
    h = (h + 1) - h / 2 + (2 * h) ** 3
    h = (h + h.mean(axis=0)).T
    taken = h[:, i] + np.take_along_axis(h[None], i[None, :, None], axis=1)
    return np.sum(np.log(np.sqrt(taken**2 + 1))) + h.max()


def trace_types(function, **types):
    seen = {}

    def loss(**tensors):
        seen.update(result=function(**tensors))
        return tensors["anchor"]

    arrays = {name: np.zeros((2,), dtype) for name, dtype in types.items()}
    traced(loss, {**arrays, "anchor": np.zeros(())})
    return seen["result"].dtype


@pytest.mark.parametrize(
    ("function", "types", "expected"),
    [
        (lambda a, anchor: a * 2 + 0.5, {"a": "f4"}, "f4"),
        (lambda a, anchor: a * np.float64(2), {"a": "f4"}, "f4"),
        (lambda a, b, anchor: a * b, {"a": "f4", "b": "i8"}, "f4"),
        (lambda a, b, anchor: a * b, {"a": "f4", "b": "?"}, "f4"),
        (lambda a, b, anchor: a * b, {"a": "f4", "b": "f8"}, "f8"),
        (lambda a, b, anchor: a * b, {"a": "f2", "b": "f4"}, "f4"),
        (lambda a, b, anchor: a * b, {"a": BF16, "b": "f2"}, "f4"),
        (lambda a, b, anchor: a * b, {"a": BF16, "b": "f4"}, "f4"),
        (lambda a, b, anchor: a + b, {"a": "i4", "b": "i8"}, "i8"),
        (lambda a, b, anchor: a + b, {"a": "u1", "b": "i4"}, "i4"),
        (lambda a, b, anchor: a / b, {"a": "i4", "b": "i4"}, "f8"),
        (lambda a, anchor: 1 / a, {"a": "i4"}, "f8"),
        (lambda a, anchor: a / 1.5, {"a": "i4"}, "f8"),
        (lambda a, b, anchor: a / b, {"a": "f4", "b": "i8"}, "f4"),
        (lambda a, b, anchor: a / b, {"a": "i8", "b": "f4"}, "f4"),
        (lambda a, b, anchor: np.divide(a, b), {"a": "f4", "b": "i8"}, "f4"),
        (lambda a, b, anchor: np.divide(a, b), {"a": "i8", "b": "f4"}, "f4"),
        (lambda a, anchor: a / np.ones(2, np.float32), {"a": "i8"}, "f4"),
        (lambda a, anchor: np.ones(2, np.float32) / a, {"a": "i8"}, "f4"),
        (lambda a, b, anchor: a / b, {"a": "?", "b": "i4"}, "f8"),
        (lambda a, anchor: a + 1, {"a": "i4"}, "i4"),
        (lambda a, anchor: a + 1.5, {"a": "i4"}, "f8"),
        (lambda a, anchor: np.float32(1.5) * a, {"a": "i8"}, "f8"),
        (lambda a, anchor: a * 2.0, {"a": "?"}, "f8"),
        (lambda a, anchor: a * 2, {"a": "?"}, "i8"),
        (lambda a, anchor: a * True, {"a": "?"}, "?"),
        (lambda a, anchor: a + a, {"a": "?"}, "?"),
        (lambda a, anchor: a // 2, {"a": "i4"}, "i4"),
        (lambda a, anchor: a % 2, {"a": "i4"}, "i4"),
        (lambda a, b, anchor: a**b, {"a": "i4", "b": "i4"}, "i4"),
        (lambda a, anchor: a**0.5, {"a": "i4"}, "f8"),
        (lambda a, anchor: 2.0**a, {"a": "f4"}, "f4"),
        (lambda a, anchor: np.where(a > 0, a, 1.5), {"a": "i4"}, "f8"),
        (lambda a, anchor: a**2, {"a": "i4"}, "i4"),
        (lambda a, anchor: np.exp(a), {"a": "i4"}, "f8"),
        (lambda a, anchor: a.sum(), {"a": "i4"}, "i4"),
        (lambda a, anchor: a.sum(), {"a": "?"}, "i8"),
        (lambda a, anchor: a.mean(), {"a": "i4"}, "f8"),
        (lambda a, anchor: a.mean(), {"a": "f2"}, "f2"),
        (lambda a, anchor: np.where(a, 1.0, 2.0), {"a": "?"}, "f8"),
        (lambda a, anchor: np.where(a, 1, 2), {"a": "?"}, "i8"),
        (lambda a, b, anchor: np.where(a, b, 0), {"a": "?", "b": "f4"}, "f4"),
        (lambda a, anchor: np.add(a, a, dtype=np.float64), {"a": "f4"}, "f8"),
        (lambda a, anchor: np.sum(a, dtype=np.float64), {"a": "f4"}, "f8"),
        (lambda a, anchor: a + np.ones(2, np.float64), {"a": "f4"}, "f8"),
    ],
)
def test_dtypes_meet_as_stated(function, types, expected):
    assert trace_types(function, **types) == np.dtype(expected)


def test_operators_keep_one_object_per_dtype():
    for operator in (Cast("f32"), Cast(np.float32), Iota((2,), 0, ">f4"), DimensionSize(2, "f4")):
        assert operator.dtype is TensorType("f32", ()).dtype


def test_result_type_knows_traced_tensors():
    def loss(a, b):
        assert np.result_type(a, b) == np.float32
        assert np.result_type(a, 2.0, np.float64) == np.float64
        return a.sum()

    traced(loss, {"a": np.zeros(2, np.float32), "b": np.zeros(2, np.int64)})


def test_a_closure_constant_is_copied_when_it_is_traced():
    table = np.arange(3.0)
    graph, _ = traced(lambda v: (v * table).sum(), {"v": V})
    table[:] = 100.0
    result = NumpyEvaluator().evaluate(graph, {"v": V})["loss"]
    np.testing.assert_allclose(result, np.sum(V * np.arange(3.0)))
    constant = next(op.operator for op in graph.operations if op.operator.is_literal)
    with pytest.raises(ValueError, match="read-only"):
        constant.value[0] = 1.0


def test_copies_of_a_tensor_are_the_tensor_and_it_can_be_a_key():
    def loss(v):
        assert copy.copy(v) is v
        assert copy.deepcopy([v])[0] is v
        assert {v: 1}[v] == 1
        assert "f64[3]" in repr(v)
        return v.sum()

    traced(loss, {"v": V})


def test_source_lines_name_file_function_and_expression():
    graph, _ = traced(lambda v: (v * v).sum(), {"v": V})
    text = print_graph(graph, lines=True)
    assert "test_front_door.py" in text
    assert "in <lambda>: v * v" in text


def test_symbols_flow_and_unify():
    from tests.support.losses import NETWORK_TYPES, network
    from tinychain_compile.ir.graph import fresh_ids
    from tinychain_compile.tracing import FunctionTracer

    types = {
        **NETWORK_TYPES,
        "x": TensorType("f64", ("batch", 4)),
        "labels": TensorType("i64", ("batch",)),
    }
    graph = FunctionTracer().trace_loss(network, types, fresh_ids())
    assert "f64[batch, 3]" in print_graph(graph)
