"""Backends that are wrong in one thing each: NumPy's, with a fault put in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from dependency_injector import providers

from tinychain_backends.numpy import NumpyProgram
from tinychain_backends.numpy.calls import Call, call_for
from tinychain_backends.numpy.handlers import Instruction, lower_call, numpy_registry
from tinychain_backends.sessions.adapter import ProgramAdapter
from tinychain_compile import NO_FUSION, OperationHandlerRegistry, PatternHook, pattern
from tinychain_compile import operators as o
from tinychain_compile.container import TrainingStepContainer
from tinychain_conformance.adapter import Backend

Fault = Callable[..., Any]


def with_handler(operator: type[o.Operator], fault: Fault) -> Backend:
    """Return a backend that computes one operator as ``fault(operator, right, *operands)``."""

    def lower(context: Any) -> Instruction:
        op = context.operator
        call = call_for(op)

        def right(*operands: Any) -> Any:
            return call.function(*operands, **call.keywords)

        def computed(*operands: Any) -> Any:
            return fault(op, right, *operands)

        return Instruction(Call(computed), context.input_value_ids, "")

    registry = OperationHandlerRegistry()
    registry.handler(operator)(lower)
    for kind in numpy_registry().supported_types():
        if kind is not operator:
            registry.handler(kind)(lower_call)
    return backend(registry=registry)


def backend(
    *,
    registry: OperationHandlerRegistry | None = None,
    hook: Any = NO_FUSION,
    adapter: Any = None,
) -> Backend:
    """Return NumPy's backend with other parts."""
    handlers = numpy_registry() if registry is None else registry

    class Broken(TrainingStepContainer):
        handler_registry = providers.Object(handlers)
        fusion_hook = providers.Object(hook)

    return Backend("Broken", Broken, adapter or ProgramAdapter(NumpyProgram))


class Adapter(ProgramAdapter):
    """An adapter whose runs are changed."""

    def __init__(self) -> None:
        super().__init__(NumpyProgram)


class StaleBuffer(Adapter):
    """Gives what the first run of a program gave, whatever it is fed."""

    def load(self, program: Any) -> Any:
        return (*super().load(program), {})

    def run(self, loaded: Any, values: Mapping[str, Any]) -> dict[str, Any]:
        *own, first = loaded
        if not first:
            first.update(super().run(tuple(own), values))
        return first


class FrozenScalars(Adapter):
    """Writes the scalars of the first run into an update: rates and steps do not change."""

    def load(self, program: Any) -> Any:
        return (*super().load(program), {})

    def run(self, loaded: Any, values: Mapping[str, Any]) -> dict[str, Any]:
        lowered, program, held = loaded
        rows = lowered.dependencies.required_inputs
        scalars = {row.value_id: values[row.value_id] for row in rows if row.shape == ()}
        for name, value in scalars.items():
            held.setdefault(name, value)
        return super().run((lowered, program), {**values, **held})


class SharedOutput(Adapter):
    """Returns every result in one array for each program, written over at the next run."""

    def load(self, program: Any) -> Any:
        return (*super().load(program), {})

    def run(self, loaded: Any, values: Mapping[str, Any]) -> dict[str, Any]:
        *own, held = loaded
        for name, array in super().run(tuple(own), values).items():
            if name not in held:
                held[name] = np.array(array)
            else:
                held[name][...] = array
        return held


class OneForAll(Adapter):
    """Takes programs with as many operations and inputs for the same program."""

    def __init__(self) -> None:
        super().__init__()
        self._made: dict[Any, Any] = {}

    def load(self, program: Any) -> Any:
        key = (len(program.operations), len(program.dependencies.required_inputs))
        return self._made.setdefault(key, super().load(program))


class LossyState(Adapter):
    """Rounds what it reads to half precision on the way in, from the second run on."""

    def load(self, program: Any) -> Any:
        return (*super().load(program), [])

    def run(self, loaded: Any, values: Mapping[str, Any]) -> dict[str, Any]:
        *own, runs = loaded
        runs.append(1)
        if len(runs) > 1:
            narrow = {n: a for n, a in values.items() if a.dtype == np.float32}
            values = {**values, **{n: a.astype("f2").astype("f4") for n, a in narrow.items()}}
        return super().run(tuple(own), values)


class SwappedOutputs(Adapter):
    """Gives two results of equal type in each other's place."""

    def run(self, loaded: Any, values: Mapping[str, Any]) -> dict[str, Any]:
        made = super().run(loaded, values)
        names = list(made)
        for i, a in enumerate(names):
            for b in names[i + 1 :]:
                if made[a].shape == made[b].shape and made[a].dtype == made[b].dtype:
                    made[a], made[b] = made[b], made[a]
                    return made
        return made


def _dropping_the_addend() -> PatternHook:
    def replacement(values: Any, region: Any) -> Instruction:
        return Instruction(Call(np.add), region.operations[0].input_value_ids, "")

    return PatternHook([(pattern(o.Sub, pattern(o.Add, "a", "b"), "c"), replacement)])


