"""An operator is whole, or the test names the file to open."""

from __future__ import annotations

from pathlib import Path

import pytest

from tinychain_backends.numpy.calls import CALLS
from tinychain_compile import operators
from tinychain_compile.decompositions import DECOMPOSITIONS, UNDECOMPOSED
from tinychain_compile.operators import BASIS, LITERALS, OPERATORS, Cast, Named, StopGradient
from tinychain_compile.vjp_rules import VJP_RULES, WITHOUT_DERIVATIVE
from tinychain_conformance import cases

every = pytest.mark.parametrize("operator", OPERATORS, ids=[o.__name__ for o in OPERATORS])
ROOT = Path(operators.__file__).parents[1]


def family(operator) -> str:
    return operator.__module__.rpartition(".")[2]


def test_operators_lists_every_class_and_each_once():
    defined = {
        value
        for path in (ROOT / "operators").glob("*.py")
        for value in vars(
            __import__(f"tinychain_compile.operators.{path.stem}", fromlist=["_"])
        ).values()
        if isinstance(value, type)
        and issubclass(value, operators.Operator)
        and value is not operators.Operator
        and "name" in vars(value)
    }
    assert set(OPERATORS) == defined
    assert len(set(OPERATORS)) == len(OPERATORS)
    assert len({o.name for o in OPERATORS}) == len(OPERATORS)


@every
def test_an_operator_has_a_vjp_rule_or_a_reason_why_not(operator):
    has_rule, has_reason = operator in VJP_RULES, operator in WITHOUT_DERIVATIVE
    assert has_rule != has_reason, f"open vjp_rules/{family(operator)}.py"


@every
def test_an_operator_is_in_the_basis_or_has_a_decomposition_or_a_reason_why_not(operator):
    is_basic = operator in (*BASIS, *LITERALS, Cast, *UNDECOMPOSED)
    assert is_basic != (operator in DECOMPOSITIONS), f"open decompositions/{family(operator)}.py"


@every
def test_an_operator_has_a_conformance_case_in_the_file_of_its_family(operator):
    module = getattr(cases, family(operator))
    assert any(type(case.operator) is operator for case in module.CASES), (
        f"open tinychain_conformance/cases/{family(operator)}.py"
    )


@every
def test_an_operator_has_documentation_and_a_numpy_call(operator):
    assert operator.__doc__, f"open operators/{family(operator)}.py"
    if operator not in (Named, StopGradient):
        assert operator in CALLS, "open tinychain_backends/numpy/calls.py"


def test_rules_and_decompositions_stand_in_the_file_of_their_family():
    for folder, table in (("vjp_rules", VJP_RULES), ("decompositions", DECOMPOSITIONS)):
        for operator, rule in table.items():
            assert rule.__module__ == f"tinychain_compile.{folder}.{family(operator)}"
