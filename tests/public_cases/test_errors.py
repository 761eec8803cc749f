"""Cases made from public bug reports that must raise, and say what is wrong."""

from __future__ import annotations

import pytest

from tests.public_cases.case_format import array, of_kind
from tests.public_cases.test_gradients import DOORS, compiled
from tinychain_backends.numpy import NumpyContainer
from tinychain_compile import CompilationError

ERRORS = of_kind("error")


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("case_id", ERRORS)
def test_the_message_says_what_is_wrong(case_id, door):
    case = ERRORS[case_id]
    arrays = {name: array(encoded) for name, encoded in case["inputs"].items()}
    with pytest.raises(CompilationError) as caught:
        compiled(case, arrays, NumpyContainer, DOORS[door])
    message = str(caught.value)
    for alternatives in case["expected_error"]["message_must_contain_one_of_each"]:
        assert any(word in message for word in alternatives), message
