"""Reads the cases: arrays, losses, and whether gradients are the right ones."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

CASES: list[dict[str, Any]] = json.loads(
    (Path(__file__).parent / "cases.json").read_text(encoding="utf-8")
)["cases"]


def of_kind(kind: str) -> dict[str, dict[str, Any]]:
    """Return the cases of a kind by id."""
    return {case["id"]: case for case in CASES if case["kind"] == kind}


def numbers(nested: Any) -> Any:
    """Return nested lists with the strings "nan", "inf" and "-inf" as numbers."""
    if isinstance(nested, list):
        return [numbers(item) for item in nested]
    return float(nested) if isinstance(nested, str) else nested


def array(encoded: dict[str, Any]) -> np.ndarray[Any, Any]:
    """Return the array that a case describes."""
    name = encoded["dtype"]
    dtype = np.dtype(ml_dtypes.bfloat16) if name == "bfloat16" else np.dtype(name)
    shape = tuple(encoded["shape"])
    if "fill" in encoded:
        return np.full(shape, numbers(encoded["fill"])).astype(dtype)
    return np.array(numbers(encoded["data"])).astype(dtype).reshape(shape)


def loss_of(case: dict[str, Any], namespace_of: Callable[..., Any]) -> Callable[..., Any]:
    """Return the loss of a case as a function of its inputs alone.

    Args:
        case: Holds the source of ``loss(xp, **inputs)``.
        namespace_of: Gives ``xp`` for a traced tensor.
    """
    names: dict[str, Any] = {"__name__": "case"}
    exec(compile(case["numpy_like_source"], f"<{case['id']}>", "exec"), names)
    return lambda **inputs: names["loss"](namespace_of(next(iter(inputs.values()))), **inputs)


def check_gradients(case: dict[str, Any], loss: Any, gradients: dict[str, Any]) -> None:
    """Check value and gradients against what is expected; name the known fault they match."""
    tolerance = case["tolerance"]
    for fault in case.get("known_wrong", []):
        for name, wrong in fault.get("gradients", {}).items():
            expected = numbers(case["expected_gradients"][name])
            if not same(wrong, expected, tolerance):
                assert not same(wrong, gradients[name].tolist(), tolerance), fault["meaning"]
    if case["expected_loss"] is not None:
        np.testing.assert_allclose(
            np.asarray(loss, np.float64), numbers(case["expected_loss"]), **tolerance
        )
    assert set(gradients) == set(case["expected_gradients"])
    dtypes = case.get("expected_dtypes", {})
    for name, gradient in gradients.items():
        shape = tuple(case["inputs"][name]["shape"])
        expected = np.array(numbers(case["expected_gradients"][name]), np.float64).reshape(shape)
        assert gradient.shape == shape
        assert gradient.dtype == np.dtype(dtypes.get(name, case["inputs"][name]["dtype"]))
        np.testing.assert_allclose(gradient.astype(np.float64), expected, **tolerance)


def same(a: Any, b: Any, tolerance: dict[str, float]) -> bool:
    """Return whether two nested lists are equal within a tolerance."""
    left, right = (np.ravel(np.array(numbers(x), np.float64)) for x in (a, b))
    return left.shape == right.shape and np.allclose(left, right, equal_nan=True, **tolerance)
