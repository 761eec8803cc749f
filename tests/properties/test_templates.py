"""What a rule wrote is written again: the same, under its own line, whatever came before."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from tests.support.derivatives import traced
from tinychain_compile import print_graph
from tinychain_compile.autodiff import ReverseModeEngine
from tinychain_compile.errors import MalformedGraphError
from tinychain_compile.functions import leaky_relu
from tinychain_compile.ir.builder import GraphBuilder
from tinychain_compile.ir.graph import fresh_ids
from tinychain_compile.ir.types import TensorType
from tinychain_compile.operators import Exp, LeakyRelu, Mul, MulNoNan, Tanh
from tinychain_compile.tensor import Tensor
from tinychain_compile.vjp_rules import GUARDS, VJP_RULES, WITHOUT_DERIVATIVE

X = {"x": np.linspace(-1.0, 1.0, 6).reshape(2, 3)}


def derived(engine, loss, arrays=X, names=("x",)):
    graph, ids = traced(loss, arrays)
    return engine.derive(
        graph, names, ids=ids, seed_label="seed", on_disconnected="zero", nan_guard=True
    ).graph


def engine_with(**rules):
    kinds = {"exp": Exp, "tanh": Tanh, "mul": Mul}
    table = {**VJP_RULES, **{kinds[name]: rule for name, rule in rules.items()}}
    return ReverseModeEngine(table, WITHOUT_DERIVATIVE, GUARDS)


def deep(x):
    for _ in range(4):
        x = np.exp(np.tanh(x * x))
    return x.sum()


def test_a_rule_is_asked_once_for_all_operations_alike_and_once_for_other_types():
    asked = Counter()

    def rule(op, g, y, x):
        asked[x.type] += 1
        return VJP_RULES[Exp](op, g, y, x)

    def loss(x):
        return np.exp(deep(x)) + np.exp(x).sum()

    engine = engine_with(exp=rule)
    derived(engine, loss)
    derived(engine, loss)
    # of the type of x: guarded, and not guarded where the cotangent is the seed's multiple
    assert asked == {TensorType("f64", (2, 3)): 2, TensorType("f64", ()): 1}


def test_programs_are_the_same_whatever_the_engine_was_asked_before():
    used = engine_with()
    derived(used, lambda x: np.tanh(x).sum())
    derived(used, deep)
    again, fresh = derived(used, deep), derived(engine_with(), deep)
    assert print_graph(again, lines=True) == print_graph(fresh, lines=True)


def test_every_operation_has_the_line_of_its_own_use():
    def loss(x):
        first = np.exp(x)
        second = np.exp(first)
        return second.sum()

    graph = derived(engine_with(), loss)
    lines = [str(op.origin) for op in graph.operations if isinstance(op.operator, (Mul, MulNoNan))]
    assert ["np.exp(first)" in lines[0], "np.exp(x)" in lines[-1]] == [True, True]


def test_zeros_of_either_sign_are_not_taken_for_each_other():
    def loss(x):
        return (leaky_relu(x, 0.0) + leaky_relu(x, -0.0)).sum()

    seen = []

    def rule(op, g, y, x):
        seen.append(str(op.slope))
        return VJP_RULES[LeakyRelu](op, g, y, x)

    derived(ReverseModeEngine({**VJP_RULES, LeakyRelu: rule}, {}, GUARDS), loss)
    assert sorted(seen) == ["-0.0", "0.0"]


def test_an_operand_used_twice_gets_both_cotangents():
    squares = derived(engine_with(), lambda x: (x * x).sum())
    assert sum(isinstance(op.operator, Mul) for op in squares.operations) == 2


def test_what_is_not_wanted_is_not_written():
    def loss(x, data):
        return (data @ x).sum()

    arrays = {"x": np.ones((3, 2)), "data": np.ones((4, 3))}
    graph, ids = traced(loss, arrays)
    engine_with().derive(
        graph, ["x"], ids=ids, seed_label="seed", on_disconnected="zero", nan_guard=True
    )
    # inputs 0, 1; matmul 2; sum 3; seed 4; the repeated seed 5; the one product 6
    assert next(ids) == "v7"


@pytest.mark.parametrize("what", ["foreign", "too many", "another type"])
def test_a_rule_that_does_not_keep_to_its_operands_is_refused_with_the_line(what):
    foreign = GraphBuilder(fresh_ids())
    kept = Tensor(foreign, foreign.input(TensorType("f64", (2, 3))))

    def rule(op, g, y, x):
        wrong = {"foreign": (kept,), "too many": (g, g), "another type": (g.sum(),)}
        return wrong[what]

    with pytest.raises(MalformedGraphError, match=r"VJP rule of tanh(.|\n)*np.tanh\(x\)"):
        derived(engine_with(tanh=rule), lambda x: np.tanh(x).sum())
