"""Every operator in every type, whole or decomposed: values and derivative programs."""

from __future__ import annotations

import pytest

from tinychain_compile.ir.dtypes import DType, dtype_name
from tinychain_compile.operators import Operator
from tinychain_conformance.checking import check_operator
from tinychain_conformance.kit import KIT, record
from tinychain_conformance.report import Status
from tinychain_conformance.variants import DTYPES, operators_of_the_grid, uses_of

ROWS = [(o, d) for o in operators_of_the_grid() for d in DTYPES if uses_of(o, d)]


@pytest.mark.parametrize(
    ("operator", "dtype"), ROWS, ids=[f"{o.name}-{dtype_name(d)}" for o, d in ROWS]
)
def test_operator(operator: type[Operator], dtype: DType, request: pytest.FixtureRequest) -> None:
    """A backend is right, takes what the operator decomposes to, or takes neither."""
    row = check_operator(request.config.stash[KIT].backend, operator, dtype)
    assert row is not None
    record(request, row)
    if row.status is Status.WRONG:
        pytest.fail(f"{row.operator} in {row.dtype}: {row.detail}", pytrace=False)
