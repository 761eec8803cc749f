"""The embedded default backend: compiles training steps for NumPy, and runs them."""

from __future__ import annotations

from tinychain_backends.numpy.assembly import NumpyProgram
from tinychain_backends.numpy.container import NumpyContainer
from tinychain_backends.numpy.evaluator import NumpyEvaluator
from tinychain_backends.numpy.function import NumpyFunction
from tinychain_backends.numpy.session import NumpySession
from tinychain_backends.sessions.state import TrainingState

__all__ = [
    "NumpyContainer",
    "NumpyEvaluator",
    "NumpyFunction",
    "NumpyProgram",
    "NumpySession",
    "TrainingState",
]
