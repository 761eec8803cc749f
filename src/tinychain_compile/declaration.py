"""Checks of what the caller declares, before any of the caller's code runs."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import cast

from tinychain_compile.artifacts import Declaration, RuntimeInput
from tinychain_compile.errors import (
    CompilationError,
    DeclarationError,
    LossSignatureError,
    MissingDtypeError,
    MissingShapeError,
    NotDifferentiableDtypeError,
    UpdateSignatureError,
)
from tinychain_compile.ir.dtypes import DTYPES, as_dtype, dtype_name
from tinychain_compile.ir.origin import definition_place
from tinychain_compile.ir.types import TensorType
from tinychain_compile.protocols import (
    BindInput,
    HasTypeMetadata,
    InputSpec,
    Optimizer,
    OptimizerInputs,
)
from tinychain_compile.tensor import Tensor
from tinychain_compile.trees import check_name, flatten, unflatten

_UPDATE_ROLES = ("parameter", "gradient")


class StrictDeclarationChecker:
    """Checks everything that can be checked without running anything."""

    def check(
        self,
        loss: Callable[..., object],
        *,
        inputs: Mapping[str, InputSpec],
        parameters: Sequence[str],
        optimizer: Optimizer | Callable[..., Tensor],
        optimizer_inputs: OptimizerInputs,
        bind_input: BindInput | None,
        seed_label: str,
        passes: Mapping[str, Sequence[object]],
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
        update, required, label = _update_of(optimizer)
        runtime_inputs = _runtime_inputs(optimizer_inputs, required, label)
        _check_signature(
            update,
            (*_UPDATE_ROLES, *(item.name for item in runtime_inputs)),
            f"update of {label}",
            UpdateSignatureError,
        )
        _check_callables(bind_input, passes)
        return Declaration(types, names, update, runtime_inputs, label)

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
    types = {name: _type(name, spec) for name, spec in flatten(inputs).items()}
    _check_signature(function, tuple(unflatten(types)), what, LossSignatureError)
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


def _type(name: str, spec: object, what: str = "input") -> TensorType:
    if isinstance(spec, TensorType):
        return spec
    hint = "Declare it with TensorType(dtype, shape), or with an array of that dtype and shape."
    for attribute, missing in (("dtype", MissingDtypeError), ("shape", MissingShapeError)):
        if getattr(spec, attribute, None) is None:
            raise missing(
                f"{what} {name!r}",
                expected=f"a spec with a {attribute}",
                got=repr(spec),
                hint=hint,
            )
    given = cast(HasTypeMetadata, spec)
    try:
        dtype = as_dtype(given.dtype)
    except CompilationError as error:
        raise MissingDtypeError(
            f"{what} {name!r}",
            expected=f"one of the dtypes {', '.join(map(dtype_name, DTYPES))}",
            got=repr(given.dtype),
            hint=hint,
        ) from error
    try:
        return TensorType(dtype, given.shape)
    except CompilationError as error:
        raise MissingShapeError(
            f"{what} {name!r}", expected=error.expected, got=error.got, hint=hint
        ) from error


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


def _update_of(
    optimizer: Optimizer | Callable[..., Tensor],
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
        expected="an object with update() and required_optimizer_inputs, or a function",
        got=repr(optimizer),
    )


def _runtime_inputs(
    declared: OptimizerInputs,
    required: tuple[str, ...] | None,
    label: str,
) -> tuple[RuntimeInput, ...]:
    if declared is None:
        return tuple(RuntimeInput(name) for name in required or ())
    if isinstance(declared, str) or not isinstance(cast(object, declared), (Mapping, Sequence)):
        raise DeclarationError(
            "optimizer_inputs", expected="a sequence of names, or a mapping", got=repr(declared)
        )
    given: Mapping[str, object] = declared if isinstance(declared, Mapping) else {}
    rows = [_runtime_input(name, given[name] if given else None) for name in declared]
    names = [row.name for row in rows]
    repeated = sorted({name for name in names if names.count(name) > 1})
    missing = [name for name in required or () if name not in names]
    extra = [name for name in names if required is not None and name not in required]
    reserved = [name for name in names if name in _UPDATE_ROLES]
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


def _runtime_input(name: object, given: object) -> RuntimeInput:
    """Return a runtime scalar from its description: none, a ``RuntimeInput``, or a scalar spec."""
    own = check_name("optimizer input", name)
    if given is None:
        return RuntimeInput(own)
    if isinstance(given, RuntimeInput):
        if given.name != own:
            raise DeclarationError(
                f"optimizer input {own!r}",
                expected="a RuntimeInput of the same name",
                got=repr(given.name),
            )
        return given
    type = _type(own, given, "optimizer input")
    if type.shape != ():
        raise DeclarationError(f"optimizer input {own!r}", expected="a scalar", got=str(type))
    return RuntimeInput(own, type.dtype)


def _takes_exactly(function: Callable[..., object], names: tuple[str, ...]) -> bool:
    """Return whether a plain function or method plainly takes these keywords and no others.

    The common case, at a tenth of the cost of asking for the signature.
    """
    code = getattr(function, "__code__", None)
    if code is None or code.co_posonlyargcount or hasattr(function, "__wrapped__"):
        return False
    taken = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return set(taken[1:] if inspect.ismethod(function) else taken) == set(names)


def _check_signature(
    function: Callable[..., object],
    names: tuple[str, ...],
    what: str,
    error: type[CompilationError],
) -> None:
    """Check that a function can be called with exactly these names as keywords."""
    if not callable(cast(object, function)):
        raise DeclarationError(what, expected="a function", got=repr(function))
    if _takes_exactly(function, names):
        return
    expected = f"a function that can be called as f({', '.join(f'{n}=...' for n in names)})"
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError) as cause:
        raise error(what, expected=expected, got="one without a signature") from cause
    try:
        signature.bind(**dict.fromkeys(names))
    except TypeError as cause:
        raise error(
            what,
            expected=expected,
            got=f"({', '.join(map(str, signature.parameters.values()))}): {cause}",
            location=definition_place(function),
            hint="Declare every argument as an input, and name every input in the signature.",
        ) from cause
