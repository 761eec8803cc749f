"""A loss that does what cannot be compiled: the error names the line and what to do."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tinychain_compile import (
    SGD,
    CompileOptions,
    TensorType,
    compile_function,
    compile_training_step,
)
from tinychain_compile.errors import (
    BroadcastShapeError,
    CompilationError,
    DataDependentValueError,
    DisconnectedParameterError,
    DtypeMismatchError,
    IndexOutOfRangeError,
    LossOutputError,
    MatMulShapeError,
    PermutationError,
    ReductionError,
    ShapeMismatchError,
    UnsupportedFunctionError,
)
from tinychain_compile.functions import (
    attention,
    conv,
    dropout,
    layer_norm,
    log_softmax,
    softmax,
    softmax_cross_entropy,
    stop_gradient,
    top_k,
)
from tinychain_compile.testing import RecordingRegistry

TYPES = {
    "x": TensorType("f64", (4, 3)),
    "w": TensorType("f64", (3,)),
    "labels": TensorType("i64", (4,)),
}


def compile_loss(function, parameters=("w",), **others):
    return compile_training_step(
        lambda x, w, labels: function(x, w, labels),
        inputs=TYPES,
        parameters=list(parameters),
        optimizer=SGD(),
        handlers=RecordingRegistry(),
        **others,
    )


def foreign():
    kept = []
    compile_function(
        lambda a: kept.append(a) or a, inputs={"a": np.zeros(())}, handlers=RecordingRegistry()
    )
    return kept[0]


@pytest.mark.parametrize(
    ("result", "parts"),
    [
        (lambda x, w, labels: None, ["None", "return"]),
        (lambda x, w, labels: 3.0, ["3.0", "float"]),
        (lambda x, w, labels: np.float64(3), ["float64"]),
        (lambda x, w, labels: (x.sum(), w), ["tuple"]),
        (lambda x, w, labels: (x.sum(), {}, 3), ["tuple of", "int"]),
        (lambda x, w, labels: (x.sum(), {"loss": w}), ["'loss'", "another name"]),
        (lambda x, w, labels: (x.sum(), {"two words": w}), ["two words"]),
        (lambda x, w, labels: (x.sum(), {"a": 3.0}), ["'a'", "3.0"]),
        (lambda x, w, labels: (x.sum(), {"labels": w}), ["'labels'", "i64[4]", "f64[3]"]),
        (lambda x, w, labels: x @ w, ["f64[4]", "np.mean"]),
        (lambda x, w, labels: labels.sum(), ["i64[]", "floating"]),
        (lambda x, w, labels: foreign(), ["another trace"]),
    ],
)
def test_a_loss_must_return_one_floating_scalar_of_this_trace(result, parts):
    with pytest.raises(LossOutputError) as caught:
        compile_loss(result)
    for part in (*parts, "test_losses.py"):
        assert part in str(caught.value)


@pytest.mark.parametrize(
    "use",
    [
        lambda x, w, labels: np.sum(w) if w.sum() > 0 else np.sum(x),
        lambda x, w, labels: float(w.sum()),
        lambda x, w, labels: int(w.sum()),
        lambda x, w, labels: complex(w.sum()),
        lambda x, w, labels: math.exp(w.sum()),
        lambda x, w, labels: np.asarray(w).sum(),
        lambda x, w, labels: np.array([w, w]).sum(),
        lambda x, w, labels: w.sum().item(),
        lambda x, w, labels: w.tolist(),
        lambda x, w, labels: np.ones(3)[labels],
        lambda x, w, labels: range(labels.sum()),
        lambda x, w, labels: not w.sum(),
        lambda x, w, labels: w in [1.0],
        lambda x, w, labels: max(w),
    ],
)
def test_asking_for_elements_names_the_line_and_is_a_type_and_a_value_error(use):
    with pytest.raises(DataDependentValueError) as caught:
        compile_loss(use)
    assert isinstance(caught.value, TypeError)
    assert isinstance(caught.value, ValueError)
    assert "test_losses.py" in str(caught.value)


@pytest.mark.parametrize(
    ("use", "error", "parts"),
    [
        (
            lambda x, w, labels: (x + x.T).sum(),
            BroadcastShapeError,
            ["(4, 3)", "(3, 4)", "x + x.T"],
        ),
        (lambda x, w, labels: (x + np.ones(5)).sum(), BroadcastShapeError, ["(5,)"]),
        (lambda x, w, labels: (w @ x).sum(), MatMulShapeError, ["3 and 4"]),
        (lambda x, w, labels: (x @ x).sum(), MatMulShapeError, ["f64[4, 3] @ f64[4, 3]"]),
        (lambda x, w, labels: (x @ w.sum()).sum(), ShapeMismatchError, ["at least one axis"]),
        (lambda x, w, labels: x.sum(axis=2), ReductionError, ["from -2 to 1", "2"]),
        (lambda x, w, labels: x.max(axis=-3), ReductionError, ["-3"]),
        (lambda x, w, labels: np.mean(x, axis=(0, -2)), ReductionError, ["each axis once"]),
        (lambda x, w, labels: x.sum(axis=1.5), ReductionError, ["1.5"]),
        (lambda x, w, labels: x.transpose(0, 0).sum(), PermutationError, ["(0, 0)"]),
        (lambda x, w, labels: x.transpose(0, 2).sum(), PermutationError, ["2"]),
        (lambda x, w, labels: x.reshape(5, 2).sum(), ShapeMismatchError, ["12", "(5, 2)"]),
        (lambda x, w, labels: x.reshape(5, -1).sum(), ShapeMismatchError, ["multiple of 5"]),
        (lambda x, w, labels: x.reshape(-1, -1).sum(), ShapeMismatchError, ["-1"]),
        (lambda x, w, labels: x.squeeze(0).sum(), ShapeMismatchError, ["axis 0"]),
        (lambda x, w, labels: log_softmax(x, axis=5).sum(), ReductionError, ["5"]),
        (lambda x, w, labels: np.take(x, w, axis=0).sum(), DtypeMismatchError, ["integer"]),
        (
            lambda x, w, labels: np.take_along_axis(x, labels, axis=1).sum(),
            ShapeMismatchError,
            ["indices"],
        ),
        (lambda x, w, labels: (x + 10**400).sum(), DtypeMismatchError, ["1000"]),
        (lambda x, w, labels: (x + np.complex64(1)).sum(), DtypeMismatchError, ["complex"]),
        (lambda x, w, labels: x.reshape(2.5, 4).sum(), ShapeMismatchError, ["2.5"]),
        (lambda x, w, labels: x.reshape(0, -1).sum(), ShapeMismatchError, ["multiple of 0"]),
        (lambda x, w, labels: np.expand_dims(x, (0, 0)).sum(), ShapeMismatchError, ["different"]),
        (lambda x, w, labels: np.expand_dims(x, 5).sum(), ShapeMismatchError, ["5"]),
        (lambda x, w, labels: x.sum() * len(w.sum()), ShapeMismatchError, ["an axis"]),
        (lambda x, w, labels: (labels + 2**70).sum(), DtypeMismatchError, [str(2**70)]),
        (lambda x, w, labels: (x + 1j).sum(), DtypeMismatchError, ["complex"]),
        (lambda x, w, labels: (x * "a").sum(), DtypeMismatchError, ["U1"]),
        (lambda x, w, labels: x.astype("c16").sum(), DtypeMismatchError, ["c16"]),
        (lambda x, w, labels: (labels**-1).sum(), DtypeMismatchError, ["floating", "-1"]),
        (lambda x, w, labels: (w & (w > 0)).sum(), DtypeMismatchError, ["boolean", "parentheses"]),
        (lambda x, w, labels: (~w).sum(), DtypeMismatchError, ["boolean"]),
        (lambda x, w, labels: ((x > 0) - (x > 1)).sum(), DtypeMismatchError, ["bool"]),
        (lambda x, w, labels: x[4].sum(), IndexOutOfRangeError, ["from -4 to 3", "4"]),
        (lambda x, w, labels: x[0, -4].sum(), IndexOutOfRangeError, ["axis 1", "-4"]),
        (lambda x, w, labels: x[[0, 4]].sum(), IndexOutOfRangeError, ["4"]),
        (lambda x, w, labels: x[0, 0, 0].sum(), IndexOutOfRangeError, ["at most 2"]),
        (lambda x, w, labels: x[..., ...].sum(), IndexOutOfRangeError, ["one ellipsis"]),
        (lambda x, w, labels: x[::0].sum(), ShapeMismatchError, ["step"]),
        (lambda x, w, labels: x[0.5:].sum(), ShapeMismatchError, ["integers"]),
        (lambda x, w, labels: np.take(x, 7, axis=0).sum(), IndexOutOfRangeError, ["7"]),
        (lambda x, w, labels: np.einsum("ij,jk", x, w).sum(), ShapeMismatchError, ["'ij,jk'"]),
        (lambda x, w, labels: np.einsum("ij->ik", x).sum(), ShapeMismatchError, ["'ij->ik'"]),
        (lambda x, w, labels: np.einsum("i!->i", x).sum(), ShapeMismatchError, ["'i!->i'"]),
        (lambda x, w, labels: np.einsum("ij,i->j", x, w).sum(), ShapeMismatchError, ["'i'"]),
        (lambda x, w, labels: np.einsum("ij", x, w).sum(), ShapeMismatchError, ["2 operands"]),
        (lambda x, w, labels: np.concatenate([x, w]).sum(), ShapeMismatchError, ["axis 0"]),
        (lambda x, w, labels: np.stack([x, w]).sum(), ShapeMismatchError, ["one shape"]),
        (lambda x, w, labels: np.split(x, 3)[0].sum(), ShapeMismatchError, ["divisor of 4"]),
        (lambda x, w, labels: np.tensordot(x, x, 1).sum(), ShapeMismatchError, ["equal size"]),
        (lambda x, w, labels: np.pad(x, -1).sum(), ShapeMismatchError, ["from 0"]),
        (
            lambda x, w, labels: np.concatenate([x[:0]][:0] or [x[0], x]).sum(),
            ShapeMismatchError,
            [],
        ),
        (lambda x, w, labels: np.average(x, weights=w).sum(), ReductionError, ["weights"]),
        (lambda x, w, labels: np.tensordot(x, x, 3).sum(), ShapeMismatchError, ["from 0 to 2"]),
        (
            lambda x, w, labels: np.tensordot(x, x, ((0, 0), (0, 1))).sum(),
            ShapeMismatchError,
            ["different axes"],
        ),
        (lambda x, w, labels: np.cross(x.T, x.T).sum(), ShapeMismatchError, ["3 elements"]),
        (lambda x, w, labels: np.einsum("...i->i", x).sum(), ShapeMismatchError, ["ellipsis"]),
        (lambda x, w, labels: np.einsum("ii", x).sum(), ShapeMismatchError, ["'i'"]),
        (lambda x, w, labels: np.tril(w).sum(), ShapeMismatchError, ["matrix"]),
        (lambda x, w, labels: np.diagonal(x[None])[0].sum() + np.trace(w), ReductionError, []),
        (lambda x, w, labels: np.split(x, [1, 2], axis=3)[0].sum(), ReductionError, ["3"]),
        (lambda x, w, labels: np.median(x[:0]).sum(), ShapeMismatchError, ["not empty"]),
        (lambda x, w, labels: np.zeros_like(x, shape=(2,)).sum(), UnsupportedFunctionError, []),
        (lambda x, w, labels: np.multiply.at(x, 0, 1), UnsupportedFunctionError, ["multiply.at"]),
        (
            lambda x, w, labels: (
                x.__array_namespace__().cumulative_sum(x, include_initial=True).sum()
            ),
            ReductionError,
            ["axis"],
        ),
        (lambda x, w, labels: np.moveaxis(x, (0, 1), 0).sum(), ShapeMismatchError, ["moveaxis"]),
        (lambda x, w, labels: np.max(x[:0]), ReductionError, ["not empty"]),
        (lambda x, w, labels: softmax(labels[:, None], axis=3).sum(), ReductionError, ["3"]),
        (lambda x, w, labels: conv(x, w).sum(), ShapeMismatchError, ["spatial"]),
        (
            lambda x, w, labels: conv(x[None, None], x[None, None], dilations=2).sum(),
            ShapeMismatchError,
            ["window"],
        ),
        (
            lambda x, w, labels: softmax_cross_entropy(x, x).sum(),
            DtypeMismatchError,
            ["labels", "integer"],
        ),
        (lambda x, w, labels: layer_norm(x, labels, w).sum(), ShapeMismatchError, ["scale"]),
        (lambda x, w, labels: attention(x, x.T, x).sum(), ShapeMismatchError, ["queries"]),
        (lambda x, w, labels: dropout(x, labels, 0.5).sum(), DtypeMismatchError, ["key", "u32[2]"]),
        (lambda x, w, labels: top_k(w, 4)[0].sum(), ShapeMismatchError, ["from 0 to 3"]),
    ],
)
def test_shapes_axes_and_dtypes_that_do_not_fit(use, error, parts):
    with pytest.raises(error) as caught:
        compile_loss(use)
    for part in (*parts, "test_losses.py"):
        assert part in str(caught.value)


@pytest.mark.parametrize(
    ("use", "parts"),
    [
        (lambda x, w, labels: np.exp(w, out=np.zeros(3)).sum(), ["out="]),
        (lambda x, w, labels: np.exp(w, where=[True, False, True]).sum(), ["where="]),
        (lambda x, w, labels: np.sum(w, where=[True, False, True]), ["where="]),
        (lambda x, w, labels: np.sum(w, initial=3.0), ["initial="]),
        (lambda x, w, labels: np.reshape(x, (3, 4), order="F").sum(), ["order="]),
        (lambda x, w, labels: np.take(x, labels, axis=0, mode="clip").sum(), ["mode="]),
        (lambda x, w, labels: np.where(w > 0), ["condition alone"]),
        (lambda x, w, labels: x[x > 0].sum(), ["mask", "np.where"]),
        (lambda x, w, labels: x[np.ones(4, bool)].sum(), ["mask", "np.where"]),
        (lambda x, w, labels: x[True].sum(), ["mask"]),
        (lambda x, w, labels: x["a"].sum(), ["indexing", "'a'"]),
        (lambda x, w, labels: x[1.5].sum(), ["indexing", "1.5"]),
        (lambda x, w, labels: x[[0.5]].sum(), ["array of integers"]),
        (lambda x, w, labels: np.fft.fft(w).sum(), ["np.fft.fft"]),
        (lambda x, w, labels: np.frexp(w), ["np.frexp"]),
        (lambda x, w, labels: np.subtract.reduce(w), ["np.subtract.reduce"]),
        (lambda x, w, labels: np.unique(w).sum(), ["np.unique", "before the loss"]),
        (lambda x, w, labels: np.nonzero(w), ["np.nonzero", "np.where"]),
        (lambda x, w, labels: np.linalg.inv(x.T @ x).sum(), ["np.linalg.inv"]),
        (lambda x, w, labels: np.linalg.norm(x, ord=2), ["ord=2", "Frobenius"]),
        (lambda x, w, labels: np.add.at(x, [0], w), ["np.add.at"]),
        (lambda x, w, labels: np.pad(w, 1, mode="edge").sum(), ["edge"]),
        (lambda x, w, labels: np.repeat(w, [1, 2, 3]).sum(), ["np.take"]),
        (lambda x, w, labels: np.max(w, initial=0.0), ["initial=", "np.maximum"]),
        (lambda x, w, labels: np.add.reduce(w, where=[True, False, True]), ["where="]),
        (lambda x, w, labels: w.sort(), ["in place", "np.sort"]),
        (lambda x, w, labels: round(w, 2).sum(), ["digits"]),
        (lambda x, w, labels: w.__array_namespace__().nonzero(w), ["depends on elements"]),
        (lambda x, w, labels: w.__array_namespace__().sine(w), ["'sine'", "sin"]),
        (lambda x, w, labels: w.__array_namespace__(api_version="2031.12"), ["2024.12"]),
        (lambda x, w, labels: 2.0 in w, ["`in`"]),
        (lambda x, w, labels: w.__setitem__(0, 1.0), ["assignment", "np.where"]),
        (lambda x, w, labels: w.meen(), ["'meen'", "mean"]),
    ],
)
def test_what_is_not_supported_is_named_with_a_replacement(use, parts):
    with pytest.raises(UnsupportedFunctionError) as caught:
        compile_loss(use)
    for part in (*parts, "test_losses.py"):
        assert part in str(caught.value)


def test_a_symbolic_size_has_no_length():
    with pytest.raises(DataDependentValueError, match="symbolic"):
        compile_function(
            lambda x: x * len(x),
            inputs={"x": TensorType("f64", ("n",))},
            handlers=RecordingRegistry(),
        )


@pytest.mark.parametrize("result", [{}, {"two words": 1}, {3: 1}, [1]])
def test_a_function_must_return_a_tensor_or_named_ones(result):
    with pytest.raises(LossOutputError):
        compile_function(lambda x: result, inputs={"x": np.zeros(3)}, handlers=RecordingRegistry())


def test_in_place_addition_into_an_array_is_refused():
    def loss(x, w, labels):
        total = np.zeros(3)
        total += w
        return total.sum()

    with pytest.raises(UnsupportedFunctionError, match="out="):
        compile_loss(loss)


def test_in_place_addition_on_a_tensor_makes_a_new_one():
    def loss(x, w, labels):
        total = w
        total += w
        return (total * w).sum()

    compile_loss(loss)


def test_the_line_is_that_of_a_helper_that_the_loss_calls():
    def helper(x):
        return x + x.T

    with pytest.raises(BroadcastShapeError, match=r"in helper: x \+ x\.T"):
        compile_loss(lambda x, w, labels: helper(x).sum())


class TestDisconnected:
    def test_a_parameter_that_is_never_used(self):
        with pytest.raises(DisconnectedParameterError, match=r"'w'.*never uses"):
            compile_loss(lambda x, w, labels: x.sum())

    def test_a_parameter_whose_result_is_not_used(self):
        def loss(x, w, labels):
            np.exp(w)
            return x.sum()

        with pytest.raises(DisconnectedParameterError, match="ends at exp") as caught:
            compile_loss(loss)
        assert "np.exp(w)" in str(caught.value)

    def test_a_path_through_a_comparison(self):
        def loss(x, w, labels):
            return np.sum(np.where(w > 0.0, 1.0, 0.0) * x)

        with pytest.raises(DisconnectedParameterError, match="breaks at less") as caught:
            compile_loss(loss)
        assert "w > 0.0" in str(caught.value)
        assert "comparison" in str(caught.value)

    def test_a_path_through_an_integer_cast(self):
        with pytest.raises(DisconnectedParameterError, match="breaks at cast"):
            compile_loss(lambda x, w, labels: (x * w.astype("i64")).sum())

    def test_an_explicit_stop_gradient_gives_zeros(self):
        step = compile_loss(lambda x, w, labels: (x * stop_gradient(w)).sum())
        assert step.derivative.selected_outputs

    def test_stop_gradient_beside_a_comparison_is_still_an_error(self):
        def loss(x, w, labels):
            return (x * stop_gradient(w)).sum() + np.where(w > 0, 1.0, 2.0).sum()

        with pytest.raises(DisconnectedParameterError, match="less"):
            compile_loss(loss)

    def test_a_stopped_movement_is_read_from_its_operand(self):
        def loss(x, w, labels):
            return (w * stop_gradient(np.broadcast_to(w, (4, 3)))).sum()

        step = compile_loss(loss)
        assert step.forward_capture_value_ids == ()

    def test_a_path_along_which_no_rule_passes_a_derivative(self):
        from tinychain_backends.numpy import NumpyContainer
        from tinychain_compile.autodiff import ReverseModeEngine
        from tinychain_compile.operators import Exp
        from tinychain_compile.testing import scoped_overrides
        from tinychain_compile.vjp_rules import VJP_RULES

        engine = ReverseModeEngine({**VJP_RULES, Exp: lambda op, g, y, x: (None,)}, {})
        container = NumpyContainer()
        with scoped_overrides(container, vjp_engine=engine):
            compiler = container.compiler()
        with pytest.raises(DisconnectedParameterError, match="passes no derivative"):
            compiler.compile_training_step(
                lambda w: np.exp(w).sum(),
                inputs={"w": np.zeros(3)},
                parameters=["w"],
                optimizer=SGD(),
            )

    def test_zeros_on_request(self):
        for loss in (
            lambda x, w, labels: x.sum(),
            lambda x, w, labels: np.where(w > 0, x, 0.0).sum(),
        ):
            compile_loss(loss, options=CompileOptions(on_disconnected="zero"))


def test_all_missing_vjp_rules_are_reported_at_once():
    from tinychain_backends.numpy import NumpyContainer
    from tinychain_compile.autodiff import ReverseModeEngine
    from tinychain_compile.errors import MissingDerivativeError
    from tinychain_compile.operators import Exp, Log
    from tinychain_compile.testing import scoped_overrides
    from tinychain_compile.vjp_rules import VJP_RULES

    rules = {k: v for k, v in VJP_RULES.items() if k not in (Exp, Log)}
    container = NumpyContainer()
    with scoped_overrides(container, vjp_engine=ReverseModeEngine(rules, {})):
        compiler = container.compiler()
    with pytest.raises(MissingDerivativeError) as caught:
        compiler.compile_training_step(
            lambda w: np.sum(np.log(w) + np.exp(w)),
            inputs={"w": np.zeros(3)},
            parameters=["w"],
            optimizer=SGD(),
        )
    assert "exp, at" in str(caught.value)
    assert "log, at" in str(caught.value)


def test_every_error_is_of_one_family_with_a_category_of_its_own():
    import tinychain_compile.errors as errors

    kinds = [v for v in vars(errors).values() if isinstance(v, type)]
    family = [kind for kind in kinds if issubclass(kind, CompilationError)]
    categories = {kind.__dict__["category"] for kind in family if "category" in kind.__dict__}
    assert {
        "unsupported_operator",
        "missing_derivative_behavior",
        "shape_mismatch",
        "broadcast_shape_mismatch",
        "matmul_shape_mismatch",
        "invalid_permutation",
        "unsupported_reduction",
        "dtype_not_differentiable",
        "missing_shape_metadata",
        "missing_dtype_metadata",
        "seed_shape_mismatch",
        "malformed_derivative_ir",
        "missing_dependency",
        "ambiguous_producer",
        "invalid_selected_output",
        "handler_contract_violation",
        "expansion_contract_violation",
        "invalid_training_declaration",
        "invalid_loss_signature",
        "invalid_loss_output",
        "invalid_update_signature",
        "invalid_update_output",
    } <= categories