def _overwriting(op: Any, right: Fault, x: Any) -> Any:
    return np.negative(x, out=x) if x.flags.writeable and x.ndim else right(x)


def _first_of_duplicates(op: Any, right: Fault, updates: Any, indices: Any) -> Any:
    result = np.zeros_like(right(updates, indices))
    if op.along:
        np.put_along_axis(result, indices, updates, op.axis)
    else:
        at = (slice(None),) * op.axis
        result[(*at, indices)] = updates
    return result


def _last_of_ties(op: Any, right: Fault, x: Any, g: Any) -> Any:
    """Give to the last of several largest: as the right one does, of the image reversed."""
    mirrored = o.WindowMaxGradient(op.window, op.strides, tuple((b, a) for a, b in op.padding))
    axes = tuple(range(2, x.ndim))
    call = call_for(mirrored)
    rest = [
        (n + a + b - k) % s
        for n, (a, b), k, s in zip(x.shape[2:], op.padding, op.window, op.strides, strict=True)
    ]
    if any(rest):
        return right(x, g)
    return np.flip(call.function(np.flip(x, axes), np.flip(g, axes), **call.keywords), axes)


BROKEN: dict[str, tuple[Callable[[], Backend], str]] = {
    "a stale buffer": (lambda: backend(adapter=StaleBuffer()), "a training run"),
    "a frozen learning rate": (lambda: backend(adapter=FrozenScalars()), "a training run"),
    "one output buffer for all runs": (lambda: backend(adapter=SharedOutput()), "results are kept"),
    "a program taken for another": (lambda: backend(adapter=OneForAll()), "order|turn|run"),
    "state that loses its precision": (lambda: backend(adapter=LossyState()), "training run"),
    "two outputs swapped": (lambda: backend(adapter=SwappedOutputs()), "one step"),
    "a fusion that drops a term": (lambda: backend(hook=_dropping_the_addend()), "fused and not"),
    "swapped operands": (lambda: with_handler(o.Sub, lambda op, f, a, b: b - a), "sub"),
    "a wrong tie rule": (
        lambda: with_handler(o.ReluGradient, lambda op, f, g, y: np.where(y >= 0, g, 0 * g)),
        "relu_gradient",
    ),
    "the last of equal elements": (
        lambda: with_handler(
            o.ArgMax,
            lambda op, f, x: x.shape[op.axis] - 1 - np.argmax(np.flip(x, op.axis), op.axis),
        ),
        "argmax",
    ),
    "the last window of ties": (
        lambda: with_handler(o.WindowMaxGradient, _last_of_ties),
        "window_max_gradient",
    ),
    "a dropped accumulation": (
        lambda: with_handler(o.ScatterAdd, _first_of_duplicates),
        "scatter_add",
    ),
    "a missing broadcast in one gradient": (
        lambda: with_handler(
            o.BroadcastTo, lambda op, f, x: x if x.ndim == len(op.shape) else f(x)
        ),
        "broadcast_to",
    ),
    "transposed operands read as they lie": (
        lambda: with_handler(
            o.MatMul, lambda op, f, a, b: a @ b if a.shape == b.shape else f(a, b)
        ),
        "matmul",
    ),
    "f64 computed in f32": (
        lambda: with_handler(o.Log, lambda op, f, x: f(x.astype("f4")).astype(x.dtype)),
        "log",
    ),
    "NaN passed over": (
        lambda: with_handler(
            o.ReduceMax,
            lambda op, f, x: np.nanmax(
                np.where(np.isnan(x), -np.inf, x) if x.dtype.kind == "f" else x,
                axis=op.axes,
                keepdims=op.keepdims,
            ),
        ),
        "reduce_max",
    ),
    "an overflow that is not avoided": (
        lambda: with_handler(o.Sigmoid, lambda op, f, x: np.exp(x) / (1 + np.exp(x))),
        "sigmoid",
    ),
    "a divisor off by one": (
        lambda: with_handler(o.Mean, lambda op, f, x: f(x) * x.dtype.type(1.001)),
        "mean",
    ),
    "another dtype": (
        lambda: with_handler(o.Tanh, lambda op, f, x: np.asarray(f(x), np.float64)),
        "tanh",
    ),
    "kept axes dropped": (
        lambda: with_handler(o.ReduceSum, lambda op, f, x: x.sum(axis=op.axes, dtype=x.dtype)),
        "reduce_sum",
    ),
    "an operand written over": (lambda: with_handler(o.Neg, _overwriting), "neg|twice|run"),
    "rounding where it should cut off": (
        lambda: with_handler(
            o.Cast, lambda op, f, x: f(np.round(x.astype("f8")) if op.dtype.kind == "i" else x)
        ),
        "cast",
    ),
    "a scalar that grows an axis": (
        lambda: with_handler(o.Mul, lambda op, f, a, b: f(a, b).reshape(a.shape or (1,))),
        "mul",
    ),
    "zeros without their sign": (
        lambda: with_handler(o.Div, lambda op, f, a, b: f(a, np.where(b == 0, abs(b), b))),
        "div",
    ),
}
"""What makes each, and what its failure is called: the operator, or the check."""
