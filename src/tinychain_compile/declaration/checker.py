"""Checks a declaration as a whole: loss, inputs, parameters, then optimizers and transforms."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import cast

from tinychain_compile.artifacts import CompileOptions, Declaration
from tinychain_compile.declaration.optimizers import declared_optimizers
from tinychain_compile.declaration.signatures import check_signature
from tinychain_compile.declaration.specs import type_of_spec
from tinychain_compile.declaration.transforms import declared_transforms, joined_runtime_inputs
from tinychain_compile.errors import (
    DeclarationError,
    LossSignatureError,
    NotDifferentiableDtypeError,
)
from tinychain_compile.ir.types import TensorType
from tinychain_compile.protocols import BindInput, InputSpec, OptimizerChoice, OptimizerInputs
from tinychain_compile.trees import check_name, flatten, unflatten


class StrictDeclarationChecker:
    """Checks everything that can be checked without running anything."""

    def check(
        self,
        loss: Callable[..., object],
        *,
        inputs: Mapping[str, InputSpec],
        parameters: Sequence[str],
        optimizer: OptimizerChoice,
        optimizer_inputs: OptimizerInputs,
        bind_input: BindInput | None,
        seed_label: str,
        passes: Mapping[str, Sequence[object]],
        options: CompileOptions,
    ) -> Declaration:
        """Return the declaration.

        Raises:
            DeclarationError: Or the member of the family that names what is wrong.
        """
        types = _checked_call(loss, inputs, "loss")
        if check_name("seed_label", seed_label) in types:
            raise DeclarationError(
                "seed_label", expected="a name that no input has", got=repr(seed_label)
            )
        names = _parameter_names(parameters, types)
        served = declared_optimizers(
            optimizer, optimizer_inputs, {name: types[name] for name in names}
        )
        optimizers = {name: one for name, one in served.items() if one is not None}
        transforms = declared_transforms(options.gradient_transforms)
        _check_callables(bind_input, passes)
        accumulates = options.accumulate_gradients
        return Declaration(
            inputs=types,
            parameters=tuple(optimizers),
            frozen_parameters=tuple(name for name in names if name not in optimizers),
            optimizers=optimizers,
            transforms=transforms,
            accumulates=accumulates,
            runtime_inputs=joined_runtime_inputs(optimizers.values(), transforms, accumulates),
            optimizer_label=", ".join(dict.fromkeys(one.label for one in optimizers.values())),
        )

    def check_function(
        self,
        function: Callable[..., object],
        *,
        inputs: Mapping[str, InputSpec],
        bind_input: BindInput | None,
        passes: Mapping[str, Sequence[object]],
    ) -> Mapping[str, TensorType]:
        """Return the type of each input of a function that takes them by keyword."""
        _check_callables(bind_input, passes)
        return _checked_call(function, inputs, "function")


def _checked_call(
    function: Callable[..., object], inputs: Mapping[str, InputSpec], what: str
) -> Mapping[str, TensorType]:
    """Return the input types, after checking that the function takes them by keyword."""
    if not isinstance(cast(object, inputs), Mapping) or not inputs:
        raise DeclarationError(
            "inputs", expected="a mapping from names to specs, not empty", got=repr(inputs)
        )
    types = {name: type_of_spec(name, spec) for name, spec in flatten(inputs).items()}
    check_signature(function, tuple(unflatten(types)), what, LossSignatureError)
    return types


def _check_callables(bind_input: object, passes: Mapping[str, Sequence[object]]) -> None:
    """Check that what will be called later can be called."""
    given = {
        f"{stage} pass {i}": item for stage, items in passes.items() for i, item in enumerate(items)
    }
    if bind_input is not None:
        given["bind_input"] = bind_input
    for what, item in given.items():
        if not callable(item):
            raise DeclarationError(what, expected="a function", got=repr(item))


def _parameter_names(parameters: object, types: Mapping[str, TensorType]) -> tuple[str, ...]:
    given = cast(Sequence[object], parameters)
    if isinstance(parameters, str) or not isinstance(parameters, Sequence) or not given:
        raise DeclarationError(
            "parameters", expected="a sequence of input names, not empty", got=repr(given)
        )
    names = [leaf for name in given for leaf in _leaves(name, types)]
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise DeclarationError(
                f"parameter {name!r}", expected="each parameter once", got="a repeated name"
            )
        if not types[name].is_floating:
            raise NotDifferentiableDtypeError(
                f"parameter {name!r}",
                expected="a floating dtype",
                got=str(types[name]),
                hint="Only floating inputs can be differentiated by; declare it as f32 or f64, or "
                "leave it out of the parameters.",
            )
        seen.add(name)
    return tuple(names)


def _leaves(name: object, types: Mapping[str, TensorType]) -> list[str]:
    """Return the inputs that a parameter's name stands for: itself, or all below it."""
    if not isinstance(name, str):
        check_name("parameter", name)
    leaves = [leaf for leaf in types if leaf == name or leaf.startswith(f"{name}.")]
    if not leaves:
        raise DeclarationError(
            f"parameter {name!r}",
            expected=f"a declared input, or a structure of them, among {', '.join(types)}",
            got="a name that is not declared",
        )
    return leaves
