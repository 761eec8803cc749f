"""Records are frozen and made once, at the end."""

from __future__ import annotations

import dataclasses

import pytest

from tests.support.losses import compiled
from tinychain_compile import fingerprint

FROZEN = (dataclasses.FrozenInstanceError, AttributeError, TypeError)


def test_no_attribute_of_a_record_can_be_set():
    step = compiled("network")
    records = [
        step,
        step.forward,
        step.forward.dependencies,
        step.forward.operations[0],
        step.parameters[0],
        step.provenance,
        step.source_forward_graph,
        step.source_forward_graph.operations[0],
        step.source_forward_graph.operations[0],
        step.source_forward_graph.operations[0].type,
        step.source_forward_graph.operations[0].operator,
        step.source_derivative_program,
        step.source_forward_graph.operations[0].origin,
    ]
    for record in records:
        fields = getattr(record, "_fields", None) or getattr(type(record), "__slots__", ())
        for name in fields or ("anything",):
            with pytest.raises(FROZEN):
                setattr(record, name, None)
            with pytest.raises(FROZEN):
                delattr(record, name)


def test_mappings_of_a_record_cannot_be_written():
    step = compiled("network")
    for mapping in (
        step.input_value_ids,
        step.forward.values,
        step.parameters[0].update_input_value_ids,
        step.provenance.pass_labels,
        step.symbol_sources,
    ):
        with pytest.raises(TypeError):
            mapping["new"] = 1


def test_the_record_says_where_it_comes_from():
    step = compiled("network")
    assert step.provenance.graph_id == fingerprint(step.source_forward_graph)
    assert step.provenance.input_names == ("x", "labels", "w1", "b1", "w2", "b2")
    assert step.provenance.parameter_names == ("w1", "b1", "w2", "b2")
    assert step.parameter("w2").name == "w2"
    with pytest.raises(KeyError):
        step.parameter("w3")


def test_ids_are_unique_across_the_programs_and_a_capture_keeps_its_own():
    step = compiled("network")
    forward = [op.id for op in step.lowered_forward_graph.operations]
    derivative = [op.id for op in step.lowered_derivative_program.graph.operations]
    updates = {p.update: p.lowered_update_graph for p in step.parameters}.values()
    update = [op.id for graph in updates for op in graph.operations]
    inputs = list(step.input_value_ids.values()) + list(step.seed_value_ids)
    everything = forward + derivative + update + inputs
    assert len(set(everything)) == len(everything)
    assert set(step.forward_capture_value_ids) <= set(forward)
