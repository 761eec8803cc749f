"""Settings as data: a mapping or a TOML file, checked against a schema, and what they choose."""

from __future__ import annotations

import importlib
import os
import tomllib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeAlias, cast

from tinychain_compile.artifacts import CompileOptions
from tinychain_compile.conformity import check_fits
from tinychain_compile.errors import CompilationError, SettingsError
from tinychain_compile.protocols import (
    FROZEN,
    CapturePlanner,
    DeclarationChecker,
    DependencyClassifier,
    GradientTransformer,
    Legalizer,
    Lowerer,
    OptimizerChoice,
    OptimizerTracer,
    PassRunner,
    Simplifier,
    Tracer,
    VJPEngine,
)

Settings: TypeAlias = Mapping[str, Any]
"""Sections by name; what each holds is in ``SECTIONS``."""

STAGES: Mapping[str, type] = {
    "declaration_checker": DeclarationChecker,
    "tracer": Tracer,
    "vjp_engine": VJPEngine,
    "gradient_transformer": GradientTransformer,
    "capture_planner": CapturePlanner,
    "dependency_classifier": DependencyClassifier,
    "optimizer_tracer": OptimizerTracer,
    "simplifier": Simplifier,
    "legalizer": Legalizer,
    "pass_runner": PassRunner,
    "lowerer": Lowerer,
}
"""The Protocol of each stage, by its name in the container."""

POLICIES = tuple(f.name for f in fields(CompileOptions) if f.name != "gradient_transforms")
PASSES = ("forward", "derivative", "update", "function")

DEFAULTS: Settings = {
    "policies": {},
    "passes": {},
    "transforms": [],
    "optimizer": {},
    "stages": {},
    "backend": {},
}
"""Every section, empty."""


@dataclass(frozen=True, slots=True)
class StepDefaults:
    """What holds for a call that does not say otherwise.

    Args:
        options: For calls without options.
        passes: By stage; they come before a call's own.
        optimizer: For calls without an optimizer; ``None`` if there is none.
    """

    options: CompileOptions = field(default_factory=CompileOptions)
    passes: Mapping[str, Sequence[Callable[..., Any]]] | None = None
    optimizer: OptimizerChoice | None = None

    def with_configured(self, stage: str, own: Sequence[Any]) -> Sequence[Any]:
        """Return the configured passes of a stage, then a call's own."""
        configured = (self.passes or {}).get(stage, ())
        return [*configured, *own] if configured else own


def read_settings(source: Settings | str | os.PathLike[str]) -> Settings:
    """Return settings from a mapping or a TOML file, checked.

    Raises:
        SettingsError: A key is unknown or a value of the wrong kind; path and nearest name follow.
    """
    if isinstance(source, Mapping):
        settings, where = source, ""
    else:
        where = os.fspath(source)
        try:
            settings = tomllib.loads(Path(source).read_text(encoding="utf-8"))
        except tomllib.TOMLDecodeError as error:
            raise SettingsError(where, expected="a TOML file", got=str(error)) from error
    check_settings(settings, where)
    return settings


def check_settings(settings: Settings, where: str = "") -> None:
    """Check keys and kinds of values; nothing is imported.

    Raises:
        SettingsError: As for ``read_settings``.
    """
    at = f"{where}: " if where else ""
    _check_keys(settings, DEFAULTS, at, "")
    for section in ("policies", "passes", "stages", "backend", "optimizer"):
        _check_kind(settings.get(section, {}), Mapping, f"{at}{section}", "a table")
    _check_keys(settings.get("policies", {}), POLICIES, at, "policies.")
    _check_keys(settings.get("passes", {}), PASSES, at, "passes.")
    _check_keys(settings.get("stages", {}), STAGES, at, "stages.")
    captures = settings.get("policies", {}).get("captures", "keep_all")
    if not isinstance(captures, str):
        _check_named(captures, f"{at}policies.captures")
    for stage, names in settings.get("passes", {}).items():
        _check_kind(names, list, f"{at}passes.{stage}", "a list of names")
        for name in names:
            _check_name(name, f"{at}passes.{stage}")
    for stage, name in settings.get("stages", {}).items():
        _check_name(name, f"{at}stages.{stage}")
    transforms = settings.get("transforms", [])
    _check_kind(transforms, list, f"{at}transforms", "a list of tables")
    for place, row in enumerate(transforms):
        _check_named(row, f"{at}transforms[{place}]")
    optimizer = settings.get("optimizer", {})
    if "groups" in optimizer:
        _check_keys(optimizer, ("groups",), at, "optimizer.")
        _check_kind(optimizer["groups"], Mapping, f"{at}optimizer.groups", "a table of patterns")
        for pattern, row in optimizer["groups"].items():
            if row != "frozen":
                _check_named(row, f"{at}optimizer.groups.{pattern}")
    elif optimizer:
        _check_named(optimizer, f"{at}optimizer")


