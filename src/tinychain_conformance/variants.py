"""The case grid in every type, and at the edges: ties, NaN, infinities, nothing, rank 0."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from tinychain_compile import Graph
from tinychain_compile.errors import CompilationError
from tinychain_compile.ir.builder import GraphBuilder
from tinychain_compile.ir.dtypes import (
    BF16,
    BOOL,
    F16,
    F32,
    F64,
    FLOATING,
    I32,
    I64,
    U8,
    U32,
    DType,
)
from tinychain_compile.ir.graph import IdSource, NamedValue, fresh_ids
from tinychain_compile.ir.types import TensorType
from tinychain_compile.operators import (
    ELEMENTWISE,
    MARKS,
    Atan2,
    Cast,
    Constant,
    Operator,
)
from tinychain_conformance.case import Array, Case
from tinychain_conformance.cases import CASES

DTYPES: tuple[DType, ...] = (F32, F64, F16, BF16, I32, I64, U8, U32, BOOL)
"""The dtypes that the grid is put into, where its operators take them."""

SIGNED_ZERO = " signed zero"
"""The note of uses that a decomposition need not tell apart."""

_SPECIAL = (np.nan, np.inf, -np.inf, 0.0)
_Change = Callable[[Array], Array]


class Use(NamedTuple):
    """One use of an operator on arrays, ready to be run.

    Attributes:
        case: What it was made from, with its operands in one type.
        graph: The operator alone: inputs ``x0``, ``x1``, ...; output ``y``.
        ids: The counter to make more values with.
    """

    case: Case
    graph: Graph
    ids: IdSource

    @property
    def inputs(self) -> dict[str, Array]:
        """The operands by the names of the graph's inputs."""
        return {f"x{i}": array for i, array in enumerate(self.case.operands)}


def operators_of_the_grid() -> tuple[type[Operator], ...]:
    """Return the operators that a backend can meet, in the order of the grid."""
    kinds = dict.fromkeys(type(case.operator) for case in CASES)
    return tuple(kind for kind in kinds if kind not in MARKS)


def uses_of(operator: type[Operator], dtype: DType) -> list[Use]:
    """Return every case of an operator in a type, with its edges; none if it takes no such type."""
    cases = [case for case in CASES if type(case.operator) is operator]
    made = (_use(variant) for case in cases for variant in _variants(case, dtype))
    return [use for use in made if use is not None]


def _variants(case: Case, dtype: DType) -> Iterator[Case]:
    floating = [array.dtype == F64 for array in case.operands]
    if not any(floating):
        yield from _of_result(case, dtype)
        return
    retyped = _with(case, "", lambda a: _retyped(a, dtype) if a.dtype == F64 else a)
    if isinstance(case.operator, Cast):
        for target in DTYPES:
            yield replace(retyped, operator=Cast(target), note=f" from {dtype}{case.note}")
        return
    if _is_unstated(case, dtype):
        return
    yield retyped
    if any(array.dtype == I64 for array in case.operands):
        yield _with(retyped, " i32", lambda a: a.astype(I32) if a.dtype == I64 else a)
    if case.note or not all(floating):
        return
    yield _with(retyped, " ties", lambda a: _retyped(np.round(a.astype(F64)), dtype))
    if isinstance(case.operator, ELEMENTWISE):
        yield _with(retyped, " rank 0", lambda a: a.reshape(-1)[:1].reshape(()))
        yield _with(retyped, " empty", lambda a: a.reshape(-1)[:0])
        if dtype in FLOATING:
            yield _with(retyped, " special", _spoiled)
            yield _with(retyped, SIGNED_ZERO, _signed_zeros)


def _is_unstated(case: Case, dtype: DType) -> bool:
    """Return whether nothing is promised: far ranges in narrow types, and the order of bf16's NaN.

    In f16 the least arguments of atan2 become zeros, whose signs its decomposition cannot tell.
    """
    if case.note == " range":
        return dtype in (F16, BF16)
    is_told_by_signs = dtype == F16 and isinstance(case.operator, Atan2)
    return case.note == " special" and (dtype == BF16 or is_told_by_signs)


def _of_result(case: Case, dtype: DType) -> Iterator[Case]:
    """Give a case without floating operands in the type of its result, maybe an attribute."""
    operator: Any = case.operator
    if isinstance(operator, Constant):
        yield replace(case, operator=Constant(_retyped(np.asarray(operator.value), dtype)))
    elif "dtype" in operator.params:
        if dtype == BOOL:
            return
        made = replace(case, operator=replace(operator, dtype=dtype))
        yield made
        if any(array.dtype == I64 for array in case.operands):
            yield _with(made, " i32", lambda a: a.astype(I32) if a.dtype == I64 else a)
    else:
        use = _use(case)
        if use is not None and use.graph.output("y").type.dtype == dtype:
            yield case


def _retyped(array: Array, dtype: DType) -> Array:
    """Return an array in another dtype: small whole numbers for integers, signs for conditions."""
    with np.errstate(all="ignore"):
        if dtype in FLOATING:
            return array.astype(dtype)
        if dtype == BOOL:
            return array > 0
        whole = np.clip(np.nan_to_num(array.astype(F64) * 3), -9, 9)
        small: Array = np.abs(whole) if dtype in (U8, U32) else whole
        return small.astype(dtype)


def _with(case: Case, note: str, change: _Change) -> Case:
    operands = tuple(change(array) for array in case.operands)
    return replace(case, operands=operands, note=case.note + note)


def _spoiled(array: Array) -> Array:
    """Return elements with NaN, infinities and zeros among them."""
    spoiled: Array = array.copy().reshape(-1)
    count = min(len(spoiled), len(_SPECIAL))
    spoiled[:count] = _SPECIAL[:count]
    shaped: Array = spoiled.reshape(array.shape)
    return shaped


def _signed_zeros(array: Array) -> Array:
    """Return elements among which each second one is -0."""
    zeros: Array = array.copy().reshape(-1)
    zeros[::2] = -0.0
    shaped: Array = zeros.reshape(array.shape)
    return shaped


def _use(case: Case) -> Use | None:
    """Return the use of a case; ``None`` if the operator takes no operands of these types."""
    ids = fresh_ids()
    builder = GraphBuilder(ids)
    inputs = [builder.input(TensorType(a.dtype, a.shape)) for a in case.operands]
    try:
        output = builder.emit(case.operator, *inputs)
    except CompilationError:
        return None
    named = tuple(NamedValue(f"x{i}", value) for i, value in enumerate(inputs))
    graph = Graph("case", named, tuple(builder.operations), (NamedValue("y", output),))
    return Use(case, graph, ids)
