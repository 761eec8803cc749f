"""Chooses what the derivative reads from the forward run, and writes what it makes again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tinychain_compile.artifacts import DerivativeProgram
from tinychain_compile.capture_policies import (
    ByteBudget,
    CapturePolicy,
    KeepAll,
    KeepNamed,
    MinimumCut,
)
from tinychain_compile.captures.costs import total_work
from tinychain_compile.captures.minimum_cut import Problem
from tinychain_compile.errors import DeclarationError
from tinychain_compile.ir.graph import IdSource, NamedValue, Operation, Value
from tinychain_compile.ir.traversal import reachable
from tinychain_compile.movement import movement_chain
from tinychain_compile.operators import MARKS, Named


class PolicyPlanner:
    """Keeps what the policy says; movement and literals never, inputs and forward outputs always.

    What is needed and not kept is made again in the derivative, from what is kept.
    """

    def plan(
        self, program: DerivativeProgram, ids: IdSource, *, policy: CapturePolicy
    ) -> DerivativeProgram:
        """Return the program with its captures chosen; the same object if there is no change.

        Raises:
            DeclarationError: The policy names a value that there is not, or needs a library that
                is not installed.
        """
        forward = program.forward
        free = {value for _, value in (*forward.inputs, *forward.outputs)}
        made = set[Value](forward.operations)
        wanted = [value for _, value in program.graph.inputs if value in made]
        kept = _kept(policy, forward.operations, wanted, free)
        again = _made_again(forward.operations, wanted, free | kept)
        if not again:
            return program
        copies: dict[Value, Value] = {}
        operations = [copy for op in again if (copy := _copied(op, copies, ids)) is not None]
        operations += [_reconnected(op, copies) for op in program.graph.operations]
        outputs = [NamedValue(n, copies.get(value, value)) for n, value in program.graph.outputs]
        return DerivativeProgram.assemble(
            forward, program.seed, program.parameters, operations, outputs, program.own_inputs
        )


def _kept(
    policy: CapturePolicy,
    operations: Sequence[Operation],
    wanted: Sequence[Value],
    free: set[Value],
) -> set[Value]:
    """Return the values to keep."""
    if isinstance(policy, KeepAll):
        places = [_resting_place(value, free) for value in wanted]
        return {value for value in places if value is not None}
    if isinstance(policy, KeepNamed):
        return _named(policy, operations, free)
    if not isinstance(policy, (MinimumCut, ByteBudget)):
        return set()
    may_redo = isinstance(policy, ByteBudget) or policy.recompute_products
    problem = Problem(reachable(operations, wanted), wanted, free, may_redo)
    if isinstance(policy, ByteBudget):
        return set(problem.within_bytes(policy.bytes).kept)
    if policy.recompute_budget is None:
        return set(problem.fewest_bytes().kept)
    return set(problem.within_work(policy.recompute_budget * total_work(operations)).kept)


def _resting_place(value: Value, free: set[Value]) -> Value | None:
    """Return what a value is only moved from, itself if it is computed; ``None`` of a literal."""
    chain = movement_chain(value, free)
    if not chain:
        return value
    last = chain[-1]
    return last.inputs[0] if last.inputs else None


def _named(policy: KeepNamed, operations: Sequence[Operation], free: set[Value]) -> set[Value]:
    """Return the values that the policy names, or what they are only moved from."""
    marked: dict[str, set[Value]] = {}
    for operation in operations:
        if isinstance(operation.operator, Named):
            places = marked.setdefault(operation.operator.label, set())
            if (place := _resting_place(operation, free)) is not None:
                places.add(place)
    names = marked if policy.names is None else policy.names
    for name in names:
        if name not in marked:
            raise DeclarationError(
                f"name {name!r} of KeepNamed",
                expected=f"a name that the loss gives, of {', '.join(marked) or 'none'}",
                hint="Mark the value in the loss: functions.named(x, name).",
            )
    return set[Value]().union(*(marked[name] for name in names))


def _made_again(
    operations: Sequence[Operation], wanted: Iterable[Value], there: set[Value]
) -> list[Operation]:
    """Return the operations to do again, in order."""
    needed = set(wanted) - there
    again: list[Operation] = []
    for operation in reversed(operations):
        if operation in needed:
            again.append(operation)
            needed.update([value for value in operation.inputs if value not in there])
    again.reverse()
    return again


def _copied(operation: Operation, copies: dict[Value, Value], ids: IdSource) -> Operation | None:
    """Return an operation done again, reading copies; marks are left out."""
    inputs = tuple([copies.get(value, value) for value in operation.inputs])
    if isinstance(operation.operator, MARKS):
        copies[operation] = inputs[0]
        return None
    copy = operation.with_inputs(inputs, next(ids))
    copies[operation] = copy
    return copy


def _reconnected(operation: Operation, copies: dict[Value, Value]) -> Operation:
    """Return the operation reading the copies; its own id stays."""
    if copies.keys().isdisjoint(operation.inputs):
        return operation
    moved = operation.with_inputs(tuple([copies.get(value, value) for value in operation.inputs]))
    copies[operation] = moved
    return moved
