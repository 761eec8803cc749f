"""Lowers one program: each operation exactly once, by its handler or within a fusion."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any, TypeVar, cast

from tinychain_compile.artifacts import (
    LoweredOperation,
    LoweredProgram,
    TargetValue,
    ValueDependency,
)
from tinychain_compile.capability import Capability
from tinychain_compile.errors import (
    CompilationError,
    HandlerContractError,
    UnsupportedOperatorError,
)
from tinychain_compile.ir.graph import Operation
from tinychain_compile.lowering.fusion import (
    NoFusion,
    ProgramUses,
    check_lookahead,
    claimed_operations,
    offer,
)
from tinychain_compile.protocols import (
    BindInput,
    FusionContext,
    FusionHook,
    HandlerRegistry,
    LoweringTarget,
    OperationContext,
    ProgramToLower,
)

Row = TypeVar("Row", bound=tuple[Any, ...])


def _maker_of(kind: type[Row]) -> Callable[[tuple[Any, ...]], Row]:
    """Return what makes a named tuple of its fields, at half the cost of calling its class."""
    return partial(cast(Any, tuple).__new__, kind)


_context_of, _lowered_of = _maker_of(OperationContext), _maker_of(LoweredOperation)


class ProgramLowerer:
    """Lowers programs through the backend's handlers.

    Args:
        registry_for_program: Gives the registry of one program; called once for each.
        fusion_for_program: Gives its fusion hook, likewise.
    """

    def __init__(
        self,
        registry_for_program: Callable[[], HandlerRegistry],
        fusion_for_program: Callable[[], FusionHook],
    ) -> None:
        self._registry_for_program = registry_for_program
        self._fusion_for_program = fusion_for_program

    def open_target(self) -> LoweringTarget:
        """Return the registry and the hook of one program.

        Raises:
            HandlerContractError: One of them is not what it must be.
        """
        target = LoweringTarget(self._registry_for_program(), self._fusion_for_program())
        _check_methods("handler registry", target.handlers, ("has_handler", "lookup"))
        _check_methods("fusion hook", target.fusion, ("fuse",))
        check_lookahead(target.fusion)
        return target

    def check_support(
        self,
        programs: Sequence[ProgramToLower],
        why_kept: Callable[[Operation], str] | None = None,
    ) -> None:
        """Check every operation of every program; fusion plays no part.

        Args:
            programs: All programs of a step.
            why_kept: Says why an operation was not decomposed either.

        Raises:
            UnsupportedOperatorError: Naming each missing operator, why, its programs and lines.
        """
        missing: dict[str, dict[str, None]] = {}
        capabilities: dict[int, Capability] = {}
        for program in programs:
            handlers = program.target.handlers
            capability = capabilities.setdefault(id(handlers), Capability(handlers))
            for operation, reason in capability.missing(program.analysis.schedule):
                also = f", and {why_kept(operation)}" if why_kept else ""
                use = f"{program.name}, at {operation.origin}"
                key = f"{operation.operator.name}: {reason}{also}"
                missing.setdefault(key, {})[use] = None
        if missing:
            lines = [f"    {name}\n{_indented(uses)}" for name, uses in missing.items()]
            raise UnsupportedOperatorError(
                "the backend",
                expected="a handler for every operator, or for those it decomposes to",
                got="none for\n" + "\n".join(lines),
                hint="Register handlers for these operators; the twelve of "
                "tinychain_compile.operators.BASIS, with the literals and cast, are enough.",
            )

    def lower(self, program: ProgramToLower, bind_input: BindInput | None = None) -> LoweredProgram:
        """Return the lowered program; every operator must have a handler.

        Raises:
            HandlerContractError: A handler or the hook broke its contract.
        """
        return _Lowering(program, bind_input or _row_itself).run()


class _Lowering:
    """The lowering of one program."""

    def __init__(self, program: ProgramToLower, bind_input: BindInput) -> None:
        self._program = program
        self._lookup = program.target.handlers.lookup
        self._bind_input = bind_input
        self._values: dict[str, TargetValue] = {}
        required = program.analysis.required_inputs
        self._bound = MappingProxyType({row.value_id: row.provenance for row in required})
        self._lowered: list[LoweredOperation] = []

    def run(self) -> LoweredProgram:
        analysis = self._program.analysis
        for row in analysis.required_inputs:
            self._values[row.value_id] = self._input(row)
        if type(self._program.target.fusion) is NoFusion:
            self._lower_all(analysis.schedule)
        else:
            self._lower_with_fusion(analysis.schedule)
        return LoweredProgram(
            analysis.selected_outputs,
            tuple(self._lowered),
            MappingProxyType(self._values),
            analysis,
        )

    def _input(self, row: ValueDependency) -> TargetValue:
        try:
            value = self._bind_input(row)
        except CompilationError:
            raise
        except Exception as error:
            raise HandlerContractError(
                f"bind_input of {row.value_id}",
                expected="a target value",
                got=f"{type(error).__name__}: {error}",
            ) from error
        if value is None:
            raise HandlerContractError(
                f"bind_input of {row.value_id}", expected="a target value", got="None"
            )
        return value

    def _lower_with_fusion(self, schedule: Sequence[Operation]) -> None:
        hook = self._program.target.fusion
        uses = ProgramUses(schedule, frozenset(self._program.analysis.selected_outputs))
        claimed: set[Operation] = set()
        for position, operation in enumerate(schedule):
            if operation in claimed:
                claimed.discard(operation)
                continue
            window = _window(schedule, position, hook.lookahead, claimed)
            candidates = tuple([uses.candidates[operation] for operation in window])
            context = FusionContext(candidates, self._value_of)
            result = offer(hook, context)
            if result is None:
                self._lower_all((operation,))
                continue
            operations, output = claimed_operations(hook, result, window, uses)
            claimed.update(operations[1:])
            self._values[output.id] = result.value
            self._lowered.append(
                LoweredOperation(output.id, result.value, operations, is_fused=True)
            )

    def _lower_all(self, operations: Iterable[Operation]) -> None:
        """Lower each operation by its handler."""
        values, lowered, bound, lookup = self._values, self._lowered, self._bound, self._lookup
        for operation in operations:
            operands = tuple([values[value.id] for value in operation.inputs])
            context = _context_of((operation, operands, bound))
            try:
                value = lookup(operation.operator).lower(context)
            except CompilationError:
                raise
            except Exception as error:
                raise _broken(operation, f"{type(error).__name__}: {error}") from error
            if value is None:
                raise _broken(operation, "None", "Return what the operation becomes on the target.")
            values[operation.id] = value
            lowered.append(_lowered_of((operation.id, value, (operation,), False)))

    def _value_of(self, value_id: str) -> TargetValue:
        """Return a target value that exists already, for a fusion hook."""
        if value_id not in self._values:
            raise HandlerContractError(
                f"fusion hook {self._program.target.fusion!r}",
                expected="an id that is bound or lowered already",
                got=repr(value_id),
            )
        return self._values[value_id]


def _window(
    schedule: Sequence[Operation], position: int, lookahead: int, claimed: set[Operation]
) -> list[Operation]:
    """Return the next unclaimed operations, the offered one first."""
    window: list[Operation] = []
    for operation in schedule[position : position + lookahead + len(claimed)]:
        if operation not in claimed:
            window.append(operation)
            if len(window) == lookahead:
                break
    return window


def _check_methods(what: str, given: object, names: tuple[str, ...]) -> None:
    missing = [name for name in names if not callable(getattr(given, name, None))]
    if missing or isinstance(given, type):
        raise HandlerContractError(
            what,
            expected=f"an object with {', '.join(f'{name}()' for name in names)}",
            got=f"{given!r}",
        )


def _broken(operation: Operation, got: str, hint: str | None = None) -> HandlerContractError:
    """Return the error of a handler that did not return a target value."""
    return HandlerContractError(
        f"handler of {operation.operator.name}",
        expected="a target value",
        got=got,
        location=operation.origin,
        hint=hint,
    )


def _row_itself(row: ValueDependency) -> TargetValue:
    return row


def _indented(lines: Iterable[str]) -> str:
    return "\n".join(f"      {line}" for line in lines)
