"""Runs a function once on traced tensors and keeps what it did."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import cast

from tinychain_compile.errors import CompilationError, LossOutputError
from tinychain_compile.ir.builder import GraphBuilder
from tinychain_compile.ir.graph import Graph, IdSource, NamedValue, Value
from tinychain_compile.ir.origin import definition_place, raising_line
from tinychain_compile.ir.types import TensorType
from tinychain_compile.numpy_dispatch import NumpyTensor
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
        builder, named, result = _run(loss, inputs, ids)
        value = _traced_value(result, builder, loss, "loss")
        if value.type.shape != () or not value.type.is_floating:
            raise LossOutputError(
                "loss",
                expected="a floating scalar",
                got=str(value.type),
                location=definition_place(loss),
                hint="Reduce it with np.mean(...) or np.sum(...).",
            )
        outputs = (NamedValue("loss", value),)
        return Graph("forward", named, tuple(builder.operations), outputs)

    def trace_function(
        self, function: Callable[..., object], inputs: Mapping[str, TensorType], ids: IdSource
    ) -> Graph:
        """Return the graph of a function; a single tensor is called ``output``.

        Raises:
            LossOutputError: It returned neither a tensor of this trace nor a mapping of them.
        """
        builder, named, result = _run(function, inputs, ids)
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
            value = _traced_value(tensor, builder, function, f"output {name!r}")
            outputs.append(NamedValue(name, value))
        return Graph("function", named, tuple(builder.operations), tuple(outputs))


def _run(
    function: Callable[..., object], inputs: Mapping[str, TensorType], ids: IdSource
) -> tuple[GraphBuilder, tuple[NamedValue, ...], object]:
    builder = GraphBuilder(ids)
    named = tuple(NamedValue(name, builder.input(type)) for name, type in inputs.items())
    try:
        result = function(**{name: NumpyTensor(builder, value) for name, value in named})
    except CompilationError as error:
        error.at(raising_line(error.__traceback__))
        raise
    finally:
        builder.close()
    return builder, named, result


def _traced_value(
    result: object, builder: GraphBuilder, function: Callable[..., object], what: str
) -> Value:
    if isinstance(result, Tensor) and result.builder is builder:
        return result.value
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
