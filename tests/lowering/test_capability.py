"""What a backend can take, operation by operation, and the report of it."""

from __future__ import annotations

import graphlib

import numpy as np
import pytest
from dependency_injector import providers

from reference import ReferenceContainer
from reference.backend import reference_registry
from tests.conformance.test_operators import arrays_of, graph_of
from tinychain_backends.numpy import NumpyContainer, NumpyEvaluator, NumpySession
from tinychain_backends.numpy.handlers import lower_call
from tinychain_compile import (
    NO_FUSION,
    SGD,
    CompileOptions,
    OperationHandlerRegistry,
    SupportStatus,
    TensorType,
    check_tier,
    compile_training_step,
    explain_support,
    print_graph,
    rank_next_handlers,
)
from tinychain_compile.container import TrainingStepContainer
from tinychain_compile.decompositions import APPROXIMATE, DECOMPOSITIONS, UNDECOMPOSED
from tinychain_compile.errors import (
    BackendError,
    DeclarationError,
    HandlerContractError,
    UnsupportedOperatorError,
)
from tinychain_compile.functions import dropout, gelu, sigmoid
from tinychain_compile.ir.dtypes import BOOL, F64
from tinychain_compile.ir.graph import fresh_ids
from tinychain_compile.operators import (
    BASIS,
    CORE,
    FULL,
    LITERALS,
    OPERATORS,
    TIERS,
    VISION,
    Cast,
    Erf,
    Exp,
    Gather,
    MatMul,
    Mul,
    Sigmoid,
    Slice,
    Tanh,
    Transpose,
)
from tinychain_compile.passes.legalization import DecomposingLegalizer
from tinychain_compile.passes.rewriting import rewrite
from tinychain_compile.testing import RecordingRegistry
from tinychain_compile.tracing import FunctionTracer
from tinychain_conformance.cases import CASES

X, W = np.ones((4, 3)), np.full((3, 2), 0.5)


def loss(x, w):
    return np.mean(np.tanh(x @ w) ** 2)


def registry_of(operators, **supports):
    registry = OperationHandlerRegistry()
    for operator in operators:
        registry.handler(operator, supports=supports.get(operator.__name__))(lower_call)
    return registry


def step_with(registry, function=loss, inputs=None, **options):
    inputs = inputs or {"x": X, "w": W}
    return compile_training_step(
        function,
        inputs=inputs,
        parameters=["w"] if "w" in inputs else ["x"],
        optimizer=SGD(),
        handlers=registry,
        options=CompileOptions(**options),
    )


TAKEN = [o for o in OPERATORS if o.__name__ != "StopGradient"]


class TestSupports:
    def test_what_a_handler_refuses_is_decomposed(self):
        def no_flags(operation):
            flags = operation.operator.transpose_a or operation.operator.transpose_b
            return "it cannot transpose" if flags else True

        step = step_with(registry_of(TAKEN, MatMul=no_flags))
        derivative = step.lowered_derivative_program.graph
        products = [op for op in derivative.operations if isinstance(op.operator, MatMul)]
        assert products
        assert all(no_flags(operation) is True for operation in products)
        assert any(isinstance(op.operator, Transpose) for op in derivative.operations)
        session = NumpySession(step, {"w": W})
        _, gradients = session.value_and_gradients({"x": X})
        _, expected = NumpySession(step_with(registry_of(TAKEN)), {"w": W}).value_and_gradients(
            {"x": X}
        )
        np.testing.assert_allclose(gradients["w"], expected["w"], rtol=1e-13)

    def test_by_dtype(self):
        def no_conditions(operation):
            return True if operation.type.dtype != BOOL else "not of conditions"

        def only_f64(operation):
            return True if operation.type.dtype == F64 else "f64 alone"

        registry = registry_of(TAKEN, Where=no_conditions, Tanh=only_f64)
        step = step_with(registry)
        assert any(isinstance(op.operator, Tanh) for op in step.lowered_forward_graph.operations)
        types = {"x": TensorType("f32", (4, 3)), "w": TensorType("f32", (3, 2))}
        narrow = step_with(registry, inputs=types)
        assert not any(
            isinstance(op.operator, Tanh) for op in narrow.lowered_forward_graph.operations
        )
        row = next(r for r in narrow.support.decomposed if r.operator is Tanh)
        assert row.reason == "f64 alone"

    def test_a_handler_class_may_have_it(self):
        registry = OperationHandlerRegistry()

        @registry.handler(Tanh)
        class Handler:
            def supports(self, operation):
                return "never"

            def lower(self, context):
                raise AssertionError

        for operator in TAKEN:
            if operator is not Tanh:
                registry.handler(operator)(lower_call)
        step = step_with(registry)
        assert any(row.operator is Tanh for row in step.support.decomposed)

    @pytest.mark.parametrize("answer", [False, None, "", 3])
    def test_nonsense_is_named_with_operation_and_line(self, answer):
        with pytest.raises(HandlerContractError) as caught:
            step_with(registry_of(TAKEN, Tanh=lambda operation: answer))
        for part in ("supports", "tanh", repr(answer), "np.tanh(x @ w)"):
            assert part in str(caught.value)

    def test_what_it_raises_is_chained(self):
        def supports(operation):
            raise KeyError("lost")

        with pytest.raises(HandlerContractError, match="KeyError: 'lost'") as caught:
            step_with(registry_of(TAKEN, Tanh=supports))
        assert isinstance(caught.value.__cause__, KeyError)

    def test_a_basic_operator_that_is_refused_is_missing_with_its_reason(self):
        with pytest.raises(UnsupportedOperatorError) as caught:
            step_with(registry_of(TAKEN, Mul=lambda operation: "out of multipliers"))
        for part in ("mul: out of multipliers", "every backend brings it", "derivative, at"):
            assert part in str(caught.value)


