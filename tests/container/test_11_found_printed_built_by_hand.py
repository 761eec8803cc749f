"""Backends are found by entry point, the graph prints, every stage can be built by hand."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from dependency_injector import providers

from tests.container.modes import LEVELS, THREADS, WARMTHS, at, in_threads
from tinychain_backends.numpy import NumpyContainer
from tinychain_compile import NO_FUSION, SGD, TensorType
from tinychain_compile.container import TrainingStepContainer
from tinychain_compile.discovery import GROUP, backends, load_backend
from tinychain_compile.errors import BackendError
from tinychain_compile.inspection import describe, verify
from tinychain_compile.testing import FakeTracer, RecordingRegistry, scoped_overrides

ROOT = Path(__file__).parents[2]
PLUGIN = ROOT / "examples" / "plugin_backend"

GOLDEN = """
lowerer -> handler_registry
lowerer -> fusion_hook
compiler -> step_defaults
compiler -> declaration_checker
compiler -> tracer
compiler -> vjp_engine
compiler -> gradient_transformer
compiler -> capture_planner
compiler -> dependency_classifier
compiler -> optimizer_tracer
compiler -> simplifier
compiler -> legalizer
compiler -> pass_runner
compiler -> lowerer
"""


TYPE = TensorType("f32", (3,))


# Discovery.


def installed(folder, name, entries, monkeypatch, source=None):
    """Lay a distribution with these entry points into a folder on the path."""
    metadata = folder / f"{name.replace('-', '_')}-0.1.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 0.1\n")
    lines = [f"{key} = {value}" for key, value in entries.items()]
    (metadata / "entry_points.txt").write_text("\n".join([f"[{GROUP}]", *lines, ""]))
    monkeypatch.syspath_prepend(folder)
    if source is not None:
        monkeypatch.syspath_prepend(source)


@THREADS
def test_the_numpy_backend_is_found_and_loaded(threads):
    assert backends()["numpy"].path == "tinychain_backends.numpy:NumpyContainer"
    assert in_threads(threads, lambda: load_backend("numpy")) == [NumpyContainer] * threads


def test_the_example_plugin_is_found_without_being_imported_and_compiles(tmp_path, monkeypatch):
    project = tomllib.loads((PLUGIN / "pyproject.toml").read_text())["project"]
    entries = project["entry-points"][GROUP]
    installed(tmp_path, project["name"], entries, monkeypatch, PLUGIN / "src")
    assert backends()["text"].package == project["name"]
    assert "tinychain_text" not in sys.modules
    backend = load_backend("text")
    step = (
        backend()
        .compiler()
        .compile_training_step(
            lambda w: (w * w).sum(),
            inputs={"w": TYPE},
            parameters=["w"],
            optimizer=SGD(),
        )
    )
    assert any("mul" in str(operation.value) for operation in step.forward.operations)
    del sys.modules["tinychain_text"]


@pytest.mark.slow
def test_the_example_plugin_installs_as_a_package(tmp_path):
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"]
    subprocess.run([*install, "--target", tmp_path, PLUGIN], check=True)
    program = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        "from tinychain_compile.discovery import load_backend\n"
        "from tinychain_compile.inspection import verify\n"
        "verify(load_backend('text'))\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_broken_backend_fails_alone_and_only_when_asked_for(tmp_path, monkeypatch):
    (tmp_path / "tinychain_broken.py").write_text("raise OSError('no device')\nclass C: ...\n")
    (tmp_path / "tinychain_number.py").write_text("number = 3\n")
    entries = {
        "broken": "tinychain_broken:C",
        "number": "tinychain_number:number",
        "nowhere": "tinychain_nowhere:C",
    }
    installed(tmp_path, "several", entries, monkeypatch)
    assert {"broken", "number", "nowhere", "numpy"} <= set(backends())
    assert load_backend("numpy") is NumpyContainer
    for name, part in (("broken", "no device"), ("number", "3"), ("nowhere", "tinychain_nowhere")):
        with pytest.raises(BackendError, match=rf"'{name}' of several(.|\n)*{part}"):
            load_backend(name)


def test_an_unknown_name_lists_what_is_there_and_two_of_one_name_are_refused(tmp_path, monkeypatch):
    with pytest.raises(BackendError, match=r"'numpi'.*numpy"):
        load_backend("numpi")
    installed(tmp_path, "rival", {"numpy": "somewhere:Else"}, monkeypatch)
    with pytest.raises(BackendError, match=r"rival|tinychain-compile"):
        backends()


# Printing.


@LEVELS
@WARMTHS
def test_the_graph_equals_the_golden_edge_list(level, warmth):
    wiring = describe(at(level, warmth, NumpyContainer))
    without_settings = [edge for edge in wiring.edges if edge[1] != "config"]
    assert "\n".join(f"{a} -> {b}" for a, b in without_settings) == GOLDEN.strip()
    readers = {a for a, b in wiring.edges if b == "config"}
    stages = {row.name for row in wiring.rows if row.role == "stage"}
    assert readers == {*stages, "step_defaults"}


def test_it_prints_as_a_table_as_mermaid_and_as_dot():
    wiring = describe(NumpyContainer())
    table = str(wiring).splitlines()
    assert table[0] == "NumpyContainer"
    assert table[1].split() == ["name", "role", "provider", "gives", "state", "reads"]
    assert len(table) == len(wiring.rows) + 2
    assert 'handler_registry(["handler_registry: numpy_registry"])' in wiring.mermaid()
    assert "  lowerer --> handler_registry" in wiring.mermaid()
    assert wiring.mermaid().startswith("graph LR\n")
    assert wiring.dot().startswith('digraph "NumpyContainer" {\n')
    assert "  lowerer -> handler_registry;" in wiring.dot()
    assert wiring.dot().endswith("}")


def test_it_tells_what_is_empty_overridden_and_a_backends_own():
    class Own(NumpyContainer):
        device = providers.Object("cpu")
        pair = providers.List(NumpyContainer.handler_registry, device, device)

    rows = {row.name: row for row in describe(Own).rows}
    assert (rows["device"].role, rows["device"].gives) == ("own", "str")
    assert rows["pair"].reads == ("handler_registry", "device")
    assert {row.state for row in describe(TrainingStepContainer).rows if row.role == "slot"} == {
        "empty"
    }
    container = Own()
    with scoped_overrides(container, tracer=FakeTracer()):
        row = {row.name: row for row in describe(container).rows}["tracer"]
        assert (row.state, row.gives) == ("overridden", "FakeTracer")


# Verifying.


@LEVELS
@WARMTHS
@THREADS
def test_a_sound_container_passes(level, warmth, threads):
    container = at(level, warmth, NumpyContainer)
    in_threads(threads, lambda: verify(container))


def test_everything_that_is_wrong_is_said_at_once():
    class Wrong(TrainingStepContainer):
        handler_registry = providers.Singleton(RecordingRegistry, providers.Factory(tuple))
        fusion_hook = providers.Factory(int)

    container = Wrong(config={"policies": {"on_disconnected": "maybe"}})
    container.tracer.override(providers.Object("a tracer"))
    with pytest.raises(BackendError) as raised:
        verify(container)
    for part in (
        "Wrong: ",
        "handler_registry: a Singleton that holds other providers",
        "fusion_hook: ",
        "it has no fuse",
        "tracer: it has no trace_loss",
        "config: policies",
        "'maybe'",
    ):
        assert part in str(raised.value)


def test_empty_slots_and_overrides_on_the_class_are_said():
    with pytest.raises(BackendError, match=r"2 problems:\n.*handler_registry: empty.*\n.*fusion"):
        verify(TrainingStepContainer())

    class Own(TrainingStepContainer):
        handler_registry = providers.Factory(RecordingRegistry)
        fusion_hook = providers.Object(NO_FUSION)

    with (
        Own.tracer.override(providers.Factory(FakeTracer)),
        pytest.raises(BackendError, match="tracer: overridden on the class"),
    ):
        verify(Own)
    verify(Own)


def test_a_registry_that_raises_is_one_problem_of_the_list():
    def broken():
        raise OSError("no device")

    class Own(TrainingStepContainer):
        handler_registry = providers.Factory(broken)
        fusion_hook = providers.Object(NO_FUSION)

    with pytest.raises(BackendError, match="handler_registry: OSError: no device"):
        verify(Own())
