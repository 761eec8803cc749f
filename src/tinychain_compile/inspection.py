"""What a container is made of, as data and as text, and all that is wrong with it at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias, cast

from dependency_injector import providers

from tinychain_compile.conformity import why_unfit
from tinychain_compile.container import Slot, TrainingStepContainer
from tinychain_compile.errors import BackendError, CompilationError
from tinychain_compile.reports import aligned
from tinychain_compile.settings import STAGES, check_settings, defaults_of

AnyContainer: TypeAlias = TrainingStepContainer | type[TrainingStepContainer]
"""A container, or the class of one."""


class ProviderRow(NamedTuple):
    """One provider of a container.

    Attributes:
        name: What it is called.
        role: ``slot``, ``stage``, ``compiler``, ``settings`` or ``own``, a backend's.
        provider: What kind of provider gives it.
        gives: What it gives: a class or function, or the Protocol of an empty slot.
        state: ``filled``, ``empty`` or ``overridden``.
        reads: The names of the providers it refers to.
    """

    name: str
    role: str
    provider: str
    gives: str
    state: str
    reads: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Wiring:
    """How the providers of a container refer to each other.

    Args:
        title: What the container is called.
        rows: One for each provider, in order.
    """

    title: str
    rows: tuple[ProviderRow, ...]

    @property
    def edges(self) -> tuple[tuple[str, str], ...]:
        """From each provider to each that it refers to."""
        return tuple((row.name, read) for row in self.rows for read in row.reads)

    def mermaid(self) -> str:
        """Return the graph as Mermaid text; slots are round."""
        lines = ["graph LR"]
        for row in self.rows:
            left, right = ("([", "])") if row.role == "slot" else ("[", "]")
            lines.append(f'  {row.name}{left}"{row.name}: {row.gives}"{right}')
        lines += [f"  {name} --> {read}" for name, read in self.edges]
        return "\n".join(lines)

    def dot(self) -> str:
        """Return the graph as DOT text; slots are ellipses."""
        lines = [f'digraph "{self.title}" {{']
        for row in self.rows:
            shape = "ellipse" if row.role == "slot" else "box"
            lines.append(f'  {row.name} [label="{row.name}\\n{row.gives}", shape={shape}];')
        lines += [f"  {name} -> {read};" for name, read in self.edges]
        return "\n".join([*lines, "}"])

    def __str__(self) -> str:
        header = ("name", "role", "provider", "gives", "state", "reads")
        table = [(*row[:5], ", ".join(row.reads)) for row in self.rows]
        return "\n".join([self.title, *aligned([header, *table])])


def describe(container: AnyContainer) -> Wiring:
    """Return how a container is wired; nothing is resolved."""
    found = _providers(container)
    names = {id(provider): name for name, provider in found.items()}
    rows = [
        ProviderRow(
            name,
            _role(name, provider),
            type(provider).__name__,
            _gives(provider),
            _state(provider),
            tuple(dict.fromkeys(_reads(provider, names))),
        )
        for name, provider in found.items()
    ]
    return Wiring(_title(container), tuple(rows))


def verify(container: AnyContainer) -> None:
    """Check a container completely, as one does when a program starts.

    Every slot and stage is made once and must fit its Protocol; settings must be known and lead
    somewhere; a singleton must not hold another provider; nothing may be overridden on the class.

    Raises:
        BackendError: Something is wrong; all of it is said.
    """
    problems = [
        *_of_slots_and_stages(container),
        *_of_settings(container),
        *_of_lifetimes(container),
        *_of_overrides_on_the_class(container),
    ]
    if problems:
        raise BackendError(
            _title(container),
            expected="a container that can compile",
            got=f"{len(problems)} problem{'s' if len(problems) > 1 else ''}:\n  - "
            + "\n  - ".join(problems),
        )


def overridden_providers(container: AnyContainer) -> tuple[str, ...]:
    """Return the names of the providers that have an override."""
    return tuple(name for name, provider in _providers(container).items() if provider.overridden)


def _providers(container: AnyContainer) -> dict[str, Any]:
    return dict(cast(Any, container).providers)


def _is_slot(provider: object) -> bool:
    return isinstance(provider, Slot)


def _title(container: AnyContainer) -> str:
    if isinstance(container, type):
        return container.__name__
    slot = _providers(container).get("handler_registry")
    return str(getattr(slot, "parent_name", None) or "container").rpartition(".")[0]


def _role(name: str, provider: Any) -> str:
    if _is_slot(provider):
        return "slot"
    if name in STAGES:
        return "stage"
    known = {"compiler": "compiler", "config": "settings", "step_defaults": "settings"}
    return known.get(name, "own")


def _state(provider: Any) -> str:
    if provider.overridden:
        return "overridden"
    is_empty = _is_slot(provider) and not provider.is_defined
    return "empty" if is_empty else "filled"


def _gives(provider: Any) -> str:
    """Return the name of what a provider gives at last."""
    if provider.overridden:
        return _gives(provider.last_overriding)
    if _is_slot(provider):
        return _gives(provider.default) if provider.is_defined else provider.protocol.__name__
    if type(provider) is providers.Configuration:
        return "settings"
    delegates = [arg for arg in getattr(provider, "args", ()) if type(arg) is providers.Delegate]
    if delegates:  # a stage: its own factory, delegated
        return _gives(cast(Any, delegates[0]).provides)
    given: Any = getattr(provider, "provides", None)
    name = str(getattr(given, "__name__", type(given).__name__))
    return str(given.__annotations__["return"]) if name.startswith("_") else name


def _reads(provider: Any, names: dict[int, str]) -> Iterator[str]:
    """Yield the named providers that one refers to, through those without a name."""
    for related in provider.related:
        name = names.get(id(related))
        if name is not None:
            yield name
        elif not isinstance(related, providers.Self):
            yield from _reads(related, names)


def _of_slots_and_stages(container: AnyContainer) -> Iterator[str]:
    for name, provider in _providers(container).items():
        is_slot = _is_slot(provider)
        if is_slot and not provider.is_defined and not provider.overridden:
            yield f"{name}: empty; it needs a {provider.protocol.__name__}"
        elif is_slot or name in STAGES:
            protocol = provider.protocol if is_slot else STAGES[name]
            if name == "lowerer" and _has_empty_slot(container):
                continue  # said already
            yield from _of_one(name, provider, protocol)


def _has_empty_slot(container: AnyContainer) -> bool:
    slots = [p for p in _providers(container).values() if _is_slot(p)]
    return any(not slot.is_defined and not slot.overridden for slot in slots)


def _of_one(name: str, provider: Callable[[], Any], protocol: type) -> Sequence[str]:
    try:
        made = provider()
    except CompilationError as error:
        return [f"{name}: {error}"]
    except Exception as error:
        return [f"{name}: {type(error).__name__}: {error}"]
    return [f"{name}: {problem}" for problem in why_unfit(made, protocol)]


def _of_settings(container: AnyContainer) -> Iterator[str]:
    settings = _providers(container)["config"]()
    for check in (check_settings, defaults_of):
        try:
            check(settings)
        except CompilationError as error:
            yield f"config: {error}"
            return


def _of_lifetimes(container: AnyContainer) -> Iterator[str]:
    for name, provider in _providers(container).items():
        held = provider.default if _is_slot(provider) and provider.is_defined else provider
        if _is_singleton(held) and list(held.related):
            yield (
                f"{name}: a {type(held).__name__} that holds other providers keeps what they gave "
                "first, fakes too; make it a Factory"
            )


def _is_singleton(provider: object) -> bool:
    return isinstance(provider, providers.BaseSingleton)


def _of_overrides_on_the_class(container: AnyContainer) -> Iterator[str]:
    if isinstance(container, type):
        for name in overridden_providers(container):
            yield f"{name}: overridden on the class, and so for the whole process"
