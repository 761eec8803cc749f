"""Checks whole programs of a backend on small models; each returns what is wrong, or ``None``."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tinychain_compile import NO_FUSION, CompiledTrainingStep
from tinychain_compile.container import TrainingStepContainer
from tinychain_conformance.adapter import Array, Backend
from tinychain_conformance.bisecting import bisect, every_value
from tinychain_conformance.comparing import disagreement
from tinychain_conformance.models import Model, models
from tinychain_conformance.training import (
    BackendEngine,
    EvaluatorEngine,
    Moment,
    initial_state,
    train,
)

STEPS = range(1, 13)
"""The steps of a training run."""

UNITS = 2000
"""How many units of f32 a training run may be off."""

STEP_UNITS = 200
"""How many units of f32 one step may be off."""


def learning_rate(step: int) -> float:
    """Return a rate that is another one at each step."""
    return 0.05 / (1 + step % 3)


class Subject:
    """A backend, a model, and the step compiled for both.

    Args:
        backend: The backend.
        model: The model.
        folder: Where operands of a diverging operation are saved; ``None`` for nowhere.
        step: The step, if it is compiled already.
    """

    def __init__(
        self,
        backend: Backend,
        model: Model,
        folder: Path | None = None,
        *,
        step: CompiledTrainingStep | None = None,
    ) -> None:
        self.backend = backend
        self.model = model
        self.folder = folder
        self.step = step or compiled(backend.container(), model)
        self.state = initial_state(self.step, model.parameters)

    def engine(self) -> BackendEngine:
        """Return the programs of the step, loaded anew."""
        return BackendEngine(self.backend, self.step)

    def run(
        self,
        engine: BackendEngine | EvaluatorEngine,
        steps: range = STEPS,
        state: Mapping[str, Array] | None = None,
    ) -> list[Moment]:
        """Return a training run, from the start or from another state."""
        begin = self.state if state is None else state
        return train(self.step, engine, self.model.data, begin, steps=steps, rate=learning_rate)

    def first_divergence(self) -> str:
        """Return which operation differs first, and save its operands."""
        step, arrays = self.step, self.model.arrays
        found = bisect(self.backend, step.lowered_forward_graph, arrays)
        if found is None:
            program = step.lowered_derivative_program
            known = every_value(step.lowered_forward_graph, arrays)
            known[program.seed.value.id] = np.ones((), program.seed.value.type.dtype)
            inputs = {name: known[value.id] for name, value in program.graph.inputs}
            found = bisect(self.backend, program.graph, inputs)
        if found is None:
            return "no operation differs by itself: look at how programs are run"
        if self.folder is not None:
            self.folder.mkdir(parents=True, exist_ok=True)
            found.save(self.folder / f"{found.operation.id}.npz")
        return str(found)


def compiled(container: TrainingStepContainer, model: Model) -> CompiledTrainingStep:
    """Return the step of a model."""
    return container.compiler().compile_training_step(
        model.loss,
        inputs=model.arrays,
        parameters=list(model.parameters),
        optimizer=model.optimizer,
    )


def check_first_step(subject: Subject) -> str | None:
    """Compare loss, gradients and updated state of one step with the evaluator's."""
    found = subject.run(subject.engine(), range(1, 2))
    return _with_operation(subject, _compared(subject, found, range(1, 2), STEP_UNITS))


def check_training_run(subject: Subject) -> str | None:
    """Compare a run, with a learning rate and a step that change, with the evaluator's."""
    return _with_operation(subject, _compared(subject, subject.run(subject.engine()), STEPS))


def check_same_twice(subject: Subject) -> str | None:
    """Run the programs of one engine twice, other steps between: equal in every bit."""
    engine = subject.engine()
    first, _, again = (subject.run(engine, range(1, 3)) for _ in range(3))
    return _equal(first, again)


def check_results_are_kept(subject: Subject) -> str | None:
    """Hold on to results while the program runs on other operands: they must not change."""
    adapter, step = subject.backend.adapter, subject.step
    loaded = adapter.load(step.forward)
    values = {i: subject.model.arrays[name] for name, i in step.input_value_ids.items()}
    held = dict(adapter.run(loaded, values))
    copies = {i: np.array(a) for i, a in held.items()}
    other = {i: a if a.dtype.kind in "iu" else a * np.float32(0.5) for i, a in values.items()}
    adapter.run(loaded, other)
    changed = [i for i, a in held.items() if not np.array_equal(a, copies[i], equal_nan=True)]
    return f"a later run changed {', '.join(changed)}" if changed else None