class TestReport:
    def test_a_complete_step_says_what_was_decomposed_and_what_it_cost(self):
        step = step_with(reference_registry())
        report = step.support
        assert report.is_complete
        assert not report.missing
        matmul = next(
            r for r in report.decomposed if r.operator is MatMul and r.program == "forward"
        )
        assert matmul.status is SupportStatus.DECOMPOSED
        assert matmul.uses == 1
        emitted = [
            op
            for op in step.lowered_forward_graph.operations
            if "decomposition of matmul" in str(op.origin)
        ]
        assert matmul.operations == len(emitted)
        assert matmul.bytes == sum(op.type.size * 8 for op in emitted)
        assert "x @ w" in matmul.sources[0]
        assert {r.operator for r in report.supported} <= {*BASIS, *LITERALS, Cast}
        text = str(report)
        for part in ("program", "matmul", "decomposed", "there is no handler"):
            assert part in text

    def test_everything_missing_is_in_one_report_and_nothing_runs(self):
        container = TrainingStepContainer()
        lacking = RecordingRegistry([o for o in BASIS if o not in (Mul, Exp)])
        container.handler_registry.override(lacking)
        container.fusion_hook.override(NO_FUSION)
        report = explain_support(
            loss,
            inputs={"x": X, "w": W},
            parameters=["w"],
            optimizer=SGD(),
            container=container,
        )
        assert not lacking.contexts
        assert not report.is_complete
        missing = {(row.program, row.operator.name) for row in report.missing}
        assert ("update of f64[3, 2]", "mul") in missing
        assert ("forward", "exp") in missing
        assert ("forward", "constant") in missing
        row = next(r for r in report.missing if r.operator is Exp)
        assert "every backend brings it" in row.reason
        assert "decomposition of tanh" in row.sources[0]
        assert "np.tanh(x @ w)" in row.sources[0]
        assert "comes from" in str(report)

    def test_random_bits_say_that_they_are_a_declared_input(self):
        with pytest.raises(UnsupportedOperatorError, match="declared input"):
            step_with(
                reference_registry(),
                lambda x, key: dropout(x, key, 0.5).sum(),
                {"x": X, "key": np.zeros(2, np.uint32)},
            )

    def test_symbolic_bytes_are_unknown(self):
        types = {"x": TensorType("f64", ("n", 3)), "w": TensorType("f64", (3, 2))}
        registry = registry_of([*BASIS, *LITERALS, Cast])
        report = step_with(registry, inputs=types).support
        assert any(row.bytes is None for row in report.decomposed)
        assert "?" in str(report)


