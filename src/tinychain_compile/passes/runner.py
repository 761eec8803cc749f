"""Runs the caller's passes, and checks each one's result before the next."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from tinychain_compile.artifacts import DerivativeProgram, TracedUpdate
from tinychain_compile.errors import CompilationError, PassContractError
from tinychain_compile.ir.graph import Graph, NamedValue
from tinychain_compile.ir.verifier import verify
from tinychain_compile.protocols import Artifact, Pass, pass_label


class CheckedPassRunner:
    """After each pass: a well-formed artifact with its inputs, outputs, captures and seed.

    Without passes, the very same object comes out. A failure names the pass and its position.
    """

    def run_graph(self, graph: Graph, passes: Sequence[Pass[Graph]], *, stage: str) -> Graph:
        """Return the graph after the passes.

        Raises:
            PassContractError: A pass raised, or its result is malformed or has another interface.
        """
        return _run(graph, passes, Graph, stage, _check_graph)

    def run_derivative(
        self, program: DerivativeProgram, passes: Sequence[Pass[DerivativeProgram]]
    ) -> DerivativeProgram:
        """Return the derivative program after the passes.

        Raises:
            PassContractError: As for a graph, or the forward graph, seed or parameters changed.
        """
        return _run(program, passes, DerivativeProgram, "derivative", _check_derivative)

    def run_update(
        self, update: TracedUpdate, passes: Sequence[Pass[TracedUpdate]]
    ) -> TracedUpdate:
        """Return the update after the passes.

        Raises:
            PassContractError: As for a graph.
        """
        return _run(update, passes, TracedUpdate, "update", _check_update)


def _run(
    artifact: Artifact,
    passes: Sequence[Pass[Artifact]],
    kind: type[Artifact],
    stage: str,
    check: Callable[[Artifact, Artifact, str], None],
) -> Artifact:
    for position, item in enumerate(passes):
        subject = f"{stage} pass {position} ({pass_label(item)})"
        result = _call(item, artifact, kind, subject)
        check(artifact, result, subject)
        artifact = result
    return artifact


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


def _check_derivative(before: DerivativeProgram, after: DerivativeProgram, subject: str) -> None:
    if (
        after.forward is not before.forward
        or after.seed != before.seed
        or after.parameters != before.parameters
        or after.own_inputs != before.own_inputs
    ):
        raise PassContractError(
            subject,
            expected="the program's own forward graph, seed, parameters and inputs",
            got="others",
            hint="Return program.with_graph(rewritten graph).",
        )
    _check_graph(before.graph, after.graph, subject)


def _check_update(before: TracedUpdate, after: TracedUpdate, subject: str) -> None:
    _check_graph(before.graph, after.graph, subject)


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
