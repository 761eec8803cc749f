"""The import contracts name every module there is, so that a new one cannot slip past them."""

from __future__ import annotations

import pkgutil
import tomllib
from pathlib import Path

import tinychain_backends.numpy
import tinychain_backends.onnx
import tinychain_backends.openvino
import tinychain_compile

ROOT = Path(__file__).parents[2]
PUBLIC = (
    "container",
    "discovery",
    "functions",
    "inspection",
    "operators",
    "schedules",
    "testing",
)
CONTRACTS = {
    contract["name"]: contract
    for contract in tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"][
        "contracts"
    ]
}


def modules_of(package) -> set[str]:
    return {info.name for info in pkgutil.iter_modules(package.__path__, f"{package.__name__}.")}


def test_who_may_import_the_container_framework_is_said_of_every_module():
    listed = CONTRACTS["Only the roof and the porch know the container framework"]
    allowed = {
        "tinychain_compile.container",
        "tinychain_compile.inspection",
        "tinychain_compile.testing",
        "tinychain_backends.numpy.container",
        "tinychain_backends.onnx.container",
        "tinychain_backends.openvino.container",
    }
    everything = {"tinychain_backends.sessions", "tinychain_conformance"}
    for package in (
        tinychain_compile,
        tinychain_backends.numpy,
        tinychain_backends.onnx,
        tinychain_backends.openvino,
    ):
        everything |= modules_of(package)
    assert set(listed["source_modules"]) == everything - allowed


def test_every_module_is_public_or_closed_to_consumers():
    listed = CONTRACTS["Consumers reach the skeleton by its public modules"]
    public = {f"tinychain_compile.{m}" for m in PUBLIC}
    assert set(listed["forbidden_modules"]) == modules_of(tinychain_compile) - public
