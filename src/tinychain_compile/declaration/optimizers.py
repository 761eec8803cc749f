"""Reads what an optimizer, or a mapping of groups to optimizers, declares of itself."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import cast

from tinychain_compile.artifacts import DeclaredOptimizer
from tinychain_compile.declaration.signatures import check_signature
from tinychain_compile.declaration.specs import type_of_spec
from tinychain_compile.errors import DeclarationError, UpdateSignatureError
from tinychain_compile.ir.types import TensorType
from tinychain_compile.protocols import (
    AnyOptimizer,
    Frozen,
    OptimizerChoice,
    OptimizerInputs,
)
from tinychain_compile.runtime_inputs import LOSS_SCALE, RuntimeInput
from tinychain_compile.slots import CopyOfParameter, Slot
from tinychain_compile.trees import check_name

_ROLES = ("parameter", "gradient")


def declared_optimizers(
    optimizer: OptimizerChoice,
    optimizer_inputs: OptimizerInputs,
    parameters: Mapping[str, TensorType],
) -> dict[str, DeclaredOptimizer | None]:
    """Return what serves each parameter: ``None`` for those that are frozen.

    Raises:
        DeclarationError: A description is wrong, or the patterns do not fit the names.
        UpdateSignatureError: An update cannot take its inputs by keyword.
    """
    if not isinstance(optimizer, Mapping):
        only = _declared(optimizer, optimizer_inputs, None, parameters.values())
        return dict.fromkeys(parameters, only)
    if optimizer_inputs is not None:
        raise DeclarationError(
            "optimizer_inputs",
            expected="none beside a mapping of groups",
            got=repr(optimizer_inputs),
            hint="Let each optimizer declare its own runtime_inputs.",
        )
    members: Mapping[str, AnyOptimizer | Frozen] = optimizer  # pyright: ignore[reportUnknownVariableType]
    groups = _groups(members, parameters)
    served: dict[str, DeclaredOptimizer | None] = {}
    for pattern, names in groups.items():
        member = members[pattern]
        declared = None
        if not isinstance(member, Frozen):
            declared = _declared(member, None, pattern, [parameters[name] for name in names])
        served |= dict.fromkeys(names, declared)
    if not any(served.values()):
        raise DeclarationError(
            "optimizer", expected="at least one parameter that is not frozen", got="none"
        )
    _check_all_unscale([declared for declared in served.values() if declared is not None])
    return {name: served[name] for name in parameters}


def _groups(patterns: Mapping[str, object], names: Iterable[str]) -> dict[str, list[str]]:
    """Return the parameters of each pattern; each parameter has exactly one, each pattern some."""
    for pattern in cast("Iterable[object]", patterns):
        if not isinstance(pattern, str):
            raise DeclarationError(
                "optimizer groups", expected="strings as patterns", got=repr(pattern)
            )
    groups: dict[str, list[str]] = {pattern: [] for pattern in patterns}
    unused = dict.fromkeys(patterns)
    problems: list[str] = []
    for name in names:
        matching = [pattern for pattern in patterns if fnmatchcase(name, pattern)]
        for pattern in matching:
            unused.pop(pattern, None)
        if len(matching) == 1:
            groups[matching[0]].append(name)
        else:
            found = " and ".join(map(repr, matching)) or "no pattern"
            problems.append(f"{name!r} matched by {found}")
    problems += [f"{pattern!r} matching no parameter" for pattern in unused]
    if problems:
        raise DeclarationError(
            "optimizer groups",
            expected="each parameter matched by exactly one pattern, and each pattern matching",
            got=", ".join(problems),
            hint="A pattern is matched against the whole name: 'w*', '*.bias', 'blocks.[0-3].*'.",
        )
    return groups


def _check_all_unscale(optimizers: Sequence[DeclaredOptimizer]) -> None:
    """Check that all optimizers divide by the loss scale, or none."""
    reading = [LOSS_SCALE in [row.name for row in one.inputs] for one in optimizers]
    if any(reading) and not all(reading):
        other = optimizers[reading.index(False)]
        raise DeclarationError(
            f"optimizer {other.label} of group {other.group!r}",
            expected=f"one that reads {LOSS_SCALE!r}, as the other groups do",
            got="one that would take scaled gradients for true ones",
            hint="Wrap it too: MixedPrecision(optimizer).",
        )


def _declared(
    optimizer: AnyOptimizer,
    given: OptimizerInputs,
    group: str | None,
    types: Iterable[TensorType],
) -> DeclaredOptimizer:
    """Return what one optimizer declares, for parameters of these types."""
    update, required, label = _update_of(optimizer)
    described = _described(optimizer, label)
    inputs = _runtime_inputs(given, described, required, label)
    scalars = [row.name for row in inputs]
    slots = {type: _slots(optimizer, type, scalars, label) for type in dict.fromkeys(types)}
    roles = [(*_ROLES, *[slot.name for slot in state], *scalars) for state in slots.values()]
    for names in dict.fromkeys(roles):
        check_signature(update, names, f"update of {label}", UpdateSignatureError)
    key: Hashable = getattr(optimizer, "template_key", id(optimizer))
    return DeclaredOptimizer(
        label,
        group,
        update,
        inputs,
        slots,
        (key, inputs_key(inputs)),
        bool(getattr(optimizer, "is_elementwise", False)),
    )


def inputs_key(inputs: Iterable[RuntimeInput]) -> Hashable:
    """Return what of the runtime inputs a traced update depends on."""
    return tuple((row.name, row.dtype) for row in inputs)


def _update_of(
    optimizer: AnyOptimizer,
) -> tuple[Callable[..., object], tuple[str, ...] | None, str]:
    """Return the update function, the scalars it says it reads, and what to call it."""
    update = getattr(optimizer, "update", None)
    if callable(update):
        label = type(optimizer).__name__
        required = getattr(optimizer, "required_optimizer_inputs", None)
        if required is None or isinstance(required, str):
            raise DeclarationError(
                f"optimizer {label}",
                expected="required_optimizer_inputs, a sequence of names",
                got=repr(required),
                hint="Give it the names of the scalars that update() reads; () if none.",
            )
        names = tuple(
            check_name("optimizer input", name) for name in cast(Iterable[object], required)
        )
        return update, names, label
    if callable(optimizer):
        return optimizer, None, getattr(optimizer, "__name__", type(optimizer).__name__)
    raise DeclarationError(
        "optimizer",
        expected="an object with update() and required_optimizer_inputs, a function, or a mapping "
        "from patterns of parameter names to these or FROZEN",
        got=repr(optimizer),
    )


def _described(optimizer: object, label: str) -> dict[str, RuntimeInput]:
    """Return what an optimizer says of its runtime scalars, by name."""
    rows = getattr(optimizer, "runtime_inputs", ())
    return {row.name: row for row in runtime_inputs_of(rows, f"optimizer {label}")}


def runtime_inputs_of(rows: object, what: str) -> tuple[RuntimeInput, ...]:
    """Return declared runtime inputs, after checking what they are and that none repeats.

    Raises:
        DeclarationError: They are something else.
    """
    given = tuple(cast("Iterable[object]", rows)) if isinstance(rows, Iterable) else (rows,)
    if not all(isinstance(row, RuntimeInput) for row in given):
        raise DeclarationError(what, expected="runtime_inputs of RuntimeInput", got=repr(given))
    inputs = cast("tuple[RuntimeInput, ...]", given)
    names = [check_name(f"runtime input of {what}", row.name) for row in inputs]
    if len(set(names)) < len(names):
        raise DeclarationError(what, expected="runtime_inputs of different names", got=repr(names))
    return inputs


def _slots(
    optimizer: object, parameter: TensorType, scalars: Sequence[str], label: str
) -> tuple[Slot, ...]:
    """Return an optimizer's state for a parameter of a type."""
    describe = getattr(optimizer, "slots", None)
    if describe is None:
        return ()
    slots: tuple[object, ...] = tuple(describe(parameter))
    taken: set[str] = {*_ROLES, *scalars, "accumulator"}
    for slot in slots:
        if not isinstance(slot, Slot):
            raise DeclarationError(
                f"slots of {label}", expected="Slot(name, type, initial)", got=repr(slot)
            )
        if check_name(f"slot of {label}", slot.name) in taken:
            raise DeclarationError(
                f"slot {slot.name!r} of {label}",
                expected="a name that no other slot, role or runtime input has",
                got=repr(slot.name),
            )
        if isinstance(slot.initial, CopyOfParameter) and slot.type.shape != parameter.shape:
            raise DeclarationError(
                f"slot {slot.name!r} of {label}",
                expected=f"the parameter's shape, {list(parameter.shape)}, to be a copy of it",
                got=str(slot.type),
            )
        taken.add(slot.name)
    return cast("tuple[Slot, ...]", slots)


