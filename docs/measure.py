"""Measure which operators ONNX Runtime and OpenVINO compute rightly, by type.

Every handler is tried on every use in the grid of the conformance kit; a type is in the table if
the runtime took the model and no result was wrong.

    python docs/measure.py

writes ``measured.json`` into both backends.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import onnxruntime
import openvino

from tinychain_backends.numpy import NumpyEvaluator
from tinychain_backends.onnx.handlers import NodeHandlers
from tinychain_backends.onnx.programs import OnnxProgram
from tinychain_backends.onnx.support import TABLE, signature, why_unwritable
from tinychain_backends.openvino import OpenVinoProgram
from tinychain_backends.openvino.emitters import OPENVINO_EMITTERS
from tinychain_backends.sessions.session import Program
from tinychain_compile import LoweredProgram, OperationHandlerRegistry, lower_graph
from tinychain_compile.operators import ELEMENTWISE, Operator
from tinychain_conformance.comparing import disagreement
from tinychain_conformance.variants import DTYPES, Use, uses_of

SOURCE = Path(__file__).parents[1] / "src/tinychain_backends"
Run = Callable[[LoweredProgram, str], Program]


class Runtime(NamedTuple):
    """A runtime of ONNX models.

    Attributes:
        name: With its version.
        program: Makes a program that can be run.
        handlers: What operations become.
        refused: Dtypes that it computes in others without a word, narrower or saturating.
    """

    name: str
    program: Run
    handlers: NodeHandlers
    refused: frozenset[str] = frozenset()


RUNTIMES = {
    "onnx": Runtime(f"onnxruntime {onnxruntime.__version__}", OnnxProgram, NodeHandlers()),
    "openvino": Runtime(
        f"openvino {openvino.__version__.partition('-')[0]}",
        OpenVinoProgram,
        NodeHandlers(OPENVINO_EMITTERS),
        frozenset(("f64", "i64", "f16", "u8", "u32")),
    ),
}
"""The runtimes, by the package of the backend."""


def signatures_of(
    runtime: Runtime, operator: type[Operator], handlers: OperationHandlerRegistry
) -> list[str]:
    """Return the types in which every use of an operator came out right."""
    right: dict[str, bool] = {}
    for dtype in DTYPES:
        for use in uses_of(operator, dtype):
            operation = use.graph.operations[-1]
            if not why_unwritable(operation):
                types = [value.type for value in operation.inputs]
                key = signature(types, operation.type)
                if not runtime.refused & {*key.replace("->", ",").split(",")}:
                    right[key] = right.get(key, True) and is_right(runtime, use, handlers)
    return sorted(key for key, value in right.items() if value)


def is_right(runtime: Runtime, use: Use, handlers: OperationHandlerRegistry) -> bool:
    """Return whether the runtime takes a use, and computes what the evaluator does."""
    expected = NumpyEvaluator().evaluate(use.graph, use.inputs)["y"]
    values = {value.id: use.inputs[name] for name, value in use.graph.inputs}
    try:
        program = runtime.program(lower_graph(use.graph, handlers=handlers), "case")
        found = program.run(values, {})[use.graph.output_ids["y"]]
    except Exception:
        return False
    by_element = isinstance(use.case.operator, ELEMENTWISE)
    return disagreement(np.asarray(found), expected, by_element=by_element) is None


def measure(runtime: Runtime) -> dict[str, Any]:
    """Return the table of a runtime."""
    handlers = runtime.handlers.registry()
    return {
        "runtime": runtime.name,
        "command": "python docs/measure.py",
        "operators": {
            o.name: signatures_of(runtime, o, handlers) for o in runtime.handlers.emitters
        },
    }


def main() -> None:
    """Measure both and write the tables."""
    for package, runtime in RUNTIMES.items():
        table = measure(runtime)
        path = SOURCE / package / TABLE
        path.write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")
        count = sum(map(len, table["operators"].values()))
        print(f"{len(table['operators'])} operators, {count} types on {runtime.name}")


if __name__ == "__main__":
    main()
