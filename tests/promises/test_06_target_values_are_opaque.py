"""Target values are opaque: carried, never inspected, compared, hashed or iterated."""

from __future__ import annotations

from tests.support.hooks import hook_returning
from tests.support.losses import LOSSES
from tinychain_compile import SGD, FusionResult, compile_training_step
from tinychain_compile.operators import OPERATORS


class Hostile:
    """Raises at whatever is done with it."""

    def _refuse(self, *args, **kwargs):
        raise AssertionError("a target value was touched")

    __eq__ = __ne__ = __hash__ = __bool__ = __iter__ = __len__ = _refuse
    __repr__ = __str__ = __getattr__ = __getitem__ = __contains__ = __call__ = _refuse
    __copy__ = __deepcopy__ = __index__ = __lt__ = __add__ = __array__ = _refuse


class HostileRegistry:
    def __init__(self):
        self.made = []

    def has_handler(self, operator):
        return True

    def supported_types(self):
        return OPERATORS

    def lookup(self, operator):
        return self

    operator_type = None

    def lower(self, context):
        self.made.append(object.__new__(Hostile))
        return self.made[-1]


def test_a_value_that_refuses_everything_goes_through_compilation():
    registry = HostileRegistry()
    for loss, types, parameters in LOSSES.values():
        step = compile_training_step(
            loss,
            inputs=types,
            parameters=parameters,
            optimizer=SGD(),
            handlers=registry,
            bind_input=lambda row: object.__new__(Hostile),
        )
        assert any(step.forward.output_values[0] is value for value in registry.made)


def test_a_fused_value_is_opaque_too():
    loss, types, parameters = LOSSES["reused"]

    def fuse(context):
        return FusionResult(object.__new__(Hostile), (context.candidates[0].node_id,))

    compile_training_step(
        loss,
        inputs=types,
        parameters=parameters,
        optimizer=SGD(),
        handlers=HostileRegistry(),
        fusion=hook_returning(fuse),
    )
