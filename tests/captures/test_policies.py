"""A capture policy changes what is retained, and not one bit of what is computed."""

from __future__ import annotations

import itertools
import sys

import numpy as np
import pytest

from benchmarks.workloads import cnn, gpt, mlp
from tinychain_backends.numpy import NumpyContainer, NumpySession
from tinychain_compile import (
    SGD,
    ByteBudget,
    CompileOptions,
    KeepAll,
    KeepNamed,
    MinimumCut,
    RecomputeAll,
    TensorType,
    compile_training_step,
    print_graph,
)
from tinychain_compile.captures.costs import PRODUCTS, total_work, weight_of, work_of
from tinychain_compile.captures.minimum_cut import Problem
from tinychain_compile.errors import CompilationError, DeclarationError, SettingsError
from tinychain_compile.functions import dropout, gelu, layer_norm, named, softmax
from tinychain_compile.operators import MatMul
from tinychain_compile.testing import RecordingRegistry


def dropped(x, w1, w2, key):
    hidden = named(dropout(np.tanh(x @ w1), key, 0.4), "hidden")
    scores = named(softmax(hidden @ w2, axis=1), "scores")
    return np.mean(scores * gelu(scores) + np.sum(hidden * hidden))


rng = np.random.default_rng(0)
DROPPED = {
    "x": rng.normal(size=(5, 4)),
    "w1": rng.normal(size=(4, 6)),
    "w2": rng.normal(size=(6, 3)),
    "key": np.array([1, 2], np.uint32),
}
SMALL = {
    "mlp": mlp(dtype="f64", batch=3, sizes=(5, 4, 6, 3)),
    "cnn": cnn(dtype="f64", batch=2, size=8, channels=(2, 3)),
    "gpt": gpt(dtype="f64", batch=1, length=4, layers=2, width=8, heads=2, vocabulary=7),
}
POLICIES = [
    KeepAll(),
    KeepNamed(),
    RecomputeAll(),
    MinimumCut(),
    MinimumCut(recompute_products=True),
    MinimumCut(recompute_products=True, recompute_budget=0.3),
    ByteBudget(100),
    ByteBudget(0),
]


def step_of(loss, inputs, parameters, policy, **others):
    return (
        NumpyContainer()
        .compiler()
        .compile_training_step(
            loss,
            inputs=inputs,
            parameters=parameters,
            optimizer=SGD(),
            options=CompileOptions(captures=policy, **others),
        )
    )


def results(step, arrays):
    names = [row.name for row in step.parameters]
    session = NumpySession(step, {name: arrays[name] for name in names})
    batch = {name: a for name, a in arrays.items() if name not in names}
    return session.value_and_gradients(batch)


@pytest.mark.parametrize("policy", POLICIES, ids=str)
@pytest.mark.parametrize("name", [*SMALL, "dropout"])
def test_loss_and_gradients_have_the_same_bits_under_every_policy(name, policy):
    if name == "dropout":
        loss, inputs, parameters, arrays = dropped, DROPPED, ["w1", "w2"], DROPPED
    else:
        w = SMALL[name]
        loss, inputs, parameters, arrays = w.loss, w.inputs, list(w.parameters), w.arrays()
    expected, expected_gradients = results(step_of(loss, inputs, parameters, KeepAll()), arrays)
    step = step_of(loss, inputs, parameters, policy)
    value, gradients = results(step, arrays)
    assert value == expected
    for key, gradient in expected_gradients.items():
        np.testing.assert_array_equal(gradients[key], gradient)
    made = {op.id: op.operator for op in step.lowered_forward_graph.operations}
    for value_id in step.forward_capture_value_ids:
        assert not made[value_id].is_literal
        assert not made[value_id].is_movement


def test_recomputing_all_retains_nothing_and_keeping_the_named_retains_those():
    assert step_of(dropped, DROPPED, ["w1", "w2"], "recompute_all").capture_ledger.rows == ()
    step = step_of(dropped, DROPPED, ["w1", "w2"], KeepNamed(["hidden"]))
    (row,) = step.capture_ledger.rows
    assert "dropout" in row.operator
    rows = step_of(dropped, DROPPED, ["w1", "w2"], "keep_named").capture_ledger.rows
    assert [row.operator for row in rows] == [row.operator, "softmax"]
    assert "named" not in print_graph(step.lowered_forward_graph)


def test_a_name_is_gone_from_programs_and_values_pass_through_it():
    def plain(x, w):
        return np.sum(np.tanh(x @ w))

    def marked(x, w):
        return np.sum(named(np.tanh(named(x @ w, "product")), "hidden"))

    arrays = {"x": DROPPED["x"], "w": DROPPED["w1"]}
    steps = [step_of(loss, arrays, ["w"], "keep_all") for loss in (plain, marked)]
    first, second = (len(s.lowered_derivative_program.graph.operations) for s in steps)
    assert first == second
    assert named(3.0, "x") == 3.0


