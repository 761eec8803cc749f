"""The workloads that benchmarks measure and oracles check, as NumPy losses and as JAX writes them.

The JAX losses import JAX when they are called.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tinychain_compile import SGD, AdamW, InputSpec, TensorType, flatten, unflatten
from tinychain_compile.functions import (
    attention,
    conv,
    gelu,
    layer_norm,
    log_softmax,
    max_pool,
    relu,
    softmax_cross_entropy,
)

Array = np.ndarray[Any, Any]


OPTIMIZERS = ("adamw", "momentum", "sgd", "frozen")
"""The optimizers by name; the last is plain SGD whose rate is written into the program."""

FROZEN_RATE = 0.001


@dataclass(frozen=True)
class Workload:
    """A loss with its types.

    Args:
        name: As in reports.
        description: What it is.
        loss: For us: takes every input by keyword.
        jax_loss: The same for JAX: takes the parameters as one structure, and the rest by keyword.
        inputs: The type of each input, nested.
        parameters: The names to differentiate by; prefixes stand for all below them.
        classes: What integer inputs stay below.
        optimizer: Its name, of ``OPTIMIZERS``.
    """

    name: str
    description: str
    loss: Callable[..., Any]
    jax_loss: Callable[..., Any]
    inputs: Mapping[str, InputSpec]
    parameters: tuple[str, ...]
    classes: int
    optimizer: str = "adamw"

    def arrays(self, seed: int = 0) -> dict[str, Array]:
        """Return seeded inputs by flat name: small weights, normal data, random classes."""
        rng = np.random.default_rng(seed)
        made: dict[str, Array] = {}
        for name, type in flatten(self.inputs).items():
            if type.dtype.kind == "i":
                made[name] = rng.integers(self.classes, size=type.shape, dtype=type.dtype)
            else:
                scale = 1.0 if name == "x" else (1.0 / max(type.shape[0], 16)) ** 0.5
                offset = 1.0 if name.endswith("scale") else 0.0
                drawn: Array = rng.normal(size=type.shape) * scale + offset
                made[name] = drawn.astype(type.dtype)
        return made

    @property
    def is_frozen(self) -> bool:
        """Whether the learning rate is a number in the program."""
        return self.optimizer == "frozen"

    def our_optimizer(self) -> AdamW | SGD:
        """Return the optimizer, its rate a runtime input, unless it is frozen."""
        made: dict[str, AdamW | SGD] = {
            "adamw": AdamW(),
            "momentum": SGD(momentum=0.9),
            "sgd": SGD(),
            "frozen": SGD(learning_rate=FROZEN_RATE, frozen="learning_rate"),
        }
        return made[self.optimizer]

    def jax_optimizer(self, rate: Any) -> Any:
        """Return the same of Optax."""
        import optax

        if self.optimizer == "adamw":
            return optax.adamw(rate, weight_decay=0.01)
        return optax.sgd(rate, momentum=0.9 if self.optimizer == "momentum" else None)

    def jax_step(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        """Return the whole step as JAX writes it, and the types of its arguments."""
        import jax
        import jax.numpy as jnp
        import optax

        spec: Any = jax.ShapeDtypeStruct
        leaves = {n: spec(t.shape, t.dtype) for n, t in flatten(self.inputs).items()}
        parameters, batch = self.structured(leaves)

        def step(parameters: Any, state: Any, batch: Any, rate: Any) -> Any:
            loss, gradients = jax.value_and_grad(self.jax_loss)(parameters, **batch)
            updates, state = self.jax_optimizer(rate).update(gradients, state, parameters)
            return loss, optax.apply_updates(parameters, updates), state

        state = jax.eval_shape(self.jax_optimizer(0.1).init, parameters)
        return step, (parameters, state, batch, spec((), jnp.float32))

    def structured(self, arrays: Mapping[str, Array]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return arrays by flat name as the two structures that the JAX loss takes."""
        nested = unflatten(arrays)
        parameters = {name: nested.pop(name) for name in self.parameters}
        return parameters, nested


# W1.


def _mlp_loss(x: Any, labels: Any, w1: Any, b1: Any, w2: Any, b2: Any, w3: Any, b3: Any) -> Any:
    hidden = relu(x @ w1 + b1)
    hidden = relu(hidden @ w2 + b2)
    scores = log_softmax(hidden @ w3 + b3, axis=1)
    return -np.mean(np.take_along_axis(scores, labels[:, None], axis=1))


def _mlp_jax(parameters: Any, x: Any, labels: Any) -> Any:
    import jax
    import jax.numpy as jnp

    hidden = x
    for layer in (1, 2):
        hidden = jax.nn.relu(hidden @ parameters[f"w{layer}"] + parameters[f"b{layer}"])
    scores = jax.nn.log_softmax(hidden @ parameters["w3"] + parameters["b3"], axis=1)
    return -jnp.mean(jnp.take_along_axis(scores, labels[:, None], axis=1))


