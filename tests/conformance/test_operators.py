"""Every operator's value, derivative, second derivative and decomposition."""

from __future__ import annotations

import numpy as np
import pytest

from reference.backend import FUNCTIONS as REFERENCE_FUNCTIONS
from reference.backend import reference_registry
from tests.conformance.case import Case
from tests.conformance.cases import CASES
from tests.support.derivatives import check_two_orders
from tinychain_backends.numpy import NumpyEvaluator
from tinychain_compile import Graph, TensorType, verify
from tinychain_compile.decompositions import DECOMPOSITIONS, UNDECOMPOSED
from tinychain_compile.ir.builder import GraphBuilder
from tinychain_compile.ir.graph import NamedValue, fresh_ids
from tinychain_compile.passes.legalization import DecomposingLegalizer
from tinychain_compile.tensor import Tensor

by_label = pytest.mark.parametrize("case", CASES, ids=[case.label for case in CASES])
differentiable = [case for case in CASES if case.differentiable]
decomposable = [case for case in CASES if type(case.operator) in DECOMPOSITIONS]
ENDS = set(REFERENCE_FUNCTIONS) | set(UNDECOMPOSED)


def graph_of(case: Case) -> tuple[Graph, object]:
    ids = fresh_ids()
    builder = GraphBuilder(ids)
    inputs = [builder.input(TensorType(a.dtype, a.shape)) for a in case.operands]
    output = builder.emit(case.operator, *inputs)
    named = tuple(NamedValue(f"x{i}", value) for i, value in enumerate(inputs))
    graph = Graph("case", named, tuple(builder.operations), (NamedValue("y", output),))
    verify(graph)
    return graph, ids


def arrays_of(case: Case) -> dict[str, np.ndarray]:
    return {f"x{i}": array for i, array in enumerate(case.operands)}


@by_label
def test_the_value_is_what_numpy_says_and_of_the_inferred_type(case):
    graph, _ = graph_of(case)
    result = NumpyEvaluator().evaluate(graph, arrays_of(case))["y"]
    with np.errstate(all="ignore"):
        expected = np.asarray(case.value(*case.operands))
    assert result.dtype == graph.output("y").type.dtype
    assert result.shape == graph.output("y").type.shape
    np.testing.assert_allclose(
        result.astype(np.float64), expected.astype(np.float64), rtol=case.tolerance, atol=1e-300
    )


@pytest.mark.parametrize("case", differentiable, ids=[case.label for case in differentiable])
def test_derivatives_of_first_and_second_order_equal_central_differences(case):
    names = [f"x{i}" for i in case.differentiable]
    arrays = arrays_of(case)
    graph, _ = graph_of(case)
    weight = np.random.default_rng(3).normal(size=graph.output("y").type.shape)

    def loss(weight: Tensor, **operands: Tensor) -> Tensor:
        first, *others = operands.values()
        y = first.emit(case.operator, *others)
        return (y * weight * y).sum() + (y * weight).sum()

    check_two_orders(loss, {"weight": weight, **arrays}, names)


@pytest.mark.parametrize("case", decomposable, ids=[case.label for case in decomposable])
def test_the_decomposition_ends_in_the_basis_and_has_the_same_value(case):
    graph, ids = graph_of(case)
    legal = DecomposingLegalizer(DECOMPOSITIONS).legalize(graph, reference_registry(), ids)
    verify(legal)
    assert {type(op.operator) for op in legal.operations} <= ENDS
    arrays = arrays_of(case)
    run = NumpyEvaluator().evaluate
    expected = np.asarray(run(graph, arrays)["y"], np.float64)
    result = np.asarray(run(legal, arrays)["y"], np.float64)
    np.testing.assert_allclose(result, expected, rtol=case.tolerance, atol=1e-300)


@pytest.mark.parametrize("case", differentiable, ids=[case.label for case in differentiable])
def test_f32_stays_f32_through_value_derivative_and_decomposition(case):
    types = [
        TensorType("f32" if a.dtype == np.float64 else a.dtype, a.shape) for a in case.operands
    ]
    ids = fresh_ids()
    builder = GraphBuilder(ids)
    inputs = [Tensor(builder, builder.input(type)) for type in types]
    output = inputs[0].emit(case.operator, *inputs[1:])
    named = tuple(NamedValue(f"x{i}", x.value) for i, x in enumerate(inputs))
    graph = Graph("case", named, tuple(builder.operations), (NamedValue("y", output.value),))
    legal = DecomposingLegalizer(DECOMPOSITIONS).legalize(graph, reference_registry(), ids)
    floating = {op.output.type.dtype for op in legal.operations if op.output.type.is_floating}
    assert floating <= {np.dtype("f4")}
    assert legal.output("y").type.dtype == np.dtype("f4")
