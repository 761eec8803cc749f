"""The pages made from the source are what the source says now."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGES = runpy.run_path(str(DOCS / "generate.py"))["PAGES"]


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_not_stale(name):
    written = (DOCS / name).read_text(encoding="utf-8")
    assert written == PAGES[name](), "run python docs/generate.py"


def test_every_operator_and_rule_says_what_it_is():
    page = PAGES["operators.md"]()
    assert "|  |  |" not in page
