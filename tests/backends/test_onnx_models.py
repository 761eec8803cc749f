"""The models of a step: right by ONNX's own checker and evaluator, readable, complete on disk."""

from __future__ import annotations

import json
import re

import numpy as np
import onnx
import onnxruntime
import openvino
import pytest
from onnx.reference import ReferenceEvaluator

from tests.backends.test_onnx_session import F32, START, TYPES, batch_of, classified
from tinychain_backends.onnx import (
    OnnxContainer,
    OnnxSession,
    StepModels,
    read_models,
    step_models,
    write_models,
)
from tinychain_backends.onnx.files import description_of, start_model
from tinychain_compile import SGD, Adam, AdamW, TensorType
from tinychain_compile.errors import BindingError
from tinychain_compile.functions import conv, max_pool, relu, softmax_cross_entropy


def compiled(loss=classified, types=TYPES, start=START, optimizer=None):
    return (
        OnnxContainer()
        .compiler()
        .compile_training_step(
            loss,
            inputs=types,
            parameters=list(start),
            optimizer=optimizer or AdamW(learning_rate=0.01),
        )
    )


@pytest.fixture(scope="module")
def step():
    return compiled()


@pytest.fixture(scope="module")
def models(step) -> StepModels:
    return step_models(step)


def names(values):
    return [value.name for value in values]


def shapes(values):
    return {
        v.name: [d.dim_param or d.dim_value for d in v.type.tensor_type.shape.dim] for v in values
    }


def test_inputs_and_outputs_have_names_that_a_person_can_read(models):
    assert names(models.forward.graph.input) == ["x", "labels", "w1", "b1", "w2"]
    assert names(models.forward.graph.output)[0] == "loss"
    assert all(n.startswith("capture/") for n in names(models.forward.graph.output)[1:])
    gradients = ["gradient/w1", "gradient/b1", "gradient/w2"]
    assert names(models.derivative.graph.output) == gradients
    assert "seed" in names(models.derivative.graph.input)
    assert {"w1", "gradient/w1", "w1/m", "learning_rate", "step"} <= {
        *names(models.update.graph.input)
    }
    assert names(models.update.graph.output)[:3] == ["new/w1", "new/w1/m", "new/w1/v"]
    assert {"loss", "new/w1", "new/w2/v"} <= {*names(models.step.graph.output)}


def test_a_symbolic_batch_stays_symbolic(models):
    assert shapes(models.step.graph.input)["x"] == ["batch", 6]
    assert shapes(models.forward.graph.input)["labels"] == ["batch"]
    captures = shapes(models.derivative.graph.input)
    assert any(shape[:1] == ["batch"] for n, shape in captures.items() if n.startswith("capture/"))


def test_nodes_have_names_of_their_own_and_the_line_of_the_loss(models):
    for model in models:
        labels = names(model.graph.node)
        assert len(set(labels)) == len(labels)
    docs = {node.doc_string for node in models.step.graph.node}
    assert any("np.tanh(x @ w1 + b1)" in doc for doc in docs)
    assert any(doc.endswith("(derivative of tanh)") for doc in docs)
    assert not any("/" in doc.partition(":")[0] for doc in docs)  # no path of this machine


def test_onnxs_own_evaluator_computes_the_same_step():
    """NumPy code of another project, node by node."""

    def regression(x, w1, b1, w2):
        return np.mean((np.tanh(x @ w1 + b1) @ w2) ** 2)

    batch = {"x": batch_of(5)["x"]}
    types = {name: type for name, type in TYPES.items() if name != "labels"}
    step = compiled(regression, types)
    models = step_models(step)
    session = OnnxSession(step, START)
    feeds = {**session.state.arrays, **batch}
    scalars = {row.name: row.default or 1.0 for row in step.runtime_inputs}
    feeds |= {name: np.asarray(value, F32) for name, value in scalars.items()}
    outputs = ReferenceEvaluator(models.step).run(None, feeds)
    found = dict(zip(names(models.step.graph.output), outputs, strict=True))
    np.testing.assert_allclose(found["loss"], session.step(batch)["loss"], rtol=1e-5)
    for key, array in session.state.arrays.items():
        np.testing.assert_allclose(found[f"new/{key}"], array, rtol=1e-4, atol=1e-6)


def test_three_models_come_to_what_one_does(step, models):
    """By the runtime alone: forward, then derivative with a seed of 1, then update."""
    run = {
        name: onnxruntime.InferenceSession(model.SerializeToString())
        for name, model in models._asdict().items()
    }
    scalars = {row.name: row.default or 1.0 for row in step.runtime_inputs}
    known = {**OnnxSession(step, START).state.arrays, **batch_of(5), "seed": np.ones((), F32)}
    known |= {name: np.asarray(value, F32) for name, value in scalars.items()}
    start = dict(known)
    for name in ("forward", "derivative", "update"):
        wanted = names(run[name].get_outputs())
        feeds = {i: known[i] for i in names(run[name].get_inputs())}
        known |= dict(zip(wanted, run[name].run(wanted, feeds), strict=True))
    wanted = names(run["step"].get_outputs())
    feeds = {i: start[i] for i in names(run["step"].get_inputs())}
    for name, value in zip(wanted, run["step"].run(wanted, feeds), strict=True):
        np.testing.assert_allclose(known[name], value, rtol=1e-5, atol=1e-7)


def test_files_come_back_as_they_were_and_say_what_they_are(step, models, tmp_path):
    write_models(models, tmp_path / "made" / "here")
    read = read_models(tmp_path / "made" / "here")
    assert [m.SerializeToString() for m in read] == [m.SerializeToString() for m in models]
    described = description_of(read.step)
    assert described["carry"]["w1/m"] == "new/w1/m"
    assert described["initial"]["w1/v"] == {"fill": 0.0}
    assert described["scalars"]["learning_rate"]["default"] == 0.01
    assert described["scalars"]["step"]["counted"]
    assert described["roles"]["x"] == "batch"


