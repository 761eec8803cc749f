"""Reads what gradient transforms declare of themselves, and joins all runtime inputs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import cast

from tinychain_compile.artifacts import DeclaredOptimizer, DeclaredTransform
from tinychain_compile.declaration.optimizers import runtime_inputs_of
from tinychain_compile.declaration.signatures import check_signature
from tinychain_compile.errors import DeclarationError, UpdateSignatureError
from tinychain_compile.protocols import pass_label
from tinychain_compile.runtime_inputs import MICRO_BATCHES, OF_THE_STEP, RuntimeInput

_ROLES = ("gradients", "parameters")


def declared_transforms(transforms: object) -> tuple[DeclaredTransform, ...]:
    """Return what each gradient transform declares, in order.

    Raises:
        DeclarationError: One is no transform, or reads what belongs to the whole step.
        UpdateSignatureError: One cannot take its inputs by keyword.
    """
    if isinstance(transforms, str) or not isinstance(transforms, Sequence):
        raise DeclarationError(
            "option gradient_transforms", expected="a sequence of transforms", got=repr(transforms)
        )
    return tuple(map(_declared, cast("Sequence[object]", transforms)))


def _declared(transform: object) -> DeclaredTransform:
    label = pass_label(transform)
    function = getattr(transform, "transform", transform)
    if isinstance(transform, type) or not callable(function):
        raise DeclarationError(
            f"gradient transform {label}",
            expected="an object with transform(), or a function",
            got=repr(transform),
        )
    rows = getattr(transform, "runtime_inputs", ())
    inputs = runtime_inputs_of(rows, f"gradient transform {label}")
    names = [row.name for row in inputs]
    reserved = [name for name in names if name in (*_ROLES, *OF_THE_STEP)]
    if reserved:
        raise DeclarationError(
            f"gradient transform {label}",
            expected="runtime inputs of other names",
            got=f"{', '.join(reserved)}, which belong to the step",
        )
    check_signature(
        function, (*_ROLES, *names), f"gradient transform {label}", UpdateSignatureError
    )
    return DeclaredTransform(label, function, inputs)


def joined_runtime_inputs(
    optimizers: Iterable[DeclaredOptimizer],
    transforms: Iterable[DeclaredTransform],
    accumulates: bool,
) -> tuple[RuntimeInput, ...]:
    """Return everything that the consumer feeds, each once.

    Raises:
        DeclarationError: Two that are not the same have one name.
    """
    joined: dict[str, RuntimeInput] = {}
    for optimizer in dict.fromkeys(optimizers):
        for role in optimizer.inputs:
            row = optimizer.runtime_input_of(role)
            if joined.setdefault(row.name, row) != row:
                raise DeclarationError(
                    f"runtime input {row.name!r} of {optimizer.label}",
                    expected=f"what the other groups declare, {joined[row.name]}",
                    got=str(row),
                )
    for transform in transforms:
        for row in transform.inputs:
            if row.name in joined:
                raise DeclarationError(
                    f"runtime input {row.name!r} of gradient transform {transform.label}",
                    expected="a name that nothing else of this step has",
                    got=repr(row.name),
                    hint="The transforms of this package take another one: name='...'.",
                )
            joined[row.name] = row
    if accumulates:
        joined[MICRO_BATCHES] = RuntimeInput(
            MICRO_BATCHES, default=1.0, valid_range=(1.0, float("inf"))
        )
    return tuple(joined.values())
