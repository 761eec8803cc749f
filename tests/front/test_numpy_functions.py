"""Every NumPy function that is known: NumPy's value, and the difference quotient's derivative.

A row is a function of arrays, written with the function it is about. ``x`` and ``v`` are any
numbers, ``p`` positive ones, ``u`` from -1 to 1, ``s`` a stack, ``m`` square, ``c`` conditions,
``i`` integers.
"""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from scipy import special

from tests.front.test_front_door import weighted, weights_for
from tests.support.derivatives import check_gradients, traced
from tinychain_backends.numpy import NumpyEvaluator
from tinychain_compile import verify
from tinychain_compile.namespace.special import SPECIAL
from tinychain_compile.numpy_dispatch.functions import FUNCTIONS
from tinychain_compile.numpy_dispatch.ufuncs import REDUCTIONS, RUNNING, UFUNCS

RNG = np.random.default_rng(11)
ARRAYS = {
    "x": RNG.normal(size=(2, 3)),
    "z": RNG.normal(size=(2, 3)),
    "v": RNG.normal(size=3),
    "p": RNG.uniform(0.5, 2.0, size=(2, 3)),
    "q": RNG.uniform(0.5, 2.0, size=(2, 3)),
    "u": RNG.uniform(-0.9, 0.9, size=(2, 3)),
    "s": RNG.normal(size=(4, 2, 3)),
    "m": RNG.normal(size=(3, 3)),
    "c": np.array([[True, False, True], [False, False, True]]),
    "d": np.array([[True, True, False], [False, True, True]]),
    "i": np.array([[3, -1, 4], [1, -5, 9]]),
}
NAN = np.array([[1.0, np.nan, 3.0], [np.nan, 5.0, -1.0]])