def test_a_folder_is_all_that_another_program_needs(step, models, tmp_path):
    """Nothing of this project: the files, their metadata, the runtime."""
    session = OnnxSession(step, START)
    write_models(models, tmp_path, start=session.state.arrays)
    start = onnxruntime.InferenceSession(tmp_path / "start.onnx")
    whole = onnxruntime.InferenceSession(tmp_path / "step.onnx")
    described = json.loads(whole.get_modelmeta().custom_metadata_map["tinychain_compile.step"])
    feeds = dict(zip(names(start.get_outputs()), start.run(None, {}), strict=True))
    feeds |= batch_of(5)
    losses = []
    for number in range(1, 6):
        feeds["step"] = np.asarray(number, F32)
        outputs = dict(zip(names(whole.get_outputs()), whole.run(None, feeds), strict=True))
        losses.append(float(outputs["loss"]))
        feeds |= {name: outputs[new] for name, new in described["carry"].items()}
    assert losses == [float(session.step(batch_of(5))["loss"]) for _ in range(5)]


def test_the_shipped_step_runs_in_openvino_too(step, models, tmp_path):
    session = OnnxSession(step, START)
    write_models(models, tmp_path, start=session.state.arrays)
    core = openvino.Core()
    hint = {"INFERENCE_PRECISION_HINT": "f32"}
    whole = core.compile_model(tmp_path / "step.onnx", "CPU", hint)
    start = core.compile_model(tmp_path / "start.onnx", "CPU", hint)
    feeds = {o.any_name: np.array(v) for o, v in start({}).items()} | batch_of(5)
    for number in range(1, 4):
        feeds["step"] = np.asarray(number, F32)
        outputs = {name: v for o, v in whole(feeds, share_inputs=False).items() for name in o.names}
        expected = session.step(batch_of(5))["loss"]
        np.testing.assert_allclose(outputs["loss"], expected, rtol=1e-5)
        feeds |= {n[4:]: np.array(v) for n, v in outputs.items() if n.startswith("new/")}


@pytest.mark.parametrize(
    ("change", "part"),
    [
        (lambda s: {**s, "more": s["w1"]}, "an extra 'more'"),
        (lambda s: {n: a for n, a in s.items() if n != "w1/m"}, "no 'w1/m'"),
        (lambda s: {**s, "w1": s["w1"].astype(np.float64)}, "float64"),
        (lambda s: {**s, "w1": s["w1"][:3]}, "[3, 9]"),
    ],
)
def test_a_wrong_start_is_refused_and_nothing_is_written(step, models, tmp_path, change, part):
    arrays = OnnxSession(step, START).state.arrays
    with pytest.raises(BindingError, match=re.escape(part)):
        write_models(models, tmp_path / "new", start=change(arrays))
    assert not (tmp_path / "new").exists()


def test_what_is_no_step_is_refused(models, tmp_path):
    with pytest.raises(BindingError, match=r"forward\.onnx"):
        read_models(tmp_path)
    write_models(models._replace(step=models.forward), tmp_path)
    with pytest.raises(BindingError, match="metadata"):
        read_models(tmp_path)
    with pytest.raises(BindingError, match="metadata"):
        start_model(models.forward, {})


def pictures(images, labels, kernel, bias, w):
    hidden = max_pool(relu(conv(images, kernel, padding="same") + bias[:, None, None]), 2)
    return np.mean(softmax_cross_entropy(hidden.reshape(hidden.shape[0], -1) @ w, labels))


def test_convolutions_have_their_bias_and_the_input_gradient_is_a_transposed_one():
    start = {
        "kernel": np.ones((3, 2, 3, 3), F32),
        "bias": np.ones(3, F32),
        "w": np.ones((27, 4), F32),
    }

    def deep(images, labels, kernel, bias, w):
        return pictures(conv(images, kernel[:2], padding="same"), labels, kernel, bias, w)

    types = {"images": TensorType("f32", (5, 2, 6, 6)), "labels": TensorType("i32", (5,)), **start}
    models = step_models(compiled(deep, types, start, SGD()))
    nodes = [node.op_type for node in models.step.graph.node]
    assert any(n.op_type == "Conv" and len(n.input) == 3 for n in models.step.graph.node)
    assert "ConvTranspose" in nodes


def test_a_known_rate_goes_into_the_product():
    nodes = step_models(
        compiled(optimizer=SGD(learning_rate=0.1, frozen="learning_rate"))
    ).step.graph.node
    gemms = [node for node in nodes if node.op_type == "Gemm"]
    alphas = {a.f for node in gemms for a in node.attribute if a.name == "alpha"}
    assert np.float32(-0.1) in alphas


def test_no_broadcast_is_left_where_onnx_broadcasts(models):
    step = step_models(compiled(optimizer=Adam())).step
    assert "Expand" not in {
        n.op_type for n in step.graph.node if n.name.startswith(("add/", "sub/", "mul/", "lerp/"))
    }
    onnx.checker.check_model(step, full_check=True)


def test_a_name_of_an_input_may_look_like_an_id():
    def loss(v3, constant, w):
        return np.mean((v3 @ w - constant) ** 2)

    start = {"w": np.ones((2, 1), F32)}
    types = {"v3": TensorType("f32", (4, 2)), "constant": TensorType("f32", (4, 1)), **start}
    session = OnnxSession(compiled(loss, types, start, SGD()), start)
    batch = {"v3": np.ones((4, 2), F32), "constant": np.zeros((4, 1), F32)}
    assert float(session.step(batch, learning_rate=0.1)["loss"]) == 4.0
