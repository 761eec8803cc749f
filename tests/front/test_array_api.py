"""The Array API namespace: the standard's names are there, or it is said which are not."""

from __future__ import annotations

import inspect

import array_api_strict
import numpy as np
import pytest

from tests.support.derivatives import traced
from tinychain_backends.numpy import NumpyEvaluator
from tinychain_compile import CompilationError
from tinychain_compile.array_api import ARRAY_NAMESPACE, ArrayNamespace

ABSENT = {
    "complex numbers": {"conj", "imag", "real", "complex64", "complex128"},
    "shapes that depend on elements": {
        *("nonzero", "unique_all", "unique_counts", "unique_inverse", "unique_values"),
    },
    "words as bits": {"bitwise_left_shift", "bitwise_right_shift"},
    "integers of other sizes": {"int8", "int16", "uint16", "uint64"},
    "bits of a number": {"copysign", "nextafter"},
    "search": {"searchsorted"},
    "memory": {"from_dlpack"},
    "extensions without derivatives": {"fft"},
}
LINEAR_ALGEBRA = {
    *("cross", "diagonal", "matmul", "matrix_transpose", "outer", "tensordot", "trace", "vecdot"),
    "vector_norm",
}


def test_every_name_of_the_standard_is_there_or_said_not_to_be():
    standard = {name for name in dir(array_api_strict) if not name.startswith("_")}
    standard -= {
        "get_array_api_strict_flags",
        "set_array_api_strict_flags",
        "reset_array_api_strict_flags",
    }
    standard -= {"ArrayAPIStrictFlags", "Device", "ArrayAPIStrictVersionWarning", "ModuleType"}
    absent = set().union(*ABSENT.values())
    missing = {name for name in standard if name not in dir(ARRAY_NAMESPACE)}
    assert missing - absent == set()
    assert absent & set(dir(ARRAY_NAMESPACE)) == set()


def test_parameters_have_the_standards_names_and_kinds():
    for name in dir(array_api_strict):
        theirs = getattr(array_api_strict, name)
        if name not in dir(ARRAY_NAMESPACE) or not inspect.isfunction(theirs):
            continue
        if hasattr(np, name) and getattr(ARRAY_NAMESPACE, name) is getattr(np, name):
            continue
        ours = inspect.signature(getattr(ARRAY_NAMESPACE, name)).parameters
        for parameter in inspect.signature(theirs).parameters.values():
            if parameter.kind is parameter.KEYWORD_ONLY and parameter.name not in ("device",):
                assert parameter.name in ours, f"{name}({parameter.name}=)"


