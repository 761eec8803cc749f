"""Runs where mypy and pyright are installed (``make setup``); the two other files are never run."""

from __future__ import annotations

from importlib.util import find_spec

HAS_CHECKERS = find_spec("mypy") is not None and find_spec("pyright") is not None
collect_ignore = ["must_check.py", "must_not_check.py"]
collect_ignore += [] if HAS_CHECKERS else ["test_static_checks.py"]
