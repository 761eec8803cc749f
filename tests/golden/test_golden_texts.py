"""The text of every stage for three losses: a picture book, and a guard against silent change.

``pytest tests/golden --update`` rewrites the files.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from reference.backend import FUNCTIONS
from tests.support.losses import LOSSES, compiled
from tinychain_compile import print_graph
from tinychain_compile.operators import OPERATORS
from tinychain_compile.testing import RecordingRegistry

FOLDER = Path(__file__).parent


def program_text(title, program):
    rows = [f"  {row.value_id}: {row.provenance}" for row in program.dependencies.required_inputs]
    lowered = [f"  {operation.value}" for operation in program.operations]
    outputs = f"  return {', '.join(program.selected_outputs)}"
    return "\n".join([f"{title} from", *rows, "does", *lowered, outputs, ""])


def book(name):
    whole = compiled(name, RecordingRegistry(OPERATORS))
    basis = compiled(name, lambda: RecordingRegistry(FUNCTIONS))
    parts = [
        ("traced forward graph", print_graph(whole.source_forward_graph)),
        ("derivative program", print_graph(whole.source_derivative_program.graph)),
        ("forward graph with captures chosen", print_graph(whole.lowered_forward_graph)),
        ("derivative with captures chosen", print_graph(whole.lowered_derivative_program.graph)),
        ("update of the first parameter", print_graph(whole.parameters[0].source_update_graph)),
        ("lowered forward", program_text("forward", whole.forward)),
        ("lowered derivative", program_text("derivative", whole.derivative)),
        ("lowered update", program_text("update", whole.parameters[0].update)),
        ("forward in the basis", print_graph(basis.lowered_forward_graph)),
        ("derivative in the basis", print_graph(basis.lowered_derivative_program.graph)),
    ]
    return "\n".join(f"== {title} ==\n\n{text}" for title, text in parts)


@pytest.mark.parametrize("name", LOSSES)
def test_the_stages_print_what_they_printed(name, update_golden):
    path = FOLDER / f"{name}.txt"
    text = book(name)
    if update_golden:
        path.write_text(text)
    assert text == path.read_text()
