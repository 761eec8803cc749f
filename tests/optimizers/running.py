"""Runs an optimizer of ours through a scenario."""

from __future__ import annotations

import numpy as np

from tests.optimizers.scenarios import SHAPES, gradients, start
from tinychain_backends.numpy import NumpyContainer, NumpySession
from tinychain_compile import SGD, CompileOptions, TensorType


def loss(w, b, gw, gb):
    return np.sum(w * gw) + np.sum(b * gb)


def compiled_for_gradients(optimizer, container=NumpyContainer, dtype="f64", **options):
    types = {name: TensorType(dtype, shape) for name, shape in SHAPES.items()}
    return (
        container()
        .compiler()
        .compile_training_step(
            loss,
            inputs=types | {f"g{name}": type for name, type in types.items()},
            parameters=list(types),
            optimizer=optimizer,
            **options,
        )
    )


def batch_of(row):
    return {f"g{name}": array for name, array in row.items()}


def train(optimizer, scenario, **inputs):
    """Return the parameters after each step."""
    session = NumpySession(compiled_for_gradients(optimizer), start())
    trajectory = []
    for row in gradients(scenario):
        session.step(batch_of(row), **inputs)
        trajectory.append(dict(session.parameters))
    return trajectory


def transformed(transforms, gradients, parameters, **inputs):
    """Return what transforms make of gradients, and of what ``loss`` is the inner product."""
    step = compiled_for_arrays(gradients, parameters, gradient_transforms=transforms)
    session = NumpySession(step, {"parameters": parameters})
    _, given = session.value_and_gradients({"gradients": gradients}, **inputs)
    return {name.removeprefix("parameters."): array for name, array in given.items()}


def compiled_for_arrays(gradients, parameters, optimizer=None, **options):
    def inner_product(parameters, gradients):
        return sum(np.sum(parameters[name] * gradients[name]) for name in parameters)

    return (
        NumpyContainer()
        .compiler()
        .compile_training_step(
            inner_product,
            inputs={"parameters": parameters, "gradients": gradients},
            parameters=["parameters"],
            optimizer=optimizer or SGD(1.0),
            options=CompileOptions(**options),
        )
    )
