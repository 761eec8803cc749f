"""The runtime scalars of a step: given, scheduled, counted or by default, checked before a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias, TypeGuard, cast

import numpy as np

from tinychain_backends.sessions.binding import check_names
from tinychain_compile import BindingError, CompiledTrainingStep, RuntimeInput

Given: TypeAlias = "float | Callable[[int], float] | Mapping[str, Given]"
"""A number, a schedule of the steps done before, or one of these for each group."""

_COUNTED = frozenset(("step", "micro_batches"))


class StepScalars:
    """What a step's programs read beside arrays.

    Args:
        record: The compiled step.
        always: What to feed at every step unless told otherwise.

    Raises:
        BindingError: ``always`` names what the step does not read.
    """

    def __init__(self, record: CompiledTrainingStep, always: Mapping[str, Given]) -> None:
        self._rows = {row.name: row for row in record.runtime_inputs}
        self._dtypes = _dtypes_by_name(record)
        self._always = self._by_row(always)

    @property
    def names(self) -> frozenset[str]:
        """All that the step reads."""
        return frozenset(self._rows)

    def resolved(
        self,
        given: Mapping[str, Given],
        counted: Mapping[str, float],
        wanted: frozenset[str] | None = None,
    ) -> dict[str, float]:
        """Return a number for each runtime input.

        Args:
            given: By name; beats what is always fed and defaults.
            counted: What the session counts or holds itself; must not be given.
            wanted: The names to return; all by default.

        Raises:
            BindingError: Something is missing, extra, no number or out of range.
        """
        told = self._by_row(given)
        held = [name for name in counted if name in told]
        if held:
            raise BindingError(
                "optimizer inputs",
                expected=f"no {', '.join(held)}: the session has its own",
                got=", ".join(f"{name}={told[name]!r}" for name in held),
            )
        defaults = {n: row.default for n, row in self._rows.items() if row.default is not None}
        known = {**defaults, **self._always, **told}
        known |= {name: value for name, value in counted.items() if name in self._rows}
        rows = [name for name in self._rows if wanted is None or name in wanted]
        check_names("optimizer inputs", [n for n in known if n in rows], rows)
        steps_before = int(counted["step"]) - 1
        return {
            name: self._checked(
                name, value(steps_before) if callable(value) else cast(float, value)
            )
            for name, value in known.items()
            if name in rows
        }

    def _by_row(self, given: Mapping[str, Given]) -> dict[str, Given]:
        """Return what is given by the names of runtime inputs: for all groups, or for each."""
        told: dict[str, Given] = {}
        for name, value in given.items():
            if name in self._rows:
                told[name] = value
                continue
            groups = {
                row.removesuffix(f"/{name}"): row for row in self._rows if row.endswith(f"/{name}")
            }
            if not groups:
                wanted = [row for row in self._rows if row not in _COUNTED]
                check_names("optimizer inputs", [name, *wanted], wanted)
            if _is_by_group(value):
                check_names(f"groups of optimizer input {name!r}", {**groups, **value}, groups)
                told |= {groups[group]: own for group, own in value.items()}
            else:
                told |= dict.fromkeys(groups.values(), value)
        return told

    def _checked(self, name: str, value: float) -> float:
        """Return a value that is in range as it is, and as the programs will read it."""
        row = self._rows[name]
        if not row.admits(value):
            raise _out_of_range(row, value)
        for dtype in self._dtypes[name]:
            with np.errstate(over="ignore", under="ignore"):
                rounded = np.asarray(value, dtype)
            if not row.admits(float(rounded)):
                raise _out_of_range(row, value, f", which is {rounded} in {dtype}")
        return value


def _is_by_group(value: Given) -> TypeGuard[Mapping[str, Given]]:
    return isinstance(value, Mapping)


def _out_of_range(row: RuntimeInput, value: object, rounded: str = "") -> BindingError:
    return BindingError(
        f"optimizer input {row.name!r}",
        expected=row.range_text,
        got=f"{value!r}{rounded}",
    )


def _dtypes_by_name(record: CompiledTrainingStep) -> dict[str, set[np.dtype[np.generic]]]:
    """Return the dtypes in which each runtime input is read."""
    dtypes: dict[str, set[np.dtype[np.generic]]] = {r.name: set() for r in record.runtime_inputs}
    for row in record.parameters:
        for role, value in row.source_update_graph.inputs:
            if role in row.runtime_inputs:
                dtypes[row.runtime_inputs[role]].add(value.type.dtype)
    ids = {value_id: name for name, value_id in record.derivative_input_value_ids.items()}
    program = record.source_derivative_program
    for _, value in program.own_inputs:
        if value.id in ids:
            dtypes[ids[value.id]].add(value.type.dtype)
    if "loss_scale" in dtypes:
        dtypes["loss_scale"].add(program.seed.value.type.dtype)
    return dtypes
