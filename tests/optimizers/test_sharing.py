"""An elementwise update is traced for one shape, and is the same program in every other."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import tinychain_compile
from tests.optimizers.scenarios import SETTINGS
from tinychain_compile import (
    LAMB,
    SGD,
    Adafactor,
    AdamW,
    MixedPrecision,
    TensorType,
    compile_training_step,
)
from tinychain_compile.ir.printer import fingerprint
from tinychain_compile.operators import Constant
from tinychain_compile.optimizers.base import CatalogueOptimizer
from tinychain_compile.testing import RecordingRegistry

SHAPES = {"a": (4, 3), "b": (5,), "c": (2, 3, 4), "d": (), "e": ("n", 3), "f": (4, 3)}

OPTIMIZERS = {name: setting.ours for name, setting in SETTINGS.items()} | {
    "frozen": ("AdamW", {"learning_rate": 0.1, "frozen": ("learning_rate", "beta1")}),
    "lion": ("Lion", {"weight_decay": 0.1}),
    "lamb": ("LAMB", {}),
    "adafactor": ("Adafactor", {}),
}


def updates_of(optimizer, shapes, dtype="f32"):
    types = {name: TensorType(dtype, shape) for name, shape in shapes.items()}

    def loss(**parameters):
        return sum((p.astype("f4") * 2.0).sum() for p in parameters.values())

    step = compile_training_step(
        loss,
        inputs=types,
        parameters=list(types),
        optimizer=optimizer,
        handlers=RecordingRegistry(),
    )
    return {row.name: row for row in step.parameters}


def traces_of(optimizer, shapes, **others):
    """Return how often the update was called for parameters of these shapes."""
    calls = []
    original = optimizer.update

    def update(**inputs):
        calls.append(inputs["parameter"].type)
        return original(**inputs)

    optimizer.update = update
    updates_of(optimizer, shapes, **others)
    return len(calls)


@pytest.mark.parametrize("name", OPTIMIZERS)
@pytest.mark.parametrize("dtype", ["f32", "f16"])
def test_every_shape_has_the_program_that_tracing_it_alone_gives(name, dtype):
    kind, arguments = OPTIMIZERS[name]
    make = getattr(tinychain_compile, kind)
    together = updates_of(make(**arguments), SHAPES, dtype)
    for parameter, shape in SHAPES.items():
        alone = updates_of(make(**arguments), {parameter: shape}, dtype)[parameter]
        for graph in ("source_update_graph", "lowered_update_graph"):
            shared, own = getattr(together[parameter], graph), getattr(alone, graph)
            assert fingerprint(shared) == fingerprint(own)
            assert [str(op.origin) for op in shared.operations] == [
                str(op.origin) for op in own.operations
            ]


def test_elementwise_updates_are_traced_once_for_all_shapes_but_scalars():
    assert traces_of(AdamW(), SHAPES) == 2
    assert traces_of(SGD(momentum=0.9), SHAPES) == 2
    assert traces_of(MixedPrecision(SGD()), SHAPES, dtype="f16") == 2
    assert traces_of(LAMB(), SHAPES) == traces_of(Adafactor(), SHAPES) == 5


class _ByCount(SGD):
    """Steps shorter for larger parameters."""

    def rule(self, parameter, gradient, slots, given):
        return parameter - given["learning_rate"] * gradient / parameter.size, {}


class _Weighted(SGD):
    """Says of itself that it is elementwise, and is not."""

    is_elementwise = True

    def rule(self, parameter, gradient, slots, given):
        weights = np.ones(gradient.shape, np.float32)
        return parameter - given["learning_rate"] * gradient * weights, {}


class _Centered(SGD):
    """Likewise, with a result that has no other shape in it."""

    is_elementwise = True

    def rule(self, parameter, gradient, slots, given):
        return parameter - given["learning_rate"] * (gradient - gradient.sum()), {}


def test_a_rule_of_ones_own_is_traced_for_each_shape_unless_it_says_more():
    shapes = {"a": (4, 3), "b": (5,)}
    assert traces_of(_ByCount(), shapes) == 2
    rows = updates_of(_ByCount(), shapes)
    numbers = {
        name: [
            op.operator.value
            for op in row.source_update_graph.operations
            if type(op.operator) is Constant
        ]
        for name, row in rows.items()
    }
    assert numbers == {"a": [12.0], "b": [5.0]}


@pytest.mark.parametrize("optimizer", [_Weighted, _Centered])
def test_what_is_seen_not_to_be_elementwise_is_traced_for_each_shape(optimizer):
    assert traces_of(optimizer(), {"a": (4, 3), "b": (5,)}) == 2


def test_every_rule_of_the_catalogue_says_whether_it_is_elementwise():
    public = [getattr(tinychain_compile, name) for name in tinychain_compile.__all__]
    kinds = [k for k in public if inspect.isclass(k) and issubclass(k, CatalogueOptimizer)]
    rules = [k for k in kinds if "rule" in vars(k)]
    assert len(rules) > 10
    assert {k.__name__ for k in rules if not k.is_elementwise} == {"LAMB", "Adafactor"}