def check_dirty_buffers(subject: Subject) -> str | None:
    """Spoil what a run returned, where it can be written, and run again: no trace may be left."""
    adapter, step = subject.backend.adapter, subject.step
    loaded = adapter.load(step.forward)
    values = {i: subject.model.arrays[name] for name, i in step.input_value_ids.items()}
    returned = adapter.run(loaded, {i: a.copy() for i, a in values.items()})
    expected = {i: np.array(a) for i, a in returned.items()}
    for array in map(np.asarray, returned.values()):
        if array.flags.writeable and array.dtype.kind == "f":
            array[...] = np.nan
    again = adapter.run(loaded, values)
    wrong = [i for i, a in expected.items() if not np.array_equal(a, again[i], equal_nan=True)]
    return f"{', '.join(wrong)} differ once earlier results are overwritten" if wrong else None


def check_either_order(subject: Subject) -> str | None:
    """Lower another step before and after this one, by one container: equal in every bit."""
    other = next(m for m in models() if m.name != subject.model.name)
    container = subject.backend.container()

    def lowered(first: Model, second: Model) -> CompiledTrainingStep:
        made = [compiled(container, model) for model in (first, second)]
        return made[0] if first is subject.model else made[1]

    steps = (lowered(subject.model, other), lowered(other, subject.model))
    subjects = [Subject(subject.backend, subject.model, step=step) for step in steps]
    return _equal(*(one.run(one.engine(), range(1, 3)) for one in subjects))


def check_lowered_twice(subject: Subject) -> str | None:
    """Lower the same step twice and run both in turn: target values may be fresh or shared."""
    second = Subject(subject.backend, subject.model)
    engines = [subject.engine(), second.engine()]
    states = [subject.state, second.state]
    for number in range(1, 4):
        moments = [
            one.run(engine, range(number, number + 1), state)[0]
            for one, engine, state in zip((subject, second), engines, states, strict=True)
        ]
        problem = _equal([moments[0]], [moments[1]])
        if problem:
            return problem
        states = [dict(moment.state) for moment in moments]
    return None


def check_saved_and_restored(subject: Subject) -> str | None:
    """Write the state to a file in the middle of a run and go on from it: equal in every bit."""
    middle = STEPS[len(STEPS) // 2]
    whole = subject.run(subject.engine())
    half = subject.run(subject.engine(), range(1, middle))
    file = io.BytesIO()
    state: dict[str, Any] = {**half[-1].state}
    np.savez(file, **state)
    file.seek(0)
    restored = dict(np.load(file))
    rest = subject.run(subject.engine(), range(middle, STEPS.stop), restored)
    return _equal(whole[middle - 1 :], rest)


def check_fusion(subject: Subject) -> str | None:
    """Compare a run with the backend's fusion hook, and one without."""
    container: Any = subject.backend.container()
    container.fusion_hook.override(NO_FUSION)
    plain = Subject(subject.backend, subject.model, step=compiled(container, subject.model))
    return _close(subject.run(subject.engine()), plain.run(plain.engine()))


CHECKS: Mapping[str, Callable[[Subject], str | None]] = {
    "one step": check_first_step,
    "a training run": check_training_run,
    "the same program run twice": check_same_twice,
    "results are kept": check_results_are_kept,
    "dirty buffers": check_dirty_buffers,
    "lowered in either order": check_either_order,
    "lowered twice, run in turn": check_lowered_twice,
    "saved and restored": check_saved_and_restored,
    "fused and not": check_fusion,
}
"""Every check by its name in reports."""


def _compared(
    subject: Subject, found: list[Moment], steps: range, units: float = UNITS
) -> str | None:
    return _close(found, subject.run(EvaluatorEngine(subject.step), steps), units)


def _with_operation(subject: Subject, problem: str | None) -> str | None:
    return None if problem is None else f"{problem}\n{subject.first_divergence()}"


def _close(found: list[Moment], expected: list[Moment], units: float = UNITS) -> str | None:
    """Return the first difference beyond rounding between two runs."""
    for number, (a, b) in enumerate(zip(found, expected, strict=True), start=1):
        for what, mine, other in _parts(a, b):
            problem = disagreement(mine, other, units=units)
            if problem:
                return f"step {number}, {what}: {problem}"
    return None


def _equal(found: list[Moment], expected: list[Moment]) -> str | None:
    """Return the first difference between two runs."""
    for number, (a, b) in enumerate(zip(found, expected, strict=True), start=1):
        for what, mine, other in _parts(a, b):
            if not np.array_equal(mine, other, equal_nan=True):
                return f"step {number}, {what}: another result than before"
    return None


def _parts(a: Moment, b: Moment) -> list[tuple[str, Array, Array]]:
    parts = [("loss", a.loss, b.loss)]
    parts += [(f"gradient of {n}", g, b.gradients[n]) for n, g in a.gradients.items()]
    return parts + [(f"new {key}", array, b.state[key]) for key, array in a.state.items()]
