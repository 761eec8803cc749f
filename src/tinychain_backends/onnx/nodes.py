"""What an operation becomes: a few ONNX nodes and the constants they read, still without a model.

Names inside are the ids of values; a model renames them. A symbol of sizes is read by the name
``symbol(...)``, which the model resolves to a node that measures an input.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tinychain_compile import Dimension, Shape, TensorType

Array = NDArray[Any]
NARROW = frozenset((np.dtype("float16"),))
"""The dtypes in which a runtime is asked for no sum: it is made in f32."""


class Node(NamedTuple):
    """One ONNX node before it is in a model.

    Attributes:
        op_type: Such as ``MatMul``.
        inputs: The names it reads; an empty one is left out.
        outputs: The names it makes.
        attributes: By name.
    """

    op_type: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: Mapping[str, Any]


class Repeated(NamedTuple):
    """What a broadcast repeats, for a reader that broadcasts by itself.

    Attributes:
        name: The value before.
        shape: Its shape.
    """

    name: str
    shape: Shape


class Emission(NamedTuple):
    """The target value of an operation.

    Attributes:
        output: The name of the value that the nodes make.
        nodes: In order; none if the value is a constant.
        constants: Arrays by the names that nodes read them by.
        repeated: What it repeats, if it is a broadcast and nothing else.
    """

    output: str
    nodes: tuple[Node, ...]
    constants: Mapping[str, Array]
    repeated: Repeated | None = None


def symbol(name: str) -> str:
    """Return the name by which nodes read the number that a symbol is: i64[1]."""
    return f"symbol({name})"


class Writer:
    """Collects the nodes of one operation.

    Args:
        output: The name of the value to make.
        types: The types of the operands.
        result: The type of the value.
    """

    def __init__(self, output: str, types: Sequence[TensorType], result: TensorType) -> None:
        self.types = tuple(types)
        self.result = result
        self._output = output
        self._nodes: list[Node] = []
        self._constants: dict[str, Array] = {}

    def node(self, op_type: str, *inputs: str, **attributes: Any) -> str:
        """Append a node and return the name of its output."""
        return self.outputs(op_type, 1, *inputs, **attributes)[0]

    def outputs(self, op_type: str, count: int, *inputs: str, **attributes: Any) -> list[str]:
        """Append a node of several outputs and return their names."""
        first = len(self._nodes)
        names = [f"{self._output}.{first}{'abc'[i] if i else ''}" for i in range(count)]
        self._nodes.append(Node(op_type, inputs, tuple(names), attributes))
        return names

    def constant(self, value: Any, dtype: Any = None) -> str:
        """Return the name of an array that is written into the model."""
        name = f"{self._output}#{len(self._constants)}"
        self._constants[name] = np.asarray(value, dtype)
        return name

    def scalar(self, value: float) -> str:
        """Return the name of a number in the dtype of the result."""
        return self.constant(value, self.result.dtype)

    def integers(self, values: Sequence[int]) -> str:
        """Return the name of a list of integers, as shapes and axes are given."""
        return self.constant(list(values), np.int64)

    def size(self, dimension: Dimension) -> str:
        """Return the name of a size: i64[1]."""
        if isinstance(dimension, int):
            return self.integers([dimension])
        total = ""
        for monomial, coefficient in dimension.terms:
            factors = [symbol(name) for name, power in monomial for _ in range(power)]
            if coefficient != 1 or not factors:
                factors.append(self.integers([coefficient]))
            product = self._chain("Mul", factors)
            total = self.node("Add", total, product) if total else product
        return total

    def shape(self, shape: Shape) -> str:
        """Return the name of a shape: i64[rank]."""
        known = [size for size in shape if isinstance(size, int)]
        if len(known) == len(shape):
            return self.integers(known)
        return self.node("Concat", *[self.size(size) for size in shape], axis=0)

    def reshape(self, value: str, shape: Shape) -> str:
        """Return a value in another shape; one unknown size of several known is left to ONNX."""
        sizes = [size if isinstance(size, int) else -1 for size in shape]
        if sizes.count(-1) <= 1 and not (-1 in sizes and 0 in sizes):
            target = self.integers(sizes)
        else:
            target = self.shape(shape)
        return self.node("Reshape", value, target, **({"allowzero": 1} if 0 in sizes else {}))

    def cast(self, value: str, dtype: np.dtype[Any]) -> str:
        """Return a value in another dtype."""
        return self.node("Cast", value, to=dtype)

    def widened(self, build: Callable[..., str], *operands: str) -> str:
        """Return ``build(operands)``, made in f32 where the result is in a narrow dtype."""
        if self.result.dtype not in NARROW:
            return build(*operands)
        wide = [self.cast(operand, np.dtype("float32")) for operand in operands]
        return self.cast(build(*wide), self.result.dtype)

    def finished(self, result: str) -> Emission:
        """Return what was written; ``result`` is what the last node makes, or a constant."""
        if not self._nodes or result not in self._nodes[-1].outputs:
            if result in self._constants:
                return Emission(self._output, (), {self._output: self._constants[result]})
            result = self.node("Identity", result)
        last = self._nodes.pop()
        names = tuple([self._output if name == result else name for name in last.outputs])
        self._nodes.append(last._replace(outputs=names))
        return Emission(self._output, tuple(self._nodes), dict(self._constants))

    def _chain(self, op_type: str, names: Sequence[str]) -> str:
        total = names[0]
        for name in names[1:]:
            total = self.node(op_type, total, name)
        return total
