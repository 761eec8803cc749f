"""Every fault is caught, and called by its name; a right backend has none."""

from __future__ import annotations

import re

import numpy as np
import pytest

from tests.kit.broken import BROKEN, backend
from tinychain_compile.operators import Operator
from tinychain_conformance.checking import check_operator
from tinychain_conformance.models import models
from tinychain_conformance.programs import CHECKS, Subject
from tinychain_conformance.report import Status
from tinychain_conformance.variants import operators_of_the_grid

F32, F64 = np.dtype("f4"), np.dtype("f8")


def failures(broken, only: str | None = None) -> list[str]:
    """Return what the kit says is wrong: operators in f32 and f64, then whole programs."""
    found: list[str] = []
    kinds: list[type[Operator]] = [
        kind for kind in operators_of_the_grid() if only is None or re.fullmatch(only, kind.name)
    ]
    for kind in kinds:
        rows = [check_operator(broken, kind, dtype) for dtype in (F32, F64)]
        found += [f"{r.operator}: {r.detail}" for r in rows if r and r.status is Status.WRONG]
    for model in models():
        for name, check in CHECKS.items():
            try:
                problem = check(Subject(broken, model))
            except Exception as error:
                problem = f"{type(error).__name__}: {error}"
            if problem:
                found.append(f"{name}, {model.name}: {problem}")
    return found


def test_there_are_twenty_faults():
    assert len(BROKEN) >= 20


@pytest.mark.slow
@pytest.mark.parametrize("fault", BROKEN)
def test_a_fault_is_caught_and_named(fault):
    make, name = BROKEN[fault]
    found = failures(make(), only=name)
    assert any(re.match(rf"({name})\b|.*({name})", line.partition(":")[0]) for line in found), found


@pytest.mark.slow
def test_a_right_backend_has_none():
    assert failures(backend()) == []


def test_the_first_operation_that_differs_is_named_with_its_line_and_saved(tmp_path):
    make, _ = BROKEN["a divisor off by one"]
    model = next(m for m in models() if m.name.startswith("perceptron"))
    problem = CHECKS["one step"](Subject(make(), model, tmp_path / "kept"))
    assert problem is not None
    assert re.search(r"v\d+ = mean\(v\d+\) is the first to differ", problem)
    assert "mean(np.take_along_axis(scores, labels[:, None], axis=1))" in problem
    (saved,) = (tmp_path / "kept").glob("*.npz")
    arrays = np.load(saved)
    assert set(arrays) == {"x0", "found", "expected"}
    np.testing.assert_allclose(arrays["expected"], arrays["x0"].mean(), rtol=1e-5)
