"""The convolutional network and the transformer, as a newcomer runs them."""

from __future__ import annotations

import re
import subprocess

import pytest

from tests.examples.test_digits import run


def test_the_convolutional_network_trains():
    output = run("--epochs", "1", program="digits_cnn.py")
    assert re.fullmatch(r"test accuracy: \d+\.\d%", output.splitlines()[-1])


@pytest.mark.slow
def test_the_convolutional_network_reaches_98_percent_in_the_mean_of_three_seeds():
    last = run("--seeds", "3", program="digits_cnn.py").splitlines()[-1]
    assert float(last.removeprefix("test accuracy: ").removesuffix("%")) >= 98.0


@pytest.mark.parametrize("arguments", [(), ("--untied",)])
def test_the_transformer_trains(arguments):
    lines = run("--steps", "2", *arguments, program="characters.py").splitlines()
    assert lines[-1].startswith("held-out loss: ")


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [(), ("--untied",)])
def test_the_transformer_learns_more_than_how_often_characters_occur(arguments):
    lines = run("--steps", "200", *arguments, program="characters.py").splitlines()
    entropy, loss = (float(line.split(": ")[1].removesuffix(" nats")) for line in lines[-2:])
    assert loss < entropy - 0.3


@pytest.mark.parametrize(
    ("program", "arguments"),
    [("digits_cnn.py", ("--seeds", "0")), ("characters.py", ("--steps", "0"))],
)
def test_a_number_below_one_is_refused(program, arguments):
    with pytest.raises(subprocess.CalledProcessError) as caught:
        run(*arguments, program=program)
    assert "at least 1" in caught.value.stderr


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["onnx", "openvino"])
def test_the_digits_train_on_a_runtime_as_on_numpy(backend):
    arguments = ("--epochs", "2")
    assert run(*arguments, "--backend", backend) == run(*arguments)


@pytest.mark.slow
def test_the_convolutional_network_trains_on_onnx_runtime():
    output = run("--epochs", "3", "--backend", "onnx", program="digits_cnn.py")
    accuracy = re.fullmatch(r"test accuracy: (\d+\.\d)%", output.splitlines()[-1])
    assert accuracy is not None
    assert float(accuracy[1]) > 95


@pytest.mark.slow
def test_the_transformer_trains_on_onnx_runtime_as_on_numpy():
    losses = []
    for backend in ("onnx", "numpy"):
        output = run("--steps", "30", "--backend", backend, program="characters.py")
        losses.append(float(output.splitlines()[-1].split()[2]))
    assert losses[0] == pytest.approx(losses[1], abs=2e-3)
