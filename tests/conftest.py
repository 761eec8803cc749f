"""Options and profiles shared by all tests."""

from __future__ import annotations

from importlib.util import find_spec

import pytest
from hypothesis import settings

collect_ignore = [  # these need JAX and PyTorch, which tests do not
    "golden/make_network_by_jax.py",
    "optimizers/make_trajectories_by_torch.py",
]
settings.register_profile("default", derandomize=True, deadline=None, print_blob=True)
settings.load_profile("default")


def pytest_report_header() -> str:
    if find_spec("jax"):
        return "oracle: JAX is here, tests/oracle compare with it"
    return "oracle: JAX is not installed, tests/oracle are left out (pip install -e '.[oracle]')"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update", action="store_true", help="rewrite golden files")


@pytest.fixture
def update_golden(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--update"))


_STREAMS: dict[str, dict[str, object]] = {}
"""The state of each module's generator after its import."""


@pytest.fixture(autouse=True)
def same_data_in_every_order(request: pytest.FixtureRequest) -> None:
    """Draw a test's data from where its module's generator began, whatever ran before."""
    generator = getattr(request.module, "RNG", None)
    if generator is not None:
        begin = _STREAMS.setdefault(request.module.__name__, generator.bit_generator.state)
        generator.bit_generator.state = begin