class TestRanking:
    def ranking(self, container=None):
        return rank_next_handlers(
            loss,
            inputs={"x": X, "w": W},
            parameters=["w"],
            optimizer=SGD(),
            container=container or ReferenceContainer(),
        )

    def test_it_is_what_adding_the_handler_saves(self):
        ranking = self.ranking()
        assert [row.operations_removed for row in ranking.rows] == sorted(
            (row.operations_removed for row in ranking.rows), reverse=True
        )
        before = step_with(reference_registry())
        row = next(r for r in ranking.rows if r.operator is MatMul)

        class More(ReferenceContainer):
            handler_registry = providers.Factory(
                lambda: registry_of([*BASIS, *LITERALS, Cast, MatMul])
            )

        after = (
            More()
            .compiler()
            .compile_training_step(loss, inputs={"x": X, "w": W}, parameters=["w"], optimizer=SGD())
        )

        def count(step):
            updates = {r.update: r.lowered_update_graph for r in step.parameters}
            graphs = [step.lowered_forward_graph, step.lowered_derivative_program.graph]
            return sum(len(g.operations) for g in (*graphs, *updates.values()))

        assert row.operations_removed == count(before) - count(after)
        assert row.bytes_removed > 0
        assert "operations removed" in str(ranking)

    def test_a_backend_with_everything_has_nothing_to_gain(self):
        assert self.ranking(NumpyContainer()).rows == ()


class TestTiers:
    def test_sizes_and_order(self):
        assert [len(TIERS[name]) for name in ("basis", "core", "vision")] == [12, 17, 24]
        assert set(BASIS) < set(CORE) < set(VISION) < set(FULL)

    def test_a_claim_that_is_not_met_names_what_is_missing(self):
        check_tier(reference_registry(), "basis")
        with pytest.raises(BackendError, match=r"'core'.*slice, pad, matmul, gather, scatter_add"):
            check_tier(reference_registry(), "core")
        with pytest.raises(BackendError, match="basis, core, vision, full"):
            check_tier(reference_registry(), "gold")

    @pytest.mark.parametrize("tier", TIERS)
    def test_a_step_needs_fewer_operations_at_each_tier_and_trains_alike(self, tier):
        step = step_with(registry_of([*TIERS[tier], *LITERALS, Cast]))
        _, gradients = NumpySession(step, {"w": W}).value_and_gradients({"x": X})
        whole = NumpySession(step_with(registry_of(TAKEN)), {"w": W})
        _, expected = whole.value_and_gradients({"x": X})
        np.testing.assert_allclose(gradients["w"], expected["w"], rtol=1e-12)


class TestApproximations:
    def test_they_can_be_refused(self):
        def erf_loss(w):
            return gelu(w).sum()

        with pytest.raises(UnsupportedOperatorError) as caught:
            step_with(reference_registry(), erf_loss, {"w": W}, approximate_decompositions=False)
        for part in ("erf: there is no handler", "approximate", "decomposition of gelu", "gelu(w)"):
            assert part in str(caught.value)
        step_with(reference_registry(), erf_loss, {"w": W})
        with pytest.raises(DeclarationError, match="approximate_decompositions"):
            CompileOptions(approximate_decompositions="no")

    @pytest.mark.parametrize("kind", APPROXIMATE, ids=[k.__name__ for k in APPROXIMATE])
    def test_the_stated_bound_holds(self, kind):
        cases = [c for c in CASES if type(c.operator) is kind and "special" not in c.note]
        eps = np.finfo(np.float64).eps
        for case in cases:
            graph, ids = graph_of(case)
            legal = DecomposingLegalizer(DECOMPOSITIONS).legalize(graph, reference_registry(), ids)
            run = NumpyEvaluator().evaluate
            exact = run(graph, arrays_of(case))["y"]
            found = run(legal, arrays_of(case))["y"]
            scale = np.max(np.abs(exact)) if kind.__name__ in ("Sin", "Cos") else np.abs(exact)
            assert np.all(np.abs(found - exact) <= APPROXIMATE[kind].units * eps * scale)


