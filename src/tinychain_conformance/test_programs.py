"""Whole programs and training runs of small models."""

from __future__ import annotations

import pytest

from tinychain_conformance.kit import KIT, record
from tinychain_conformance.models import Model, models
from tinychain_conformance.programs import CHECKS, Subject
from tinychain_conformance.report import CheckRow


@pytest.mark.parametrize("model", models(), ids=lambda model: model.name)
@pytest.mark.parametrize("check", CHECKS)
def test_programs(check: str, model: Model, request: pytest.FixtureRequest) -> None:
    """A check holds on a model."""
    kit = request.config.stash[KIT]
    try:
        problem = CHECKS[check](Subject(kit.backend, model, kit.folder))
    except Exception as error:
        problem = f"{type(error).__name__}: {error}"
    record(request, CheckRow(check, model.name, problem is None, problem or ""))
    if problem is not None:
        pytest.fail(f"{check}, {model.name}: {problem}", pytrace=False)
