"""Runs a function once on traced tensors and keeps what it did."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import cast

from tinychain_compile.calling import TracedCall, call_on_tensors
from tinychain_compile.errors import LossOutputError
from tinychain_compile.ir.graph import Graph, IdSource, NamedValue, Value
from tinychain_compile.ir.origin import definition_place
from tinychain_compile.ir.types import TensorType
from tinychain_compile.tensor import Tensor


class FunctionTracer:
    """Calls the function with each input by keyword; whatever it raises passes through."""

    def trace_loss(
        self, loss: Callable[..., object], inputs: Mapping[str, TensorType], ids: IdSource
    ) -> Graph:
        """Return the graph of a loss, with the one output ``loss``.

        Raises:
            LossOutputError: It did not return one floating scalar of this trace.
        """
        call = call_on_tensors(loss, inputs, ids)
        value = _traced_value(call, call.result, loss, "loss")
        if value.type.shape != () or not value.type.is_floating:
            raise LossOutputError(
                "loss",
                expected="a floating scalar",
                got=str(value.type),
                location=definition_place(loss),
                hint="Reduce it with np.mean(...) or np.sum(...).",
            )
        return call.graph("forward", (NamedValue("loss", value),))

    def trace_function(
        self, function: Callable[..., object], inputs: Mapping[str, TensorType], ids: IdSource
    ) -> Graph:
        """Return the graph of a function; a single tensor is called ``output``.

        Raises:
            LossOutputError: It returned neither a tensor of this trace nor a mapping of them.
        """
        call = call_on_tensors(function, inputs, ids)
        result = call.result
        results: Mapping[object, object] = {"output": result}
        if isinstance(result, Mapping) and result:
            results = cast(Mapping[object, object], result)
        outputs: list[NamedValue] = []
        for name, tensor in results.items():
            if not isinstance(name, str) or not name.isidentifier():
                raise LossOutputError(
                    "output name",
                    expected="an identifier",
                    got=repr(name),
                    location=definition_place(function),
                )
            value = _traced_value(call, tensor, function, f"output {name!r}")
            outputs.append(NamedValue(name, value))
        return call.graph("function", tuple(outputs))


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
