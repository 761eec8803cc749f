"""Fusion legality (one value leaves the region) is checked apart."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.hooks import ClaimAll, MultiplySubtract, hook_returning
from tests.support.optimizers import PlainSGD
from tinychain_backends.numpy import NumpyContainer
from tinychain_compile import (
    NO_FUSION,
    Declined,
    FusionResult,
    HandlerContractError,
    TensorType,
    compile_training_step,
)
from tinychain_compile.testing import RecordingRegistry

TYPES = {name: TensorType("f64", (3,)) for name in "abcw"}


def fusable(a, b, c, w):
    return np.sum(w * (a - b * c))


def live_product(a, b, c, w):
    product = b * c * w
    return np.sum((a - product) + product)


def compile_with(loss, fusion):
    return compile_training_step(
        loss,
        inputs=TYPES,
        parameters=["w"],
        optimizer=PlainSGD(),
        handlers=RecordingRegistry(),
        fusion=fusion,
    )


def test_a_multiply_subtract_is_accepted_and_recorded():
    hook = MultiplySubtract()
    step = compile_with(fusable, hook)
    fused = [op for op in step.forward.operations if op.is_fused]
    assert [[t.name for t in op.source_operators] for op in fused] == [["mul", "sub"]]
    assert len(fused[0].source_node_ids) == 2
    ids = [i for op in step.forward.operations for i in op.source_node_ids]
    assert sorted(ids) == sorted(op.node_id for op in step.lowered_forward_graph.operations)
    assert len(set(ids)) == len(ids)


def test_a_claim_that_strands_a_live_value_is_refused_with_its_name():
    with pytest.raises(HandlerContractError, match=r"v\d+ of mul, v\d+ of sub"):
        compile_with(live_product, MultiplySubtract())


def test_an_update_is_fused_too():
    step = compile_with(fusable, MultiplySubtract())
    assert [op.is_fused for op in step.parameters[0].update.operations] == [False, True]


@pytest.mark.parametrize("lookahead", [0, -1, 1.5, True, None])
def test_a_lookahead_that_is_no_positive_integer_is_refused(lookahead):
    with pytest.raises(HandlerContractError, match="lookahead"):
        compile_with(fusable, hook_returning(None, lookahead=lookahead))


@pytest.mark.parametrize(
    ("claim", "message"),
    [
        (lambda c: [c[0].node_id, "n999"], "n999"),
        (lambda c: [c[0].node_id, c[0].node_id], "once"),
        (lambda c: [c[1].node_id], "offered"),
        (lambda c: [], "offered"),
    ],
)
def test_a_claim_outside_the_offer_is_refused(claim, message):
    def fuse(context):
        if len(context.candidates) < 2:
            return None
        return FusionResult("fused", tuple(claim(context.candidates)))

    with pytest.raises(HandlerContractError, match=message):
        compile_with(fusable, hook_returning(fuse))


def test_a_claim_whose_operand_is_not_lowered_yet_is_refused():
    def loss(a, b, c, w):
        return np.sum(np.exp(a) + np.log(b * w))

    def fuse(context):
        names = [c.operator.name for c in context.candidates]
        if names[:4] == ["exp", "mul", "log", "add"]:
            ids = [c.node_id for c in context.candidates]
            return FusionResult("fused", (ids[0], ids[3]))
        return None

    with pytest.raises(HandlerContractError, match="lowered already"):
        compile_with(loss, hook_returning(fuse, lookahead=8))


def test_declining_with_a_reason_lowers_one_by_one():
    plain = compile_with(fusable, None)
    declined = compile_with(fusable, hook_returning(Declined("not worth it")))
    assert [op.value for op in plain.forward.operations] == [
        op.value for op in declined.forward.operations
    ]


@pytest.mark.parametrize("answer", ["text", 3, FusionResult(None, ("n0",))])
def test_any_other_answer_is_refused(answer):
    with pytest.raises(HandlerContractError, match="FusionResult"):
        compile_with(fusable, hook_returning(answer))


def test_a_hook_sees_the_value_of_what_is_lowered_and_nothing_else():
    seen = []

    def fuse(context):
        first = context.candidates[0]
        seen.append([context.value_of(i) for i in first.input_value_ids])
        with pytest.raises(HandlerContractError, match="lowered"):
            context.value_of(first.output_value_id)

    compile_with(fusable, hook_returning(fuse))
    assert all(value is not None for values in seen for value in values)


def test_candidates_tell_producers_consumers_and_outputs():
    windows = []
    compile_with(fusable, hook_returning(lambda context: windows.append(context.candidates)))
    product = next(w[0] for w in windows if w[0].operator.name == "mul")
    subtraction = next(w[0] for w in windows if w[0].operator.name == "sub")
    assert product.consumer_ids == (subtraction.node_id,)
    assert product.node_id in subtraction.producer_ids
    assert not product.is_output


def test_a_window_is_at_most_the_lookahead_and_never_crosses_programs():
    windows = []
    hook = hook_returning(lambda context: windows.append(context.candidates), lookahead=3)
    step = compile_with(fusable, hook)
    programs = [step.lowered_forward_graph, step.lowered_derivative_program.graph]
    programs += [p.lowered_update_graph for p in step.parameters]
    ids = [{op.node_id for op in graph.operations} for graph in programs]
    assert max(map(len, windows)) == 3
    assert all(any({c.node_id for c in w} <= program for program in ids) for w in windows)


def test_a_region_may_be_claimed_whole_where_one_value_leaves():
    step = compile_with(lambda a, b, c, w: np.sum(a * w), ClaimAll())
    assert [op.is_fused for op in step.forward.operations] == [True]


def test_the_numpy_container_refuses_a_hook_of_the_wrong_shape():
    container = NumpyContainer(fusion_hook=hook_returning(None, lookahead=0))
    with pytest.raises(HandlerContractError, match="lookahead"):
        container.compiler().compile_training_step(
            fusable, inputs=TYPES, parameters=["w"], optimizer=PlainSGD()
        )


def test_a_hook_derived_from_the_null_hook_is_asked():
    class Derived(type(NO_FUSION)):
        def fuse(self, context):
            asked.append(context.candidates[0].node_id)

    asked = []
    compile_with(fusable, Derived())
    assert asked


def test_a_hook_without_a_lookahead_is_refused():
    class Blind:
        def fuse(self, context):
            return None

    with pytest.raises(HandlerContractError, match="lookahead"):
        compile_with(fusable, Blind())
