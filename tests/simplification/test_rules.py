"""Each rule does what it says, and none does more: what would change a bit is left."""

from __future__ import annotations

import numpy as np
import pytest

from tinychain_backends.numpy import NumpyEvaluator
from tinychain_compile import Graph, TensorType, verify
from tinychain_compile import namespace as xp
from tinychain_compile import operators as o
from tinychain_compile.artifacts import SIMPLIFICATIONS
from tinychain_compile.ir.builder import GraphBuilder
from tinychain_compile.ir.graph import NamedValue, fresh_ids
from tinychain_compile.simplification import RULES
from tinychain_compile.simplification.simplifier import GraphSimplifier
from tinychain_compile.tensor import Tensor

SPECIAL = np.array([0.0, -0.0, 1.0, -1.5, np.inf, -np.inf, np.nan, 1e-310])
SIMPLIFIER = GraphSimplifier(RULES)


def simplified(function, *arrays, names=SIMPLIFICATIONS, supports=None):
    """Return a function's graph and the same simplified, after comparing them bit for bit."""
    ids = fresh_ids()
    builder = GraphBuilder(ids)
    inputs = [builder.input(TensorType(a.dtype, a.shape)) for a in arrays]
    outputs = function(*(Tensor(builder, value) for value in inputs))
    outputs = outputs if isinstance(outputs, tuple) else (outputs,)
    named = tuple(NamedValue(f"x{i}", value) for i, value in enumerate(inputs))
    results = tuple(NamedValue(f"y{i}", tensor.value) for i, tensor in enumerate(outputs))
    before = Graph("before", named, tuple(builder.operations), results)
    verify(before)
    after = SIMPLIFIER.simplify(before, ids, names=names, supports=supports)
    verify(after)
    run = NumpyEvaluator().evaluate
    values = {name: array for (name, _), array in zip(named, arrays, strict=True)}
    expected, found = run(before, values), run(after, values)
    for name, value in expected.items():
        assert found[name].dtype == value.dtype
        assert found[name].shape == value.shape
        zeros = value == 0
        np.testing.assert_array_equal(found[name], value)
        if value.dtype.kind == "f":
            np.testing.assert_array_equal(np.signbit(found[name][zeros]), np.signbit(value[zeros]))
    return before, after


def operators_of(function, *arrays, **options):
    _, after = simplified(function, *arrays, **options)
    return [operation.operator.name for operation in after.operations]


X = SPECIAL
MATRIX = np.arange(6.0).reshape(2, 3)
BOOLEAN = np.array([True, False])
INTEGERS = np.array([3, 0, -2])


@pytest.mark.parametrize(
    ("function", "operands", "left"),
    [
        (lambda x: x * 1.0, (X,), []),
        (lambda x: 1.0 * x, (X,), []),
        (lambda x: x * -1.0, (X,), ["neg"]),
        (lambda x: x / 1.0, (X,), []),
        (lambda x: x + -0.0, (X,), []),
        (lambda x: -0.0 + x, (X,), []),
        (lambda x: x - 0.0, (X,), []),
        (lambda x: x + 0, (INTEGERS,), []),
        (lambda x: x.emit(o.Neg()).emit(o.Neg()), (X,), []),
        (lambda x, y: x + -y, (X, X[::-1]), ["sub"]),
        (lambda x, y: -x + y, (X, X[::-1]), ["sub"]),
        (lambda x, y: x - -y, (X, X[::-1]), ["add"]),
        (lambda x, y: -x - y, (X, X[::-1]), ["neg", "sub"]),
        (lambda x: x.emit(o.Not()).emit(o.Not()), (BOOLEAN,), []),
        (lambda x: abs(abs(x)), (X,), ["abs"]),
        (lambda x: x.emit(o.Relu()).emit(o.Relu()), (X,), ["relu"]),
        (lambda x: round(round(x)), (X,), ["round"]),
        (lambda x: xp.maximum(x, x), (X,), []),
        (lambda x: xp.minimum(x, x), (X,), []),
        (lambda x: x & x, (BOOLEAN,), []),
        (lambda x: x | x, (BOOLEAN,), []),
        (lambda c, x: xp.where(c, x, x), (np.isnan(X), X), []),
    ],
)
def test_identities(function, operands, left):
    assert operators_of(function, *operands, names=["identities", "dead_code"]) == left


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x + 0.0,
        lambda x: 0.0 - x,
        lambda x: x * 0.0,
        lambda x: x - x,
        lambda x: x / x,
        lambda x: 1.0 / x,
        lambda x: x - -0.0,
        lambda x: xp.where(x > 0.0, x, 0.0),
        lambda x: (x + 1.0) + 2.0,
        lambda x: x * 2.0 * 0.5,
    ],
)
def test_what_would_change_a_zero_or_a_nan_or_a_rounding_is_left(function):
    before, after = simplified(function, X)
    computing = [op.operator for op in before.operations if not op.operator.is_literal]
    computing = [operator for operator in computing if not operator.is_movement]
    assert {type(op.operator) for op in after.operations} >= {type(c) for c in computing}


