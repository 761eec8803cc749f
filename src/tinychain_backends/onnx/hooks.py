"""Fusion: what ONNX has as one larger operator, found in several small ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import product
from typing import Any

import numpy as np

from tinychain_backends.onnx.emitters.products import conv_attributes
from tinychain_backends.onnx.nodes import Array, Emission, Writer
from tinychain_compile import (
    Declined,
    FusionCandidate,
    Pattern,
    PatternHook,
    Region,
    TensorType,
    pattern,
)
from tinychain_compile import operators as o

Values = Mapping[str, Any]
_FULL = (np.dtype("float32"), np.dtype("float64"))


def onnx_hook() -> PatternHook:
    """Return the hook: the first pattern that matches and keeps the result is taken."""
    rules = [
        (_decayed_descent(), _descended_at_once),
        *((p, _updated_by_product) for p in _descents()),
        *((p, _product_with_bias) for p in _with_addend(pattern(o.MatMul, "a", "b"))),
        *((p, _conv_with_bias) for p in _with_addend(pattern(o.Conv, "x", "kernel"))),
        (_softmax(), _as_softmax("Softmax")),
        (_log_softmax(), _as_softmax("LogSoftmax")),
        *((p, _as_layer_normalization) for p in _normalizations()),
        *((p, _as_gelu) for p in _gelus()),
    ]
    return PatternHook(rules, lookahead=24)


# A literal, and what it is broadcast to, comes into a program right before its first reader, so a
# pattern takes it in; for later readers it is known already, and enters.

_FRESH = pattern(o.BroadcastTo, pattern(o.Constant))


# Updates.


def _decayed_descent() -> Pattern:
    """Return ``parameter - rate * (decay * parameter + direction)``."""
    return pattern(o.Axpy, "rate", pattern(o.Axpy, "decay", "parameter", "direction"), "parameter")


def _descended_at_once(values: Values, region: Region) -> Emission | Declined:
    """Return ``(1 - rate * decay) * parameter - rate * direction``: one pass less."""
    inner, outer = (c.operator for c in region.operations)
    if not isinstance(inner, o.Axpy) or not isinstance(outer, o.Axpy) or inner.is_negative:
        return Declined("it is no decay")
    if not outer.is_negative:
        return Declined("it is no descent")
    type = region.root.output_typespec
    writer = Writer(region.root.output_value_id, (type,), type)
    names = {name: _entering(value) for name, value in values.items()}
    share = writer.node("Mul", names["rate"], names["decay"])
    kept = writer.node("Mul", writer.node("Sub", writer.scalar(1), share), names["parameter"])
    moved = writer.node("Mul", names["rate"], names["direction"])
    return writer.finished(writer.node("Sub", kept, moved))


# Products.


def _descents() -> list[Pattern]:
    """Return ``parameter - rate * (a @ b)``, the rate known."""
    matmul = pattern(o.MatMul, "a", "b")
    return [pattern(o.Axpy, rate, matmul, "y") for rate in (pattern(o.Constant), "rate")]


def _with_addend(made: Pattern) -> list[Pattern]:
    """Return a product and what is added to it: small and broadcast, or whole."""
    reshaped = pattern(o.BroadcastTo, pattern(o.Reshape, "bias"))
    addends = (reshaped, pattern(o.BroadcastTo, "bias"), "bias")
    return [p for addend in addends for p in _either(o.Add, made, addend)]


def _updated_by_product(values: Values, region: Region) -> Emission | Declined:
    rates = _numbers(values, region, "rate")
    if len(rates) != 1:
        return Declined("the rate is fed at each step")
    root = region.root.operator
    sign = -1.0 if isinstance(root, o.Axpy) and root.is_negative else 1.0
    return _gemm(region, _unrepeated(values["y"]), alpha=sign * rates[0])


def _product_with_bias(values: Values, region: Region) -> Emission | Declined:
    if any(isinstance(c.operator, o.Reshape) for c in region.operations):
        return Declined("Gemm broadcasts by itself, but does not reshape")
    return _gemm(region, _unrepeated(values["bias"]))


def _gemm(region: Region, added: str, **attributes: float) -> Emission | Declined:
    factors = _operation(region, o.MatMul)
    types, result = factors.input_typespecs, region.root.output_typespec
    if len(result.shape) != 2 or result.dtype not in _FULL:
        return Declined("Gemm is of matrices in f32 or f64")
    writer = Writer(region.root.output_value_id, types, result)
    op: Any = factors.operator
    flags = {"transA": int(op.transpose_a), "transB": int(op.transpose_b)}
    a, b = factors.input_value_ids
    return writer.finished(writer.node("Gemm", a, b, added, **flags, **attributes))


def _conv_with_bias(values: Values, region: Region) -> Emission | Declined:
    convolution = _operation(region, o.Conv)
    result = region.root.output_typespec
    channels = result.shape[1]
    wanted = (channels, *[1] * (len(result.shape) - 2))
    broadcast = [c for c in region.operations if isinstance(c.operator, o.BroadcastTo)]
    repeated = getattr(values["bias"], "repeated", None)
    if broadcast:
        shape = broadcast[0].input_typespecs[0].shape
    else:
        shape = repeated.shape if repeated is not None else result.shape
    if shape not in (wanted, (1, *wanted)):
        return Declined("what is added is not one number for each channel")
    writer = Writer(region.root.output_value_id, convolution.input_typespecs, result)
    flat = writer.reshape(_unrepeated(values["bias"]), (channels,))
    op: Any = convolution.operator
    attributes = conv_attributes(op)
    return writer.finished(writer.node("Conv", *convolution.input_value_ids, flat, **attributes))


# Softmax and its logarithm, written out.


def _along(candidate: FusionCandidate) -> bool:
    op: Any = candidate.operator
    return bool(len(op.axes) == 1 and op.keepdims)


def _shifted() -> Pattern:
    """Return ``x - max(x)``."""
    largest = pattern(o.ReduceMax, "x", where=_along)
    return pattern(o.Sub, "x", pattern(o.BroadcastTo, largest))


def _softmax() -> Pattern:
    weights = pattern(o.Exp, _shifted())
    total = pattern(o.ReduceSum, weights, where=_along)
    return pattern(o.Div, weights, pattern(o.BroadcastTo, total))


def _log_softmax() -> Pattern:
    total = pattern(o.ReduceSum, pattern(o.Exp, _shifted()), where=_along)
    return pattern(o.Sub, _shifted(), pattern(o.BroadcastTo, pattern(o.Log, total)))


def _as_softmax(op_type: str) -> Callable[[Values, Region], Emission | Declined]:
    def replacement(values: Values, region: Region) -> Emission | Declined:
        reductions = [c for c in region.operations if isinstance(c.operator, _REDUCTIONS)]
        axes: set[tuple[int, ...]] = {c.operator.params["axes"] for c in reductions}  # type: ignore[misc]
        if len(axes) != 1:
            return Declined("the largest and the sum are along different axes")
        ((axis,),) = axes
        return _one_node(region, op_type, _entering(values["x"]), axis=axis)

    return replacement


_REDUCTIONS = (o.ReduceMax, o.ReduceSum)


# Normalization, written out.


def _centred() -> Pattern:
    mean = pattern(o.Mean, "x", where=_keeps)
    return pattern(o.Sub, "x", pattern(o.BroadcastTo, mean))


def _keeps(candidate: FusionCandidate) -> bool:
    op: Any = candidate.operator
    return bool(op.keepdims)


def _normalizations() -> list[Pattern]:
    """Return ``(x - mean) / sqrt(var + epsilon)``, the variance in its three forms."""
    variances = [
        pattern(o.Mean, pattern(o.Mul, _centred(), _centred()), where=_keeps),
        pattern(o.Mean, pattern(o.IntegerPow, _centred(), where=_is_square), where=_keeps),
        pattern(o.Var, "x", where=_is_of_population),
    ]
    made: list[Pattern] = []
    epsilons: tuple[Pattern | str, ...] = (_FRESH, "epsilon")
    for variance, epsilon in product(variances, epsilons):
        spread = pattern(o.Add, variance, epsilon)
        root = pattern(o.BroadcastTo, pattern(o.Sqrt, spread))
        inverse = pattern(o.BroadcastTo, pattern(o.Rsqrt, spread))
        made += [pattern(o.Div, _centred(), root), *_either(o.Mul, _centred(), inverse)]
    return made


def _is_square(candidate: FusionCandidate) -> bool:
    op: Any = candidate.operator
    return bool(op.exponent == 2)


def _is_of_population(candidate: FusionCandidate) -> bool:
    op: Any = candidate.operator
    return bool(op.keepdims and op.correction == 0)


def _as_layer_normalization(values: Values, region: Region) -> Emission | Declined:
    epsilons = _numbers(values, region, "epsilon")
    type: TensorType = region.root.output_typespec
    axes = {c.operator.axes for c in region.operations if isinstance(c.operator, (o.Mean, o.Var))}
    if len(epsilons) != 1 or len(axes) != 1:
        return Declined("epsilon is no constant, or mean and variance are along different axes")
    (along,) = axes
    sizes = [type.shape[axis] for axis in along]
    if along != tuple(range(along[0], type.rank)) or not all(isinstance(n, int) for n in sizes):
        return Declined("it is not over the last axes")
    if type.dtype != np.dtype("float32"):
        return Declined("the runtime normalizes in f32")
    writer = Writer(region.root.output_value_id, (type,), type)
    attributes = {"axis": along[0], "epsilon": epsilons[0]}
    ones = writer.constant(np.ones([int(str(n)) for n in sizes], np.float32))
    x = _entering(values["x"])
    return writer.finished(writer.node("LayerNormalization", x, ones, **attributes))


# Gelu, written out.


def _gelus() -> list[Pattern]:
    """Return ``0.5 * x * (1 + erf(x / sqrt(2)))``, factors in the orders they are written in."""
    made: list[Pattern] = []
    for half, one, by in ((_FRESH, _FRESH, _FRESH), ("half", "one", "by")):
        for scaled in (*_either(o.Mul, "x", by), pattern(o.Div, "x", by)):
            for above in _either(o.Add, pattern(o.Erf, scaled), one):
                for part in _either(o.Mul, "x", half):
                    made += _either(o.Mul, part, above)
                for factor, last in ((half, "x"), ("x", half)):
                    inner = _either(o.Mul, above, factor)
                    made += [p for q in inner for p in _either(o.Mul, q, last)]
    return made


def _as_gelu(values: Values, region: Region) -> Emission | Declined:
    is_divided = any(isinstance(c.operator, o.Div) for c in region.operations)
    wanted = (0.5, 1.0, 2**0.5 if is_divided else 0.5**0.5)
    found = _numbers(values, region, "half", "one", "by")
    if len(found) != 3 or not np.allclose(sorted(found), sorted(wanted), atol=1e-6):
        return Declined(f"the numbers in it are not {', '.join(f'{n:g}' for n in wanted)}")
    if region.root.output_typespec.dtype != np.dtype("float32"):
        return Declined("the runtime has gelu in f32")
    return _one_node(region, "Gelu", _entering(values["x"]), approximate="none")


# What the replacements share.


def _either(operator: type[o.Operator], left: Pattern | str, right: Pattern | str) -> list[Pattern]:
    """Return both orders of a commutative operator."""
    return [pattern(operator, left, right), pattern(operator, right, left)]


def _one_node(region: Region, op_type: str, operand: str, **attributes: Any) -> Emission:
    type = region.root.output_typespec
    writer = Writer(region.root.output_value_id, (type,), type)
    return writer.finished(writer.node(op_type, operand, **attributes))


def _operation(region: Region, operator: type[o.Operator]) -> FusionCandidate:
    return next(c for c in region.operations if type(c.operator) is operator)


def _entering(value: Any) -> str:
    """Return the name of a value that enters: made by nodes, or an input of the program."""
    name: str = value.output if isinstance(value, Emission) else value.value_id
    return name


def _unrepeated(value: Any) -> str:
    """Return the name of a value, or of what it repeats."""
    repeated = getattr(value, "repeated", None)
    return repeated.name if repeated is not None else _entering(value)


def _numbers(values: Values, region: Region, *names: str) -> list[float]:
    """Return the scalars of a region: its own constants, and those that enter by these names."""
    own = [c.operator.value for c in region.operations if isinstance(c.operator, o.Constant)]
    entering = [_known(values[name], region) for name in names if name in values]
    arrays = [*own, *(array for array in entering if array is not None)]
    return [float(array.reshape(())) for array in arrays if array.size == 1]


def _known(value: Any, region: Region) -> Array | None:
    """Return the array of a constant that enters, repeated or not; ``None`` for all else."""
    if not isinstance(value, Emission):
        return None
    if value.repeated is not None:
        return _known(region.value_of(value.repeated.name), region)
    return None if value.nodes else value.constants[value.output]
