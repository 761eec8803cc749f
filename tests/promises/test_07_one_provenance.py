"""Every value has one provenance of four, decided by structure, assigned at one point."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.support.losses import LOSSES, compiled
from tinychain_compile import Provenance
from tinychain_compile.dependencies import StructuralClassifier
from tinychain_compile.errors import MissingDependencyError
from tinychain_compile.ir.builder import GraphBuilder
from tinychain_compile.ir.graph import Graph, NamedValue, fresh_ids
from tinychain_compile.ir.types import TensorType
from tinychain_compile.operators import Exp

ORDER = list(Provenance)


@pytest.mark.parametrize("name", LOSSES)
def test_each_value_has_one_row_and_rows_are_grouped_in_order(name):
    step = compiled(name)
    for program in (step.forward, step.derivative, *(p.update for p in step.parameters)):
        rows = program.dependencies.dependencies
        assert max(Counter(row.value_id for row in rows).values()) == 1
        groups = [ORDER.index(row.provenance) for row in rows]
        assert groups == sorted(groups)


@pytest.mark.parametrize("name", LOSSES)
def test_provenance_follows_structure(name):
    step = compiled(name)
    analysis = step.derivative.dependencies
    inputs = set(step.input_value_ids.values())
    made = {op.id for op in step.lowered_forward_graph.operations}
    assert {row.value_id for row in analysis.declared_inputs} <= inputs
    assert [row.value_id for row in analysis.seed_inputs] == list(step.seed_value_ids)
    assert {row.value_id for row in analysis.forward_captures} <= made
    local = [op.id for op in analysis.schedule]
    assert [row.value_id for row in analysis.local_values] == local


def test_rows_carry_the_type_and_views_agree_with_the_rows():
    analysis = compiled("network").derivative.dependencies
    views = (
        analysis.declared_inputs
        + analysis.seed_inputs
        + analysis.forward_captures
        + analysis.local_values
    )
    assert views == analysis.dependencies
    assert analysis.required_inputs == views[: len(views) - len(analysis.local_values)]
    for row in analysis.local_values:
        value = next(op for op in analysis.schedule if op.id == row.value_id)
        assert (row.dtype, row.shape) == (value.type.dtype, value.type.shape)


def test_renaming_the_seed_moves_nothing():
    plain, renamed = compiled("network"), compiled("network", seed_label="tangents_of_x")
    assert (
        plain.derivative.dependencies.dependencies == renamed.derivative.dependencies.dependencies
    )


def test_a_value_that_nobody_supplies_is_an_error():
    builder = GraphBuilder(fresh_ids())
    lost = builder.input(TensorType("f64", (2,)))
    y = builder.emit(Exp(), lost)
    graph = Graph("g", (), tuple(builder.operations), (NamedValue("y", y),))
    with pytest.raises(MissingDependencyError, match="v0"):
        StructuralClassifier().classify(graph)
