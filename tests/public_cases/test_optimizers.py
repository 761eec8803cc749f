"""Cases made from public bug reports: what optimizers and clipping do, step by step."""

from __future__ import annotations

from fnmatch import fnmatchcase

import numpy as np
import pytest

from reference import ReferenceContainer, ReferenceTrainer
from tests.public_cases.case_format import array, check_gradients, loss_of, of_kind
from tinychain_backends.numpy import NumpyContainer, NumpySession
from tinychain_compile import SGD, Adam, ClipByGlobalNorm, CompileOptions, RMSprop

OPTIMIZERS, CLIPS = of_kind("optimizer"), of_kind("clip")


def renamed(hyperparameters):
    """Return a case's hyperparameters by our names."""
    names = {
        "lr": "learning_rate",
        "b1": "beta1",
        "b2": "beta2",
        "eps": "epsilon",
        "l2": "weight_decay",
    }
    return {names.get(name, name): value for name, value in hyperparameters.items()}


def optimizer_of(case):
    kinds = {"momentum": SGD, "adam*": Adam, "rmsprop": RMSprop}
    name = case["optimizer"]["name"]
    (kind,) = [kind for pattern, kind in kinds.items() if fnmatchcase(name, pattern)]
    return kind(**renamed(case["optimizer"]["hyperparameters"]))


def rate_at(case, step):
    """Return the rate that the case's own schedule gives at a step, counted from 0."""
    scope = {}
    exec(case["update_source"], scope)
    return float(scope["lr_at"](np, step, case["optimizer"]["hyperparameters"]))


def compiled(case, container):
    arrays = {name: array(encoded) for name, encoded in case["inputs"].items()}
    step = (
        container()
        .compiler()
        .compile_training_step(
            loss_of(case, lambda x: np),
            inputs=arrays,
            parameters=case["wrt"],
            optimizer=optimizer_of(case),
        )
    )
    parameters = {name: arrays[name] for name in case["wrt"]}
    return step, parameters, {n: a for n, a in arrays.items() if n not in parameters}


@pytest.mark.parametrize("case_id", OPTIMIZERS)
@pytest.mark.parametrize(
    ("container", "trainer"),
    [(NumpyContainer, NumpySession), (ReferenceContainer, ReferenceTrainer)],
    ids=["numpy", "twelve operators"],
)
def test_losses_and_parameters_are_right_after_every_step(case_id, container, trainer):
    case = OPTIMIZERS[case_id]
    step, parameters, batch = compiled(case, container)
    session = trainer(step, parameters)
    tolerance = case["tolerance"]
    for count in range(case["optimizer"]["steps"]):
        result = session.step(batch, learning_rate=rate_at(case, count))
        loss = result["loss"] if isinstance(result, dict) else result
        np.testing.assert_allclose(loss, case["expected_losses"][count], **tolerance)
        for name, steps in case["expected_params_per_step"].items():
            np.testing.assert_allclose(session.parameters[name], steps[count], **tolerance)
            for wrong in case["known_wrong"]:
                reported = wrong["params_per_step"][name]
                if not np.allclose(steps[count], reported[count], **tolerance):
                    assert not np.allclose(
                        session.parameters[name], reported[count], **tolerance
                    ), wrong["meaning"]


@pytest.mark.parametrize("case_id", CLIPS)
def test_clipped_gradients_are_right(case_id):
    case = CLIPS[case_id]
    given = {name: array(encoded) for name, encoded in case["inputs"].items()}

    def loss(parameters, gradients):
        return sum(np.sum(parameters[name] * gradients[name]) for name in given)

    inputs = {
        "parameters": {name: np.ones_like(g) for name, g in given.items()},
        "gradients": given,
    }
    step = (
        NumpyContainer()
        .compiler()
        .compile_training_step(
            loss,
            inputs=inputs,
            parameters=["parameters"],
            optimizer=SGD(),
            options=CompileOptions(gradient_transforms=[ClipByGlobalNorm(case["max_norm"])]),
        )
    )
    session = NumpySession(step, {"parameters": inputs["parameters"]})
    _, clipped = session.value_and_gradients({"gradients": given})
    by_name = {name.removeprefix("parameters."): g for name, g in clipped.items()}
    check_gradients(case, None, by_name)


def test_all_cases_of_these_kinds_are_here():
    assert (len(OPTIMIZERS), len(CLIPS)) == (8, 2)