UFUNC_ROWS = {
    np.add: lambda x, z: np.add(x, z),
    np.subtract: lambda x, z: np.subtract(x, z),
    np.multiply: lambda x, z: np.multiply(x, z),
    np.divide: lambda x, p: np.divide(x, p) + np.divide(2.0, p),
    np.floor_divide: lambda x, p: np.floor_divide(x, p) * x,
    np.remainder: lambda x, p: np.remainder(x, p) + np.remainder(x, -0.75),
    np.negative: lambda x: np.negative(x),
    np.positive: lambda x: np.positive(x),
    np.absolute: lambda x: np.absolute(x),
    np.fabs: lambda x: np.fabs(x),
    np.sign: lambda x: np.sign(x) * x,
    np.reciprocal: lambda p: np.reciprocal(p),
    np.square: lambda x: np.square(x),
    np.power: lambda p, x: np.power(p, x) + np.power(p, 0.5) + np.power(p, -0.5) + np.power(2.0, x),
    np.float_power: lambda p, x: np.float_power(p, x),
    np.hypot: lambda x, z: np.hypot(x, z) + np.hypot(x, 2.0),
    np.exp: lambda x: np.exp(x),
    np.exp2: lambda x: np.exp2(x),
    np.expm1: lambda x: np.expm1(x),
    np.log: lambda p: np.log(p),
    np.log1p: lambda p: np.log1p(p),
    np.log2: lambda p: np.log2(p),
    np.log10: lambda p: np.log10(p),
    np.logaddexp: lambda x, z: np.logaddexp(x, z) + np.logaddexp(x, 0.0),
    np.sqrt: lambda p: np.sqrt(p),
    np.cbrt: lambda x: np.cbrt(x),
    np.sin: lambda x: np.sin(x),
    np.cos: lambda x: np.cos(x),
    np.tan: lambda u: np.tan(u),
    np.arcsin: lambda u: np.arcsin(u),
    np.arccos: lambda u: np.arccos(u),
    np.arctan: lambda x: np.arctan(x),
    np.arctan2: lambda x, z: np.arctan2(x, z),
    np.sinh: lambda x: np.sinh(x),
    np.cosh: lambda x: np.cosh(x),
    np.tanh: lambda x: np.tanh(x),
    np.arcsinh: lambda x: np.arcsinh(x),
    np.arccosh: lambda p: np.arccosh(p + 1.0),
    np.arctanh: lambda u: np.arctanh(u),
    np.floor: lambda x: np.floor(x * 3) * x,
    np.ceil: lambda x: np.ceil(x * 3) * x,
    np.rint: lambda x: np.rint(x * 3) * x,
    np.trunc: lambda x: np.trunc(x * 3) * x,
    np.maximum: lambda x, z: np.maximum(x, z),
    np.minimum: lambda x, z: np.minimum(x, z),
    np.fmax: lambda x: np.fmax(x, NAN),
    np.fmin: lambda x: np.fmin(NAN, x),
    np.less: lambda x, z: np.less(x, z) * x,
    np.less_equal: lambda x, z: np.less_equal(x, z) * x,
    np.greater: lambda x, z: np.greater(x, z) * x,
    np.greater_equal: lambda x, z: np.greater_equal(x, z) * x,
    np.equal: lambda i, x: np.equal(i, 4) * x,
    np.not_equal: lambda i, x: np.not_equal(i, 4) * x,
    np.isfinite: lambda x: np.where(np.isfinite(x * np.inf), 1.0, x) + np.isfinite(x),
    np.isnan: lambda x: np.where(np.isnan(x * NAN), 1.0, x),
    np.isinf: lambda x: np.where(np.isinf(x / np.array([0.0, 1.0, 1.0])), 1.0, x),
    np.signbit: lambda x: np.signbit(x) * x,
    np.logical_not: lambda c, i: np.logical_not(c) * np.logical_not(i - 4) * 1.0,
    np.logical_and: lambda c, d, i: np.logical_and(c, d) * 1.0 + np.logical_and(i - 4, i - 1),
    np.logical_or: lambda c, d, i: np.logical_or(c, d) * 1.0 + np.logical_or(i - 4, c),
    np.logical_xor: lambda c, d: np.logical_xor(c, d) * 1.0,
    np.bitwise_and: lambda c, d: (c & d) * 1.0 + np.bitwise_and(c, True),
    np.bitwise_or: lambda c, d: (c | d) * 1.0 + (False | c),
    np.bitwise_xor: lambda c, d: (c ^ d) * 1.0 + (True ^ c),
    np.invert: lambda c: np.invert(c) * 1.0 + ~c,
    np.matmul: lambda x, m: np.matmul(x, m),
    np.vecdot: lambda x, z: np.vecdot(x, z),
    np.deg2rad: lambda x: np.deg2rad(x),
    np.radians: lambda x: np.radians(x),
    np.rad2deg: lambda x: np.rad2deg(x),
    np.degrees: lambda x: np.degrees(x),
}
SCIPY_ROWS = {
    "erf": lambda x: special.erf(x),
    "erfc": lambda x: special.erfc(x),
    "expit": lambda x: special.expit(x),
    "logit": lambda u: special.logit(u * 0.5 + 0.5),
    "log_expit": lambda x: special.log_expit(x),
    "xlogy": lambda x, p: special.xlogy(x, p) + special.xlogy(2.0, p),
    "xlog1py": lambda x, p: special.xlog1py(x, p),
    "entr": lambda p: special.entr(p),
    "exp2": lambda x: special.exp2(x),
    "cbrt": lambda x: special.cbrt(x),
    "ndtr": lambda x: special.ndtr(x),
}
METHOD_ROWS = {
    np.add.reduce: lambda x: np.add.reduce(x) + np.add.reduce(x, axis=1, keepdims=True),
    np.multiply.reduce: lambda x: np.multiply.reduce(x, axis=1),
    np.maximum.reduce: lambda x: np.maximum.reduce(x),
    np.minimum.reduce: lambda x: np.minimum.reduce(x),
    np.logical_and.reduce: lambda c: np.logical_and.reduce(c) * 1.0,
    np.logical_or.reduce: lambda c: np.logical_or.reduce(c) * 1.0,
    np.add.accumulate: lambda x: np.add.accumulate(x, axis=1),
    np.multiply.accumulate: lambda x: np.multiply.accumulate(x),
    np.multiply.outer: lambda x, v: np.multiply.outer(x, v),
}
FUNCTION_ROWS = {
    np.sum: lambda x: np.sum(x, axis=0) + np.sum(x, dtype=np.float64),
    np.prod: lambda x: np.prod(x, axis=0) + np.prod(x) + np.prod(x, 1, keepdims=True),
    np.mean: lambda x: np.mean(x, axis=1, keepdims=True),
    np.max: lambda x: np.max(x, axis=0),
    np.amax: lambda x: np.amax(x),
    np.min: lambda x, c: np.min(x, axis=0) + np.min(c, axis=0),
    np.amin: lambda x: np.amin(x, 1, keepdims=True),
    np.all: lambda c, i: np.all(c, axis=0) * 1.0 + np.all(i) + np.all(c, axis=1, keepdims=True),
    np.any: lambda c, i: np.any(c, axis=0) * 1.0 + np.any(i - 4, axis=0),
    np.ptp: lambda x: np.ptp(x, axis=1),
    np.count_nonzero: lambda i, c: np.count_nonzero(i, axis=0) + np.count_nonzero(c) * 1.0,
    np.var: lambda x: np.var(x) + np.var(x, axis=0, ddof=1) + np.var(x, 1, keepdims=True),
    np.std: lambda x: np.std(x, axis=0) + np.std(x, axis=1, correction=1, keepdims=True),
    np.average: lambda x, p, v: (
        np.average(x)
        + np.average(x, axis=0)
        + np.average(x, 1, weights=np.array([1.0, 2.0, 4.0])).sum()
        + np.average(v, weights=p[0])
        + np.average(x, axis=0, weights=p)
    ),
    np.median: lambda x, v: np.median(x, axis=0) + np.median(v) + np.median(x, keepdims=True),
    np.nansum: lambda x: np.nansum(x * NAN, axis=0),
    np.nanprod: lambda x: np.nanprod(x * NAN, axis=0),
    np.nanmax: lambda x: np.nanmax(x * NAN, axis=0),
    np.nanmin: lambda x: np.nanmin(x * NAN, axis=0),
    np.nanmean: lambda x: np.nanmean(x * NAN, axis=0) + np.nanmean(x * NAN),
    np.argmax: lambda x: np.argmax(x, axis=1) * 1.0 + np.argmax(x) + np.argmax(x, keepdims=True),
    np.argmin: lambda x, c: np.argmin(x, axis=0, keepdims=True) * 1.0 + np.argmin(c),
    np.sort: lambda x: np.sort(x) + np.sort(x, axis=0) + np.sort(x, axis=None).reshape(2, 3),
    np.argsort: lambda x: np.argsort(x) + np.argsort(x, axis=0, kind="stable") * 1.0,
    np.cumsum: lambda x: np.cumsum(x, axis=1) + np.cumsum(x).reshape(2, 3),
    np.cumprod: lambda x: np.cumprod(x, axis=0) + np.cumprod(x).reshape(2, 3),
    np.cumulative_sum: lambda x: np.cumulative_sum(x, axis=1, include_initial=True),
    np.cumulative_prod: lambda v: np.cumulative_prod(v, include_initial=True),
    np.diff: lambda x: (
        np.diff(x)[:, :1]
        + np.diff(x, n=2)
        + np.diff(x, axis=0)[:, :1]
        + np.diff(x, prepend=x[:, :1], append=x[:, :1])[:, 1:2]
    ),
    np.isin: lambda i, x: np.isin(i, [4, 9, -1]) * x + np.isin(i, 4, invert=True),
    np.linalg.norm: lambda x, v: (
        np.linalg.norm(x)
        + np.linalg.norm(v)
        + np.linalg.norm(x, axis=1, keepdims=True)
        + np.linalg.norm(v, ord=1)
        + np.linalg.norm(v, ord=3)
        + np.linalg.norm(v, ord=np.inf)
        + np.linalg.norm(v, -np.inf)
        + np.linalg.norm(v, ord=0)
        + np.linalg.norm(x, ord=1)
        + np.linalg.norm(x, ord=np.inf, keepdims=True)
        + np.linalg.norm(x, "fro", axis=(1, 0))
    ),
    np.linalg.vector_norm: lambda x: np.linalg.vector_norm(x, axis=1),
    np.linalg.matrix_norm: lambda s: np.linalg.matrix_norm(s) + np.linalg.matrix_norm(s, ord=1),
    np.linalg.matmul: lambda x, m: np.linalg.matmul(x, m),
    np.linalg.matrix_transpose: lambda s: np.linalg.matrix_transpose(s),
    np.linalg.outer: lambda v: np.linalg.outer(v, v),
    np.linalg.tensordot: lambda s, x: np.linalg.tensordot(s, x, axes=2),
    np.linalg.vecdot: lambda x, z: np.linalg.vecdot(x, z),
    np.linalg.trace: lambda m: np.linalg.trace(m, offset=1),
    np.linalg.diagonal: lambda s: np.linalg.diagonal(s, offset=1),
    np.linalg.cross: lambda x, z: np.linalg.cross(x, z),
    np.reshape: lambda x: np.reshape(x, (3, -1)),
    np.ravel: lambda x: np.ravel(x),
    np.transpose: lambda s: np.transpose(s, (2, 0, 1)),
    np.permute_dims: lambda s: np.permute_dims(s, (2, 0, 1)),
    np.matrix_transpose: lambda s: np.matrix_transpose(s),
    np.moveaxis: lambda s: np.moveaxis(s, 0, -1) + np.moveaxis(s, (0, 1), (2, 0)),
    np.swapaxes: lambda s: np.swapaxes(s, 0, -1),
    np.broadcast_to: lambda v: np.broadcast_to(v, (2, 3)),
    np.broadcast_arrays: lambda x, v: np.broadcast_arrays(x, v)[1],
    np.expand_dims: lambda x: np.expand_dims(x, (0, 2)),
    np.squeeze: lambda x: np.squeeze(x[:1]) + np.squeeze(x[:1], axis=0),
    np.atleast_1d: lambda v: np.atleast_1d(v.sum()),
    np.atleast_2d: lambda v, x: np.atleast_2d(v) + np.atleast_2d(v, x)[1],
    np.concatenate: lambda x, m: np.concatenate([x, m]) * np.concatenate((m, x), axis=0),
    np.concat: lambda x, z: np.concat([x, z, x], axis=1) + np.concat([x, z, x], axis=None)[0],
    np.stack: lambda x, z: np.stack([x, z]) + np.stack((x, z, z), axis=-1)[..., 1:].sum(),
    np.unstack: lambda x: np.unstack(x)[1] + np.unstack(x, axis=1)[2].sum(),
    np.vstack: lambda x, v: np.vstack([x, v]),
    np.hstack: lambda x, z, v: np.hstack([x, z]) + np.hstack([v, v])[0],
    np.column_stack: lambda x, v: np.column_stack([x.T, v]),
    np.split: lambda x, v: np.split(x, 3, axis=1)[1] + np.split(v, [1, 2])[2],
    np.array_split: lambda v: np.array_split(v, 2)[0] * np.array_split(v, [2])[1],
    np.vsplit: lambda x: np.vsplit(x, 2)[1],
    np.pad: lambda x, i: (
        np.pad(x, ((1, 0), (0, 2)), constant_values=3.0)[:, :4]
        + np.pad(x, 1)[:3, :4]
        + np.pad(i, 1)[:3, :4]
    ),
    np.flip: lambda x: np.flip(x) + np.flip(x, axis=1),
    np.flipud: lambda x: np.flipud(x),
    np.fliplr: lambda x: np.fliplr(x),
    np.roll: lambda x: np.roll(x, 2) + np.roll(x, -1, axis=1) + np.roll(x, (1, 1), axis=(0, 1)),
    np.repeat: lambda x: np.repeat(x, 2).sum() + np.repeat(x, 3, axis=1),
    np.tile: lambda x: np.tile(x, (2, 1, 2)) + np.tile(x, 2),
    np.tril: lambda m, s: np.tril(m) + np.tril(m, k=1) + np.tril(s, -1).sum(),
    np.triu: lambda m, c: np.triu(m) + np.triu(m, k=-1) + np.triu(c).sum(),
    np.diagonal: lambda m, s: np.diagonal(m) + np.diagonal(s, 1, 1, 2).sum(),
    np.diag: lambda v, m: np.diag(v) + np.diag(v, 2)[:3, :3] + np.diag(v, -1)[1:, 1:] + np.diag(m),
    np.trace: lambda m, s: np.trace(m) + np.trace(m, offset=-1) + np.trace(s, 0, 1, 2),
    np.meshgrid: lambda v: np.meshgrid(v, v * 2)[1] + np.meshgrid(v, v, indexing="ij")[0],
    np.where: lambda c, x, z: np.where(c, x, z) + np.where(c, c, ~c) + np.where(x, x, 1.0),
    np.select: lambda c, d, x: np.select([c, d], [x, 2 * x], default=3.0),
    np.take: lambda x: np.take(x, [2, 0], axis=1) + np.take(x, -1, axis=0)[:2],
    np.take_along_axis: lambda x: np.take_along_axis(x, np.array([[2], [0]]), axis=1),
    np.clip: lambda x, v: (
        np.clip(x, -0.5, 0.5)
        + np.clip(x, None, v)
        + np.clip(x, 0.1, None)
        + x.clip(min=-0.2)
        + np.clip(x, min=-0.3, max=v + 5.0)
    ),
    np.round: lambda x: np.round(x) * x + np.round(x, 1),
    np.around: lambda x: np.around(x, 2) * x,
    np.nan_to_num: lambda x: np.nan_to_num(x * NAN, nan=2.0),
    np.isclose: lambda x: np.isclose(x, x + 1e-9) * x,
    np.real: lambda x: np.real(x),
    np.copy: lambda x: np.copy(x),
    np.dot: lambda x, m, s: np.dot(x, m) + np.dot(x, np.swapaxes(s, 1, 2)).sum(),
    np.vdot: lambda x, z: np.vdot(x, z),
    np.inner: lambda x, m: np.inner(x, m) + np.inner(2.0, x).sum(),
    np.outer: lambda x, v: np.outer(x, v),
    np.tensordot: lambda s, x, m: (
        np.tensordot(s, x, axes=2)
        + np.tensordot(s, x, axes=([1, 2], [0, 1]))
        + np.tensordot(x, m, axes=1).sum()
        + np.tensordot(x, m, axes=0).sum()
    ),
    np.einsum: lambda x, m, s: (
        np.einsum("ij,jk->ik", x, m)
        + np.einsum("ij,jk", x, m)
        + np.einsum("...ij,jk->...ik", s, m)[0]
        + np.einsum("ii->i", m)
        + np.einsum("ii", m)
        + np.einsum("kij->ij", s)
        + np.einsum("i...->...", x)
        + np.einsum("bij,bkj->ik", s, s).sum()
        + np.einsum("ij,ij,jk->ik", x, x, m)
        + np.einsum("i,ij->ij", np.ones(1), x)
    ),
    np.kron: lambda x, v: np.kron(x, v) + np.kron(v, x),
    np.cross: lambda x, z: np.cross(x, z),
    np.sinc: lambda x: np.sinc(x) + np.sinc(x * 0.0),
    np.zeros_like: lambda x: np.zeros_like(x) + x,
    np.ones_like: lambda x: np.ones_like(x) * x + np.ones_like(x, dtype=np.int64),
    np.empty_like: lambda x: np.where(x < np.inf, x, np.empty_like(x)),
    np.full_like: lambda x: np.full_like(x, 2.5) * x,
    np.astype: lambda i, x: np.astype(i, np.float64) * x,
    np.shape: lambda x: x * np.shape(x)[1],
    np.ndim: lambda x: x * np.ndim(x),
    np.size: lambda x: x * np.size(x) * np.size(x, 0),
    np.result_type: lambda x: x.astype(np.result_type(x, np.float32)),
}
METHODS = {
    "min": lambda x: x.min() + x.min(axis=1, keepdims=True),
    "prod": lambda x: x.prod(axis=0),
    "var": lambda x: x.var(axis=0, ddof=1),
    "std": lambda x: x.std(),
    "all": lambda c: c.all() * 1.0,
    "any": lambda c: c.any(axis=0) * 1.0,
    "argmax": lambda x: x.argmax(axis=1) * 1.0,
    "argmin": lambda x: x.argmin() * 1.0,
    "argsort": lambda x: x.argsort(axis=0) * 1.0,
    "cumsum": lambda x: x.cumsum(axis=1),
    "cumprod": lambda x: x.cumprod(),
    "clip": lambda x: x.clip(-0.5, 0.5),
    "round": lambda x: x.round(1) * x,
    "repeat": lambda x: x.repeat(2, axis=0),
    "take": lambda x: x.take([1, 0], axis=1),
    "diagonal": lambda m: m.diagonal(1),
    "trace": lambda m: m.trace(),
    "copy": lambda x: x.copy(),
    "T": lambda x: x.T @ x,
    "mT": lambda s: s.mT,
}
ROWS = {
    **{f"np.{f.__name__}": row for f, row in UFUNC_ROWS.items()},
    **{f"special.{name}": row for name, row in SCIPY_ROWS.items()},
    **{f"method {i}": row for i, row in enumerate(METHOD_ROWS.values())},
    **{f"{f.__module__}.{f.__name__}": row for f, row in FUNCTION_ROWS.items()},
    **{f"x.{name}": row for name, row in METHODS.items()},
}