def _runtime_inputs(
    given: OptimizerInputs,
    described: Mapping[str, RuntimeInput],
    required: tuple[str, ...] | None,
    label: str,
) -> tuple[RuntimeInput, ...]:
    """Return the runtime scalars of an update: as given, else as described, else by name alone."""
    if given is None:
        given = [*described] if described else required or ()
    if isinstance(given, str) or not isinstance(cast(object, given), (Mapping, Sequence)):
        raise DeclarationError(
            "optimizer_inputs", expected="a sequence of names, or a mapping", got=repr(given)
        )
    specs: Mapping[str, object] = given if isinstance(given, Mapping) else {}
    wanted = [check_name("optimizer input", name) for name in given]
    rows = [_runtime_input(name, specs.get(name), described) for name in wanted]
    names = [row.name for row in rows]
    repeated = sorted({name for name in names if names.count(name) > 1})
    missing = [name for name in required or () if name not in names]
    extra = [name for name in names if required is not None and name not in required]
    reserved = [name for name in names if name in _ROLES]
    for problem, found in (
        ("are repeated", repeated),
        ("are required and not declared", missing),
        ("are declared and not required", extra),
        ("are reserved", reserved),
    ):
        if found:
            raise DeclarationError(
                f"optimizer inputs of {label}",
                expected=f"exactly {', '.join(required)}" if required else "each name once",
                got=f"{', '.join(found)}, which {problem}",
            )
    return tuple(rows)


def _runtime_input(own: str, given: object, described: Mapping[str, RuntimeInput]) -> RuntimeInput:
    """Return a runtime scalar from a description: none, a ``RuntimeInput``, or a scalar spec."""
    if isinstance(given, RuntimeInput):
        if given.name != own:
            raise DeclarationError(
                f"optimizer input {own!r}",
                expected="a RuntimeInput of the same name",
                got=repr(given.name),
            )
        return given
    row = described.get(own, RuntimeInput(own))
    if given is None:
        return row
    type = type_of_spec(own, given, "optimizer input")
    if type.shape != ():
        raise DeclarationError(f"optimizer input {own!r}", expected="a scalar", got=str(type))
    return replace(row, dtype=type.dtype)
