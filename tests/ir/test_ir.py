"""Types, sizes, graphs, the verifier, the printer and the fingerprint."""

from __future__ import annotations

import copy
import gc
import pickle

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinychain_compile import (
    SGD,
    Graph,
    TensorType,
    compile_training_step,
    fingerprint,
    print_graph,
    resolve_shape,
    verify,
)
from tinychain_compile.dependencies import StructuralClassifier
from tinychain_compile.errors import (
    AmbiguousProducerError,
    DtypeMismatchError,
    InvalidOutputError,
    MalformedGraphError,
    MissingDependencyError,
    MissingShapeError,
    ShapeMismatchError,
)
from tinychain_compile.ir.builder import GraphBuilder
from tinychain_compile.ir.dimensions import Symbolic, exact_quotient, size_of, symbol_sources
from tinychain_compile.ir.dtypes import DTYPES, as_dtype, dtype_name
from tinychain_compile.ir.graph import NamedValue, Operation, Value, fresh_ids
from tinychain_compile.operators import Add, Constant, Exp, Mul, Neg, ReduceSum, Sub
from tinychain_compile.testing import RecordingRegistry

N, M = Symbolic.symbol("n"), Symbolic.symbol("m")
sizes = st.integers(0, 5)


def polynomials():
    leaves = st.sampled_from([N, M]) | st.integers(0, 4)
    return st.recursive(
        leaves, lambda inner: st.tuples(st.sampled_from("+*"), inner, inner), max_leaves=6
    )


def build(recipe):
    if not isinstance(recipe, tuple):
        return recipe
    operator, left, right = recipe
    return build(left) + build(right) if operator == "+" else build(left) * build(right)


def number(recipe, n, m):
    if isinstance(recipe, tuple):
        operator, left, right = recipe
        a, b = number(left, n, m), number(right, n, m)
        return a + b if operator == "+" else a * b
    return {N: n, M: m}[recipe] if isinstance(recipe, Symbolic) else recipe


@given(polynomials(), sizes, sizes)
def test_a_symbolic_size_evaluates_to_what_arithmetic_gives(recipe, n, m):
    assert resolve_shape((build(recipe),), {"n": n, "m": m}) == (number(recipe, n, m),)


@given(polynomials(), polynomials())
def test_equal_polynomials_are_equal_objects_and_hash_alike(one, other):
    left, right = build(one), build(other)
    same = all(number(one, n, m) == number(other, n, m) for n in range(8) for m in range(8))
    assert (left == right) == same
    if same:
        assert hash(left) == hash(right)


@given(polynomials())
def test_a_quotient_undoes_a_product(recipe):
    size = build(recipe)
    if size != 0:
        assert exact_quotient(size * N * 3, N * 3) == size
        assert exact_quotient(size, size) == 1


@pytest.mark.parametrize(
    ("a", "b"), [(7, 2), (N, M), (N + 1, N), (N * 3, 2), (N, M + 1), (0, 0), (4, N), (3, 0)]
)
def test_a_quotient_that_is_not_exact_is_an_error(a, b):
    with pytest.raises(ShapeMismatchError, match="multiple"):
        exact_quotient(a, b)


def test_sizes_print_as_python():
    assert repr(N * N * 2 + M + 3) == "2*n**2 + m + 3"
    assert str(TensorType("f32", ("n", 4))) == "f32[n, 4]"
    assert size_of((N, 4, M)) == N * M * 4


def test_symbols_are_read_off_the_first_axis_that_is_one():
    shapes = {"a": (3, N * 2), "b": (N, M), "c": (M,)}
    assert symbol_sources(shapes) == {"n": ("b", 0), "m": ("b", 1)}


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_dtype_has_one_canonical_object_for_all_its_names(dtype):
    name = dtype_name(dtype)
    for spelling in (name, dtype, dtype.type, dtype.name):
        assert as_dtype(spelling) is dtype
    if dtype.itemsize > 1 and name != "bf16":
        assert as_dtype(dtype.newbyteorder(">")) is dtype
    assert np.dtype(ml_dtypes.bfloat16) in DTYPES


@pytest.mark.parametrize("shape", [(2, 1.5), (object(),)])
def test_a_size_that_is_no_integer_is_refused(shape):
    with pytest.raises(MissingShapeError):
        TensorType("f32", shape)


def small():
    builder = GraphBuilder(fresh_ids())
    x, y = builder.input(TensorType("f64", (3,))), builder.input(TensorType("f64", (3,)))
    product = builder.emit(Mul(), x, y)
    total = builder.emit(Add(), product, x)
    inputs = (NamedValue("x", x), NamedValue("y", y))
    return Graph("g", inputs, tuple(builder.operations), (NamedValue("z", total),))


def changed(graph, **parts):
    fields = {name: getattr(graph, name) for name in ("name", "inputs", "operations", "outputs")}
    return Graph(**{**fields, **parts})


def test_the_verifier_accepts_what_the_builder_made():
    verify(small())


