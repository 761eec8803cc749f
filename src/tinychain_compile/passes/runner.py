"""Runs the caller's passes, and checks each one's result before the next."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from tinychain_compile.artifacts import DerivativeProgram, TracedUpdate
from tinychain_compile.errors import CompilationError, PassContractError
from tinychain_compile.ir.graph import Graph, NamedValue
from tinychain_compile.ir.verifier import verify
from tinychain_compile.protocols import Artifact, Pass, pass_label


class CheckedPassRunner:
    """After each pass: a well-formed artifact with its inputs, outputs, captures and seed."""

    def run_graph(self, graph: Graph, passes: Sequence[Pass[Graph]], *, stage: str) -> Graph:
        """Return the graph after the passes; without passes, this very object.

        Raises:
            PassContractError: Naming the pass and its position.
        """
        for position, item in enumerate(passes):
            subject = f"{stage} pass {position} ({pass_label(item)})"
            result = _call(item, graph, Graph, subject)
            _check_graph(graph, result, subject)
            graph = result
        return graph

    def run_derivative(
        self, program: DerivativeProgram, passes: Sequence[Pass[DerivativeProgram]]
    ) -> DerivativeProgram:
        """Return the derivative program after the passes; without passes, this very object.

        Raises:
            PassContractError: Naming the pass and its position.
        """
        for position, item in enumerate(passes):
            subject = f"derivative pass {position} ({pass_label(item)})"
            result = _call(item, program, DerivativeProgram, subject)
            if (
                result.forward is not program.forward
                or result.seed != program.seed
                or result.parameters != program.parameters
            ):
                raise PassContractError(
                    subject,
                    expected="the program's own forward graph, seed and parameters",
                    got="others",
                    hint="Return program.with_graph(rewritten graph).",
                )
            _check_graph(program.graph, result.graph, subject)
            program = result
        return program

    def run_update(
        self, update: TracedUpdate, passes: Sequence[Pass[TracedUpdate]]
    ) -> TracedUpdate:
        """Return the update after the passes; without passes, this very object.

        Raises:
            PassContractError: Naming the pass and its position.
        """
        for position, item in enumerate(passes):
            subject = f"update pass {position} ({pass_label(item)})"
            result = _call(item, update, TracedUpdate, subject)
            _check_graph(update.graph, result.graph, subject)
            update = result
        return update


def _call(item: Pass[Artifact], artifact: Artifact, kind: type[Artifact], subject: str) -> Artifact:
    try:
        result = cast(object, item(artifact))
    except Exception as error:
        raise PassContractError(
            subject, expected=f"a {kind.__name__}", got=f"{type(error).__name__}: {error}"
        ) from error
    if not isinstance(result, kind):
        raise PassContractError(subject, expected=f"a {kind.__name__}", got=repr(result))
    return result


def _check_graph(before: Graph, after: Graph, subject: str) -> None:
    try:
        verify(after)
    except CompilationError as error:
        raise PassContractError(subject, expected="a well-formed graph", got=str(error)) from error
    for what, old, new in (
        ("inputs", before.inputs, after.inputs),
        ("outputs", before.outputs, after.outputs),
    ):
        if _interface(old) != _interface(new):
            raise PassContractError(
                subject,
                expected=f"the {what} {_interface(old)}",
                got=str(_interface(new)),
                hint="A pass keeps names, ids and types of inputs and outputs.",
            )


def _interface(values: Sequence[NamedValue]) -> list[tuple[str, str, str]]:
    return [(name, value.id, str(value.type)) for name, value in values]
