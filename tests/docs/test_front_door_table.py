"""The table of public names, what type checkers see, and what importing costs."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import tinychain_compile

INIT = Path(tinychain_compile.__file__)


def test_the_table_and_the_type_checkers_block_agree():
    tree = ast.parse(INIT.read_text())
    block = next(node for node in tree.body if isinstance(node, ast.If))
    seen = {
        alias.asname: f"{node.module}"
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    table = {
        name: f"tinychain_compile.{module}"
        for name, module in tinychain_compile._MODULE_BY_NAME.items()
    }
    assert seen == table


@pytest.mark.parametrize("name", tinychain_compile.__all__)
def test_every_name_resolves_to_what_its_module_defines(name):
    value = getattr(tinychain_compile, name)
    module = importlib.import_module(f"tinychain_compile.{tinychain_compile._MODULE_BY_NAME[name]}")
    assert value is getattr(module, name)
    assert name in dir(tinychain_compile)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="nonsense"):
        tinychain_compile.nonsense  # noqa: B018


def test_importing_the_package_loads_no_container_framework():
    program = (
        "import sys, tinychain_compile\n"
        "from tinychain_compile import SGD, TensorType, OperationHandlerRegistry, print_graph\n"
        "assert 'dependency_injector' not in sys.modules\n"
        "from tinychain_compile import compile_training_step\n"
        "assert 'dependency_injector' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_type_checking_blocks_stand_only_in_the_front_door():
    for path in INIT.parent.rglob("*.py"):
        if path != INIT:
            assert "TYPE_CHECKING" not in path.read_text(), path


def test_no_import_hides_inside_a_function_of_the_shipped_packages():
    for path in INIT.parents[1].rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                hidden = [n for n in ast.walk(node) if isinstance(n, (ast.Import, ast.ImportFrom))]
                assert not hidden, f"{path}:{node.lineno}"