def mlp(
    dtype: str = "f32", batch: int = 128, sizes: tuple[int, ...] = (784, 512, 512, 10)
) -> Workload:
    """Return W1: a network 784-512-512-10 with cross-entropy, batch 128."""
    parameters: dict[str, TensorType] = {}
    for layer in (1, 2, 3):
        parameters[f"w{layer}"] = TensorType(dtype, (sizes[layer - 1], sizes[layer]))
        parameters[f"b{layer}"] = TensorType(dtype, (sizes[layer],))
    data = {"x": TensorType(dtype, (batch, sizes[0])), "labels": TensorType("i32", (batch,))}
    return Workload(
        "W1",
        f"MLP {'-'.join(map(str, sizes))}, batch {batch}",
        _mlp_loss,
        _mlp_jax,
        data | parameters,
        tuple(parameters),
        sizes[-1],
    )


# W2.


def _cnn_loss(x: Any, labels: Any, k1: Any, c1: Any, k2: Any, c2: Any, w: Any, b: Any) -> Any:
    hidden = max_pool(relu(conv(x, k1, padding="same") + c1[:, None, None]), 2)
    hidden = max_pool(relu(conv(hidden, k2, padding="same") + c2[:, None, None]), 2)
    scores = hidden.reshape(hidden.shape[0], -1) @ w + b
    return np.mean(softmax_cross_entropy(scores, labels))


def _cnn_jax(parameters: Any, x: Any, labels: Any) -> Any:
    import jax
    import jax.numpy as jnp

    def block(x: Any, kernel: Any, bias: Any) -> Any:
        y = jax.lax.conv_general_dilated(x, kernel, (1, 1), "SAME") + bias[:, None, None]
        window = (1, 1, 2, 2)
        y = jax.nn.relu(y)
        return jax.lax.reduce_window(y, -jnp.inf, jax.lax.max, window, window, "VALID")

    hidden = block(x, parameters["k1"], parameters["c1"])
    hidden = block(hidden, parameters["k2"], parameters["c2"])
    scores = hidden.reshape(hidden.shape[0], -1) @ parameters["w"] + parameters["b"]
    logs = jax.nn.log_softmax(scores, axis=1)
    return -jnp.mean(jnp.take_along_axis(logs, labels[:, None], axis=1))