@pytest.mark.parametrize(
    ("broken", "error"),
    [
        (lambda g: changed(g, operations=g.operations[::-1]), MissingDependencyError),
        (lambda g: changed(g, inputs=g.inputs[:1]), MissingDependencyError),
        (lambda g: changed(g, operations=g.operations * 2), AmbiguousProducerError),
        (lambda g: changed(g, inputs=g.inputs + g.inputs), MalformedGraphError),
        (
            lambda g: changed(g, inputs=(*g.inputs, NamedValue("again", g.inputs[0].value))),
            AmbiguousProducerError,
        ),
        (lambda g: changed(g, outputs=g.outputs * 2), MalformedGraphError),
        (lambda g: changed(g, operations=g.operations[:1]), InvalidOutputError),
        (
            lambda g: changed(g, outputs=(NamedValue("z", Value("v99", TensorType("f64", (3,)))),)),
            InvalidOutputError,
        ),
    ],
)
def test_the_verifier_names_what_is_broken(broken, error):
    with pytest.raises(error, match="g: "):
        verify(broken(small()))


def test_an_ill_typed_operation_cannot_be_made():
    x = Value("v0", TensorType("f64", (3,)))
    assert Operation(Neg(), (x,), "v1").type == x.type
    with pytest.raises(DtypeMismatchError):
        Operation(Neg(), (Value("v0", TensorType("bool", (3,))),), "v1")
    with pytest.raises(TypeError):
        Operation(Add(), (x,), "v1")


def test_things_say_what_they_are():
    graph = small()
    assert repr(graph) == "<graph g: 2 operations>"
    assert repr(graph.operations[1]) == "<v3 = add(v2, v0): f64[3]>"


def test_an_output_that_the_graph_does_not_have_cannot_be_analysed():
    with pytest.raises(InvalidOutputError, match="v99"):
        StructuralClassifier().classify(small(), [Value("v99", TensorType("f64", (3,)))])


def test_the_text_is_one_operation_a_line():
    assert print_graph(small()) == (
        "g (\n  v0: f64[3] x\n  v1: f64[3] y\n) {\n"
        "  v2: f64[3] = mul(v0, v1)\n  v3: f64[3] = add(v2, v0)\n  return z=v3\n}\n"
    )


def expression(operator, swap=False, axes=(0,), value=1.0, skip=0):
    ids = fresh_ids()
    for _ in range(skip):
        next(ids)
    builder = GraphBuilder(ids)
    x, y = builder.input(TensorType("f64", (3, 3))), builder.input(TensorType("f64", (3, 3)))
    z = builder.emit(operator, *((y, x) if swap else (x, y)))
    s = builder.emit(ReduceSum(axes), z)
    builder.emit(Constant(np.array(value)))
    inputs = (NamedValue("x", x), NamedValue("y", y))
    return Graph("g", inputs, tuple(builder.operations), (NamedValue("s", s),))


def test_the_fingerprint_sees_operators_operand_order_and_attributes_but_not_ids():
    base = fingerprint(expression(Sub()))
    assert fingerprint(expression(Sub(), skip=10)) == base
    others = [
        expression(Add()),
        expression(Sub(), swap=True),
        expression(Sub(), axes=(1,)),
        expression(Sub(), value=2.0),
        expression(Sub(), value=np.float32(1.0)),
    ]
    prints = [base, *map(fingerprint, others)]
    assert len(set(prints)) == len(prints)


def test_long_literals_differ_by_content():
    def with_literal(array):
        builder = GraphBuilder(fresh_ids())
        x = builder.emit(Exp(), builder.emit(Constant(array)))
        return Graph("g", (), tuple(builder.operations), (NamedValue("x", x),))

    first, second = np.arange(100.0), np.arange(100.0)
    second[50] = -1
    assert fingerprint(with_literal(first)) != fingerprint(with_literal(second))
    assert "sha256" in print_graph(with_literal(first))
    assert Constant(first) == Constant(first.copy())
    assert Constant(first) != Constant(second)
    assert hash(Constant(first)) == hash(Constant(first.copy()))


def test_an_operation_keeps_its_id_with_other_operands_and_infers_another_type():
    builder = GraphBuilder(fresh_ids())
    x, y = (builder.input(TensorType("f64", shape)) for shape in ((2, 3), (2, 3)))
    wide = builder.input(TensorType("f32", (4,)))
    operation = builder.emit(Exp(), x)
    alike = operation.with_inputs((y,))
    assert (alike.inputs, alike.id) == ((y,), operation.id)
    assert alike.type is operation.type
    assert isinstance(alike, Operation)
    assert operation.with_inputs((wide,)).type == wide.type


def test_no_collection_begins_in_a_compilation_and_what_was_off_stays_off():
    seen = []

    def loss(w):
        seen.append(gc.isenabled())
        return (w * w).sum()

    def compile_it():
        compile_training_step(
            loss,
            inputs={"w": TensorType("f64", (3,))},
            parameters=["w"],
            optimizer=SGD(),
            handlers=RecordingRegistry(),
        )

    assert gc.isenabled()
    compile_it()
    assert gc.isenabled()
    gc.disable()
    try:
        compile_it()
        assert not gc.isenabled()
    finally:
        gc.enable()
    assert seen == [False, False]


def test_a_type_has_one_object_however_it_is_spelled():
    first = TensorType.of(np.dtype(">f4").newbyteorder("="), (np.int64(91), True))
    assert type(first.shape[0]) is type(first.shape[1]) is int
    assert first is TensorType("f32", (91, 1)) is TensorType(np.float32, [91, 1])
    assert first is pickle.loads(pickle.dumps(first)) is copy.deepcopy(first)
    assert first != TensorType("f64", (91, 1))
    symbolic = TensorType("f32", ("n", 91))
    assert symbolic is TensorType("f32", ("n", 91)) is not TensorType("f32", ("m", 91))
