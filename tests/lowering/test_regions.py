"""Why a region is none that a hook may claim, and what the ready hooks leave."""

from __future__ import annotations

import numpy as np

from tests.support.hooks import hook_returning
from tinychain_compile import (
    BroadcastFoldingHook,
    Declined,
    ElementwiseChainHook,
    TensorType,
    compile_function,
)
from tinychain_compile.lowering.regions import Region, region_of
from tinychain_compile.operators import Add, Mul
from tinychain_compile.testing import TextRegistry

ROW, TABLE = TensorType("f64", (3,)), TensorType("f64", (2, 3))


def contexts_of(function, **inputs):
    """Return what a hook is offered, window by window."""
    seen = []
    hook = hook_returning(lambda context: seen.append(context), lookahead=10)
    compile_function(function, inputs=inputs, handlers=TextRegistry, fusion=hook)
    return seen


def test_each_reason_is_said():
    first, *_ = contexts_of(lambda x: np.exp(np.tanh(x)) * np.tanh(x), x=ROW)
    tanh, exp, product = first.candidates
    assert isinstance(region_of([c.node_id for c in first.candidates], first), Region)
    for nodes, reason in (
        ([exp.node_id], "the operation offered is not in it"),
        ([tanh.node_id, exp.node_id], f"{product.node_id} reads {tanh.output_value_id} too"),
    ):
        declined = region_of(nodes, first)
        assert isinstance(declined, Declined)
        assert declined.reason == reason
    first, *_ = contexts_of(lambda x: np.exp(x) * np.sum(np.tanh(x)), x=ROW)
    offered, later = first.candidates[0], first.candidates[-1]
    declined = region_of([offered.node_id, later.node_id], first)
    assert isinstance(declined, Declined)
    assert "is not lowered yet" in declined.reason or "reads" in declined.reason


def fused_text(function, hook, **inputs):
    record = compile_function(function, inputs=inputs, handlers=TextRegistry, fusion=hook)
    return [(op.is_fused, len(op.sources)) for op in record.program.operations]


def test_a_chain_is_claimed_as_far_as_nobody_else_reads_it():
    def claim(region):
        return " then ".join(c.operator.name for c in region.operations)

    def loss(x):
        inner = np.exp(np.tanh(x))
        return {"a": np.sqrt(inner * 2.0), "inner": inner}

    found = fused_text(loss, ElementwiseChainHook(claim), x=ROW)
    assert (True, 2) in found


def test_broadcasts_are_folded_together_or_alone_or_not_at_all():
    def claim(region):
        return "folded"

    hook = BroadcastFoldingHook(claim, operators=[Add, Mul])
    column = TensorType("f64", (2, 1))
    both = fused_text(lambda a, b: a + b, hook, a=ROW, b=column)
    assert (True, 3) in both
    alone = fused_text(lambda a, t: a + t, hook, a=ROW, t=TABLE)
    assert (True, 2) in alone

    def returned(a, t):
        wide = np.broadcast_to(a, (2, 3))
        return {"wide": wide, "sum": wide + t}

    assert all(not is_fused for is_fused, _ in fused_text(returned, hook, a=ROW, t=TABLE))