def cnn(
    dtype: str = "f32", batch: int = 64, size: int = 28, channels: tuple[int, int] = (16, 32)
) -> Workload:
    """Return W2: two convolutions with pooling, and a linear classifier, batch 64."""
    first, second = channels
    flat = second * (size // 4) ** 2
    parameters = {
        "k1": TensorType(dtype, (first, 1, 3, 3)),
        "c1": TensorType(dtype, (first,)),
        "k2": TensorType(dtype, (second, first, 3, 3)),
        "c2": TensorType(dtype, (second,)),
        "w": TensorType(dtype, (flat, 10)),
        "b": TensorType(dtype, (10,)),
    }
    data = {"x": TensorType(dtype, (batch, 1, size, size)), "labels": TensorType("i32", (batch,))}
    return Workload(
        "W2",
        f"CNN, two conv + pool, {size} x {size}, batch {batch}",
        _cnn_loss,
        _cnn_jax,
        data | parameters,
        tuple(parameters),
        10,
        optimizer="momentum",
    )


# W3.


def _gpt_loss(tokens: Any, targets: Any, model: Any, heads: int) -> Any:
    batch, length = tokens.shape
    hidden = np.take(model["tokens"], tokens, axis=0) + model["positions"]
    width = hidden.shape[-1]
    for block in model["blocks"]:
        normal = layer_norm(hidden, block["scale1"], block["bias1"])
        mixed = (normal @ block["qkv"]).reshape(batch, length, 3, heads, width // heads)
        q, k, v = np.transpose(mixed, (2, 0, 3, 1, 4))
        seen = np.swapaxes(attention(q, k, v, is_causal=True), 1, 2)
        hidden = hidden + seen.reshape(batch, length, width) @ block["out"]
        normal = layer_norm(hidden, block["scale2"], block["bias2"])
        hidden = hidden + gelu(normal @ block["up"] + block["up_bias"]) @ block["down"]
    normal = layer_norm(hidden, model["scale"], model["bias"])
    return np.mean(softmax_cross_entropy(normal @ model["tokens"].T, targets))


def _gpt_jax(parameters: Any, tokens: Any, targets: Any, heads: int) -> Any:
    import jax
    import jax.numpy as jnp

    model = parameters["model"]

    def normalize(x: Any, scale: Any, bias: Any) -> Any:
        mean = x.mean(-1, keepdims=True)
        variance = ((x - mean) ** 2).mean(-1, keepdims=True)
        return (x - mean) * jax.lax.rsqrt(variance + 1e-5) * scale + bias

    batch, length = tokens.shape
    hidden = model["tokens"][tokens] + model["positions"]
    width = hidden.shape[-1]
    seen = jnp.tril(jnp.ones((length, length), bool))
    for block in model["blocks"]:
        normal = normalize(hidden, block["scale1"], block["bias1"])
        mixed = (normal @ block["qkv"]).reshape(batch, length, 3, heads, width // heads)
        q, k, v = jnp.transpose(mixed, (2, 0, 3, 1, 4))
        agreement = q @ k.swapaxes(-1, -2) * (width // heads) ** -0.5
        weights = jax.nn.softmax(jnp.where(seen, agreement, -jnp.inf), axis=-1)
        joined = (weights @ v).swapaxes(1, 2).reshape(batch, length, width)
        hidden = hidden + joined @ block["out"]
        normal = normalize(hidden, block["scale2"], block["bias2"])
        inner = jax.nn.gelu(normal @ block["up"] + block["up_bias"], approximate=False)
        hidden = hidden + inner @ block["down"]
    normal = normalize(hidden, model["scale"], model["bias"])
    logs = jax.nn.log_softmax(normal @ model["tokens"].T, axis=-1)
    return -jnp.mean(jnp.take_along_axis(logs, targets[..., None], axis=-1))


def gpt(
    dtype: str = "f32",
    batch: int = 4,
    length: int = 128,
    layers: int = 12,
    width: int = 256,
    heads: int = 8,
    vocabulary: int = 1000,
) -> Workload:
    """Return W3: a decoder with causal attention and tied embeddings, 12 layers of width 256."""

    def of(*shape: int) -> TensorType:
        return TensorType(dtype, shape)

    def block() -> dict[str, TensorType]:
        return {
            "scale1": of(width),
            "bias1": of(width),
            "qkv": of(width, 3 * width),
            "out": of(width, width),
            "scale2": of(width),
            "bias2": of(width),
            "up": of(width, 4 * width),
            "up_bias": of(4 * width),
            "down": of(4 * width, width),
        }

    model: dict[str, InputSpec] = {
        "tokens": of(vocabulary, width),
        "positions": of(length, width),
        "blocks": [block() for _ in range(layers)],
        "scale": of(width),
        "bias": of(width),
    }
    positions = TensorType("i32", (batch, length))

    def loss(tokens: Any, targets: Any, model: Any) -> Any:
        return _gpt_loss(tokens, targets, model, heads)

    def jax_loss(parameters: Any, tokens: Any, targets: Any) -> Any:
        return _gpt_jax(parameters, tokens, targets, heads)

    return Workload(
        "W3",
        f"GPT-like, {layers} layers, width {width}, sequence {length}, batch {batch}",
        loss,
        jax_loss,
        {"tokens": positions, "targets": positions, "model": model},
        ("model",),
        vocabulary,
    )


# W4.


def chain(length: int) -> Workload:
    """Return W4: ``x = tanh(x * w + b)`` so many times, three operations each."""

    def loss(x: Any, w: Any, b: Any) -> Any:
        for _ in range(length):
            x = np.tanh(x * w + b)
        return np.sum(x)

    def jax_loss(parameters: Any, x: Any) -> Any:
        import jax.numpy as jnp

        for _ in range(length):
            x = jnp.tanh(x * parameters["w"] + parameters["b"])
        return jnp.sum(x)

    types = dict.fromkeys(("x", "w", "b"), TensorType("f32", (8,)))
    return Workload(
        f"W4 {length}",
        f"chain of {length:,} tanh(x * w + b)",
        loss,
        jax_loss,
        types,
        ("w", "b"),
        1,
        optimizer="momentum",
    )


# W5.


def many(count: int = 1_000) -> Workload:
    """Return W5: so many parameters, each with a term of its own, and AdamW."""

    def loss(x: Any, p: Any) -> Any:
        total = np.sum(np.tanh(x * p[0]))
        for w in p[1:]:
            total = total + np.sum(np.tanh(x * w))
        return total

    def jax_loss(parameters: Any, x: Any) -> Any:
        import jax.numpy as jnp

        first, *others = parameters["p"]
        total = jnp.sum(jnp.tanh(x * first))
        for w in others:
            total = total + jnp.sum(jnp.tanh(x * w))
        return total

    type = TensorType("f32", (8,))
    return Workload(
        "W5",
        f"{count:,} parameters, AdamW",
        loss,
        jax_loss,
        {"x": type, "p": [type] * count},
        ("p",),
        1,
    )