def merged(below: Settings, above: Settings) -> Settings:
    """Return settings with others over them; tables are merged, all else is replaced."""
    both = dict(below)
    for key, value in above.items():
        old = both.get(key)
        is_table = isinstance(value, Mapping) and isinstance(old, Mapping)
        both[key] = merged(cast("Settings", old), cast("Settings", value)) if is_table else value
    return both


def defaults_of(settings: Settings) -> StepDefaults:
    """Return what settings choose for every call, imported by name.

    Raises:
        SettingsError: As for ``read_settings``; or a name leads nowhere, or what it leads to cannot
            be made with what the settings say.
    """
    check_settings(settings)
    policies = dict(settings.get("policies", {}))
    if isinstance(policies.get("captures"), Mapping):
        policies["captures"] = _made(policies["captures"], "policies.captures")
    rows = settings.get("transforms", [])
    transforms = [_made(row, f"transforms[{place}]") for place, row in enumerate(rows)]
    try:
        options = CompileOptions(**policies, gradient_transforms=transforms)
    except CompilationError as error:
        raise SettingsError(
            f"policies: {error.subject}", expected=error.expected, got=error.got, hint=error.hint
        ) from error
    passes = {
        stage: [imported(name, f"passes.{stage}") for name in names]
        for stage, names in settings.get("passes", {}).items()
    }
    return StepDefaults(options, passes, _optimizer(settings.get("optimizer", {})))


def stage_of(settings: Settings, name: str) -> object | None:
    """Return the stage that settings put in place of a container's own; ``None`` if none.

    A class is made without arguments; anything else is taken as it is.

    Raises:
        SettingsError: The name leads nowhere.
        BackendError: What it leads to does not fit the stage's Protocol.
    """
    path = settings.get("stages", {}).get(name)
    if path is None:
        return None
    place = f"stages.{name}"
    _check_name(path, place)
    found = imported(path, place)
    try:
        stage: object = found() if isinstance(found, type) else found
    except TypeError as error:
        raise SettingsError(
            place, expected="a class that is made without arguments", got=f"{path}: {error}"
        ) from error
    check_fits(stage, STAGES[name], f"{place} = {path!r}")
    return stage


def imported(path: str, place: str) -> Any:
    """Return what a name such as ``package.module:attribute`` stands for.

    Raises:
        SettingsError: There is no such module or attribute.
    """
    module, _, attribute = path.rpartition(":")
    try:
        found: Any = importlib.import_module(module or "tinychain_compile")
        for part in attribute.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as error:
        raise SettingsError(
            place, expected="the name of something importable", got=f"{path!r}: {error}"
        ) from error
    return found


def _optimizer(row: Mapping[str, Any]) -> OptimizerChoice | None:
    if "groups" in row:
        return {
            pattern: FROZEN if member == "frozen" else _made(member, f"optimizer.groups.{pattern}")
            for pattern, member in row["groups"].items()
        }
    return _made(row, "optimizer") if row else None


def _made(row: Mapping[str, Any], place: str) -> Any:
    """Return an object of the kind that a table names, with its other entries as arguments."""
    arguments = {name: value for name, value in row.items() if name != "kind"}
    kind = imported(row["kind"], f"{place}.kind")
    if not isinstance(kind, type):
        raise SettingsError(f"{place}.kind", expected="the name of a class", got=repr(row["kind"]))
    try:
        return kind(**arguments)
    except CompilationError as error:
        raise SettingsError(
            f"{place}: {error.subject}", expected=error.expected, got=error.got
        ) from error
    except TypeError as error:
        raise SettingsError(
            place, expected=f"what {kind.__name__} takes", got=str(error)
        ) from error


def _check_keys(given: Mapping[str, Any], known: Collection[str], at: str, section: str) -> None:
    for key in given:
        if key not in known:
            near = get_close_matches(str(key), known, n=1)
            raise SettingsError(
                f"{at}{section}{key}",
                expected=f"one of {', '.join(known)}",
                got="a name that is not known",
                hint=f"Is {section}{near[0]} meant?" if near else None,
            )


def _check_kind(value: object, kind: type, place: str, expected: str) -> None:
    if not isinstance(value, kind):
        raise SettingsError(place, expected=expected, got=repr(value))


def _check_name(name: object, place: str) -> None:
    parts = name.replace(":", ".").split(".") if isinstance(name, str) else [""]
    if not all(part.isidentifier() for part in parts) or cast(str, name).count(":") > 1:
        raise SettingsError(
            place, expected="a name such as 'package.module:attribute'", got=repr(name)
        )


def _check_named(row: object, place: str) -> None:
    _check_kind(row, Mapping, place, "a table with a kind")
    table = cast("Mapping[str, Any]", row)
    if "kind" not in table:
        raise SettingsError(
            place, expected="a kind, such as 'AdamW'", got=f"only {', '.join(table) or 'nothing'}"
        )
    _check_name(table["kind"], f"{place}.kind")
