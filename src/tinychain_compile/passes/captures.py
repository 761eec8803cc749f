"""Chooses what the derivative reads from the forward run: never a movement, never a literal."""

from __future__ import annotations

from tinychain_compile.artifacts import DerivativeProgram
from tinychain_compile.ir.graph import IdSource, NamedValue, Operation, Value
from tinychain_compile.operators import Slice, StopGradient


class MovementPlanner:
    """Makes movement and literals again in the derivative, from what they were made of.

    A value that is a forward output anyway is read as it is.
    """

    def plan(self, program: DerivativeProgram, ids: IdSource) -> DerivativeProgram:
        """Return the program with its captures chosen; the same object if there is no change."""
        kept = {value for _, value in (*program.forward.inputs, *program.forward.outputs)}
        copies: dict[Value, Value] = {}
        remade: list[Operation] = []
        for _, value in program.graph.inputs:
            _remake(value, kept, copies, remade, ids)
        if not copies:
            return program
        operations = [*remade, *(_reconnected(op, copies) for op in program.graph.operations)]
        outputs = [NamedValue(n, copies.get(value, value)) for n, value in program.graph.outputs]
        return DerivativeProgram.assemble(
            program.forward,
            program.seed,
            program.parameters,
            operations,
            outputs,
            program.own_inputs,
        )


def _remake(
    value: Value,
    kept: set[Value],
    copies: dict[Value, Value],
    remade: list[Operation],
    ids: IdSource,
) -> None:
    """Copy the chain of movement that makes a value, from where it can be captured onwards."""
    chain: list[Operation] = []
    while (
        value not in kept
        and value not in copies
        and (operation := value.producer) is not None
        and (
            operation.operator.is_movement
            or operation.operator.is_literal
            or isinstance(operation.operator, Slice)
        )
    ):
        chain.append(operation)
        if not operation.inputs:
            break
        (value,) = operation.inputs
    _cut_at_slices(chain)
    for operation in reversed(chain):
        inputs = tuple(copies.get(value, value) for value in operation.inputs)
        if isinstance(operation.operator, StopGradient):
            copies[operation.output] = inputs[0]
            continue
        copy = Operation(operation.operator, inputs, next(ids), operation.origin)
        copies[operation.output] = copy.output
        remade.append(copy)


def _cut_at_slices(chain: list[Operation]) -> None:
    """Drop a slice and what is before it, unless it is of a literal: a part is smaller to keep."""
    for place, operation in enumerate(chain):
        if isinstance(operation.operator, Slice):
            if not _is_of_literal(operation):
                del chain[place:]
            return


def _is_of_literal(operation: Operation) -> bool:
    """Return whether an operation, through slices and movement alone, reads a literal."""
    while operation.operator.is_movement or isinstance(operation.operator, Slice):
        (value,) = operation.inputs
        if value.producer is None:
            return False
        operation = value.producer
    return operation.operator.is_literal


def _reconnected(operation: Operation, copies: dict[Value, Value]) -> Operation:
    """Return the operation reading the copies; its own id stays."""
    if copies.keys().isdisjoint(operation.inputs):
        return operation
    moved = operation.with_inputs(tuple([copies.get(value, value) for value in operation.inputs]))
    copies[operation.output] = moved.output
    return moved