# The minimum.


def random_problem(seed):
    """Return a small random forward graph with what a derivative reads of it."""
    rng = np.random.default_rng(seed)

    def loss(**inputs):
        values = list(inputs.values())
        for _ in range(3):
            a, b = (values[i] for i in rng.integers(len(values), size=2))
            kind = rng.integers(4)
            if kind == 0:
                values.append(np.tanh(a))
            elif kind == 1:
                values.append(np.broadcast_to(np.sum(a, axis=0), a.shape) * b)
            elif kind == 2:
                values.append(a @ np.swapaxes(b, 0, 1) @ b)
            else:
                values.append(a * np.sum(b))
        return sum(np.sum(value) for value in values)

    types = {name: TensorType("f32", (3, 3)) for name in "ab"}
    step = compile_training_step(
        loss,
        inputs=types,
        parameters=["a", "b"],
        optimizer=SGD(),
        handlers=RecordingRegistry(),
        options=CompileOptions(simplifications=()),
    )
    forward = step.source_forward_graph
    made = set(forward.operations)
    free = {value for _, value in (*forward.inputs, *forward.outputs)}
    wanted = [v for _, v in step.source_derivative_program.graph.inputs if v in made]
    return forward.operations, wanted, free


def again(operations, wanted, there):
    needed, found = set(wanted) - there, []
    for operation in reversed(operations):
        if operation in needed:
            found.append(operation)
            needed |= set(operation.inputs) - there
    return found


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("recompute_products", [False, True])
def test_no_other_set_of_values_is_smaller(seed, recompute_products):
    operations, wanted, free = random_problem(seed)
    cut = Problem(operations, wanted, free, recompute_products).fewest_bytes()
    assert cut.bytes == sum(map(weight_of, cut.kept))
    assert cut.work == total_work(again(operations, wanted, free | cut.kept))
    candidates = [
        op
        for op in operations
        if not op.operator.is_movement and not op.operator.is_literal and op not in free
    ]
    best = []
    for count in range(len(candidates) + 1):
        for kept in itertools.combinations(candidates, count):
            redone = again(operations, wanted, free | set(kept))
            if recompute_products or not any(type(op.operator) in PRODUCTS for op in redone):
                best.append((sum(map(weight_of, kept)), total_work(redone)))
    assert (cut.bytes, cut.work) == min(best)


def test_of_equally_many_bytes_the_least_work_is_chosen():
    def loss(x, w):
        return np.sum(np.exp(np.tanh(x @ w)))

    inputs = {"x": TensorType("f32", (5, 4)), "w": TensorType("f32", (4, 3))}
    step = step_of(loss, inputs, ["w"], MinimumCut())
    assert [row.operator for row in step.capture_ledger.rows] == ["tanh"]  # the product is as small
    derivative = step.lowered_derivative_program.graph.operations
    again_made = [op.operator.name for op in derivative if op.operator.name in ("tanh", "exp")]
    assert again_made == ["exp"]


def test_an_output_that_is_there_anyway_is_read_and_not_made_again():
    def loss(x, w):
        hidden = np.tanh(x @ w)
        return np.sum(hidden**2), {"hidden": hidden}

    inputs = {"x": TensorType("f32", (5, 4)), "w": TensorType("f32", (4, 3))}
    step = step_of(loss, inputs, ["w"], RecomputeAll())
    names = {op.operator.name for op in step.lowered_derivative_program.graph.operations}
    assert "tanh" not in names
    read = step.lowered_derivative_program.graph.input_ids.values()
    assert step.auxiliary_value_ids["hidden"] in read


