"""What the kit needs of a backend: its container, and an adapter that runs a lowered program."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any, NamedTuple, Protocol, cast

from numpy.typing import NDArray

from tinychain_compile import LoweredProgram
from tinychain_compile.container import TrainingStepContainer
from tinychain_compile.errors import BackendError

Array = NDArray[Any]
PROVIDER = "conformance_adapter"
"""The provider of a container that gives its adapter."""


class Adapter(Protocol):
    """Says how a backend runs a lowered program."""

    def load(self, program: LoweredProgram) -> Any:
        """Return whatever can be run: built once for each program."""
        ...

    def run(self, loaded: Any, values: Mapping[str, Array]) -> Mapping[str, Array]:
        """Return the arrays of ``program.selected_outputs`` by id.

        Args:
            loaded: What ``load`` returned.
            values: An array for each id that the program reads, and maybe more.
        """
        ...


class Backend(NamedTuple):
    """A backend under test.

    Attributes:
        name: As in reports.
        container: The class of its container.
        adapter: Runs its programs.
    """

    name: str
    container: type[TrainingStepContainer]
    adapter: Adapter


def load_backend(spec: str, adapter_spec: str | None = None) -> Backend:
    """Return the backend that an address names.

    Args:
        spec: ``package.module:Container``.
        adapter_spec: ``package.module:Adapter``, a class that is made without arguments; by default
            the container's provider ``conformance_adapter`` gives the adapter.

    Raises:
        BackendError: There is no such container, it has no adapter, or the adapter lacks a method.
    """
    container = cast(object, _named(spec, "--backend"))
    if not isinstance(container, type) or not issubclass(container, TrainingStepContainer):
        raise BackendError(
            f"--backend {spec}",
            expected="a class that derives from TrainingStepContainer",
            got=f"{container}",
        )
    if adapter_spec is not None:
        adapter = _named(adapter_spec, "--adapter")()
    elif PROVIDER in container.providers:
        adapter = container.providers[PROVIDER]()
    else:
        raise BackendError(
            f"container {spec}",
            expected=f"a provider {PROVIDER}, or --adapter package.module:Adapter",
            got="neither",
            hint="An adapter has load(program) and run(loaded, values).",
        )
    missing = [name for name in ("load", "run") if not callable(getattr(adapter, name, None))]
    if missing:
        raise BackendError(
            f"adapter {type(adapter).__name__} of {spec}",
            expected="methods load(program) and run(loaded, values)",
            got=f"no {' and no '.join(missing)}",
        )
    return Backend(container.__name__.removesuffix("Container"), container, adapter)


def _named(spec: str, option: str) -> Any:
    module, _, name = spec.partition(":")
    if not module or not name:
        raise BackendError(option, expected="package.module:Name", got=repr(spec))
    try:
        return getattr(import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise BackendError(
            f"{option} {spec}", expected="a name to import", got=str(error)
        ) from error
