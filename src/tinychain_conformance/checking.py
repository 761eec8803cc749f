"""Checks one operator in one type on a backend: values and derivative programs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, cast

import numpy as np

from tinychain_backends.numpy import NumpyEvaluator
from tinychain_compile import SGD, Operation, lower_graph
from tinychain_compile.errors import UnsupportedOperatorError
from tinychain_compile.ir.dtypes import FLOATING, DType, dtype_name
from tinychain_compile.operators import ELEMENTWISE, Operator
from tinychain_conformance.adapter import Array, Backend
from tinychain_conformance.comparing import UNITS, disagreement
from tinychain_conformance.report import OperatorRow, Status
from tinychain_conformance.training import BackendEngine, EvaluatorEngine, differentiate
from tinychain_conformance.variants import SIGNED_ZERO, Use, uses_of

DECOMPOSED_UNITS = 4 * UNITS
"""How many units a result may be off that a decomposition of many operations made."""


class Finding(NamedTuple):
    """What one use of an operator came to.

    Attributes:
        label: The use.
        claim: ``True``, or why the backend does not claim the operation.
        problem: How the result differs, or what was raised; ``None`` if it is right.
        is_absent: Whether the backend can neither take it nor what it decomposes to.
    """

    label: str
    claim: bool | str
    problem: str | None
    is_absent: bool = False


def check_operator(backend: Backend, operator: type[Operator], dtype: DType) -> OperatorRow | None:
    """Return the row of an operator in a type; ``None`` if it takes no operands of this type."""
    found = [finding for use in uses_of(operator, dtype) for finding in _findings(backend, use)]
    if not found:
        return None
    wrong = [finding for finding in found if finding.problem and not finding.is_absent]
    reasons = [finding.claim for finding in found if isinstance(finding.claim, str)]
    absent = [finding for finding in found if finding.is_absent]
    if wrong:
        status, detail = Status.WRONG, f"{wrong[0].label}: {wrong[0].problem}"
    elif len(absent) == len(found):
        status, detail = Status.ABSENT, absent[0].problem or ""
    elif len(reasons) == len(found):
        status, detail = Status.DECOMPOSED, reasons[0]
    else:
        status, detail = Status.RIGHT, "in part: " + reasons[0] if reasons else ""
    return OperatorRow(operator.name, dtype_name(dtype), status, len(found), detail)


def why_unclaimed(backend: Backend, operation: Operation) -> bool | str:
    """Return ``True`` if a backend claims an operation, else why not."""
    registry = backend.container.handler_registry()
    if not registry.has_handler(operation.operator):
        return "there is no handler"
    supports = getattr(registry.lookup(operation.operator), "supports", None)
    answer: bool | str = True if supports is None else supports(operation)
    return answer


def _findings(backend: Backend, use: Use) -> Iterator[Finding]:
    claim = why_unclaimed(backend, use.graph.operations[-1])
    if claim is not True and use.case.note.endswith(SIGNED_ZERO):
        return
    units = UNITS if claim is True else DECOMPOSED_UNITS
    for what, check in (("", _value), (" derivative", _derivative)):
        label = use.case.label + what
        try:
            problems = [*check(backend, use, units)]
        except UnsupportedOperatorError as error:
            yield Finding(label, claim, str(error.got), is_absent=True)
        except Exception as error:
            yield Finding(label, claim, f"{type(error).__name__}: {error}")
        else:
            yield from (Finding(label, claim, problem) for problem in problems)


def _value(backend: Backend, use: Use, units: float) -> Iterator[str | None]:
    registry = backend.container.handler_registry()
    legal = backend.container.legalizer().legalize(use.graph, registry, use.ids)
    fusion = backend.container.fusion_hook()
    program = lower_graph(legal, handlers=registry, fusion=fusion)
    values = {value.id: use.inputs[name] for name, value in legal.inputs}
    loaded = backend.adapter.load(program)
    found = np.asarray(backend.adapter.run(loaded, values)[legal.output_ids["y"]])
    expected = NumpyEvaluator().evaluate(use.graph, use.inputs)["y"]
    by_element = isinstance(use.case.operator, ELEMENTWISE)
    yield disagreement(found, expected, units=units, by_element=by_element)


def _derivative(backend: Backend, use: Use, units: float) -> Iterator[str | None]:
    """Compare the gradients of a weighted sum, by each operand that has one."""
    case = use.case
    names = [f"x{i}" for i in case.differentiable]
    if not names or use.graph.output("y").type.dtype not in FLOATING:
        return
    shape = cast("tuple[int, ...]", use.graph.output("y").type.shape)
    weights: Array = np.random.default_rng(3).normal(size=shape)
    arrays = {**use.inputs, "weight": np.asarray(weights, use.graph.output("y").type.dtype)}

    def loss(weight: Any, **operands: Any) -> Any:
        first, *others = operands.values()
        return (first.emit(case.operator, *others) * weight).sum()

    step = backend.container.compiler().compile_training_step(
        loss, inputs=arrays, parameters=names, optimizer=SGD()
    )
    _, found = differentiate(step, BackendEngine(backend, step), arrays)
    _, expected = differentiate(step, EvaluatorEngine(step), arrays)
    for row in step.parameters:
        gradient = np.asarray(found[row.gradient_value_id])
        problem = disagreement(gradient, expected[row.gradient_value_id], units=4 * units)
        yield None if problem is None else f"by {row.name}: {problem}"
