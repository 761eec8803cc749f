"""An index means what it means in NumPy: value, shape and derivative."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tests.support.derivatives import check_gradients, traced
from tinychain_backends.numpy import NumpyContainer, NumpyEvaluator, NumpySession
from tinychain_compile import SGD, TensorType
from tinychain_compile.errors import ShapeMismatchError

X = np.random.default_rng(0).normal(size=(4, 5, 3))
ROWS, COLUMNS = np.array([3, 0, -1, 0]), np.array([1, -2, 0, 4])

KEYS = {
    "integer": 1,
    "negative": -1,
    "integers": (0, -1, 2),
    "slice": np.s_[1:3],
    "steps": np.s_[::2, 1::3, ::-1],
    "negative steps": np.s_[-1:0:-2, ::-3],
    "beyond": np.s_[2:99, -99:2],
    "empty": np.s_[3:1],
    "empty backwards": np.s_[1:3:-1],
    "ellipsis": np.s_[..., 0],
    "ellipsis between": np.s_[1, ..., 2],
    "new axes": np.s_[None, :, None, 1],
    "nothing": (),
    "array": ROWS,
    "list": [3, 0, 0],
    "empty list": [],
    "unsigned": np.array([0, 3], np.uint8),
    "array in the middle": np.s_[:, COLUMNS],
    "array of rank 2": np.s_[:, COLUMNS.reshape(2, 2)],
    "pairs": (ROWS, COLUMNS),
    "pairs that broadcast": (ROWS[:, None], COLUMNS[None, :]),
    "pairs apart": np.s_[ROWS, :, np.array([0, 1, 2, -1])],
    "integer and array": np.s_[1, COLUMNS],
    "integer and array apart": np.s_[1, :, np.array([2, 0])],
    "array and integer apart": np.s_[np.array([2, 0]), :, 1],
    "array and new axis": np.s_[ROWS, None],
    "array, new axis, array": np.s_[ROWS, None, COLUMNS],
    "slice and array": np.s_[1:3, COLUMNS, ::-1],
    "rank 0 array": np.s_[np.array(2)],
}


@pytest.mark.parametrize("name", KEYS)
def test_value_and_derivative_are_numpys(name):
    check(X, KEYS[name])


def check(x, key):
    expected = x[key]
    weights = np.random.default_rng(1).normal(size=expected.shape)

    def loss(x):
        part = x[key]
        assert part.shape == expected.shape
        return (part * part * weights).sum()

    graph, ids = traced(loss, {"x": x})
    value = NumpyEvaluator().evaluate(graph, {"x": x})["loss"]
    np.testing.assert_allclose(value, np.sum(expected**2 * weights), rtol=1e-13, atol=1e-14)
    check_gradients(graph, {"x": x}, ["x"], ids, "seed")


@given(st.data())
def test_any_basic_index_is_numpys(data):
    shape = data.draw(hnp.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=5))
    x = np.random.default_rng(0).normal(size=shape)
    check(x, data.draw(hnp.basic_indices(shape, allow_newaxis=True)))


@given(st.data())
def test_any_integer_arrays_are_numpys(data):
    shape = data.draw(hnp.array_shapes(min_dims=2, max_dims=3, min_side=1, max_side=5))
    x = np.random.default_rng(0).normal(size=shape)
    check(x, data.draw(hnp.integer_array_indices(shape)))


def test_traced_positions_index_like_arrays():
    def loss(x, i, j):
        return (x[i, j] * 2.0 + x[:, j][i, 0] + x[i][:, 1] + x[i, None, j][:, 0]).sum()

    arrays = {"x": X, "i": ROWS, "j": COLUMNS}
    graph, ids = traced(loss, arrays)
    value = NumpyEvaluator().evaluate(graph, arrays)["loss"]
    np.testing.assert_allclose(value, loss(**arrays), rtol=1e-13)
    check_gradients(graph, arrays, ["x"], ids, "seed")


def test_iteration_and_unpacking_end():
    def loss(x):
        first, *others = x
        return sum(others, first).sum() + sum(row.sum() for row in x[0]) + len(list(x[0]))

    graph, _ = traced(loss, {"x": X})
    value = NumpyEvaluator().evaluate(graph, {"x": X})["loss"]
    np.testing.assert_allclose(value, loss(X), rtol=1e-13)


def symbolic(function, shape=("n", 3)):
    return (
        NumpyContainer()
        .compiler()
        .compile_training_step(
            function,
            inputs={"x": TensorType("f64", shape)},
            parameters=["x"],
            optimizer=SGD(),
        )
    )


SYMBOLIC = {
    "from": lambda x: x[2:],
    "reversed": lambda x: x[::-1],
    "reversed tail": lambda x: x[::-1][1:],
    "one": lambda x: x[1],
    "some": lambda x: x[0:3:2],
    "column": lambda x: x[:, -1],
    "array": lambda x: x[np.array([0, -1])],
    "joined": lambda x: np.concatenate([x, x[1:] * 2.0, np.ones((1, 3))]),
    "padded": lambda x: np.pad(x, ((1, 2), (0, 1)), constant_values=1.5),
    "flipped": lambda x: np.flip(x) * x,
    "summed up": lambda x: np.cumsum(x, axis=0),
    "sorted": lambda x: np.sort(x, axis=0),
    "stacked": lambda x: np.stack([x, x * x]),
    "multiplied": lambda x: np.prod(x, axis=0),
    "spread": lambda x: np.std(x, axis=0) + np.var(x) + np.mean(x),
    "triangle": lambda x: np.tril(x @ x.T),
    "repeated": lambda x: np.repeat(x, 2, axis=0) + np.tile(x, (2, 1)),
    "divided by its size": lambda x: np.sum(x, axis=0) / x.shape[0] + x.shape[0] * x[0],
    "less one": lambda x: (x - np.mean(x, axis=0)) / (x.shape[0] - 1) - (1 - x.shape[0]) * x,
    "halves": lambda x: np.reshape(x, (x.shape[0] * 3 // 3, 3)) * (x.size // 3),
    "products": lambda x: np.einsum("ij,kj->ik", x, x) + np.tensordot(x, x, ((1,), (1,))),
}


@pytest.mark.parametrize("name", SYMBOLIC)
def test_symbolic_sizes_flow_through(name):
    function = SYMBOLIC[name]
    step = symbolic(lambda x: (function(x) ** 2).sum())
    for rows in (4, 7):
        x = np.random.default_rng(rows).normal(size=(rows, 3))
        session = NumpySession(step, {"x": x})
        loss, gradients = session.value_and_gradients({})
        np.testing.assert_allclose(loss, np.sum(function(x) ** 2), rtol=1e-12)
        fixed, ids = traced(lambda x: (function(x) ** 2).sum(), {"x": x})
        check_gradients(fixed, {"x": x}, ["x"], ids, "seed")
        step_fixed = (
            NumpyContainer()
            .compiler()
            .compile_training_step(
                lambda x: (function(x) ** 2).sum(),
                inputs={"x": x},
                parameters=["x"],
                optimizer=SGD(),
            )
        )
        _, expected = NumpySession(step_fixed, {"x": x}).value_and_gradients({})
        np.testing.assert_allclose(gradients["x"], expected["x"], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    "use",
    [
        lambda x: x[-1],
        lambda x: x[:-1],
        lambda x: x[::2],
        lambda x: np.split(x, 2)[0],
        lambda x: np.roll(x, 1, axis=0),
        lambda x: np.diff(x, axis=0),
        lambda x: np.median(x, axis=0),
    ],
)
def test_what_needs_a_known_size_says_so(use):
    with pytest.raises(ShapeMismatchError, match=r"symbolic|known size"):
        symbolic(lambda x: use(x).sum())


def test_symbols_that_conflict_name_both_lines():
    def loss(x, y):
        left = x * 2.0
        right = y * 3.0
        return (left + right).sum()

    with pytest.raises(ShapeMismatchError) as caught:
        NumpyContainer().compiler().compile_training_step(
            loss,
            inputs={"x": TensorType("f64", ("n",)), "y": TensorType("f64", ("m",))},
            parameters=["x"],
            optimizer=SGD(),
        )
    for part in ("x * 2.0", "y * 3.0", "left + right", "(n,)", "(m,)"):
        assert part in str(caught.value)


@pytest.mark.parametrize(
    "use",
    [
        lambda x: x * (1.0 / x.shape[0]),
        lambda x: x * (x.shape[0] / 2),
        lambda x: x if x.shape[0] > 2 else x * 2,
        lambda x: sum(x[i] for i in range(x.shape[0])),
        lambda x: x * float(x.shape[0]),
        lambda x: x * np.arange(x.shape[0])[:, None],
        lambda x: x.reshape(x.shape[0] // 2, 6),
    ],
)
def test_a_symbolic_size_as_a_number_says_what_to_write(use):
    from tinychain_compile import CompilationError

    with pytest.raises(CompilationError, match=r"np.sum\(x\) / x.shape|multiple of 2"):
        symbolic(lambda x: use(x).sum())


@pytest.mark.parametrize("make", [np.ones, np.zeros, np.full])
def test_an_array_of_a_symbolic_size_is_refused_with_what_to_write(make):
    from tinychain_compile import CompilationError

    def loss(x):
        xp = x.__array_namespace__()
        arguments = (x.shape, 2.0) if make is np.full else (x.shape,)
        return (x * getattr(xp, make.__name__)(*arguments)).sum()

    with pytest.raises(CompilationError, match="ones_like"):
        symbolic(loss)
    with pytest.raises(CompilationError, match="ones_like"):
        symbolic(lambda x: (x * np.ones(x.shape)).sum())
