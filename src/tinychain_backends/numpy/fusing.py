"""Runs of elementwise operations as one loop, compiled by numba (extra ``fast``)."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from tinychain_backends.numpy.calls import Array
from tinychain_backends.sessions.installed import Library
from tinychain_compile import LoweredOperation, Operation, Value
from tinychain_compile import operators as o
from tinychain_compile.operators import Operator

numba = Library("numba", "fast")

_PLAIN: Mapping[type[Operator], str] = MappingProxyType(
    {
        o.Add: "{0} + {1}",
        o.Sub: "{0} - {1}",
        o.Mul: "{0} * {1}",
        o.Div: "{0} / {1}",
        o.Neg: "-{0}",
        o.Abs: "abs({0})",
        o.Exp: "math.exp({0})",
        o.Log: "math.log({0})",
        o.Tanh: "math.tanh({0})",
        o.Sqrt: "math.sqrt({0})",
        o.Rsqrt: "one / math.sqrt({0})",
        o.Sigmoid: "one / (one + math.exp(-{0}))",
        o.Maximum: "{0} if {0} > {1} or {0} != {0} else {1}",
        o.Minimum: "{0} if {0} < {1} or {0} != {0} else {1}",
        o.Less: "{0} < {1}",
        o.LessEqual: "{0} <= {1}",
        o.Equal: "{0} == {1}",
        o.And: "{0} and {1}",
        o.Or: "{0} or {1}",
        o.Not: "not {0}",
        o.Where: "{1} if {0} else {2}",
        o.Annihilate: "{0} if {0} == zero else {1}",
        o.MulNoNan: "{0} if {0} == zero else {0} * {1}",
        o.Relu: "{0} if {0} > zero or {0} != {0} else zero",
        o.ReluGradient: "{0} if {1} > zero else zero",
        o.TanhGradient: "{0} * (one - {1} * {1})",
        o.SigmoidGradient: "{0} * ({1} * (one - {1}))",
        o.Gelu: "{0} * (math.erf({0} * root) + one) * half",
        o.GeluGradient: "{0} * ((math.erf({1} * root) + one) * half"
        " + {1} * (math.exp(-half * {1} * {1}) * density))",
        o.Lerp: "{0} * {1} + (one - {0}) * {2}",
        o.AdamDirection: "{0} / (one - {2} ** {4}) / (math.sqrt({1} / (one - {3} ** {4})) + {5})",
    }
)
"""Each operator on the numbers at one place, in the dtype of the loop."""

_NUMBERS = {"zero": 0.0, "one": 1.0, "half": 0.5, "root": 0.5**0.5, "density": (2 * np.pi) ** -0.5}


class Fused(NamedTuple):
    """A run of operations that became one loop.

    Attributes:
        function: Takes the operands and gives the results, in order.
        operands: The ids it reads.
        results: The ids it makes.
        source: The user's line of the last operation.
    """

    function: Callable[..., list[Array]]
    operands: tuple[str, ...]
    results: tuple[str, ...]
    source: str


def fused(
    lowered: Sequence[LoweredOperation], outputs: Collection[str]
) -> list[LoweredOperation | Fused]:
    """Return a program's operations with each run of elementwise ones as a loop.

    Args:
        lowered: In order.
        outputs: The ids that the program returns.
    """
    last_reads = {v.id: i for i, row in enumerate(lowered) for v in row.sources[0].inputs}
    result: list[LoweredOperation | Fused] = []
    run: list[LoweredOperation] = []

    def flush(end: int) -> None:
        if len(run) < 2:
            result.extend(run)
        else:
            live = {
                row.output_value_id
                for row in run
                if row.output_value_id in outputs or last_reads.get(row.output_value_id, -1) >= end
            }
            result.append(_loop([row.sources[0] for row in run], live, run[-1].value.source))
        run.clear()

    for place, row in enumerate(lowered):
        operation = row.sources[0]
        is_plain = _is_plain(operation)
        if not is_plain or (run and not _joins(operation, run[-1].sources[0])):
            flush(place)
        if is_plain:
            run.append(row)
        else:
            result.append(row)
    flush(len(lowered))
    return result


def _text_of(operator: Operator) -> str | None:
    """Return what an operator is on numbers; ``None`` if it is not elementwise, or not known."""
    if isinstance(operator, o.Axpy):
        return "{2} - {0} * {1}" if operator.is_negative else "{0} * {1} + {2}"
    if isinstance(operator, o.IntegerPow) and 0 < operator.exponent < 5:
        return " * ".join(["{0}"] * operator.exponent)
    if isinstance(operator, (o.Gelu, o.GeluGradient)) and operator.approximate:
        return None
    return _PLAIN.get(type(operator))


def _is_plain(operation: Operation) -> bool:
    """Return whether an operation can be in a loop: known, and all of one floating dtype."""
    if _text_of(operation.operator) is None or not operation.type.shape:
        return False
    floating = {
        value.type.dtype for value in (*operation.inputs, operation) if value.type.dtype != np.bool_
    }
    return len(floating) == 1 and floating <= {np.dtype(np.float32), np.dtype(np.float64)}


def _joins(operation: Operation, last: Operation) -> bool:
    """Return whether an operation has the shape, and the dtype of numbers, of a run."""
    return operation.type.shape == last.type.shape and _dtype(operation) == _dtype(last)


def _dtype(operation: Operation) -> np.dtype[Any]:
    dtypes = [value.type.dtype for value in (*operation.inputs, operation)]
    return next(dtype for dtype in dtypes if dtype != np.bool_)


def _loop(operations: Sequence[Operation], live: Collection[str], source: str) -> Fused:
    """Return a run as a loop over all places."""
    names: dict[Value, str] = {}
    arrays: list[Value] = []
    lines: list[str] = []
    results: list[Value] = []
    for operation in operations:
        for value in operation.inputs:
            if value not in names:
                names[value] = f"x{len(arrays)}" + ("[i]" if value.type.shape else "")
                arrays.append(value)
        name = f"t{len(lines)}"
        text = _text_of(operation.operator) or ""
        lines.append(f"{name} = {text.format(*[f'({names[v]})' for v in operation.inputs])}")
        names[operation] = name
        if operation.id in live:
            results.append(operation)
    parameters = [f"x{i}" for i in range(len(arrays))] + [f"y{i}" for i in range(len(results))]
    lines += [f"y{i}[i] = {names[value]}" for i, value in enumerate(results)]
    numbers = "".join(f"    {name} = dtype({value!r})\n" for name, value in _NUMBERS.items())
    text = (
        f"def loop(count, {', '.join(parameters)}):\n{numbers}"
        "    for i in range(count):\n" + "".join(f"        {line}\n" for line in lines)
    )
    dtype = _dtype(operations[0]).type
    dtypes = [value.type.dtype for value in results]
    is_array = [bool(value.type.shape) for value in arrays]

    def run(*operands: Array) -> list[Array]:
        shape = next(x.shape for x, wide in zip(operands, is_array, strict=True) if wide)
        flat = [
            np.ascontiguousarray(x).reshape(-1) if wide else x.dtype.type(x)
            for x, wide in zip(operands, is_array, strict=True)
        ]
        made = [np.empty(shape, d) for d in dtypes]
        _compiled(text, dtype.__name__)(made[0].size, *flat, *[array.reshape(-1) for array in made])
        return made

    return Fused(
        run, tuple(value.id for value in arrays), tuple(value.id for value in results), source
    )


@cache
def _compiled(text: str, dtype: str) -> Callable[..., None]:
    """Return a loop compiled; runs of the same operations share it."""
    names: dict[str, Any] = {"dtype": np.dtype(dtype).type, "math": math}
    exec(compile(text, "<loop>", "exec"), names)
    loop: Callable[..., None] = numba.njit(error_model="numpy")(names["loop"])
    return loop
