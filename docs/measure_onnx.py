"""Measure which operators ONNX Runtime computes rightly, by type.

Every handler is tried on every use in the grid of the conformance kit; a type is in the table if
the runtime took the model and no result was wrong.

    python docs/measure_onnx.py

writes ``src/tinychain_backends/onnx/measured.json``.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime

from tinychain_backends.numpy import NumpyEvaluator
from tinychain_backends.onnx.emitters import EMITTERS
from tinychain_backends.onnx.handlers import lower_to_nodes
from tinychain_backends.onnx.programs import OnnxProgram
from tinychain_backends.onnx.support import TABLE, signature, why_unwritable
from tinychain_compile import OperationHandlerRegistry, lower_graph
from tinychain_compile.operators import ELEMENTWISE, Operator
from tinychain_conformance.comparing import disagreement
from tinychain_conformance.variants import DTYPES, Use, uses_of

PATH = Path(__file__).parents[1] / "src/tinychain_backends/onnx" / TABLE


def signatures_of(operator: type[Operator], handlers: OperationHandlerRegistry) -> list[str]:
    """Return the types in which every use of an operator came out right."""
    right: dict[str, bool] = {}
    for dtype in DTYPES:
        for use in uses_of(operator, dtype):
            operation = use.graph.operations[-1]
            if not why_unwritable(operation):
                types = [value.type for value in operation.inputs]
                key = signature(types, operation.output.type)
                right[key] = right.get(key, True) and is_right(use, handlers)
    return sorted(key for key, value in right.items() if value)


def is_right(use: Use, handlers: OperationHandlerRegistry) -> bool:
    """Return whether the runtime takes a use, and computes what the evaluator does."""
    expected = NumpyEvaluator().evaluate(use.graph, use.inputs)["y"]
    values = {value.id: use.inputs[name] for name, value in use.graph.inputs}
    try:
        program = OnnxProgram(lower_graph(use.graph, handlers=handlers), "case")
        found = program.run(values, {})[use.graph.output_ids["y"]]
    except Exception:
        return False
    by_element = isinstance(use.case.operator, ELEMENTWISE)
    return disagreement(np.asarray(found), expected, by_element=by_element) is None


def measure() -> dict[str, Any]:
    """Return the table."""
    handlers = OperationHandlerRegistry()
    for operator in EMITTERS:
        handlers.handler(operator)(lower_to_nodes)
    return {
        "runtime": f"onnxruntime {onnxruntime.__version__}",
        "command": "python docs/measure_onnx.py",
        "operators": {o.name: signatures_of(o, handlers) for o in EMITTERS},
    }


if __name__ == "__main__":
    table = measure()
    PATH.write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")
    count = sum(map(len, table["operators"].values()))
    print(f"{len(table['operators'])} operators, {count} types on {table['runtime']}")
