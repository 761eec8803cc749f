"""A backend with twelve operators, the literals and cast: used by tests alone."""

from __future__ import annotations

from reference.backend import ReferenceContainer, ReferenceTrainer

__all__ = ["ReferenceContainer", "ReferenceTrainer"]
