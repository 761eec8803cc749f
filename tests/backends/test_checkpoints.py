"""Sessions saved and restored: exactly, whole or not at all, in a format that others read."""

from __future__ import annotations

import os
import sys

import ml_dtypes
import numpy as np
import pytest
import safetensors
import safetensors.numpy

from tests.support.losses import NETWORK_TYPES, arrays_for, network
from tinychain_backends.numpy import NumpyContainer, NumpySession
from tinychain_backends.sessions import checkpoints
from tinychain_compile import FROZEN, SGD, Adam, AdamW, CompileOptions, MixedPrecision, NAdam
from tinychain_compile.errors import BindingError
from tinychain_compile.schedules import DynamicLossScale, cosine

NAMES = ["w1", "b1", "w2", "b2"]
ARRAYS = arrays_for(NETWORK_TYPES)
BATCH = {name: array for name, array in ARRAYS.items() if name not in NAMES}


def session_of(optimizer, dtype=np.float64, loss_scale=None, **options):
    def loss(w1, b1, w2, b2, **batch):
        wide = {"w1": w1, "b1": b1, "w2": w2, "b2": b2}
        return network(**{n: a.astype(np.float64) for n, a in wide.items()}, **batch)

    start = {name: ARRAYS[name].astype(dtype) for name in NAMES}
    step = (
        NumpyContainer()
        .compiler()
        .compile_training_step(
            loss,
            inputs={**ARRAYS, **start},
            parameters=NAMES,
            optimizer=optimizer,
            options=CompileOptions(**options),
        )
    )
    rates = {"learning_rate": cosine(0.05, 10)}
    return NumpySession(step, start, optimizer_inputs=rates, loss_scale=loss_scale)


SESSIONS = {
    "adam": lambda: session_of(Adam()),
    "nadam with sums": lambda: session_of(NAdam(), accumulate_gradients=True),
    "frozen": lambda: session_of({"?1": FROZEN, "?2": AdamW()}),
    "mixed": lambda: session_of(
        MixedPrecision(Adam()), ml_dtypes.bfloat16, DynamicLossScale(interval=2)
    ),
    "half": lambda: session_of(MixedPrecision(SGD(momentum=0.9)), np.float16),
}


@pytest.mark.parametrize("kind", SESSIONS)
def test_a_restored_run_goes_on_bit_for_bit(kind, tmp_path):
    first = SESSIONS[kind]()
    for _ in range(3):
        first.step(BATCH)
    if "sums" in kind:
        first.accumulate(BATCH)
    first.save(tmp_path / "run.safetensors")
    second = SESSIONS[kind]()
    second.restore(tmp_path / "run.safetensors")
    assert second.state.steps == 3
    for session in (first, second):
        for _ in range(3):
            session.step(BATCH)
    assert first.state.loss_scale == second.state.loss_scale
    for key, array in first.state.arrays.items():
        assert array.tobytes() == second.state.arrays[key].tobytes()
        assert array.dtype == second.state.arrays[key].dtype
    with pytest.raises(ValueError, match="read-only"):
        second.parameters["w1"][0] = 1.0


def test_the_file_is_flat_and_readable_by_the_formats_own_library(tmp_path):
    session = SESSIONS["adam"]()
    session.step(BATCH)
    path = tmp_path / "run.safetensors"
    session.save(os.fspath(path))
    tensors = safetensors.numpy.load_file(path)
    slots = [f"{name}/{slot}" for name in NAMES for slot in ("m", "v")]
    assert set(tensors) == {*NAMES, *slots}
    np.testing.assert_array_equal(tensors["w1/m"], session.state.slots["w1/m"])
    with safetensors.safe_open(path, framework="np") as file:
        assert file.metadata()["step"] == "1"


def rewritten(path, change=lambda tensors: tensors, metadata=None):
    with safetensors.safe_open(path, framework="np") as file:
        known = file.metadata()
    tensors = change(safetensors.numpy.load_file(path))
    known = {**known, **(metadata or {})}
    safetensors.numpy.save_file(tensors, path, {k: v for k, v in known.items() if v is not None})


@pytest.mark.parametrize(
    ("change", "metadata", "parts"),
    [
        (lambda t: {k: v for k, v in t.items() if k not in ("w1/m", "b2")}, None,
         ["no 'w1/m'", "no 'b2'"]),
        (lambda t: {**t, "w3": t["w1"]}, None, ["an extra 'w3'"]),
        (lambda t: {**t, "w1": t["w1"][:-1]}, None, ["'w1' of float64[3, 5]", "float64[4, 5]"]),
        (lambda t: {**t, "w1/v": t["w1/v"].astype("f4")}, None, ["'w1/v' of float32", "float64"]),
        (lambda t: t, {"step": None}, ["no 'step'"]),
        (lambda t: t, {"step": "many"}, ["many"]),
        (lambda t: t, {"format": "another"}, ["'another'", "tinychain-compile"]),
        (lambda t: t, {"loss_scale": "8.0", "good_steps": "1"}, ["loss_scale"]),
    ],
)  # fmt: skip
def test_a_file_that_does_not_fit_is_refused_by_name_and_changes_nothing(
    change, metadata, parts, tmp_path
):
    session = SESSIONS["adam"]()
    path = tmp_path / "run.safetensors"
    session.save(path)
    rewritten(path, change, metadata)
    before = session.state
    with pytest.raises(BindingError) as raised:
        session.restore(path)
    for part in [*parts, "run.safetensors"]:
        assert part in str(raised.value)
    assert session.state is before


def test_a_dynamic_scale_must_be_in_the_file(tmp_path):
    static = session_of(MixedPrecision(Adam()), ml_dtypes.bfloat16)
    static.save(tmp_path / "run.safetensors")
    with pytest.raises(BindingError, match=r"no 'loss_scale'.*no 'good_steps'"):
        SESSIONS["mixed"]().restore(tmp_path / "run.safetensors")


@pytest.mark.parametrize("content", [b"", b"nonsense", b"\x08\0\0\0\0\0\0\0{}"])
def test_what_is_no_such_file_is_refused(content, tmp_path):
    path = tmp_path / "run.safetensors"
    path.write_bytes(content)
    session = SESSIONS["adam"]()
    before = session.state
    with pytest.raises(BindingError, match=r"run\.safetensors"):
        session.restore(path)
    assert session.state is before


def test_a_missing_file_is_pythons_own_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        SESSIONS["adam"]().restore(tmp_path / "none")


def test_saving_fails_whole_and_leaves_the_old_file(tmp_path, monkeypatch):
    session = SESSIONS["adam"]()
    path = tmp_path / "run.safetensors"
    session.save(path)
    old = path.read_bytes()
    session.step(BATCH)

    def no_space(descriptor):
        raise OSError("no space left")

    monkeypatch.setattr(checkpoints.os, "fsync", no_space)
    with pytest.raises(OSError, match="no space"):
        session.save(path)
    assert path.read_bytes() == old
    assert [file.name for file in tmp_path.iterdir()] == ["run.safetensors"]


def test_without_the_package_an_error_names_the_extra(tmp_path, monkeypatch):
    session = SESSIONS["adam"]()
    monkeypatch.setitem(sys.modules, "safetensors", None)
    for call in (session.save, session.restore):
        with pytest.raises(BindingError, match=r"tinychain-compile\[checkpoints\]"):
            call(tmp_path / "run.safetensors")
