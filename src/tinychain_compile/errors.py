"""The error family: one base class, one subclass per category.

Every member prints its subject, what was expected, what came, the user's source line where there is
one, and what to do. ``category`` is a stable string for programs.
"""

from __future__ import annotations

from typing import ClassVar, Self


class CompilationError(Exception):
    """Base of every error this package raises on purpose.

    Args:
        subject: What the error is about, such as ``parameter 'w1'`` or ``matmul``.
        expected: What would have been right.
        got: What came instead.
        hint: What to do about it.
        location: Where in the user's code; anything whose ``str`` reads well.
    """

    category: ClassVar[str] = "compilation"

    def __init__(
        self,
        subject: str,
        *,
        expected: str | None = None,
        got: str | None = None,
        hint: str | None = None,
        location: object | None = None,
    ) -> None:
        super().__init__(subject)
        self.subject = subject
        self.expected = expected
        self.got = got
        self.hint = hint
        self.location = location

    def at(self, location: object | None) -> Self:
        """Add the location unless the error already has one."""
        if self.location is None:
            self.location = location
        return self

    def __str__(self) -> str:
        text = self.subject
        if self.expected is not None:
            text += f": expected {self.expected}"
        if self.got is not None:
            text += f"{',' if self.expected is not None else ':'} got {self.got}"
        if self.location is not None:
            text += f"\n  at {self.location}"
        if self.hint is not None:
            text += f"\n  {self.hint}"
        return text


class UnsupportedOperatorError(CompilationError):
    """A program needs operators that the backend neither has nor can decompose."""

    category = "unsupported_operator"


class MissingDerivativeError(CompilationError):
    """An operator on a parameter's path has no VJP rule."""

    category = "missing_derivative_behavior"


class DisconnectedParameterError(CompilationError):
    """A declared parameter has no differentiable path to the loss."""

    category = "disconnected_parameter"


class ShapeMismatchError(CompilationError):
    """Shapes, axes or sizes do not fit an operator."""

    category = "shape_mismatch"


class BroadcastShapeError(ShapeMismatchError):
    """Shapes do not broadcast together."""

    category = "broadcast_shape_mismatch"


class MatMulShapeError(ShapeMismatchError):
    """The shapes of a matrix product do not fit."""

    category = "matmul_shape_mismatch"


class PermutationError(ShapeMismatchError):
    """The axes of a transpose are not a permutation."""

    category = "invalid_permutation"


class ReductionError(ShapeMismatchError):
    """A reduction over absent, repeated or empty axes."""

    category = "unsupported_reduction"


class IndexOutOfRangeError(ShapeMismatchError, IndexError):
    """An index that is known when compiling lies outside its axis, or has no axis."""

    category = "index_out_of_range"


class DtypeMismatchError(CompilationError):
    """An operator met a dtype that it is not defined for."""

    category = "dtype_mismatch"


class NotDifferentiableDtypeError(CompilationError):
    """A derivative was asked for a value that is not floating."""

    category = "dtype_not_differentiable"


class MissingShapeError(CompilationError):
    """An input spec has no usable shape."""

    category = "missing_shape_metadata"


class MissingDtypeError(CompilationError):
    """An input spec has no usable dtype."""

    category = "missing_dtype_metadata"


class SeedShapeError(CompilationError):
    """The seed's type is not the loss's."""

    category = "seed_shape_mismatch"


class MalformedGraphError(CompilationError):
    """A graph violates an invariant of the verifier."""

    category = "malformed_derivative_ir"


class MissingDependencyError(MalformedGraphError):
    """A value is used that nobody supplies."""

    category = "missing_dependency"


class AmbiguousProducerError(MalformedGraphError):
    """Two operations, or an operation and an input, claim one id."""

    category = "ambiguous_producer"


class InvalidOutputError(MalformedGraphError):
    """A selected output is not a value of the graph."""

    category = "invalid_selected_output"


class HandlerContractError(CompilationError):
    """A handler, registry or fusion hook broke its contract."""

    category = "handler_contract_violation"


class PassContractError(CompilationError):
    """A caller-supplied pass broke its contract."""

    category = "expansion_contract_violation"


class DeclarationError(CompilationError):
    """Inputs, parameters, optimizer or options are not declared rightly."""

    category = "invalid_training_declaration"


class LossSignatureError(CompilationError):
    """The loss cannot take the declared inputs by keyword."""

    category = "invalid_loss_signature"


class LossOutputError(CompilationError):
    """The loss did not return what it must."""

    category = "invalid_loss_output"


class UpdateSignatureError(CompilationError):
    """The optimizer's update cannot take its inputs by keyword."""

    category = "invalid_update_signature"


class UpdateOutputError(CompilationError):
    """The optimizer's update did not return a tensor of the parameter's type."""

    category = "invalid_update_output"


class ForeignTensorError(CompilationError):
    """A tensor of one trace met another trace."""

    category = "foreign_tensor"


class ExpiredTraceError(CompilationError):
    """A traced tensor was used after its trace had ended."""

    category = "expired_trace"


class DataDependentValueError(CompilationError, TypeError, ValueError):
    """Python asked a traced tensor for a number, a truth value or an array."""

    category = "data_dependent_value"


class SymbolicSizeError(CompilationError, TypeError):
    """A size that is known only when running was used as a number."""

    category = "symbolic_size"


class UnsupportedFunctionError(CompilationError, TypeError):
    """A NumPy function, method, argument or index that tracing does not know."""

    category = "unsupported_function"


class BackendError(CompilationError):
    """A backend's container is not filled or not formed rightly."""

    category = "invalid_backend"


class SettingsError(CompilationError):
    """A setting is unknown, of the wrong kind, or leads to nothing that can be used."""

    category = "invalid_settings"


class BindingError(CompilationError):
    """A consumer was fed a missing, extra, misshapen or mistyped value."""

    category = "invalid_binding"


class PrecisionWarning(UserWarning):
    """An update cannot move a parameter, because its dtype holds no number near enough."""


class MissingFunctionError(UnsupportedFunctionError, AttributeError):
    """A name that the namespace of traced tensors does not have."""
