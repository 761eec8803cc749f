"""Runs a function once on traced tensors and keeps what it did."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import cast

from tinychain_compile.calling import TracedCall, call_on_tensors
from tinychain_compile.errors import DeclarationError, LossOutputError
from tinychain_compile.ir.graph import Graph, IdSource, NamedValue, Operation, Value
from tinychain_compile.ir.origin import definition_place
from tinychain_compile.ir.types import TensorType
from tinychain_compile.tensor import Tensor
from tinychain_compile.trees import flatten


class FunctionTracer:
    """Calls the function with each input by keyword; whatever it raises passes through."""

    def trace_loss(
        self, loss: Callable[..., object], inputs: Mapping[str, TensorType], ids: IdSource
    ) -> Graph:
        """Return the graph of a loss: the output ``loss``, then auxiliary ones by name.

        Raises:
            LossOutputError: It returned neither a floating scalar of this trace, nor one and a
                mapping of tensors.
        """
        call = call_on_tensors(loss, inputs, ids)
        result, auxiliary = _with_auxiliary(call.result, loss)
        value = _traced_value(call, result, loss, "loss")
        if value.type.shape != () or not value.type.is_floating:
            producer = value if isinstance(value, Operation) else None
            maker = f"made by {producer.operator.name}" if producer else "an input"
            raise LossOutputError(
                "loss",
                expected="a floating scalar",
                got=f"{value.type}, {maker}",
                location=(producer.origin if producer else None) or definition_place(loss),
                hint="Reduce it with np.mean(...) or np.sum(...)."
                if value.type.is_floating
                else "Only floating dtypes are differentiable; a position or a count has no slope.",
            )
        outputs = [NamedValue("loss", value)]
        for name, tensor in auxiliary.items():
            made = _traced_value(call, tensor, loss, f"auxiliary output {name!r}")
            _check_buffer(name, made, inputs, loss)
            outputs.append(NamedValue(name, made))
        return call.graph("forward", tuple(outputs))

    def trace_function(
        self, function: Callable[..., object], inputs: Mapping[str, TensorType], ids: IdSource
    ) -> Graph:
        """Return the graph of a function; a single tensor is called ``output``.

        Raises:
            LossOutputError: It returned neither a tensor of this trace nor a mapping of them.
        """
        call = call_on_tensors(function, inputs, ids)
        result = call.result
        results: Mapping[str, object] = {"output": result}
        if isinstance(result, Mapping) and result:
            results = _named(cast(Mapping[str, object], result), function)
        outputs: list[NamedValue] = []
        for name, tensor in results.items():
            value = _traced_value(call, tensor, function, f"output {name!r}")
            outputs.append(NamedValue(name, value))
        return call.graph("function", tuple(outputs))


def _with_auxiliary(
    result: object, loss: Callable[..., object]
) -> tuple[object, Mapping[str, object]]:
    """Return what a loss returned as the loss itself and its auxiliary outputs by flat name."""
    if not isinstance(result, tuple):
        return result, {}
    pair = cast(tuple[object, ...], result)
    if len(pair) != 2 or not isinstance(pair[1], Mapping):
        raise LossOutputError(
            "loss",
            expected="a floating scalar, or one and a mapping of auxiliary outputs",
            got=f"a tuple of {', '.join(type(item).__name__ for item in pair) or 'nothing'}",
            location=definition_place(loss),
            hint='Return loss, {"accuracy": accuracy}.',
        )
    auxiliary = _named(cast(Mapping[str, object], pair[1]), loss)
    if "loss" in auxiliary:
        raise LossOutputError(
            "auxiliary output 'loss'",
            expected="another name: the loss itself has this one",
            got="'loss'",
            location=definition_place(loss),
        )
    return pair[0], auxiliary


def _named(results: Mapping[str, object], function: Callable[..., object]) -> Mapping[str, object]:
    """Return nested outputs by flat name."""
    try:
        return flatten(results, "output")
    except DeclarationError as error:
        raise LossOutputError(
            error.subject,
            expected=error.expected,
            got=error.got,
            location=definition_place(function),
        ) from error


def _check_buffer(
    name: str, value: Value, inputs: Mapping[str, TensorType], loss: Callable[..., object]
) -> None:
    """Check that an output with the name of an input can be that input's new value."""
    if name in inputs and inputs[name] != value.type:
        raise LossOutputError(
            f"auxiliary output {name!r}",
            expected=f"{inputs[name]}, since it is the new value of the input of this name",
            got=str(value.type),
            location=definition_place(loss),
            hint="Give it another name, or the type of the input.",
        )


def _traced_value(
    call: TracedCall, result: object, function: Callable[..., object], what: str
) -> Value:
    value = call.value_of(result)
    if value is not None:
        return value
    if isinstance(result, Tensor):
        got = "a tensor that another trace made"
    elif result is None:
        got = "None; is a return missing?"
    else:
        got = f"{result!r} of type {type(result).__name__}"
    raise LossOutputError(
        what,
        expected="a tensor computed from the inputs",
        got=got,
        location=definition_place(function),
        hint="Return one tensor that this call computed with the tensors it was given.",
    )
