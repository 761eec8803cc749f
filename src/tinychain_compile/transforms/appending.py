"""Appends gradient transforms, and sums over micro-batches, to a derivative program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from tinychain_compile.artifacts import DeclaredTransform, DerivativeProgram
from tinychain_compile.errors import CompilationError, UpdateOutputError
from tinychain_compile.ir.builder import GraphBuilder
from tinychain_compile.ir.dtypes import F32, F64, DType
from tinychain_compile.ir.graph import IdSource, NamedValue
from tinychain_compile.ir.origin import definition_place, raising_line
from tinychain_compile.ir.traversal import reachable
from tinychain_compile.ir.types import TensorType
from tinychain_compile.namespace.elementwise import isfinite
from tinychain_compile.namespace.reductions import all
from tinychain_compile.numpy_dispatch import NumpyTensor
from tinychain_compile.runtime_inputs import LOSS_SCALE, MICRO_BATCHES, RuntimeInput
from tinychain_compile.tensor import Tensor

ACCUMULATOR = "accumulator"
"""The slot of each parameter that holds the sum of its gradients over micro-batches."""

GRADIENTS_FINITE = "gradients_finite"
"""The published output that says whether a scaled step may be applied."""


class TransformAppender:
    """Traces each transform on the gradients that the one before it gave.

    Transforms see gradients in f32 at least and in true units; what they give is put back into each
    gradient's dtype and units.
    """

    def append(
        self,
        program: DerivativeProgram,
        transforms: Sequence[DeclaredTransform],
        *,
        accumulates: bool,
        is_scaled: bool,
        ids: IdSource,
    ) -> DerivativeProgram:
        """Return the program with its gradients transformed; the same object if nothing is.

        Raises:
            UpdateOutputError: A transform loses a gradient, changes its type, or publishes under a
                name that is taken.
        """
        if not (transforms or accumulates or is_scaled):
            return program
        return _Appending(program, ids).run(transforms, accumulates, is_scaled)


class _Appending:
    def __init__(self, program: DerivativeProgram, ids: IdSource) -> None:
        self._program = program
        self._builder = GraphBuilder(ids)
        self._own_inputs: dict[str, Tensor] = {}
        self._published: dict[str, Tensor] = {}
        self._parameters = {name: self._tensor(value) for name, value in program.parameters}
        dtypes = [tensor.dtype for tensor in self._parameters.values()]
        self._scalar_dtype = F64 if F64 in dtypes else F32

    def run(
        self, transforms: Sequence[DeclaredTransform], accumulates: bool, is_scaled: bool
    ) -> DerivativeProgram:
        program = self._program
        raw = {name: self._tensor(value) for name, value in program.graph.outputs}
        true = raw
        if transforms or accumulates:
            scale = self._scalar(RuntimeInput(LOSS_SCALE)) if is_scaled else None
            true = {name: _true(gradient, scale) for name, gradient in raw.items()}
        else:
            scale = None
        if accumulates:
            true = self._accumulated(true)
        if is_scaled:
            self._published[GRADIENTS_FINITE] = _are_finite(true)
        for transform in transforms:
            true = self._transformed(transform, true)
        final = {name: _as_before(gradient, scale, raw[name]) for name, gradient in true.items()}
        self._builder.close()
        outputs = [NamedValue(n, tensor.value) for n, tensor in (final | self._published).items()]
        operations = [*program.graph.operations, *self._builder.operations]
        return DerivativeProgram.assemble(
            program.forward,
            program.seed,
            program.parameters,
            reachable(operations, [value for _, value in outputs]),
            outputs,
            tuple(NamedValue(name, tensor.value) for name, tensor in self._own_inputs.items()),
        )

    def _tensor(self, value: Any) -> Tensor:
        return NumpyTensor(self._builder, value)

    def _scalar(self, row: RuntimeInput) -> Tensor:
        """Return the derivative's own input for a runtime scalar."""
        name = f"${row.name}"
        if name not in self._own_inputs:
            type = TensorType.of(row.dtype or self._scalar_dtype, ())
            self._own_inputs[name] = self._tensor(self._builder.input(type))
        return self._own_inputs[name]

    def _accumulated(self, gradients: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Return the mean gradients over micro-batches; the sums are published for the next."""
        count = self._scalar(RuntimeInput(MICRO_BATCHES))
        means: dict[str, Tensor] = {}
        for name, gradient in gradients.items():
            key = f"{name}/{ACCUMULATOR}"
            type = TensorType.of(gradient.dtype, gradient.shape)
            so_far = self._own_inputs[key] = self._tensor(self._builder.input(type))
            total = self._published[key] = so_far + gradient
            means[name] = (total / count).astype(gradient.dtype)
        return means

    def _transformed(
        self, declared: DeclaredTransform, gradients: Mapping[str, Tensor]
    ) -> dict[str, Tensor]:
        """Return what one transform makes of the gradients; what it publishes is kept."""
        scalars = {row.name: self._scalar(row) for row in declared.inputs}
        parameters = {
            name: tensor.astype(gradients[name].dtype) for name, tensor in self._parameters.items()
        }
        try:
            result: object = declared.transform(
                gradients=dict(gradients), parameters=parameters, **scalars
            )
        except CompilationError as error:
            error.at(raising_line(error.__traceback__))
            raise
        pair: tuple[object, ...] = (result, cast("dict[str, object]", {}))
        if isinstance(result, tuple):
            pair = cast("tuple[object, ...]", result)
        if len(pair) != 2 or not isinstance(pair[0], Mapping) or not isinstance(pair[1], Mapping):
            raise UpdateOutputError(
                f"gradient transform {declared.label}",
                expected="gradients by name, or these and what to publish by name",
                got=", ".join(type(part).__name__ for part in pair),
                location=definition_place(declared.transform),
            )
        self._publish(declared, cast("Mapping[str, object]", pair[1]))
        return _checked(declared, cast("Mapping[str, object]", pair[0]), gradients)

    def _publish(self, declared: DeclaredTransform, published: Mapping[str, object]) -> None:
        """Keep what a transform publishes, if its names are free."""
        taken = {
            *(name for name, _ in self._program.forward.outputs),
            *self._parameters,
            *self._published,
            GRADIENTS_FINITE,
        }
        for name, tensor in published.items():
            if not isinstance(tensor, Tensor) or not name.isidentifier() or name in taken:
                raise UpdateOutputError(
                    f"gradient transform {declared.label}: output {name!r}",
                    expected="a tensor, by an identifier that no other output has",
                    got=repr(tensor),
                    location=definition_place(declared.transform),
                )
            self._published[name] = tensor


def _checked(
    declared: DeclaredTransform, new: Mapping[str, object], old: Mapping[str, Tensor]
) -> dict[str, Tensor]:
    """Return the new gradients, in the order and of the types of the old ones."""
    place = definition_place(declared.transform)
    if set(new) != set(old):
        raise UpdateOutputError(
            f"gradient transform {declared.label}",
            expected=f"a gradient for each of {', '.join(old)}",
            got=", ".join(new) or "none",
            location=place,
        )
    checked: dict[str, Tensor] = {}
    for name, before in old.items():
        gradient = new[name]
        if not isinstance(gradient, Tensor) or gradient.type != before.type:
            raise UpdateOutputError(
                f"gradient transform {declared.label}: gradient of {name!r}",
                expected=f"a tensor of its type, {before.type}",
                got=str(gradient.type) if isinstance(gradient, Tensor) else repr(gradient),
                location=place,
                hint="Check for broadcasting, and cast back with .astype(gradient.dtype).",
            )
        checked[name] = gradient
    return checked


def _true(gradient: Tensor, scale: Tensor | None) -> Tensor:
    """Return a gradient in f32 at least, and in true units."""
    dtype: DType = F64 if gradient.dtype == F64 else F32
    gradient = gradient.astype(dtype)
    return gradient if scale is None else (gradient / scale).astype(dtype)


def _as_before(gradient: Tensor, scale: Tensor | None, before: Tensor) -> Tensor:
    """Return a gradient in the units and the dtype that it had before."""
    if scale is not None:
        gradient = gradient * scale
    return gradient.astype(before.dtype)


def _are_finite(gradients: Mapping[str, Tensor]) -> Tensor:
    """Return whether every element of every gradient is finite."""
    first, *others = [all(isfinite(gradient)) for gradient in gradients.values()]
    for other in others:
        first = first & other
    return first
