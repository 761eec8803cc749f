"""Libraries that extras bring: imported when they are first used."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from tinychain_compile import BindingError


class Library:
    """A library that an extra brings: its attributes, or an error that says what to install.

    Args:
        name: The name to import.
        extra: The extra that installs it.
    """

    def __init__(self, name: str, extra: str) -> None:
        self._name = name
        self._extra = extra

    def __getattr__(self, attribute: str) -> Any:
        return getattr(self.module, attribute)

    @property
    def module(self) -> Any:
        """The library itself.

        Raises:
            BindingError: It is not installed.
        """
        try:
            return import_module(self._name)
        except ImportError as error:
            raise BindingError(
                f"the package {self._name.partition('.')[0]}",
                expected="installed",
                got="none",
                hint=f"pip install 'tinychain-compile[{self._extra}]'",
            ) from error

    def check(self) -> None:
        """Import the library now.

        Raises:
            BindingError: It is not installed.
        """
        assert self.module