X = np.random.default_rng(0).normal(size=(3, 4))
P = np.abs(X) * 0.5 + 0.25
I = np.array([[3, -1, 4], [1, -5, 9]])  # noqa: E741
B = I > 1
PROGRAMS = {
    "elementwise": lambda xp, x, p: (
        xp.acos(p) + xp.acosh(p + 1) + xp.asin(p) + xp.asinh(x) + xp.atan(x) + xp.atan2(x, p)
        + xp.atanh(p * 0.5) + xp.ceil(x) + xp.clip(x, -0.5, 0.5) + xp.cos(x) + xp.cosh(x)
        + xp.exp(x) + xp.expm1(x) + xp.floor(x) + xp.floor_divide(x, p) + xp.hypot(x, p) + xp.log(p)
        + xp.log10(p) + xp.log1p(p) + xp.log2(p) + xp.logaddexp(x, p) + xp.maximum(x, p)
        + xp.minimum(x, p) + xp.multiply(x, p) + xp.negative(x) + xp.positive(x) + xp.pow(p, x)
        + xp.reciprocal(p) + xp.remainder(x, p) + xp.round(x) + xp.sign(x) + xp.sin(x) + xp.sinh(x)
        + xp.sqrt(p) + xp.square(x) + xp.subtract(x, p) + xp.tan(x) + xp.tanh(x) + xp.trunc(x)
        + xp.abs(x) + xp.add(x, p) + xp.divide(x, p)
    ),
    "statistics": lambda xp, x, p: (
        xp.sum(x, axis=0) + xp.prod(x, axis=0) + xp.mean(x, axis=0) + xp.max(x, axis=0)
        + xp.min(x, axis=0) + xp.std(x, axis=0, correction=1.0) + xp.var(x, axis=0)
        + xp.cumulative_sum(x, axis=0)[1, :] + xp.cumulative_prod(x, axis=0)[1, :]
    ),
    "manipulation": lambda xp, x, p: xp.concat(
        [
            xp.reshape(x, (-1,)),
            xp.reshape(xp.flip(x, axis=0), (12,)),
            xp.reshape(xp.roll(x, 1, axis=1), (12,)),
            xp.reshape(xp.stack([x, p])[1, ...], (12,)),
            xp.reshape(xp.tile(x, (1, 2)), (24,)),
            xp.repeat(x[0, :], 2),
            xp.unstack(x)[1],
            xp.squeeze(xp.expand_dims(x[0, :], axis=0), axis=0),
            xp.reshape(xp.moveaxis(x, 0, 1), (12,)),
            xp.reshape(xp.permute_dims(x, (1, 0)), (12,)),
            xp.reshape(xp.tril(x) + xp.triu(x, k=1), (12,)),
            xp.reshape(xp.broadcast_arrays(x, p[0, :])[1], (12,)),
            xp.reshape(xp.meshgrid(x[0, :], p[0, :])[0], (16,)),
            xp.take(x, xp.asarray([0, 2]), axis=0)[0, :],
            xp.take_along_axis(x, xp.asarray([[0], [1], [2]]), axis=1)[:, 0],
            xp.diff(x, axis=1)[0, :],
        ]
    ),
    "search and order": lambda xp, x, p: (
        xp.sort(x, axis=0, descending=True)
        + xp.astype(xp.argsort(x, axis=0), xp.float64)
        + xp.astype(xp.argmax(x, axis=0) + xp.argmin(x, axis=0), xp.float64)
        + xp.where(x > 0, x, p)
    ),
    "creation": lambda xp, x, p: (
        xp.zeros_like(x) + xp.ones_like(x) * xp.full_like(x, 2.5) + xp.ones((3, 4)) * x
        + xp.arange(4.0) + xp.linspace(0.0, 1.0, 4) + xp.eye(3, 4) + xp.full((4,), xp.pi) + xp.e
        + xp.asarray([1.0, 2.0, 3.0, 4.0]) + xp.exp(xp.arange(4.0))
    ),
    "linear algebra": lambda xp, x, p: (
        xp.matmul(x, xp.matrix_transpose(p)) + xp.tensordot(x, p, axes=((1,), (1,)))
        + xp.linalg.outer(x[:, 0], p[:, 0]) + xp.vecdot(x, p) + xp.linalg.trace(x[:, :3])
        + xp.linalg.vector_norm(x, axis=1) + xp.linalg.diagonal(x)
        + xp.linalg.cross(x[:, :3], p[:, :3])
    ),
    "logic": lambda xp, x, p: xp.astype(
        (xp.isfinite(x) & ~xp.isnan(x) | xp.isinf(x)) ^ xp.logical_not(xp.less_equal(x, p)),
        xp.float64,
    )
    + xp.astype(xp.all(x > -9, axis=0) & xp.any(x > 0, axis=0), xp.float64)
    + xp.astype(xp.count_nonzero(x > 0, axis=0), xp.float64)
    + xp.astype(
        xp.logical_and(x > 0, p > 0.5) | xp.logical_or(x > 0, xp.logical_xor(x > 0, p > 1)),
        xp.float64,
    )
    + xp.astype(
        xp.equal(x, p) | xp.not_equal(x, p) | xp.signbit(x) | xp.greater_equal(x, p), xp.float64
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_that_the_strict_implementation_runs_gives_the_same(name):
    program = PROGRAMS[name]
    strict = program(array_api_strict, *(array_api_strict.asarray(a) for a in (X, P)))
    expected = np.asarray(strict)

    def loss(x, p):
        xp = x.__array_namespace__()
        result = program(xp, x, p)
        assert result.shape == expected.shape
        return (result * np.arange(1.0, expected.size + 1).reshape(expected.shape)).sum()

    graph, _ = traced(loss, {"x": X, "p": P})
    value = NumpyEvaluator().evaluate(graph, {"x": X, "p": P})["loss"]
    weights = np.arange(1.0, expected.size + 1).reshape(expected.shape)
    np.testing.assert_allclose(value, np.sum(expected * weights), rtol=1e-12)


def test_the_namespace_says_what_is_not_there():
    info = ARRAY_NAMESPACE.__array_namespace_info__()
    assert info.capabilities() == {
        "boolean indexing": False,
        "data-dependent shapes": False,
        "max dimensions": 64,
    }
    assert info.default_device() in info.devices()
    assert set(info.dtypes(kind="real floating")) == {"float16", "float32", "float64"}
    assert set(info.dtypes()) == {
        *("bool", "uint8", "uint32", "int32", "int64", "float16", "float32", "float64"),
    }
    assert info.default_dtypes()["real floating"] == np.float64
    assert ARRAY_NAMESPACE.isdtype(np.float32, "real floating")
    assert not ARRAY_NAMESPACE.isdtype(np.int32, "real floating")
    assert ARRAY_NAMESPACE.can_cast(np.float32, np.float64)
    assert ARRAY_NAMESPACE.result_type(np.float32, np.int64) == np.float32
    assert ARRAY_NAMESPACE.bool is np.bool_
    assert isinstance(ARRAY_NAMESPACE, ArrayNamespace)
    assert "traced tensors" in repr(ARRAY_NAMESPACE)
    assert ARRAY_NAMESPACE.broadcast_shapes((2, 1), (3,)) == (2, 3)
    with pytest.raises(AttributeError, match="fixed"):
        ARRAY_NAMESPACE.sin = None


def test_a_tensor_knows_its_namespace_and_device():
    def loss(x):
        assert x.__array_namespace__(api_version="2024.12") is ARRAY_NAMESPACE
        assert x.to_device(x.device) is x
        copied = ARRAY_NAMESPACE.asarray(x, copy=True)
        assert copied is not x
        assert ARRAY_NAMESPACE.asarray(x) is x
        return copied.sum()

    traced(loss, {"x": X})


@pytest.mark.parametrize("name", sorted(set().union(*ABSENT.values()) - {"fft"}))
def test_what_is_absent_says_so(name):
    with pytest.raises(CompilationError, match=name):
        getattr(ARRAY_NAMESPACE, name)
