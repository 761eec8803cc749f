"""Writes the pages that are made from the source: the operators, and what is given at kinks.

    python docs/generate.py

A test fails while a page differs from what this would write.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Iterable
from pathlib import Path

from tinychain_compile.decompositions import DECOMPOSITIONS, UNDECOMPOSED
from tinychain_compile.operators import BASIS, LITERALS, OPERATORS, Cast, Operator
from tinychain_compile.vjp_rules import GUARDS, KINKS, VJP_RULES, WITHOUT_DERIVATIVE

FOLDER = Path(__file__).parent


def operators_page() -> str:
    """Return the page of all operators, a table for each family."""
    families: dict[str, list[type[Operator]]] = {}
    for operator in OPERATORS:
        families.setdefault(operator.__module__.rpartition(".")[2], []).append(operator)
    parts = [
        "# Operators",
        "<!-- Written by docs/generate.py from the classes, rules and decompositions. -->",
        f"There are {len(OPERATORS)}. **B** marks the basis of twelve in which every decomposition "
        "ends, **L** the literals. `T` is any numeric dtype, `F` a floating one, `I` an integer "
        "one; `g` is the cotangent of the output `y`. What is given where there is no derivative "
        "is in [derivatives.md](derivatives.md).",
    ]
    for family, members in families.items():
        module = inspect.getmodule(members[0])
        parts.append(f"## {family}\n\n{first_paragraph(module)}")
        rows = [[_name(m), first_paragraph(m), _derivative(m), _decomposition(m)] for m in members]
        parts.append(table(["operator", "what it is", "derivative", "decomposition"], rows))
    return "\n\n".join(parts) + "\n"


def derivatives_page() -> str:
    """Return the page of what is given at kinks and instead of NaN."""
    guarded = ", ".join(f"`{operator.name}`" for operator in OPERATORS if operator in GUARDS)
    rows = [
        [f"`{operator.name}`", kink.case, kink.value, kink.peers or "not stated"]
        for operator in OPERATORS
        for kink in KINKS.get(operator, ())
    ]
    parts = [
        "# What is given where there is no derivative, or where others give NaN",
        "<!-- Written by docs/generate.py from the statements beside the rules. -->",
        "A kink has one stated value, the same on every backend, whole or decomposed. Each row is "
        "a test.",
        table(["operator", "case", "here", "elsewhere"], rows),
        "## A zero cotangent annihilates",
        "Where the rule of an elementwise operator multiplies by a factor that can be infinite or "
        "NaN, a cotangent of 0 gives 0 whatever the factor, so a branch that is masked out cannot "
        "spoil a gradient. An infinite factor of a cotangent that is not 0 stays visible. Guarded "
        f"are the operands of {guarded}, but for factors that are finite literals or integers, and "
        "cotangents that are the seed times literals. Products that sum (`matmul`, `einsum`, "
        "`conv`) do not select. `CompileOptions(nan_guard=False)` leaves the guard out; "
        "[record 25](design/decisions/0025-zero-cotangents-annihilate.md) says why it is there.",
    ]
    return "\n\n".join(parts) + "\n"


def first_paragraph(documented: object) -> str:
    """Return the first paragraph of a docstring as one line, and the signature if it is next."""
    text = inspect.getdoc(documented) or ""
    paragraphs = [" ".join(p.split()) for p in text.split("\n\n")]
    first = paragraphs[0]
    if len(paragraphs) > 1 and "->" not in first and "->" in paragraphs[1].split("``.")[0]:
        first = f"{first} {paragraphs[1]}"
    return first.replace("``", "`")


def table(titles: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a table in Markdown."""
    lines = [list(titles)]
    lines.append(["---"] * len(lines[0]))
    lines += [[cell.replace("|", "\\|") for cell in row] for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _name(operator: type[Operator]) -> str:
    attributes = ", ".join(field.name for field in dataclasses.fields(operator))  # type: ignore[arg-type]
    mark = " **B**" if operator in BASIS else " **L**" if operator in LITERALS else ""
    return f"`{operator.name}({attributes})`{mark}" if attributes else f"`{operator.name}`{mark}"


def _derivative(operator: type[Operator]) -> str:
    if operator in WITHOUT_DERIVATIVE:
        return f"none: {WITHOUT_DERIVATIVE[operator]}"
    return first_paragraph(VJP_RULES[operator])


def _decomposition(operator: type[Operator]) -> str:
    if operator in DECOMPOSITIONS:
        return first_paragraph(DECOMPOSITIONS[operator])
    if operator in UNDECOMPOSED:
        return f"none: {UNDECOMPOSED[operator]}"
    if operator is Cast:
        return "none: a backend with more than one numeric type has it"
    return ""


PAGES = {"operators.md": operators_page, "derivatives.md": derivatives_page}

if __name__ == "__main__":
    for name, page in PAGES.items():
        (FOLDER / name).write_text(page(), encoding="utf-8")
