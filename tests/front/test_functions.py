"""``tinychain_compile.functions``: arrays in, arrays out; traced tensors in, one operator out."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

from tests.support.derivatives import check_gradients, traced
from tinychain_backends.numpy import NumpyContainer, NumpyEvaluator, NumpySession
from tinychain_compile import SGD, functions
from tinychain_compile.errors import ShapeMismatchError

f = functions
RNG = np.random.default_rng(21)
ARRAYS = {
    "x": RNG.normal(size=(3, 4)),
    "image": RNG.normal(size=(2, 4, 6, 5)),
    "kernel": RNG.normal(size=(6, 2, 3, 2)),
    "last": RNG.normal(size=(2, 6, 5, 4)),
    "kernel_last": RNG.normal(size=(3, 2, 2, 6)),
    "signal": RNG.normal(size=(2, 3, 9)),
    "taps": RNG.normal(size=(4, 3, 3)),
    "scale": RNG.uniform(0.5, 2.0, size=4),
    "bias": RNG.normal(size=4),
    "variance": RNG.uniform(0.5, 2.0, size=4),
    "q": RNG.normal(size=(2, 3, 4)),
    "k": RNG.normal(size=(2, 5, 4)),
    "v": RNG.normal(size=(2, 5, 2)),
    "mask": RNG.random((3, 5)) < 0.7,
    "labels": np.array([2, 0, 3]),
    "key": np.array([7, 9], np.uint32),
}
ROWS = {
    "relu": lambda x: f.relu(x),
    "leaky_relu": lambda x: f.leaky_relu(x, 0.2),
    "elu": lambda x: f.elu(x, 1.3),
    "gelu": lambda x: f.gelu(x) + f.gelu(x, approximate=True),
    "silu": lambda x: f.silu(x),
    "sigmoid": lambda x: f.sigmoid(x),
    "softplus": lambda x: f.softplus(x),
    "erf": lambda x: f.erf(x),
    "softmax": lambda x: f.softmax(x) + f.softmax(x, axis=0),
    "log_softmax": lambda x: f.log_softmax(x) + f.log_softmax(x, axis=0),
    "logsumexp": lambda x: f.logsumexp(x) + f.logsumexp(x, axis=[0, 1], keepdims=True),
    "softmax_cross_entropy": lambda x, labels: f.softmax_cross_entropy(x, labels),
    "take": lambda x, labels: f.take(x, labels, axis=1) + f.take(np.eye(4), labels)[:, :3],
    "one_hot": lambda labels: f.one_hot(labels, 4) + f.one_hot(labels, 4, np.float32),
    "top_k": lambda x: f.top_k(x, 2)[0] * f.top_k(x, 2)[1] + f.top_k(x, 2, axis=0)[0][:1, :2],
    "conv": lambda image, kernel, last, kernel_last, signal, taps: (
        f.conv(image, kernel, groups=2)
        + f.conv(image, kernel, groups=2, strides=(2, 1), padding="same")[:, :, :1, :1]
        + f.conv(last, kernel_last, groups=2, layout="NHWC").transpose(0, 3, 1, 2)
        + f.conv(signal, taps, dilations=2, padding=[(1, 2)]).sum()
        + f.conv(image, kernel, groups=2, padding=(1, 0), dilations=(2, 1)).sum()
        + f.conv(image, kernel, groups=2, padding="valid").sum()
    ),
    "max_pool": lambda image, last: (
        f.max_pool(image, 2)
        + f.max_pool(image, (3, 2), strides=(1, 2), padding="same").sum()
        + f.max_pool(last, 2, layout="NHWC").sum()
    ),
    "avg_pool": lambda image, last: (
        f.avg_pool(image, 2)
        + f.avg_pool(image, (3, 2), strides=2, padding=1).sum()
        + f.avg_pool(last, 2, layout="NHWC").sum()
    ),
    "layer_norm": lambda x, scale, bias: f.layer_norm(x, scale, bias, epsilon=0.1),
    "rms_norm": lambda x, scale: f.rms_norm(x, scale, epsilon=0.1),
    "batch_norm": lambda image, last, scale, bias: (
        f.batch_norm(image, scale, bias) + f.batch_norm(last, scale, bias, axis=-1).sum()
    ),
    "batch_norm_inference": lambda image, scale, bias, variance: f.batch_norm_inference(
        image, scale, bias, bias * 0.5, variance
    ),
    "running_statistics": lambda image, bias, variance: (
        f.running_statistics(image, bias, variance)[0]
        + f.running_statistics(image, bias, variance, momentum=0.3)[1]
    ),
    "attention": lambda q, k, v, mask: (
        f.attention(q, k, v)
        + f.attention(q, k, v, mask=mask, scale=0.3)
        + f.attention(q, k, v, is_causal=True)
    ),
    "random_bits": lambda key: f.random_bits(key, (3, 2)),
    "random_uniform": lambda key: f.random_uniform(key, (3, 2)) + f.random_uniform(key, (2,), "f4"),
    "dropout": lambda x, key: f.dropout(x, key, 0.4),
    "named": lambda x: f.named(x, "hidden") * 2.0,
    "stop_gradient": lambda x: f.stop_gradient(x) * 2.0,
}


def test_every_public_function_has_a_row():
    assert set(ROWS) == set(functions.__all__)


@pytest.mark.parametrize("name", ROWS)
def test_the_same_text_agrees_on_arrays_and_traced(name):
    function = ROWS[name]
    names = list(inspect.signature(function).parameters)
    arrays = {n: ARRAYS[n] for n in names}
    expected = np.asarray(function(**arrays))
    weights = np.random.default_rng(1).normal(size=expected.shape)

    def loss(**tensors):
        result = function(**tensors)
        assert result.shape == expected.shape
        assert result.dtype == expected.dtype
        return (result.astype(np.float64) * weights).sum()

    graph, ids = traced(loss, arrays)
    value = NumpyEvaluator().evaluate(graph, arrays)["loss"]
    np.testing.assert_allclose(value, np.sum(expected * weights), rtol=1e-12)
    stopped = {"running_statistics": ["image"], "stop_gradient": ["x"], "one_hot": []}
    floating = [
        n for n in names if arrays[n].dtype == np.float64 and n not in stopped.get(name, ())
    ]
    if floating:
        check_gradients(graph, arrays, floating, ids, "seed")


@pytest.mark.parametrize("name", ["relu", "gelu", "softmax", "layer_norm", "attention", "conv"])
def test_f32_arrays_stay_f32(name):
    function = ROWS[name]
    names = list(inspect.signature(function).parameters)
    arrays = {
        n: ARRAYS[n].astype(np.float32) if ARRAYS[n].dtype == np.float64 else ARRAYS[n]
        for n in names
    }
    assert function(**arrays).dtype == np.float32


def test_tensors_of_two_dtypes_meet():
    arrays = {
        "x": ARRAYS["x"].astype(np.float32),
        "scale": ARRAYS["scale"],
        "bias": ARRAYS["bias"].astype(np.float32),
    }
    graph, _ = traced(lambda **t: f.layer_norm(**t).sum(), arrays)
    assert graph.output("loss").type.dtype == np.float64


@pytest.mark.parametrize(
    ("use", "parts"),
    [
        (lambda x: f.conv(x, x), ["spatial"]),
        (lambda x: f.conv(x[None, None], x), ["spatial"]),
        (lambda x: f.conv(x[None, None], x[None, None], strides=(1, 1, 1)), ["one number, or 2"]),
        (lambda x: f.conv(x[None, None], x[None, None], padding="full"), ["full"]),
        (lambda x: f.max_pool(x[None, None], 2, padding=2), ["padding"]),
        (lambda x: f.avg_pool(x[None, None], 9), ["window"]),
        (lambda x: f.conv(x[None], x[None], groups=2), ["groups"]),
    ],
)
def test_windows_that_do_not_fit_are_named(use, parts):
    with pytest.raises(ShapeMismatchError) as caught:
        traced(lambda x: use(x).sum(), {"x": ARRAYS["x"]})
    for part in (*parts, "test_functions.py"):
        assert part in str(caught.value)


class TestDropout:
    def loss(self, x, key):
        dropped = f.dropout(x, key, 0.5)
        return (dropped * dropped).sum()

    def session(self):
        x = np.ones((50, 40))
        step = (
            NumpyContainer()
            .compiler()
            .compile_training_step(
                self.loss,
                inputs={"x": x, "key": ARRAYS["key"]},
                parameters=["x"],
                optimizer=SGD(),
            )
        )
        return NumpySession(step, {"x": x}), x

    def test_forward_and_derivative_drop_the_same(self):
        session, x = self.session()
        for key in (np.array([1, 2], np.uint32), np.array([1, 3], np.uint32)):
            _, gradients = session.value_and_gradients({"key": key})
            dropped = f.dropout(x, key, 0.5)
            np.testing.assert_array_equal(gradients["x"], 2 * dropped / 0.5)
            assert 0.45 < np.mean(dropped == 0) < 0.55

    def test_another_key_drops_others_and_the_same_key_the_same(self):
        first, second = (f.dropout(np.ones(1000), np.array([1, k], np.uint32), 0.5) for k in (1, 2))
        assert 0.4 < np.mean(first == second) < 0.6
        again = f.dropout(np.ones(1000), np.array([1, 1], np.uint32), 0.5)
        np.testing.assert_array_equal(first, again)


def test_random_bits_are_the_published_answers():
    """Known-answer tests of Random123 for threefry2x32-20, and uniform moments."""
    from tinychain_compile.functions.random import _threefry

    zero, ones = np.zeros(1, np.uint32), np.full(1, 0xFFFFFFFF, np.uint32)
    answers = [
        ((0, 0), zero, zero, (0x6B200159, 0x99BA4EFE)),
        ((0xFFFFFFFF, 0xFFFFFFFF), ones, ones, (0x1CB996FC, 0xBB002BE7)),
        (
            (0x13198A2E, 0x03707344),
            np.array([0x243F6A88], np.uint32),
            np.array([0x85A308D3], np.uint32),
            (0xC4923A9C, 0x483DF7A0),
        ),
    ]
    for key, a, b, expected in answers:
        words = _threefry(np.array(key, np.uint32), a, b)
        assert tuple(int(w[0]) for w in words) == expected
    numbers = f.random_uniform(np.array([3, 4], np.uint32), (100_000,), np.float32)
    assert numbers.min() >= 0
    assert numbers.max() < 1
    np.testing.assert_allclose([numbers.mean(), numbers.var()], [1 / 2, 1 / 12], atol=2e-3)
