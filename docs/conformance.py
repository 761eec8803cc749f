"""Run the conformance kit on every backend here and write ``docs/conformance.md``.

python docs/conformance.py
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from tinychain_conformance.report import Report

PAGE = Path(__file__).with_name("conformance.md")
BACKENDS = {
    "Reference": "reference:ReferenceContainer",
    "Numpy": "tinychain_backends.numpy:NumpyContainer",
    "Onnx": "tinychain_backends.onnx:OnnxContainer",
    "OpenVino": "tinychain_backends.openvino:OpenVinoContainer",
}
HEAD = """# Conformance

What each backend here takes, by operator and type, written by `python docs/conformance.py`. Every
result is compared with the evaluator's, at ties, NaN, infinities, nothing and rank 0 too. ● right,
○ right by decomposition, · neither the operator nor what it decomposes to, ✗ wrong. Each is from

    pytest --pyargs tinychain_conformance --backend package.module:Container

which says the same of [your own backend](bring-your-runtime.md). OpenVINO computes f64, i64 and
f16 in other types without a word, and lets u8 and u32 saturate, so its backend refuses them; ONNX
Runtime has almost nothing in bf16.

"""


def run(backend: str) -> Report:
    """Return the report of a backend.

    Raises:
        subprocess.CalledProcessError: The kit found something wrong.
    """
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pytest", "-q", "-n", "2"]
        command += ["--pyargs", "tinychain_conformance", "--backend", backend]
        subprocess.run([*command, "--conformance-report", folder], check=True, cwd=PAGE.parents[1])
        return Report.from_json((Path(folder) / "report.json").read_text("utf-8"))


if __name__ == "__main__":
    sections = [run(backend).markdown() for backend in BACKENDS.values()]
    PAGE.write_text(HEAD + "\n".join(sections), encoding="utf-8")