@pytest.mark.parametrize(
    ("between", "end", "left"),
    [
        (np.float64, np.float32, []),
        (np.float64, np.float16, ["cast"]),
        (np.float16, np.float32, ["cast", "cast"]),
        (np.float16, np.float64, ["cast", "cast"]),
        (np.int64, np.float32, ["cast", "cast"]),
        (np.float64, np.int32, ["cast", "cast"]),
    ],
)
def test_casts(between, end, left):
    x = np.array([1.5, -2.25, 3e5], np.float32)
    with np.errstate(over="ignore"):
        found = operators_of(
            lambda x: x.astype(between).astype(end), x, names=["casts", "dead_code"]
        )
    assert found == left


def test_a_cast_that_loses_digits_is_left():
    x = np.array([1.0 + 1e-12, -1e300])
    with np.errstate(over="ignore"):
        assert operators_of(lambda x: x.astype(np.float32).astype(np.float64), x) == ["cast"] * 2


def test_a_transpose_of_stacks_is_no_flag_of_a_product():
    stacks = np.arange(36.0).reshape(1, 2, 3, 6)[..., :3]

    def product(x):
        return x.transpose(1, 0, 3, 2).emit(o.MatMul(), x.reshape(2, 1, 3, 3))

    assert "transpose" in operators_of(product, stacks)


@pytest.mark.parametrize(
    ("function", "left"),
    [
        (lambda x: x.reshape(3, 2).reshape(6), ["reshape"]),
        (lambda x: x.reshape(6).reshape(2, 3), []),
        (lambda x: x.T.T, []),
        (lambda x: x.reshape(1, 2, 3).transpose(2, 0, 1).transpose(1, 2, 0), ["reshape"]),
        (lambda x: x.broadcast_to((4, 2, 3)).broadcast_to((5, 4, 2, 3)), ["broadcast_to"]),
        (lambda x: x.full(2.0).reshape(6), ["constant", "broadcast_to"]),
        (lambda x: x.full(2.0).T, ["constant", "broadcast_to"]),
        (lambda x: x.emit(o.Reverse((0,))).emit(o.Reverse((0,))), []),
        (lambda x: x.emit(o.Reverse((0,))).emit(o.Reverse((1,))), ["reverse", "reverse"]),
        (lambda x: x.T.emit(o.MatMul(), x), ["matmul"]),
        (lambda x: x.emit(o.MatMul(), x.T), ["matmul"]),
        (lambda x: x.T.emit(o.MatMul(True, True), x), ["matmul"]),
        (
            lambda x: x.reshape(1, 2, 3).transpose(0, 2, 1).emit(o.MatMul(), x.reshape(1, 2, 3)),
            None,
        ),
        (lambda x: x.emit(o.Reshape((2, 3))).emit(o.Transpose((0, 1))), []),
        (lambda x: x.emit(o.BroadcastTo((2, 3))), []),
    ],
)
def test_movement(function, left):
    found = operators_of(function, MATRIX, names=["movement", "dead_code"])
    assert found == left or (left is None and "transpose" not in found)


