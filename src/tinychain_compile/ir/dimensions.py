"""Sizes of axes: integers, or polynomials over named symbols that are known only when running."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NoReturn, TypeAlias

from tinychain_compile.errors import ShapeMismatchError, SymbolicSizeError

Monomial: TypeAlias = tuple[tuple[str, int], ...]
"""A product of symbols with positive powers, sorted by symbol; empty for the constant term."""


class Symbolic:
    """A size in normal form: the sum of integer coefficients times monomials.

    Two sizes are equal exactly when their normal forms are; no order is defined, since an unknown
    size is neither smaller nor larger than another.
    """

    __slots__ = ("terms",)

    terms: tuple[tuple[Monomial, int], ...]
    """Each monomial with its coefficient, which is not 0; sorted."""

    def __init__(self, terms: Mapping[Monomial, int]) -> None:
        self.terms = tuple(sorted((m, c) for m, c in terms.items() if c))

    @staticmethod
    def symbol(name: str) -> Symbolic:
        """Return the size that is this symbol."""
        return Symbolic({((name, 1),): 1})

    @property
    def symbols(self) -> tuple[str, ...]:
        """The symbols that occur, sorted."""
        return tuple(sorted({name for monomial, _ in self.terms for name, _ in monomial}))

    def evaluate(self, sizes: Mapping[str, int]) -> int:
        """Return the number this size is, given the number each symbol is."""
        total = 0
        for monomial, coefficient in self.terms:
            for name, power in monomial:
                coefficient *= sizes[name] ** power
            total += coefficient
        return total

    def __index__(self) -> NoReturn:
        self._refuse("a symbolic size as a number")

    def __float__(self) -> NoReturn:
        self._refuse("a symbolic size as a number")

    def __truediv__(self, other: object) -> Any:
        return self._refuse_unless_tensor(f"{self} / {other!r}", other)

    def __rtruediv__(self, other: object) -> Any:
        return self._refuse_unless_tensor(f"{other!r} / {self}", other)

    def __lt__(self, other: object) -> Any:
        return self._refuse_unless_tensor(f"the order of {self} and {other!r}", other)

    __le__ = __gt__ = __ge__ = __lt__

    def _refuse_unless_tensor(self, what: str, other: object) -> Any:
        """Leave a tensor to its own operators, which know what a size is."""
        if isinstance(other, (int, float, Symbolic)):
            self._refuse(what)
        return NotImplemented

    def _refuse(self, what: str) -> NoReturn:
        raise SymbolicSizeError(
            what,
            expected="a size that is known when compiling",
            got=f"{self}",
            hint="Use np.zeros_like(x), np.ones_like(x) or np.full_like(x, number) for an array of "
            "a tensor's shape. A tensor may be divided by a size: np.sum(x) / x.shape[0].",
        )

    def __neg__(self) -> Dimension:
        return self * -1

    def __add__(self, other: object) -> Dimension:
        if not isinstance(other, (int, Symbolic)):
            return NotImplemented
        terms = dict(self.terms)
        for monomial, coefficient in _terms(other):
            terms[monomial] = terms.get(monomial, 0) + coefficient
        return _simplest(terms)

    __radd__ = __add__

    def __sub__(self, other: Dimension) -> Dimension:
        return self + other * -1

    def __rsub__(self, other: Dimension) -> Dimension:
        return self * -1 + other

    def __mul__(self, other: object) -> Dimension:
        if not isinstance(other, (int, Symbolic)):
            return NotImplemented
        terms: dict[Monomial, int] = {}
        for left, a in self.terms:
            for right, b in _terms(other):
                monomial = _times(left, right)
                terms[monomial] = terms.get(monomial, 0) + a * b
        return _simplest(terms)

    __rmul__ = __mul__

    def __floordiv__(self, other: Dimension) -> Dimension:
        return exact_quotient(self, other)

    def __rfloordiv__(self, other: Dimension) -> Dimension:
        return exact_quotient(other, self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Symbolic) and self.terms == other.terms

    def __hash__(self) -> int:
        return hash(self.terms)

    def render(self, name_of: Callable[[str], str]) -> str:
        """Return the size as an expression in Python, each symbol written as ``name_of`` says."""
        return " + ".join(_term_text(m, c, name_of) for m, c in reversed(self.terms))

    def __repr__(self) -> str:
        return self.render(str)


Dimension: TypeAlias = int | Symbolic
Shape: TypeAlias = tuple[Dimension, ...]


def exact_quotient(numerator: Dimension, denominator: Dimension) -> Dimension:
    """Return the size that times the denominator is the numerator.

    Raises:
        ShapeMismatchError: There is none, or many, or the denominator is another sum of symbols.
    """
    if numerator == denominator != 0:
        return 1
    if isinstance(numerator, int) and isinstance(denominator, int):
        if denominator and numerator % denominator == 0:
            return numerator // denominator
    elif len(_terms(denominator)) == 1:
        ((divisor, c),) = _terms(denominator)
        terms: dict[Monomial, int] = {}
        for monomial, coefficient in _terms(numerator):
            quotient = _over(monomial, divisor)
            if quotient is None or coefficient % c:
                break
            terms[quotient] = coefficient // c
        else:
            return _simplest(terms)
    raise ShapeMismatchError("size", expected=f"a multiple of {denominator}", got=f"{numerator}")


def size_of(shape: Iterable[Dimension]) -> Dimension:
    """Return the number of elements: the product of the sizes, 1 for rank 0."""
    total: Dimension = 1
    for dimension in shape:
        total = total * dimension
    return total


def symbols_in(shapes: Iterable[Shape]) -> tuple[str, ...]:
    """Return the symbols that occur in shapes, sorted."""
    sizes = (size for shape in shapes for size in shape)
    return tuple(sorted({name for d in sizes if not isinstance(d, int) for name in d.symbols}))


def symbol_sources(shapes: Mapping[str, Shape]) -> dict[str, tuple[str, int]]:
    """Return where each symbol can be read off: the name and the axis of a shape that has it."""
    sources: dict[str, tuple[str, int]] = {}
    for name, shape in shapes.items():
        for axis, size in enumerate(shape):
            if isinstance(size, Symbolic) and size == Symbolic.symbol(size.symbols[0]):
                sources.setdefault(size.symbols[0], (name, axis))
    return sources


def resolve_shape(shape: Shape, sizes: Mapping[str, int]) -> tuple[int, ...]:
    """Return the shape in numbers, given the number each symbol is."""
    return tuple(d if isinstance(d, int) else d.evaluate(sizes) for d in shape)


def _terms(dimension: Dimension) -> tuple[tuple[Monomial, int], ...]:
    if isinstance(dimension, Symbolic):
        return dimension.terms
    return (((), dimension),) if dimension else ()


def _simplest(terms: Mapping[Monomial, int]) -> Dimension:
    if all(not monomial or not coefficient for monomial, coefficient in terms.items()):
        return terms.get((), 0)
    return Symbolic(terms)


def _times(left: Monomial, right: Monomial) -> Monomial:
    powers = dict(left)
    for name, power in right:
        powers[name] = powers.get(name, 0) + power
    return tuple(sorted(powers.items()))


def _over(monomial: Monomial, divisor: Monomial) -> Monomial | None:
    powers = dict(monomial)
    for name, power in divisor:
        powers[name] = powers.get(name, 0) - power
    if any(power < 0 for power in powers.values()):
        return None
    return tuple(sorted((name, power) for name, power in powers.items() if power))


def _term_text(monomial: Monomial, coefficient: int, name_of: Callable[[str], str]) -> str:
    factors = [
        name_of(name) if power == 1 else f"{name_of(name)}**{power}" for name, power in monomial
    ]
    if coefficient != 1 or not factors:
        factors.insert(0, str(coefficient))
    return "*".join(factors)
