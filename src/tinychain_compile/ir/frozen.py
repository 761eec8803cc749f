"""Frozen objects that are made often: immutable like a frozen dataclass, at half its cost."""

from __future__ import annotations

from typing import NoReturn, TypeVar, cast


class Frozen:
    """Base of slotted classes whose attributes are set once, by the constructor."""

    __slots__ = ()

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{type(self).__name__}.{name} cannot be set: the object is frozen")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(
            f"{type(self).__name__}.{name} cannot be deleted: the object is frozen"
        )


AnyFrozen = TypeVar("AnyFrozen", bound=Frozen)


def unfrozen(frozen: type[AnyFrozen]) -> type[AnyFrozen]:
    """Return the class of the same layout whose attributes can be set, for the constructor alone.

    The constructor makes one, sets its attributes, and gives it the frozen class. That costs what a
    class that is not frozen costs, a third of setting each attribute by ``object.__setattr__``.
    """
    body = {
        "__slots__": (),
        "__setattr__": object.__setattr__,
        "__delattr__": object.__delattr__,
    }
    return cast(type[AnyFrozen], type(f"Unfrozen{frozen.__name__}", (frozen,), body))


new = object.__new__
"""Makes an object of a class without calling its constructor."""