@pytest.mark.parametrize(
    ("function", "operands", "left"),
    [
        (lambda x: xp.exp(x.reshape(6)), (MATRIX,), ["exp", "reshape"]),
        (lambda x: xp.exp(x.T), (MATRIX,), ["exp", "transpose"]),
        (lambda x: xp.exp(x.broadcast_to((4, 2, 3))), (MATRIX,), ["exp", "broadcast_to"]),
        (lambda x, y: x.reshape(6) * y.reshape(6), (MATRIX, MATRIX), ["mul", "reshape"]),
        (
            lambda x, y: x.reshape(6) * y,
            (MATRIX, np.ones(6)),
            ["reshape", "mul"],  # only one of them is moved
        ),
        (
            lambda x: x.reshape(3, 2) * 2.0,
            (MATRIX,),
            ["constant", "broadcast_to", "mul", "reshape"],
        ),
        (
            lambda x, b: x.reshape(2, 2, 3) + b,
            (np.ones((4, 3)), np.arange(3.0)),
            ["broadcast_to", "add", "reshape"],
        ),
        (
            lambda x, b: x.reshape(2, 6) + b,  # the last axis is another one
            (np.ones((4, 3)), np.arange(6.0)),
            ["reshape", "broadcast_to", "add"],
        ),
        (
            lambda x, b: x.T + b,  # a transpose moves the last axis away
            (np.ones((3, 3)), np.arange(3.0)),
            ["transpose", "broadcast_to", "add"],
        ),
    ],
)
def test_sinking(function, operands, left):
    names = ["sinking", "common_subexpressions", "dead_code"]
    assert operators_of(function, *operands, names=names) == left


def test_sinking_lets_movement_meet_movement():
    def layer(x, b):
        wide = (x.reshape(2, 2, 3) + b).emit(o.Gelu()) * 2.0
        return wide.reshape(4, 3).emit(o.MatMul(False, True), x)

    assert "reshape" not in operators_of(layer, np.ones((4, 3)), np.arange(3.0))


def test_movement_that_others_read_stays_where_it_is():
    def twice(x):
        moved = x.reshape(6)
        return xp.exp(moved), moved, moved.sum()

    assert operators_of(twice, MATRIX) == ["reshape", "exp", "reduce_sum"]

    def returned(x):
        moved = x.reshape(6)
        return xp.exp(moved), moved

    assert operators_of(returned, MATRIX) == ["reshape", "exp"]


@pytest.mark.parametrize(
    ("function", "left"),
    [
        (lambda x: x.full(0.0).emit(o.Annihilate(), x / 0.0), 0.0),
        (lambda x: x.full(0.0).emit(o.MulNoNan(), x / 0.0), 0.0),
        (lambda x: x.full(0.0).emit(o.ReluGradient(), x), 0.0),
        (lambda x: x.full(0.0).sum(0), 0.0),
        (lambda x: x.full(0.0).pad((1, 0), (0, 1)), 0.0),
        (lambda x: x.full(0.0)[:1], 0.0),
        (lambda x: x.full(-0.0).sum(0), None),
        (lambda x: x.full(0.0).pad((1, 0), (0, 1), value=1.0), None),
        (lambda x: x.full(0.0).pad((1, 0), (0, 1), value=-0.0), None),
        (lambda x: x.full(0.0) * x, None),
    ],
)
def test_zero_cotangents(function, left):
    with np.errstate(all="ignore"):
        found = operators_of(function, MATRIX, names=["zero_cotangents", "dead_code"])
    assert (found == ["constant", "broadcast_to"]) == (left is not None)


