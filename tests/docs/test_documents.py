"""The Python in the documents runs, as it stands, from top to bottom of each document."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import tinychain_compile

ROOT = Path(__file__).parents[2]
DOCUMENTS = [
    "README.md",
    "CONTRIBUTING.md",
    "docs/backends.md",
    "docs/bring-your-runtime.md",
    "docs/captures.md",
    "docs/containers.md",
    "docs/onnx.md",
    "docs/optimizers.md",
]


def python_blocks(path: Path) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```$", path.read_text(), flags=re.M | re.S)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_python_blocks_run(name):
    blocks = python_blocks(ROOT / name)
    assert blocks
    namespace: dict[str, object] = {"__name__": "document"}
    for block in blocks:
        exec(compile(block, name, "exec"), namespace)


def test_the_backend_of_the_readme_has_at_most_fifty_lines_up_to_its_use():
    block = next(b for b in python_blocks(ROOT / "README.md") if "class TextBackend" in b)
    backend, _, use = block.partition("def loss(")
    assert len([line for line in backend.splitlines() if line.strip()]) <= 50
    assert len([line for line in (backend + use).splitlines() if line.strip()]) <= 60


@pytest.mark.parametrize(
    "path", sorted((ROOT / "docs").rglob("*.md")) + [ROOT / d for d in DOCUMENTS]
)
def test_links_between_documents_lead_somewhere(path):
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", path.read_text()):
        assert (path.parent / target).exists(), target


def test_every_decision_record_is_listed_and_has_its_sections():
    folder = ROOT / "docs" / "design" / "decisions"
    index = (folder / "README.md").read_text()
    for path in sorted(folder.glob("0*.md")):
        assert path.name in index
        text = path.read_text()
        for section in ("Context", "Decision", "Consequences", "Alternatives rejected"):
            assert f"## {section}\n" in text


def test_every_optimizer_and_transform_is_in_its_document():
    text = (ROOT / "docs" / "optimizers.md").read_text()
    for name in tinychain_compile.__all__:
        module = getattr(getattr(tinychain_compile, name), "__module__", "")
        if module.startswith(("tinychain_compile.optimizers", "tinychain_compile.transforms")):
            assert f"`{name}" in text, name


def test_the_design_document_lists_every_error_category():
    import tinychain_compile.errors as errors

    text = (ROOT / "docs" / "design" / "training-step-compiler.md").read_text()
    for kind in vars(errors).values():
        if (
            isinstance(kind, type)
            and "category" in vars(kind)
            and kind is not errors.CompilationError
        ):
            assert f"`{kind.category}`" in text, kind
