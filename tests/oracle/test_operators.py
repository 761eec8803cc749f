"""Every operator against JAX: value and derivative, over shapes, dtypes, axes and edge values."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.oracle.jax_operators import JAX_OPERATORS, WITHOUT_COUNTERPART
from tests.support.derivatives import traced, with_gradients
from tinychain_backends.numpy import NumpyEvaluator
from tinychain_compile import operators as o
from tinychain_compile.functions import attention, random_bits
from tinychain_compile.operators import OPERATORS
from tinychain_conformance.case import Case
from tinychain_conformance.cases import CASES

INF, NAN = np.inf, np.nan
EDGES = np.array([0.0, -0.0, 1.0, -1.0, 0.5, 2.0, -3.0, 1e-30, 700.0, -700.0, INF, -INF, NAN])
SHAPES = [(), (1,), (0,), (3,), (0, 2), (1, 3), (2, 1), (2, 3), (1, 1, 4), (2, 0, 3)]
UNARY = [
    *(o.Neg(), o.Abs(), o.Sign(), o.Exp(), o.Expm1(), o.Log(), o.Log1p(), o.Sqrt(), o.Rsqrt()),
    *(o.Tanh(), o.Sigmoid(), o.Sin(), o.Cos(), o.Erf(), o.Floor(), o.Ceil(), o.Round()),
    *(o.Relu(), o.LeakyRelu(0.1), o.Elu(1.5), o.Gelu(), o.Gelu(True), o.Silu(), o.Softplus()),
    *(o.IntegerPow(n) for n in (-2, -1, 0, 1, 2, 3)),
]
BINARY = [o.Add(), o.Sub(), o.Mul(), o.Div(), o.Pow(), o.Maximum(), o.Minimum(), o.Atan2()]
REDUCTIONS = [o.ReduceSum, o.ReduceMax, o.ReduceMin, o.ReduceProd, o.Mean, o.Var, o.LogSumExp]


def test_every_operator_is_compared_or_it_is_said_why_not():
    assert set(JAX_OPERATORS) | set(WITHOUT_COUNTERPART) == set(OPERATORS)
    assert not set(JAX_OPERATORS) & set(WITHOUT_COUNTERPART)


def ours(operator, arrays, differentiable):
    """Return the value, and the cotangents of a seeded weight."""
    named = {f"x{i}": a for i, a in enumerate(arrays)}

    def value_of(**tensors):
        first, *others = tensors.values()
        return first.emit(operator, *others)

    shape = {}

    def loss(weight, **tensors):
        y = value_of(**tensors)
        return (y * weight).sum()

    def probe(**tensors):
        y = value_of(**tensors)
        shape.update(shape=y.shape, dtype=y.dtype)
        return y.astype(np.float64).sum()

    traced(probe, named)
    weight = np.random.default_rng(3).normal(size=shape["shape"])
    if not differentiable:
        return weight, None, shape["dtype"]
    weight = weight.astype(shape["dtype"])
    graph, ids = traced(loss, {"weight": weight, **named})
    names = [f"x{i}" for i in differentiable]
    joint = with_gradients(graph, names, ids, "seed")
    seed = np.ones((), shape["dtype"])
    outputs = NumpyEvaluator().evaluate(joint, {"weight": weight, **named, "seed": seed})
    return weight, [outputs[name] for name in names], shape["dtype"]


def value_of(operator, arrays):
    from tinychain_compile import Graph, TensorType
    from tinychain_compile.ir.builder import GraphBuilder
    from tinychain_compile.ir.graph import NamedValue, fresh_ids

    builder = GraphBuilder(fresh_ids())
    inputs = [builder.input(TensorType(a.dtype, a.shape)) for a in arrays]
    output = builder.emit(operator, *inputs)
    named = tuple(NamedValue(f"x{i}", v) for i, v in enumerate(inputs))
    graph = Graph("case", named, tuple(builder.operations), (NamedValue("y", output),))
    return NumpyEvaluator().evaluate(graph, {f"x{i}": a for i, a in enumerate(arrays)})["y"]


def theirs(operator, arrays, differentiable, weight):
    function = JAX_OPERATORS[type(operator)](operator)
    operands = [jnp.asarray(a) for a in arrays]

    def of_differentiable(*chosen):
        full = list(operands)
        for i, operand in zip(differentiable, chosen, strict=True):
            full[i] = operand
        return function(*full)

    value, pull = jax.vjp(of_differentiable, *(operands[i] for i in differentiable))
    gradients = pull(jnp.asarray(weight, value.dtype)) if differentiable else ()
    return np.asarray(value), [np.asarray(g) for g in gradients]


def compare(operator, arrays, differentiable, rtol, is_stated=None):
    """Compare value and derivative; where our stated policy differs, leave the place out."""
    weight, gradients, _ = ours(operator, arrays, differentiable)
    expected, expected_gradients = theirs(operator, arrays, differentiable, weight)
    result = value_of(operator, arrays)
    assert result.shape == expected.shape
    scale = float(np.max(np.abs(expected), initial=0.0, where=np.isfinite(expected)))
    np.testing.assert_allclose(result, expected, rtol=rtol, atol=rtol * min(scale, 1.0))
    for g, e in zip(gradients or (), expected_gradients, strict=True):
        assert g.shape == e.shape
        assert g.dtype == e.dtype
        if is_stated is not None:
            left_out = is_stated(e, *arrays)
            g, e = np.where(left_out, 0, g), np.where(left_out, 0, e)
        scale = float(np.max(np.abs(e), initial=0.0, where=np.isfinite(e)))
        np.testing.assert_allclose(g, e, rtol=rtol, atol=rtol * scale)


COMPARED = [c for c in CASES if type(c.operator) in JAX_OPERATORS]
SMOOTH = [c for c in COMPARED if c.differentiable and not c.note.startswith(" special")]


@pytest.mark.parametrize("case", SMOOTH, ids=[c.label for c in SMOOTH])
@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_conformance_cases_agree_in_value_and_derivative(case: Case, dtype):
    arrays = [a.astype(dtype) if a.dtype == np.float64 else a for a in case.operands]
    is_stated = STATED.get(type(case.operator))
    compare(case.operator, arrays, case.differentiable, 1e-10 if dtype == "f8" else 2e-4, is_stated)


DISCRETE = [c for c in COMPARED if not c.differentiable and c.operands]


@pytest.mark.parametrize("case", DISCRETE, ids=[c.label for c in DISCRETE])
def test_values_without_derivative_agree(case: Case):
    expected, _ = theirs(case.operator, case.operands, (), None)
    result = value_of(case.operator, case.operands)
    np.testing.assert_allclose(
        result.astype(np.float64), expected.astype(np.float64), rtol=3e-13, atol=1e-290
    )


# Where our policy page states another value than JAX gives.
STATED = {
    o.Abs: lambda e, x: (x == 0) | np.isnan(x),
    o.Maximum: lambda e, a, b: np.isnan(a) | np.isnan(b),
    o.Minimum: lambda e, a, b: np.isnan(a) | np.isnan(b),
    o.Div: lambda e, a, b: ~np.isfinite(e) & (b != 0),  # JAX squares the divisor: it underflows
    o.Std: lambda e, x: np.isnan(e),
    o.LeakyRelu: lambda e, x: x == 0,
    o.Norm: lambda e, x: np.isnan(e),
    o.Clip: lambda e, x, low, high: (x == low) | (x == high) | (low > high),
    o.Pow: lambda e, a, b: (a <= 0) | ~np.isfinite(e) | ~np.isfinite(a) | ~np.isfinite(b),
    o.IntegerPow: lambda e, x: ~np.isfinite(x),
    o.Atan2: lambda e, y, x: ~np.isfinite(e) | ~np.isfinite(x * y) | ((x == 0) & (y == 0)),
    o.Gelu: lambda e, x: ~np.isfinite(x) | (np.abs(x) > 30),
    o.Silu: lambda e, x: ~np.isfinite(x),
    o.Sin: lambda e, x: np.isinf(x),
    o.Cos: lambda e, x: np.isinf(x),
}


@pytest.mark.parametrize("operator", UNARY, ids=lambda op: f"{op.name}{tuple(op.params.values())}")
@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_unary_operators_agree_at_the_edges(operator, dtype):
    x = EDGES.astype(dtype)
    derivative = (0,) if type(operator) not in (o.Sign, o.Floor, o.Ceil, o.Round) else ()
    with np.errstate(all="ignore"):
        compare(
            operator, [x], derivative, 1e-13 if dtype == "f8" else 1e-4, STATED.get(type(operator))
        )


@pytest.mark.parametrize("operator", BINARY, ids=lambda op: op.name)
@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_binary_operators_agree_at_the_edges(operator, dtype):
    a, b = (grid.ravel().astype(dtype) for grid in np.meshgrid(EDGES, EDGES))
    if isinstance(operator, o.Atan2):
        a, b = (np.where(v == 0, np.abs(v), v) for v in (a, b))
    with np.errstate(all="ignore"):
        compare(
            operator, [a, b], (0, 1), 1e-12 if dtype == "f8" else 1e-4, STATED.get(type(operator))
        )


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize(
    "operator", [o.Exp(), o.Abs(), o.Mul(), o.Maximum()], ids=lambda op: op.name
)
def test_elementwise_operators_agree_on_every_shape(operator, shape):
    count = 2 if isinstance(operator, (o.Mul, o.Maximum)) else 1
    arrays = [np.random.default_rng(i).normal(size=shape) for i in range(count)]
    compare(operator, arrays, tuple(range(count)), 1e-14)


@pytest.mark.parametrize("kind", REDUCTIONS, ids=lambda k: k.name)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_reductions_agree_on_every_shape_and_axis(kind, shape):
    x = np.random.default_rng(0).normal(size=shape)
    needs_elements = kind in (o.ReduceMax, o.ReduceMin, o.LogSumExp, o.Mean, o.Var)
    for axis in range(len(shape)):
        for axes in ((axis,), tuple(range(len(shape)))):
            if needs_elements and any(shape[a] == 0 for a in axes):
                continue
            for keepdims in (False, True):
                compare(kind(axes, keepdims), [x], (0,), 1e-12)


@pytest.mark.parametrize("kind", REDUCTIONS, ids=lambda k: k.name)
def test_reductions_agree_with_ties_zeros_and_infinities(kind):
    rows = np.array([[2.0, 2.0, 1.0], [0.0, 3.0, 0.0], [-0.0, 0.0, 5.0], [4.0, 4.0, 4.0]])
    compare(kind((1,)), [rows], (0,), 1e-12)
    special = np.array([[INF, 1.0, 2.0], [-INF, 0.0, 1.0], [NAN, 1.0, 0.0]])
    with np.errstate(all="ignore"):
        expected, _ = theirs(kind((1,)), [special], (0,), np.ones(3))
        np.testing.assert_allclose(value_of(kind((1,)), [special]), expected, rtol=1e-12)


def test_masked_attention_agrees():
    rng = np.random.default_rng(0)
    q, k, v = (rng.normal(size=(2, 4, 3)) for _ in range(3))
    mask = rng.random((2, 4, 4)) < 0.7
    mask[..., 0] = True

    def reference(q, k, v):
        scores = jnp.where(mask, q @ k.swapaxes(-1, -2) * 3**-0.5, -jnp.inf)
        return ((jax.nn.softmax(scores, axis=-1) @ v) ** 2).sum()

    arrays = {"q": q, "k": k, "v": v}
    graph, ids = traced(lambda q, k, v: (attention(q, k, v, mask=mask) ** 2).sum(), arrays)
    joint = with_gradients(graph, ["q", "k", "v"], ids, "seed")
    outputs = NumpyEvaluator().evaluate(joint, {**arrays, "seed": np.ones(())})
    value, gradients = jax.value_and_grad(reference, (0, 1, 2))(q, k, v)
    np.testing.assert_allclose(outputs["loss"], value, rtol=1e-13)
    for name, gradient in zip("qkv", gradients, strict=True):
        np.testing.assert_allclose(outputs[name], gradient, rtol=1e-11, atol=1e-13)


def test_random_bits_are_jaxs():
    key = np.array([7, 11], np.uint32)
    expected = jax.random.bits(jax.random.wrap_key_data(jnp.asarray(key)), (5, 3), np.uint32)
    np.testing.assert_array_equal(random_bits(key, (5, 3)), expected)
