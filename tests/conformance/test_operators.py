"""Every operator's value, derivative, second derivative and decomposition."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from reference.backend import FUNCTIONS as REFERENCE_FUNCTIONS
from reference.backend import reference_registry
from tests.support.derivatives import check_two_orders
from tinychain_backends.numpy import NumpyEvaluator
from tinychain_compile import Graph, TensorType, verify
from tinychain_compile.decompositions import DECOMPOSITIONS, UNDECOMPOSED
from tinychain_compile.ir.builder import GraphBuilder
from tinychain_compile.ir.dtypes import as_dtype
from tinychain_compile.ir.graph import NamedValue, fresh_ids
from tinychain_compile.passes.legalization import DecomposingLegalizer
from tinychain_compile.tensor import Tensor
from tinychain_conformance.case import Case
from tinychain_conformance.cases import CASES

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
    floating = {op.type.dtype for op in legal.operations if op.type.is_floating}
    assert floating <= {np.dtype("f4")}
    assert legal.output("y").type.dtype == np.dtype("f4")


SHORT = [c for c in CASES if any(a.dtype == np.float64 for a in c.operands) and not c.note]


@pytest.mark.parametrize("case", SHORT, ids=[case.label for case in SHORT])
@pytest.mark.parametrize("dtype", ["f32", "f16", "bf16"])
def test_shorter_dtypes_stay_what_they_are_whole_and_decomposed(case, dtype):
    """Within a few units of the dtype's precision of the value in f64, relative to the largest."""
    with np.errstate(over="ignore"):
        arrays = [a.astype(as_dtype(dtype)) if a.dtype == np.float64 else a for a in case.operands]
    short = Case(case.operator, case.value, tuple(arrays))
    graph, ids = graph_of(short)
    result = NumpyEvaluator().evaluate(graph, arrays_of(short))["y"]
    expected_type = graph.output("y").type
    assert result.dtype == expected_type.dtype
    wide = [a.astype(np.float64) if a.dtype == as_dtype(dtype) else a for a in arrays]
    exact, _ = graph_of(Case(case.operator, case.value, tuple(wide)))
    expected = NumpyEvaluator().evaluate(exact, {f"x{i}": a for i, a in enumerate(wide)})["y"]
    precision = float(ml_dtypes.finfo(as_dtype(dtype)).eps)
    finite = np.where(np.isfinite(expected.astype(np.float64)), expected, 0)
    scale = max(float(np.max(np.abs(finite.astype(np.float64)), initial=0.0)), 1.0)

    def check(found, units):
        assert found.dtype == expected_type.dtype
        if expected_type.is_floating:
            np.testing.assert_allclose(
                found.astype(np.float64), expected, rtol=0, atol=units * precision * scale
            )

    check(result, 24)
    if dtype != "f32" and type(case.operator) in DECOMPOSITIONS:
        legal = DecomposingLegalizer(DECOMPOSITIONS).legalize(graph, reference_registry(), ids)
        check(NumpyEvaluator().evaluate(legal, arrays_of(short))["y"], 48)
