"""What compiling the workloads builds and asks, counted: it changes on purpose or not at all."""

from __future__ import annotations

from collections import Counter

import pytest

from benchmarks.workloads import cnn, gpt, mlp
from tinychain_compile.autodiff import ReverseModeEngine
from tinychain_compile.container import TrainingStepContainer
from tinychain_compile.ir.graph import Operation, Value
from tinychain_compile.lowering.fusion import NO_FUSION
from tinychain_compile.simplification import RULES
from tinychain_compile.simplification.simplifier import GraphSimplifier
from tinychain_compile.testing import RecordingRegistry, scoped_overrides
from tinychain_compile.vjp_rules import GUARDS, VJP_RULES, WITHOUT_DERIVATIVE

COUNTED = {
    "W1": {
        "forward": 16,
        "derivative": 17,
        "updates": 30,
        "inputs": 101,
        "operations": 78,
        "vjp rules": 12,
        "simplification rules": 7,
    },
    "W2": {
        "forward": 18,
        "derivative": 18,
        "updates": 12,
        "inputs": 100,
        "operations": 74,
        "vjp rules": 18,
        "simplification rules": 14,
    },
    "W3": {
        "forward": 321,
        "derivative": 706,
        "updates": 48,
        "inputs": 286,
        "operations": 2064,
        "operations rewired": 762,
        "vjp rules": 26,
        "simplification rules": 626,
    },
}


def counting(table, counts, what):
    def counted(rule):
        def call(*arguments):
            counts[what] += 1
            return rule(*arguments)

        return call

    return {kind: counted(rule) for kind, rule in table.items()}


def counted_rules(counts):
    def counted(rule):
        def call(*arguments):
            counts["simplification rules"] += 1
            return rule(*arguments)

        return call

    return {
        name: {
            kind: tuple(offer._replace(rule=counted(offer.rule)) for offer in offers)
            for kind, offers in rules.items()
        }
        for name, rules in RULES.items()
    }


def counts_of(workload, monkeypatch):
    counts = Counter()
    for kind, method, what in (
        (Value, "of", "inputs"),
        (Operation, "of_type", "operations"),
        (Operation, "with_inputs", "operations rewired"),
    ):
        original = getattr(kind, method)

        def count(*arguments, original=original, what=what):
            counts[what] += 1
            return original(*arguments)

        static = isinstance(vars(kind)[method], staticmethod)
        monkeypatch.setattr(kind, method, staticmethod(count) if static else count)
    container = TrainingStepContainer(handler_registry=RecordingRegistry(), fusion_hook=NO_FUSION)
    engine = ReverseModeEngine(counting(VJP_RULES, counts, "vjp rules"), WITHOUT_DERIVATIVE, GUARDS)
    simplifier = GraphSimplifier(counted_rules(counts))
    with scoped_overrides(container, vjp_engine=engine, simplifier=simplifier):
        step = container.compiler().compile_training_step(
            workload.loss,
            inputs=workload.inputs,
            parameters=workload.parameters,
            optimizer=workload.our_optimizer(),
        )
    counts["forward"] = len(step.lowered_forward_graph.operations)
    counts["derivative"] = len(step.lowered_derivative_program.graph.operations)
    updates = {id(row.update): row.lowered_update_graph for row in step.parameters}
    counts["updates"] = sum(len(graph.operations) for graph in updates.values())
    return dict(counts)


@pytest.mark.parametrize("make", [mlp, cnn, gpt])
def test_the_work_of_compiling_is_what_it_was(make, monkeypatch):
    workload = make()
    assert counts_of(workload, monkeypatch) == COUNTED[workload.name]
