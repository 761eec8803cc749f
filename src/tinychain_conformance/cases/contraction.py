from __future__ import annotations

import numpy as np

from tinychain_compile.operators import Einsum, MatMul
from tinychain_conformance.case import Case, normal


def product(ta, tb):
    a = "...km" if ta else "...mk"
    b = "...nk" if tb else "...kn"
    return lambda x, y: np.einsum(f"{a},{b}->...mn", x, y)


def operands(ta, tb, *stack):
    a = normal(*stack, *((4, 3) if ta else (3, 4)), seed=1)
    b = normal(*stack, *((2, 4) if tb else (4, 2)), seed=2)
    return a, b


FLAGS = [(False, False), (True, False), (False, True), (True, True)]
SQUARE = (normal(3, 3, seed=1), normal(3, 3, seed=2))
EQUATIONS = [
    (("ij", "jk"), "ik"),
    (("ij", "kj"), "ik"),
    (("bij", "bjk"), "bik"),
    (("bnij", "bnjc"), "bcni"),
    (("i", "j"), "ij"),
    (("ij", "ij"), ""),
    (("ijk",), "kj"),
    (("ij", "j", "k"), "ki"),
    (("ab", "bc", "cd"), "da"),
    (("ij", "k"), "i"),
]
SIZES = {"a": 2, "b": 3, "c": 4, "d": 5, "i": 2, "j": 3, "k": 4, "n": 2}


def arrays(terms):
    return tuple(
        normal(*(SIZES[letter] for letter in term), seed=i) for i, term in enumerate(terms)
    )


def einsum(terms, result):
    """Return the sum over every letter, element by element."""

    def apply(*operands):
        letters = sorted(set("".join(terms)))
        total = np.zeros([SIZES[letter] for letter in result])
        for place in np.ndindex(*(SIZES[letter] for letter in letters)):
            at = dict(zip(letters, place, strict=True))
            term = 1.0
            for letters_of, operand in zip(terms, operands, strict=True):
                term *= operand[tuple(at[letter] for letter in letters_of)]
            total[tuple(at[letter] for letter in result)] += term
        return total

    return apply


CASES = [
    *(Case(MatMul(*f), product(*f), operands(*f), (0, 1), 1e-14) for f in FLAGS),
    *(Case(MatMul(*f), product(*f), operands(*f, 5), (0, 1), 1e-14, " stack") for f in FLAGS),
    *(Case(MatMul(*f), product(*f), SQUARE, (0, 1), 1e-13, " square") for f in FLAGS),
    *(
        Case(
            Einsum(terms, result),
            einsum(terms, result),
            arrays(terms),
            tuple(range(len(terms))),
            1e-13,
        )
        for terms, result in EQUATIONS
    ),
    Case(
        Einsum(("ij", "jk"), "ik"),
        lambda a, b: [[19, 22], [43, 50]],
        (np.array([[1, 2], [3, 4]]), np.array([[5, 6], [7, 8]])),
        note=" i64",
    ),
]
