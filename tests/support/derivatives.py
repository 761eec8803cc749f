"""Gradients of gradients, and central differences to compare them with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tinychain_backends.numpy import NumpyEvaluator
from tinychain_compile import Graph, TensorType, verify
from tinychain_compile.autodiff import ReverseModeEngine
from tinychain_compile.ir.builder import GraphBuilder
from tinychain_compile.ir.graph import NamedValue, fresh_ids
from tinychain_compile.tensor import Tensor
from tinychain_compile.tracing import FunctionTracer
from tinychain_compile.vjp_rules import GUARDS, VJP_RULES, WITHOUT_DERIVATIVE

Arrays = Mapping[str, np.ndarray[Any, Any]]


def traced(function: Callable[..., Tensor], arrays: Arrays) -> tuple[Graph, Any]:
    """Return the graph of a loss over arrays of these types, and its counter."""
    ids = fresh_ids()
    types = {name: TensorType(array.dtype, array.shape) for name, array in arrays.items()}
    return FunctionTracer().trace_loss(function, types, ids), ids


def with_gradients(graph: Graph, names: Sequence[str], ids: Any, seed_label: str) -> Graph:
    """Return one graph that computes a graph's loss and its gradients, from inputs and a seed."""
    engine = ReverseModeEngine(VJP_RULES, WITHOUT_DERIVATIVE, GUARDS)
    program = engine.derive(
        graph, names, ids=ids, seed_label=seed_label, on_disconnected="zero", nan_guard=True
    )
    verify(program.graph)
    joint = Graph(
        "joint",
        (*graph.inputs, program.seed),
        (*graph.operations, *program.graph.operations),
        (graph.outputs[0], *program.graph.outputs),
    )
    verify(joint)
    return joint


def projected(joint: Graph, names: Sequence[str], ids: Any) -> Graph:
    """Return the graph of the sum of all gradients, each weighted by an input ``<name>_weight``."""
    builder = GraphBuilder(ids)
    weights = [
        NamedValue(f"{name}_weight", builder.input(joint.output(name).type)) for name in names
    ]
    total: Tensor | None = None
    for name, (_, weight) in zip(names, weights, strict=True):
        part = (Tensor(builder, joint.output(name)) * Tensor(builder, weight)).sum()
        total = part if total is None else total + part
    assert total is not None
    graph = Graph(
        "projected",
        (*joint.inputs, *weights),
        (*joint.operations, *builder.operations),
        (NamedValue("loss", total.value),),
    )
    verify(graph)
    return graph


def check_gradients(graph: Graph, arrays: Arrays, names: Sequence[str], ids: Any, tag: str) -> None:
    """Compare gradients with central differences along one random direction, by inner product.

    In f64 with a step of 1e-6 the difference quotient is good to about 1e-9 relative.
    """
    rng = np.random.default_rng(7)
    joint = with_gradients(graph, names, ids, f"seed_{tag}")
    run = NumpyEvaluator().evaluate
    outputs = run(joint, {**arrays, f"seed_{tag}": np.ones(())})
    directions = {name: rng.normal(size=arrays[name].shape) for name in names}

    def loss_at(step: float) -> float:
        moved = {name: arrays[name] + step * directions[name] for name in names}
        return float(run(graph, {**arrays, **moved})[graph.outputs[0].name])

    step = 1e-6
    expected = (loss_at(step) - loss_at(-step)) / (2 * step)
    got = sum(float(np.sum(outputs[name] * directions[name])) for name in names)
    np.testing.assert_allclose(got, expected, rtol=2e-7, atol=2e-8)


def check_two_orders(function: Callable[..., Tensor], arrays: Arrays, names: Sequence[str]) -> None:
    """Check the gradient of a loss, and the gradient of a projection of that gradient."""
    graph, ids = traced(function, arrays)
    verify(graph)
    check_gradients(graph, arrays, names, ids, "first")
    second = projected(with_gradients(graph, names, ids, "seed"), names, ids)
    rng = np.random.default_rng(8)
    weights = {f"{name}_weight": rng.normal(size=arrays[name].shape) for name in names}
    check_gradients(second, {**arrays, "seed": np.ones(()), **weights}, names, ids, "second")
