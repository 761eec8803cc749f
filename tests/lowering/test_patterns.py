"""Hooks from declared patterns, ready-made hooks, and the proof that they change nothing."""

from __future__ import annotations

import numpy as np
import pytest

from reference.backend import FUNCTIONS
from tests.support.optimizers import PlainSGD
from tinychain_backends.numpy.calls import call_for
from tinychain_compile import (
    SGD,
    BroadcastFoldingHook,
    Declined,
    ElementwiseChainHook,
    OperationHandlerRegistry,
    PatternHook,
    check_fusion,
    compile_training_step,
    pattern,
)
from tinychain_compile.errors import BackendError
from tinychain_compile.operators import (
    OPERATORS,
    Add,
    BroadcastTo,
    Exp,
    MatMul,
    Mul,
    Sub,
    Tanh,
)

X, W = np.linspace(-1, 1, 12).reshape(4, 3), np.linspace(0.1, 0.6, 6).reshape(3, 2)
B = np.array([0.3, -0.2])


def thunks():
    """Handlers whose target value is a function from values by id to an array."""
    registry = OperationHandlerRegistry()

    def lower(context):
        call, ids = call_for(context.operator), context.input_value_ids
        return lambda values: call.function(*[values[i] for i in ids], **call.keywords)

    for operator in OPERATORS:
        if operator.name != "stop_gradient":
            registry.handler(operator)(lower)
    return registry


def run(program, values):
    known = {row.value_id: values[row.value_id] for row in program.dependencies.required_inputs}
    for operation in program.operations:
        known[operation.output_value_id] = np.asarray(operation.value(known))
    return {i: known[i] for i in program.selected_outputs}


def chained(region):
    """Return a thunk that runs a region by itself."""
    steps = [
        (call_for(c.operator), c.input_value_ids, c.output_value_id) for c in region.operations
    ]

    def thunk(values):
        own = {i: values[i] for i in region.input_ids}
        for call, ids, output in steps:
            own[output] = call.function(*[own[i] for i in ids], **call.keywords)
        return own[region.root.output_value_id]

    return thunk


def folded(region):
    """Return a thunk that lets NumPy broadcast."""
    source = {
        c.output_value_id: c.input_value_ids[0]
        for c in region.operations
        if isinstance(c.operator, BroadcastTo)
    }
    call = call_for(region.root.operator)
    ids = [source.get(i, i) for i in region.root.input_value_ids]
    shape = region.root.output_typespec.shape
    return lambda values: np.broadcast_to(
        call.function(*[values[i] for i in ids], **call.keywords), shape
    )


def loss(x, w, b):
    hidden = np.tanh(x @ w + b)
    return np.mean(np.exp(hidden - hidden * 0.5 * hidden))


def prove(hook, function=loss, **others):
    return check_fusion(
        hook,
        function,
        inputs={"x": X, "w": W, "b": B},
        parameters=["w", "b"],
        optimizer=PlainSGD(),
        optimizer_inputs={"learning_rate": 0.1},
        handlers=thunks,
        run=run,
        **others,
    )


def multiply_subtract(replacement=None):
    declared = pattern(Sub, "a", pattern(Mul, "b", "c"))
    return PatternHook([(declared, replacement or (lambda values, region: chained(region)))])


def test_a_pattern_is_taken_and_proven():
    proof = prove(multiply_subtract())
    assert proof.agrees
    assert proof.largest_difference == 0
    forward = [row for row in proof.claims if row.program == "forward"]
    assert [row.operators for row in forward] == [(Mul, Sub)]
    assert "hidden - hidden * 0.5 * hidden" in forward[0].sources[-1]
    updates = [row for row in proof.claims if row.program.startswith("update")]
    assert [row.operators for row in updates] == [(Mul, Sub), (Mul, Sub)]
    assert "agrees" in str(proof)
    assert "mul + sub" in str(proof)


def test_a_wrong_replacement_is_found():
    wrong = multiply_subtract(lambda values, region: lambda v: v[region.input_ids[0]] * 0.0)
    proof = prove(wrong)
    assert not proof.agrees
    assert "differs" in str(proof)


def test_the_values_of_wildcards_reach_the_replacement():
    seen = []

    def replacement(values, region):
        seen.append((set(values), region.root.operator.name, len(region.input_ids)))
        return chained(region)

    assert prove(multiply_subtract(replacement)).agrees
    assert all(row == ({"a", "b", "c"}, "sub", row[2]) for row in seen)


def squared(where=None):
    declared = pattern(Exp, pattern(Mul, "a", "a"), where=where)
    return PatternHook([(declared, lambda values, region: chained(region))])


def test_where_and_repeated_wildcards_narrow_a_pattern():
    def one_value(x, w, b):
        hidden = x @ w + b
        return np.exp(hidden * hidden).sum()

    def two_values(x, w, b):
        return np.exp((x @ w + b) * (x @ w - b)).sum()

    assert prove(squared(), two_values).claims == ()
    assert (Mul, Exp) in [row.operators for row in prove(squared(), one_value).claims]
    never = prove(squared(lambda c: c.output_typespec.rank > 5), one_value)
    assert never.claims == ()
    assert "nothing was claimed" in str(never)


def test_a_region_of_which_two_values_leave_is_declined_with_the_reason():
    def function(x, w, b):
        product = x @ w * b
        return (b - product).sum() + product.sum()

    declined = []
    hook = multiply_subtract()

    class Spy:
        lookahead = hook.lookahead

        def fuse(self, context):
            answer = hook.fuse(context)
            if isinstance(answer, Declined):
                declined.append(answer.reason)
            return answer

    proof = prove(Spy(), function)
    assert proof.agrees
    assert any("reads" in text and "too" in text for text in declined)


def test_a_replacement_may_decline():
    hook = multiply_subtract(lambda values, region: Declined("not today"))
    proof = prove(hook)
    assert proof.claims == ()
    none = multiply_subtract(lambda values, region: None)
    assert prove(none).claims == ()


def test_a_pattern_of_one_operator_is_refused():
    with pytest.raises(BackendError, match="at least two operators"):
        PatternHook([(pattern(Sub, "a", "b"), lambda values, region: None)])


def test_elementwise_chains_are_taken_as_one():
    proof = prove(ElementwiseChainHook(chained))
    assert proof.agrees
    forward = [row.operators for row in proof.claims if row.program == "forward"]
    assert (Add, Tanh) in forward
    assert max(len(operators) for operators in forward) >= 2
    short = prove(ElementwiseChainHook(chained, longest=2))
    assert short.agrees
    assert {len(row.operators) for row in short.claims} == {2}


def test_broadcasts_are_folded_into_their_reader():
    proof = prove(BroadcastFoldingHook(folded))
    assert proof.agrees
    assert (BroadcastTo, Add) in [row.operators for row in proof.claims]
    assert all(row.operators[0] is BroadcastTo for row in proof.claims)


def test_a_proof_needs_every_handler_once_for_each_step():
    step = compile_training_step(
        loss,
        inputs={"x": X, "w": W, "b": B},
        parameters=["w"],
        optimizer=SGD(),
        handlers=thunks(),
        fusion=multiply_subtract(),
    )
    fused = [op for op in step.forward.operations if op.is_fused]
    assert len(fused) == 1
    assert MatMul in [type(op.operator) for op in step.lowered_forward_graph.operations]
    assert FUNCTIONS
