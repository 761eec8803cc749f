"""Runs where JAX is installed (``pip install -e ".[oracle]"``); says so where it is not."""

from __future__ import annotations

from importlib.util import find_spec

HAS_JAX = find_spec("jax") is not None
collect_ignore_glob = [] if HAS_JAX else ["[!c]*.py"]

if HAS_JAX:
    import jax

    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_platforms", "cpu")