@pytest.mark.parametrize(
    ("function", "left"),
    [
        (lambda x: x + (x.literal(2.0) * 3.0 - x.literal(1.0) / 3.0), ["constant", "broadcast_to"]),
        (lambda x: x + xp.sqrt(x.literal(2.0)), ["constant", "broadcast_to"]),
        (
            lambda x: x + x.literal(2.5, np.dtype("f4")).astype(np.float64),
            ["constant", "broadcast_to"],
        ),
        (lambda x: x + x.literal(np.ones((3, 2))).T, ["constant"]),
        (lambda x: x + x.literal(np.ones(6)).reshape(2, 3), ["constant"]),
        (lambda x: x + x.literal(np.arange(6)).reshape(2, 3).astype(np.float64), ["constant"]),
        (lambda x: x + xp.exp(x.literal(2.0)), ["constant", "exp", "broadcast_to"]),
        (lambda x: x + x.literal(2.5).astype(np.int32).astype(np.float64), None),
        (lambda x: x.sum() + (x.literal(np.ones(65)) * x.literal(np.ones(65))).sum(), None),
    ],
)
def test_constant_folding(function, left):
    found = operators_of(function, MATRIX, names=["constant_folding", "dead_code"])
    if left is None:
        assert any(name in found for name in ("mul", "cast"))
    else:
        assert found == [*left, "add"]


# Common subexpressions.


def test_equal_operations_become_one_in_the_order_of_the_first():
    def twice(x, y):
        return x * y + y * x, xp.exp(x) - xp.exp(x), (x - y) + (y - x)

    names = operators_of(twice, np.arange(3.0), np.ones(3))
    assert names.count("mul") == names.count("exp") == 1
    assert names.count("sub") == 3  # exp - exp, x - y, y - x


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (o.ReduceSum((0,)), o.ReduceSum((1,))),
        (o.ReduceSum((0,)), o.ReduceSum((0,), True)),
        (o.Pad((0, 0), (1, 0), (0, 0), 0.0), o.Pad((0, 0), (1, 0), (0, 0), -0.0)),
        (o.Cast(np.dtype("f4")), o.Cast(np.dtype("f2"))),
        (o.LeakyRelu(0.0), o.LeakyRelu(-0.0)),
        (o.Maximum, None),
    ],
)
def test_attributes_dtypes_and_signs_of_zero_keep_operations_apart(first, second):
    def both(x):
        if second is None:  # the sign of the result depends on the order of the operands
            y = x * -1.0
            return xp.maximum(x, y), xp.maximum(y, x)
        return x.emit(first), x.emit(second)

    before, after = simplified(both, MATRIX, names=["common_subexpressions"])
    assert len(after.operations) == len(before.operations)


def test_constants_are_compared_by_content_dtype_and_sign():
    def constants(x):
        values = (1.0, 1.0, 0.0, -0.0)
        return (*(x.literal(v) for v in values), x.literal(1.0, np.dtype("f4")))

    assert operators_of(constants, MATRIX).count("constant") == 4


def test_random_operations_of_one_key_are_one_and_of_two_keys_two():
    def draws(key, other):
        return tuple(k.emit(o.RandomBits((4,))) for k in (key, key, other))

    keys = np.array([1, 2], np.uint32), np.array([1, 3], np.uint32)
    assert operators_of(draws, *keys) == ["random_bits", "random_bits"]


# The walk.


def test_without_any_name_and_without_anything_to_do_the_same_object_comes_out():
    before, after = simplified(lambda x: x * 1.0 + 0.0, X, names=[])
    assert after is before
    before, after = simplified(lambda x: xp.exp(x), X)
    assert after is before


def test_outputs_keep_their_ids_when_asked():
    def outputs(x):
        return x * 1.0, xp.exp(x), xp.exp(x) * 1.0

    before, after = simplified(outputs, X, supports=lambda operation: True)
    assert after.output_ids == before.output_ids
    before, after = simplified(outputs, X)
    assert len(set(after.output_ids.values())) == 2  # the input itself, and the one exponential


@pytest.mark.parametrize("name", SIMPLIFICATIONS)
def test_each_is_chosen_by_name_and_tried_without_the_others(name):
    def loss(x):
        negative = -x
        return -negative * 1.0

    found = operators_of(loss, X, names=[name, "dead_code"])
    assert found == (
        [] if name == "identities" else ["neg", "neg", "constant", "broadcast_to", "mul"]
    )


def test_each_has_its_rules_or_is_a_part_of_the_walk():
    assert {*RULES, "common_subexpressions", "dead_code"} == set(SIMPLIFICATIONS)


def test_new_operations_say_where_they_come_from():
    _, after = simplified(lambda x: x * -1.0, X)
    assert str(after.operations[-1].origin).startswith("simplification of neg <- ")