def test_decompositions_end_without_a_circle():
    """A node is an operator class, and whether it is of conditions, which become numbers once.

    Or, of a product, whether it transposes, which becomes movement once.
    """

    def node(operation):
        operands = [value.type.dtype for value in operation.inputs]
        flags = getattr(operation.operator, "transpose_a", False)
        flags = flags or getattr(operation.operator, "transpose_b", False)
        return type(operation.operator), operands[:1] == [BOOL] or flags

    uses: dict[tuple[type, bool], set[tuple[type, bool]]] = {}
    for case in CASES:
        graph, ids = graph_of(case)
        top = graph.operations[-1]
        rule = DECOMPOSITIONS.get(type(top.operator))
        if rule is not None:
            made = rewrite(graph, lambda op, top=top, rule=rule: rule if op is top else None, ids)
            uses.setdefault(node(top), set()).update(map(node, made.operations))
    order = list(graphlib.TopologicalSorter(uses).static_order())
    assert {kind for kind, _ in uses} == set(DECOMPOSITIONS)
    ends = {kind for kind, _ in order if kind not in DECOMPOSITIONS}
    assert ends <= {*BASIS, *LITERALS, Cast, *UNDECOMPOSED}


class TestLedgers:
    def test_captures_are_listed_by_line_type_and_bytes(self):
        step = step_with(registry_of(TAKEN))
        ledger = step.capture_ledger
        assert [row.value_id for row in ledger.rows] == list(step.forward_capture_value_ids)
        assert ledger.rows[0].operator == "tanh"
        assert ledger.rows[0].bytes == 4 * 2 * 8
        assert ledger.total_bytes == sum(row.bytes for row in ledger.rows)
        assert "np.tanh(x @ w)" in str(ledger)
        symbolic = step_with(
            registry_of(TAKEN),
            inputs={"x": TensorType("f64", ("n", 3)), "w": TensorType("f64", (3, 2))},
        )
        assert symbolic.capture_ledger.total_bytes is None
        assert "unknown bytes" in str(symbolic.capture_ledger)

    def test_constants_are_listed(self):
        table = np.arange(8.0).reshape(4, 2)
        step = step_with(registry_of(TAKEN), lambda x, w: np.sum(x @ w * table))
        rows = [row for row in step.constant_ledger.rows if row.type.shape == (4, 2)]
        assert rows
        assert rows[0].bytes == 64
        assert "x @ w * table" in rows[0].source

    def test_a_slice_of_a_literal_is_made_again_and_one_of_a_value_is_kept(self):
        step = step_with(
            registry_of(TAKEN), lambda x, w: np.sum(np.tanh(x @ w) * np.full_like(x, 1.5)[:, 1:])
        )
        assert {row.operator for row in step.capture_ledger.rows} == {"tanh"}
        derivative = step.lowered_derivative_program.graph.operations
        assert any(isinstance(op.operator, Slice) for op in derivative)
        step = step_with(
            registry_of(TAKEN), lambda x, w: np.sum((x @ w) * np.exp(x)[:, 1:].reshape(4, 2))
        )
        assert {row.operator for row in step.capture_ledger.rows} == {"slice"}


def test_gather_on_a_limited_backend_is_in_the_report():
    step = step_with(
        reference_registry(),
        lambda w: np.take(w, np.array([0, 2, 0]), axis=0).sum(),
        {"w": W},
    )
    assert any(row.operator is Gather for row in step.support.decomposed)
    assert Erf not in {row.operator for row in step.support.rows}


def test_a_decomposition_is_asked_once_for_operations_alike_and_has_the_line_of_each():
    asked = []

    def halves(op, x):
        asked.append(x.type)
        return DECOMPOSITIONS[Sigmoid](op, x)

    def loss(x):
        first = sigmoid(x)
        second = sigmoid(first)
        return second.sum() + sigmoid(second.sum())

    handlers = RecordingRegistry([o for o in OPERATORS if o is not Sigmoid])
    ids = fresh_ids()
    x = TensorType("f64", (2, 3))
    graph = FunctionTracer().trace_loss(loss, {"x": x}, ids)
    legalizer = DecomposingLegalizer({**DECOMPOSITIONS, Sigmoid: halves})
    legal = legalizer.legalize(graph, handlers, ids)
    assert asked == [x, TensorType("f64", ())]
    lines = {str(op.origin) for op in legal.operations if "decomposition" in str(op.origin)}
    for place in ("sigmoid(x)", "sigmoid(first)", "sigmoid(second.sum())"):
        assert any(line.endswith(f": {place}") for line in lines)
    ids = fresh_ids()
    again = FunctionTracer().trace_loss(loss, {"x": x}, ids)
    known = legalizer.legalize(again, handlers, ids)
    assert len(asked) == 2
    assert print_graph(known) == print_graph(legal)
