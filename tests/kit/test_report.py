"""What the kit says: statuses, tables in four forms, and what it refuses."""

from __future__ import annotations

import json

import numpy as np
import pytest

from reference import ReferenceContainer
from reference.backend import ReferenceAdapter
from tests.kit.broken import BROKEN, backend
from tinychain_compile import operators as o
from tinychain_compile.errors import BackendError
from tinychain_compile.operators import BASIS, Cast, Constant, Iota
from tinychain_conformance.adapter import Backend, load_backend
from tinychain_conformance.checking import check_operator
from tinychain_conformance.report import CheckRow, OperatorRow, Report, Status

F32, F64, I32 = np.dtype("f4"), np.dtype("f8"), np.dtype("i4")
REFERENCE = Backend("Reference", ReferenceContainer, ReferenceAdapter())


@pytest.mark.parametrize(
    ("made", "operator", "dtype", "status", "part"),
    [
        (REFERENCE, o.Exp, F32, Status.RIGHT, ""),
        (REFERENCE, o.Tanh, F32, Status.DECOMPOSED, "there is no handler"),
        (REFERENCE, o.RandomBits, np.dtype("u4"), Status.ABSENT, "random_bits"),
        (BROKEN["another dtype"][0](), o.Tanh, F32, Status.WRONG, "float64"),
        (BROKEN["a divisor off by one"][0](), o.Mean, F64, Status.WRONG, "is right, at"),
    ],
)
def test_an_operator_has_one_of_four_fates(made, operator, dtype, status, part):
    row = check_operator(made, operator, dtype)
    assert row is not None
    assert row.status is status
    assert part in row.detail
    assert row.uses > 0


def test_a_type_that_an_operator_does_not_take_has_no_row():
    assert check_operator(REFERENCE, o.Exp, I32) is None


def test_what_is_raised_is_wrong_and_named():
    made = BROKEN["kept axes dropped"][0]()
    row = check_operator(made, o.ReduceSum, F32)
    assert row is not None
    assert row.status is Status.WRONG
    assert "reduce_sum" in row.detail


def report() -> Report:
    rows = [OperatorRow(kind.name, "f32", Status.RIGHT, 3, "") for kind in BASIS]
    rows += [OperatorRow(kind.name, "f32", Status.RIGHT, 1, "") for kind in (Cast, Constant, Iota)]
    rows.append(OperatorRow("tanh", "f32", Status.DECOMPOSED, 2, "there is no handler"))
    rows.append(OperatorRow("mean", "f64", Status.WRONG, 2, "mean(axes=(0,)): 2.0 where 1.0 is"))
    checks = [
        CheckRow("one step", "regression", True, ""),
        CheckRow("a training run", "regression", False, "step 1, loss: 2.0 where 1.0 is right"),
    ]
    made = Report("Made", rows[::-1], checks)
    made.sort()
    return made


def test_the_tables_say_operator_type_tier_and_what_went_wrong():
    made = report()
    text = made.text()
    for part in ("Made: operators", "f32", "basis", "✗", "mean(axes=(0,))", "basis: whole"):
        assert part in text
    assert "step 1, loss: 2.0" in text
    page = made.page()
    assert "<html>" in page
    assert "mean(axes=(0,))" in page
    assert [row.operator for row in made.operators][:2] == ["constant", "iota"]


def test_tiers_are_whole_where_every_operator_is_right_in_f32():
    assert report().tiers() == {"basis": True, "core": False, "vision": False, "full": False}


def test_json_comes_back_and_markdown_counts(tmp_path):
    made = report()
    again = Report.from_json(made.json())
    assert again == made
    assert json.loads(made.json())["tiers"]["basis"]
    text = made.markdown()
    assert "15 right, 1 decomposed, 0 absent, 1 wrong" in text
    assert "held: 1 of 2" in text
    assert "| `mean` |  | ✗ |" in text
    made.write(tmp_path / "new")
    assert {path.name for path in (tmp_path / "new").iterdir()} == {
        "report.txt",
        "report.json",
        "report.html",
    }


def test_a_backend_is_loaded_with_the_adapter_of_its_container_or_another():
    own = load_backend("reference:ReferenceContainer")
    assert own.name == "Reference"
    assert isinstance(own.adapter, ReferenceAdapter)
    other = load_backend("reference:ReferenceContainer", "reference.backend:ReferenceAdapter")
    assert other.adapter is not own.adapter


@pytest.mark.parametrize(
    ("spec", "adapter", "part"),
    [
        ("reference", None, "package.module:Name"),
        ("reference:", None, "package.module:Name"),
        ("no_such_module:C", None, "No module named"),
        ("reference:Nothing", None, "Nothing"),
        ("reference.backend:run", None, "derives from TrainingStepContainer"),
        ("tinychain_compile.container:TrainingStepContainer", None, "conformance_adapter"),
        ("reference:ReferenceContainer", "builtins:dict", "no load and no run"),
    ],
)
def test_what_cannot_be_loaded_is_refused_by_name(spec, adapter, part):
    with pytest.raises(BackendError) as caught:
        load_backend(spec, adapter)
    assert part in str(caught.value)


def test_a_right_backend_is_right_here_too():
    row = check_operator(backend(), o.Add, F32)
    assert row is not None
    assert row.status is Status.RIGHT
