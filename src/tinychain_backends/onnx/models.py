"""Builds an ONNX model from lowered programs, with names that a person can read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from tinychain_backends.onnx.libraries import onnx
from tinychain_backends.onnx.nodes import Array, Emission, Node, symbol
from tinychain_compile import LoweredProgram, Operation, TensorType, source_line

OPSET = 21
IR_VERSION = 10
_GIVEN = "\0"
"""Marks names of inputs and initializers, which no id can be mistaken for."""


SymbolInput: TypeAlias = tuple[str, str, TensorType, int]
"""An input that a symbol is read off: its id, name and type, and the axis."""


class ModelBuilder:
    """Collects inputs, programs and outputs, and makes a model of them.

    Args:
        name: What the graph is called.
        sources: Inputs that carry symbols, for programs none of whose own inputs does: by symbol,
            the input's id, name, type, and the axis.
    """

    def __init__(self, name: str, sources: Mapping[str, SymbolInput] | None = None) -> None:
        self._name = name
        self._sources = dict(sources or {})
        self._names: dict[str, str] = {}
        self._inputs: dict[str, TensorType] = {}
        self._outputs: dict[str, tuple[str, TensorType]] = {}
        self._nodes: list[tuple[Node, str, str]] = []
        self._constants: dict[tuple[Any, ...], str] = {}
        self._initializers: dict[str, Array] = {}
        self.input_ids: dict[str, str] = {}

    def input(self, value_id: str, name: str, type: TensorType) -> None:
        """Declare an input: the value of this id, under this name."""
        self._names[value_id] = _GIVEN + name
        self._inputs[name] = type
        self.input_ids[name] = value_id

    def known(self, value_id: str, other_id: str) -> None:
        """Let a value be another one that is known already."""
        self._names[value_id] = self._name_of(other_id)

    def initial(self, name: str, array: Array) -> None:
        """Let a value be an array that is written into the model under a name of its own."""
        self._names[name] = f"{_GIVEN}initial/{name}"
        self._initializers[f"initial/{name}"] = array

    def output(self, value_id: str, name: str, type: TensorType) -> None:
        """Declare an output: the value of this id, under this name."""
        self._outputs[name] = (value_id, type)

    def program(self, lowered: LoweredProgram, suffix: str = "") -> None:
        """Append the nodes of a program; its values get the suffix, so that it can come again."""
        for operation in lowered.operations:
            emission: Emission = operation.value
            last = operation.sources[-1]
            label, doc = _label(operation.sources), _doc(last.origin)
            for name, array in emission.constants.items():
                self._names[name + suffix] = self._written(array)
            for node in emission.nodes:
                inputs = tuple([name and name + suffix for name in node.inputs])
                outputs = tuple([name + suffix for name in node.outputs])
                self._nodes.append((node._replace(inputs=inputs, outputs=outputs), label, doc))

    def build(self, metadata: Mapping[str, str] | None = None) -> Any:
        """Return the model, checked; nodes that nobody reads are left out."""
        self._measure_symbols()
        nodes = self._live()
        helper = onnx.helper
        renamed = self._names_in_the_model(nodes)
        protos = [
            helper.make_node(
                node.op_type,
                [name and renamed[name] for name in node.inputs],
                [renamed[name] for name in node.outputs],
                name=label,
                doc_string=doc or None,
                **{k: _attribute(v) for k, v in node.attributes.items()},
            )
            for (node, _, doc), label in zip(nodes, _unique(row[1] for row in nodes), strict=True)
        ]
        protos += [
            helper.make_node("Identity", [renamed[self._name_of(value_id)]], [name], name=name)
            for name, (value_id, _) in self._outputs.items()
            if renamed[self._name_of(value_id)] != name
        ]
        read = {name for proto in protos for name in proto.input}
        graph = helper.make_graph(
            protos,
            self._name,
            [_value_info(name, type) for name, type in self._inputs.items()],
            [_value_info(name, type) for name, (_, type) in self._outputs.items()],
            [
                onnx.numpy_helper.from_array(array, name)
                for name, array in self._initializers.items()
                if name in read
            ],
        )
        model = helper.make_model(
            graph,
            opset_imports=[helper.make_opsetid("", OPSET)],
            ir_version=IR_VERSION,
            producer_name="tinychain-compile",
        )
        if metadata:
            helper.set_model_props(model, dict(metadata))
        onnx.checker.check_model(model)
        return model

    def _name_of(self, value_id: str) -> str:
        """Return what a value is inside: a given name, marked as such, or an id."""
        return self._names.get(value_id, value_id)

    def _written(self, array: Array) -> str:
        """Return what stands for an initializer; equal arrays share one."""
        key = (array.dtype.str, array.shape, array.tobytes())
        if key not in self._constants:
            name = f"constant.{len(self._constants)}"
            while name in self._inputs or name in self._outputs:
                name += "_"
            self._constants[key] = _GIVEN + name
            self._initializers[name] = array
        return self._constants[key]

    def _measure_symbols(self) -> None:
        """Put nodes before all others that read off an input what each symbol is."""
        read = {name for node, _, _ in self._nodes for name in node.inputs}
        wanted = {name: found[1] for name in read if (found := re.match(r"symbol\((.+?)\)", name))}
        if not wanted:
            return
        suffixed = {name: symbol(wanted[name]) for name in wanted}
        measuring: list[tuple[Node, str, str]] = []
        for name in sorted(set(wanted.values())):
            source, axis = self._source_of(name)
            node = Node("Shape", (source,), (symbol(name),), {"start": axis, "end": axis + 1})
            measuring.append((node, f"size of {name}", ""))
        self._names |= suffixed
        self._nodes = [*measuring, *self._nodes]

    def _source_of(self, name: str) -> tuple[str, int]:
        """Return the input and the axis that a symbol is read off."""
        for input_name, type in self._inputs.items():
            for axis, size in enumerate(type.shape):
                if not isinstance(size, int) and str(size) == name:
                    return self.input_ids[input_name], axis
        value_id, input_name, type, axis = self._sources[name]
        self.input(value_id, input_name, type)
        return value_id, axis

    def _live(self) -> list[tuple[Node, str, str]]:
        needed = {self._name_of(value_id) for value_id, _ in self._outputs.values()}
        kept: list[tuple[Node, str, str]] = []
        for row in reversed(self._nodes):
            node = row[0]
            if any(self._name_of(name) in needed for name in node.outputs):
                needed.update(self._name_of(name) for name in node.inputs)
                kept.append(row)
        return kept[::-1]

    def _names_in_the_model(self, nodes: Sequence[tuple[Node, str, str]]) -> dict[str, str]:
        """Return the name in the model of each name that nodes and outputs use."""
        made = {name for node, _, _ in nodes for name in node.outputs}
        taken = {*self._inputs, *self._outputs, *self._initializers}
        renamed: dict[str, str] = {}
        for name, (value_id, _) in self._outputs.items():
            if self._name_of(value_id) in made:
                renamed.setdefault(self._name_of(value_id), name)
        used = [name for node, _, _ in nodes for name in (*node.inputs, *node.outputs) if name]
        used += [value_id for value_id, _ in self._outputs.values()]
        for name in used:
            known = self._name_of(name)
            if known.startswith(_GIVEN):
                renamed[known] = known.removeprefix(_GIVEN)
            elif known not in renamed:
                own = known
                while own in taken:
                    own += "_"
                taken.add(own)
                renamed[known] = own
            renamed[name] = renamed[known]
        return renamed


def _attribute(value: Any) -> Any:
    """Return an attribute as ONNX keeps it."""
    if isinstance(value, np.dtype):
        return onnx.helper.np_dtype_to_tensor_dtype(value)
    if isinstance(value, np.ndarray):
        return onnx.numpy_helper.from_array(value)
    return [*value] if isinstance(value, tuple) else value  # pyright: ignore[reportUnknownVariableType]


def _value_info(name: str, type: TensorType) -> Any:
    """Return a typed name; unknown sizes keep their symbols."""
    shape = [size if isinstance(size, int) else str(size) for size in type.shape]
    dtype = onnx.helper.np_dtype_to_tensor_dtype(type.dtype)
    return onnx.helper.make_tensor_value_info(name, dtype, shape)


def _label(sources: Sequence[Operation]) -> str:
    return f"{'+'.join(operation.operator.name for operation in sources)}/{sources[-1].id}"


def _doc(origin: object) -> str:
    """Return the line that an operation comes from, without where the file lies."""
    line = source_line(origin)  # type: ignore[arg-type]
    if line is None:
        return ""
    how = str(origin).partition(" <- ")[0] if origin is not line else ""
    text = f"{Path(line.file).name}:{line.line}: {line.text}"
    return f"{text} ({how})" if how else text


def _unique(labels: Iterable[str]) -> list[str]:
    """Return labels, numbered where one comes again."""
    seen: dict[str, int] = {}
    names: list[str] = []
    for label in labels:
        count = seen[label] = seen.get(label, 0) + 1
        names.append(label if count == 1 else f"{label}.{count}")
    return names


def types_of(program: LoweredProgram) -> dict[str, TensorType]:
    """Return the type of everything that a program reads or makes, by id."""
    rows = program.dependencies.required_inputs
    types = {row.value_id: TensorType(row.dtype, row.shape) for row in rows}
    return types | {op.output_value_id: op.sources[-1].type for op in program.operations}