@pytest.mark.parametrize("name", ROWS)
def test_the_value_is_numpys_and_the_derivative_the_difference_quotients(name):
    function = ROWS[name]
    names = list(inspect.signature(function).parameters)
    arrays = {n: ARRAYS[n] for n in names}
    with np.errstate(all="ignore"):
        expected = np.asarray(function(**arrays))

    def loss(**tensors):
        result = function(**tensors)
        dtype = np.result_type(result)
        assert dtype == expected.dtype, f"{dtype} where NumPy has {expected.dtype}"
        return weighted(result, expected.shape)

    graph, ids = traced(loss, arrays)
    verify(graph)
    value = NumpyEvaluator().evaluate(graph, arrays)["loss"]
    np.testing.assert_allclose(
        value, np.sum(expected * weights_for(expected.shape)), rtol=1e-12, atol=1e-12
    )
    floating = [n for n in names if arrays[n].dtype == np.float64]
    if floating:
        check_gradients(graph, arrays, floating, ids, "d")


def test_python_rounds_a_tensor_as_numpy_does():
    def loss(x, i):
        return (round(x) * 2.0 + round(i)).sum()

    arrays = {"x": ARRAYS["x"] * 3, "i": ARRAYS["i"]}
    graph, _ = traced(loss, arrays)
    value = NumpyEvaluator().evaluate(graph, arrays)["loss"]
    np.testing.assert_allclose(value, (np.round(arrays["x"]) * 2.0 + arrays["i"]).sum())


def test_every_function_that_is_known_has_a_row():
    assert set(UFUNC_ROWS) == set(UFUNCS)
    assert set(SCIPY_ROWS) == set(SPECIAL)
    assert set(FUNCTION_ROWS) == set(FUNCTIONS)
    assert set(METHOD_ROWS) == {
        *(f.reduce for f in REDUCTIONS),
        *(f.accumulate for f in RUNNING),
        np.multiply.outer,
    }
