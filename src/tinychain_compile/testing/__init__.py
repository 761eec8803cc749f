"""What test authors use: overrides that end with a block, a registry that records."""

from __future__ import annotations

from tinychain_compile.testing.overrides import scoped_overrides
from tinychain_compile.testing.recording import RecordingRegistry

__all__ = ["RecordingRegistry", "scoped_overrides"]
