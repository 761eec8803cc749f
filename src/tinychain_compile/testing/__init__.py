"""What test authors use: fakes and spies, registries of text, overrides that end with a block."""

from __future__ import annotations

from tinychain_compile.testing.fakes import (
    FakeCapturePlanner,
    FakeDeclarationChecker,
    FakeDependencyClassifier,
    FakeGradientTransformer,
    FakeLegalizer,
    FakeLowerer,
    FakeOptimizerTracer,
    FakePassRunner,
    FakeSimplifier,
    FakeTracer,
    FakeVJPEngine,
)
from tinychain_compile.testing.overrides import scoped_overrides
from tinychain_compile.testing.recording import RecordingRegistry, TextRegistry
from tinychain_compile.testing.spies import Call, Spy

__all__ = [
    "Call",
    "FakeCapturePlanner",
    "FakeDeclarationChecker",
    "FakeDependencyClassifier",
    "FakeGradientTransformer",
    "FakeLegalizer",
    "FakeLowerer",
    "FakeOptimizerTracer",
    "FakePassRunner",
    "FakeSimplifier",
    "FakeTracer",
    "FakeVJPEngine",
    "RecordingRegistry",
    "Spy",
    "TextRegistry",
    "scoped_overrides",
]