@pytest.mark.parametrize("seed", range(6))
def test_budgets_hold_and_a_larger_one_is_never_worse(seed):
    operations, wanted, free = random_problem(seed)
    problem = Problem(operations, wanted, free, True)
    everything = total_work(operations)
    cuts = [problem.within_work(everything * part) for part in (0.0, 0.1, 0.3, 0.6, 1.0)]
    for cut, part in zip(cuts, (0.0, 0.1, 0.3, 0.6, 1.0), strict=True):
        assert cut.work <= everything * part
    assert [cut.bytes for cut in cuts] == sorted((cut.bytes for cut in cuts), reverse=True)
    most = cuts[0].bytes
    by_bytes = [problem.within_bytes(most * part // 4) for part in range(5)]
    for cut, part in zip(by_bytes, range(5), strict=True):
        assert cut.bytes <= most * part // 4
    assert [cut.work for cut in by_bytes] == sorted((c.work for c in by_bytes), reverse=True)


@pytest.mark.slow
def test_what_the_transformer_retains():
    """PyTorch eager retains 129 MB of it."""
    workload = gpt()

    def retained(policy):
        step = compile_training_step(
            workload.loss,
            inputs=workload.inputs,
            parameters=workload.parameters,
            optimizer=SGD(),
            handlers=RecordingRegistry(),
            options=CompileOptions(captures=policy),
        )
        products = [
            op
            for op in step.lowered_derivative_program.graph.operations
            if type(op.operator) in PRODUCTS
        ]
        return step.capture_ledger.total_bytes / 1e6, len(products)

    whole, products = retained("keep_all")
    assert whole <= 129
    fewest, same = retained("minimum_cut")
    assert fewest <= 91
    assert same == products
    budget, more = retained(ByteBudget(25_000_000))
    assert budget <= 25
    assert more > products


# What else is weighed, and what is refused.


def test_symbolic_sizes_are_weighed_as_typical_ones():
    def loss(x, w, s, b):
        return np.mean(gelu(layer_norm(x @ w, s, b)) ** 2)

    inputs = {
        "x": TensorType("f64", ("n", 4)),
        "w": TensorType("f64", (4, 6)),
        "s": TensorType("f64", (6,)),
        "b": TensorType("f64", (6,)),
    }
    arrays = {"w": np.ones((4, 6)), "s": np.ones(6), "b": np.zeros(6)}
    step = step_of(loss, inputs, ["w", "s", "b"], MinimumCut())
    assert [row.operator for row in step.capture_ledger.rows] == ["matmul"]
    for count in (3, 7):
        x = np.random.default_rng(count).normal(size=(count, 4))
        whole = results(step_of(loss, inputs, ["w", "s", "b"], "keep_all"), {**arrays, "x": x})
        assert results(step, {**arrays, "x": x})[0] == whole[0]


def test_work_is_counted_in_multiplications():
    w = cnn(dtype="f32", batch=2, size=8, channels=(3, 4))
    step = step_of(w.loss, w.inputs, list(w.parameters), "keep_all")
    conv = step.source_forward_graph.operations[0]
    assert work_of(conv) == 2 * 3 * 8 * 8 * 9
    by_name = {op.operator.name: op for op in step.source_derivative_program.graph.operations}
    assert work_of(by_name["conv_kernel_gradient"]) == 2 * 3 * 8 * 8 * 9
    assert work_of(by_name["conv_input_gradient"]) == 2 * 4 * 4 * 4 * 3 * 9
    product = next(o for o in step.source_forward_graph.operations if type(o.operator) is MatMul)
    assert work_of(product) == 2 * 16 * 10


def test_work_of_other_operators():
    def loss(x, w):
        weights = np.einsum("ij,jk,lk->il", x, w, x)
        return np.sum(np.sort(weights, axis=1)) + np.sum(x.T @ x)

    inputs = {"x": TensorType("f64", (3, 4)), "w": TensorType("f64", (4, 4))}
    step = step_of(loss, inputs, ["w"], "keep_all", simplifications=())
    by_name = {op.operator.name: op for op in step.source_forward_graph.operations}
    assert work_of(by_name["einsum"]) == 3 * 4 * 4 * 3
    assert work_of(by_name["sort"]) == 16 * 9
    assert work_of(by_name["reduce_sum"]) == 16
    assert work_of(by_name["matmul"]) == 4 * 3 * 4
    assert work_of(by_name["transpose"]) == 0


@pytest.mark.parametrize(
    ("make", "part"),
    [
        (lambda: CompileOptions(captures="keep"), "keep_all"),
        (lambda: CompileOptions(captures=3), "keep_named"),
        (lambda: MinimumCut(recompute_budget=-1.0), "recompute_budget"),
        (lambda: MinimumCut(recompute_budget=float("nan")), "recompute_budget"),
        (lambda: ByteBudget(-1), "bytes"),
        (lambda: KeepNamed("hidden"), "sequence"),
    ],
)
def test_nonsense_is_refused_by_name(make, part):
    with pytest.raises(DeclarationError, match=part):
        make()


def test_a_name_that_the_loss_does_not_give_is_refused():
    with pytest.raises(DeclarationError, match=r"'hiden'(.|\n)*hidden, scores"):
        step_of(dropped, DROPPED, ["w1"], KeepNamed(["hiden"]))


def test_without_the_library_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(CompilationError, match=r"tinychain-compile\[captures\]"):
        step_of(dropped, DROPPED, ["w1"], "minimum_cut")


def test_a_policy_can_be_configured():
    for captures in ("recompute_all", {"kind": "RecomputeAll"}):
        container = NumpyContainer(config={"policies": {"captures": captures}})
        assert container.compiler().defaults.options.captures == RecomputeAll()
    budget = {"kind": "MinimumCut", "recompute_budget": 0.5}
    container = NumpyContainer(config={"policies": {"captures": budget}})
    assert container.compiler().defaults.options.captures == MinimumCut(recompute_budget=0.5)
    with pytest.raises(SettingsError, match=r"policies\.captures"):
        NumpyContainer(config={"policies": {"captures": {"bytes": 3}}})
