"""Frozen objects that are made often: immutable like a frozen dataclass, at half its cost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn


class Frozen:
    """Base of slotted classes whose attributes are set once, by the constructor."""

    __slots__ = ()

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{type(self).__name__}.{name} cannot be set: the object is frozen")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(
            f"{type(self).__name__}.{name} cannot be deleted: the object is frozen"
        )


def slot_setters(frozen: type[Frozen]) -> tuple[Callable[[Any, Any], None], ...]:
    """Return what sets each slot of a class, in the order of its ``__slots__``.

    This is how a constructor, and nothing else, sets the attributes of a frozen object. A third
    faster than ``object.__setattr__``, which looks the slot up by name each time: a twentieth of
    the whole compile time.
    """
    return tuple(vars(frozen)[name].__set__ for name in vars(frozen)["__slots__"])
