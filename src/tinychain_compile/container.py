"""The wiring of the compiler: stages as providers, and two slots that a backend fills.

A backend derives and assigns the slots; the inherited ``compiler`` uses exactly those. The library
resolves provider *objects*, so a plain subclass would keep the base's: on derivation this container
copies its whole graph and makes the backend's providers the slots' defaults
(docs/design/decisions/0011).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from difflib import get_close_matches
from typing import Any, ClassVar, cast

from dependency_injector import containers, providers

from tinychain_compile.autodiff import ReverseModeEngine
from tinychain_compile.captures.planner import PolicyPlanner
from tinychain_compile.compiler import TrainingStepCompiler
from tinychain_compile.conformity import check_fits
from tinychain_compile.declaration.checker import StrictDeclarationChecker
from tinychain_compile.decompositions import APPROXIMATE, DECOMPOSITIONS, UNDECOMPOSED
from tinychain_compile.dependencies import StructuralClassifier
from tinychain_compile.errors import BackendError
from tinychain_compile.lowering.fusion import NO_FUSION
from tinychain_compile.lowering.lowerer import ProgramLowerer
from tinychain_compile.optimizers.tracing import UpdateTracer
from tinychain_compile.passes.legalization import DecomposingLegalizer
from tinychain_compile.passes.runner import CheckedPassRunner
from tinychain_compile.protocols import (
    CapturePlanner,
    DeclarationChecker,
    DependencyClassifier,
    FusionHook,
    GradientTransformer,
    HandlerRegistry,
    Legalizer,
    Lowerer,
    OptimizerTracer,
    PassRunner,
    Simplifier,
    Tracer,
    VJPEngine,
)
from tinychain_compile.settings import (
    DEFAULTS,
    STAGES,
    Settings,
    StepDefaults,
    check_settings,
    defaults_of,
    merged,
    read_settings,
    stage_of,
)
from tinychain_compile.simplification import RULES
from tinychain_compile.simplification.simplifier import GraphSimplifier
from tinychain_compile.tracing import FunctionTracer
from tinychain_compile.transforms.appending import TransformAppender
from tinychain_compile.vjp_rules import GUARDS, VJP_RULES, WITHOUT_DERIVATIVE


class Slot(providers.Dependency[Any]):
    """A provider that a backend must fill, and whose object must fit a Protocol.

    Resolving an empty one names every empty slot.

    Args:
        protocol: What the object must fit.
    """

    def __init__(self, protocol: type = object) -> None:
        cast(Any, super()).__init__()
        self.protocol = protocol

    def __deepcopy__(self, memo: Any) -> Any:
        copied: Any = cast(Any, super()).__deepcopy__(memo)
        copied.protocol = self.protocol
        return copied

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self.check_filled()
        given = super().__call__(*args, **kwargs)
        check_fits(given, self.protocol, self.parent_name or "slot")
        return given

    def override(self, provider: Any) -> Any:
        """Put another provider, or an object, in place of the backend's."""
        if isinstance(provider, type):
            check_fits(provider, self.protocol, self.parent_name or "slot")
        return cast(Any, super()).override(provider)

    def check_filled(self) -> None:
        """Raise the error that names every empty slot of the container, if this one is empty."""
        if self.is_defined:
            return
        name = (self.parent_name or "container").rpartition(".")[0]
        parent: Any = getattr(self, "parent")  # noqa: B009 (typed incompletely by the library)
        found: dict[str, Any] = dict(parent.providers) if parent else {}
        slots = [k for k, v in found.items() if isinstance(v, Slot)]
        empty = [k for k in slots if not found[k].is_defined] or ["slot"]
        hint = "Assign these providers in a class that derives from the container."
        for slot in empty:
            others = [k for k in found if k not in _OWN and k not in slots]
            for near in get_close_matches(slot, others, n=1):
                hint += f" Is {near!r} meant to be {slot!r}?"
        raise BackendError(
            name,
            expected=f"a provider for each of {', '.join(f'{name}.{slot}' for slot in slots)}",
            got=f"none for {', '.join(f'{name}.{slot}' for slot in empty)}",
            hint=hint,
        )


def _filled(slot: Slot) -> Callable[[], Any]:
    """Return a slot itself, to be asked once per program, after checking that it can answer."""
    slot.check_filled()
    return slot


def _stage(name: str, settings: Settings, own: Callable[[], Any]) -> Any:
    """Return the stage that the settings name, else the container's own."""
    configured = stage_of(settings, name)
    return own() if configured is None else configured


def _stage_or(name: str, config: providers.Configuration, own: Any) -> Any:
    """Return the provider of a stage: what the settings name, else the container's own."""
    return providers.Callable(_stage, name, config, own.provider)


def _checked_compiler(defaults: StepDefaults, **stages: Any) -> TrainingStepCompiler:
    """Return the compiler over these stages, after checking that each fits its Protocol."""
    for name, stage in stages.items():
        check_fits(stage, STAGES[name], f"stage {name}")
    return TrainingStepCompiler(**stages, defaults=defaults)


class TrainingStepContainer(containers.DeclarativeContainer):
    """Wires the stages into a compiler. Derive, and assign the two slots.

    Any provider can be overridden on an instance, by ``override``, a constructor keyword,
    ``override_providers`` or ``testing.scoped_overrides``; nothing above a slot or a stage is
    cached, so the compiler sees it at once.
    """

    default_config: ClassVar[Settings] = {}
    """Settings that a backend's class starts with, over those of the class it derives from."""

    config = providers.Configuration(strict=True, default=cast("dict[Any, Any]", DEFAULTS))

    handler_registry: providers.Provider[HandlerRegistry] = Slot(HandlerRegistry)
    fusion_hook: providers.Provider[FusionHook] = Slot(FusionHook)

    declaration_checker: providers.Provider[DeclarationChecker] = _stage_or(
        "declaration_checker", config, providers.Factory(StrictDeclarationChecker)
    )
    tracer: providers.Provider[Tracer] = _stage_or(
        "tracer", config, providers.Factory(FunctionTracer)
    )
    vjp_engine: providers.Provider[VJPEngine] = _stage_or(
        "vjp_engine",
        config,
        providers.Singleton(
            ReverseModeEngine,
            rules=providers.Object(VJP_RULES),
            without_derivative=providers.Object(WITHOUT_DERIVATIVE),
            guards=providers.Object(GUARDS),
        ),
    )
    gradient_transformer: providers.Provider[GradientTransformer] = _stage_or(
        "gradient_transformer", config, providers.Factory(TransformAppender)
    )
    capture_planner: providers.Provider[CapturePlanner] = _stage_or(
        "capture_planner", config, providers.Factory(PolicyPlanner)
    )
    dependency_classifier: providers.Provider[DependencyClassifier] = _stage_or(
        "dependency_classifier", config, providers.Factory(StructuralClassifier)
    )
    optimizer_tracer: providers.Provider[OptimizerTracer] = _stage_or(
        "optimizer_tracer", config, providers.Factory(UpdateTracer)
    )
    simplifier: providers.Provider[Simplifier] = _stage_or(
        "simplifier",
        config,
        providers.Singleton(GraphSimplifier, providers.Object(RULES)),
    )
    legalizer: providers.Provider[Legalizer] = _stage_or(
        "legalizer",
        config,
        providers.Singleton(
            DecomposingLegalizer,
            decompositions=providers.Object(DECOMPOSITIONS),
            undecomposed=providers.Object(UNDECOMPOSED),
            approximate=providers.Object(frozenset(APPROXIMATE)),
        ),
    )
    pass_runner: providers.Provider[PassRunner] = _stage_or(
        "pass_runner", config, providers.Factory(CheckedPassRunner)
    )
    lowerer: providers.Provider[Lowerer] = _stage_or(
        "lowerer",
        config,
        providers.Factory(
            ProgramLowerer,
            registry_for_program=providers.Callable(_filled, handler_registry.provider),
            fusion_for_program=providers.Callable(_filled, fusion_hook.provider),
        ),
    )
    step_defaults: providers.Provider[StepDefaults] = providers.Callable(defaults_of, config)
    compiler: providers.Provider[TrainingStepCompiler] = providers.Factory(
        _checked_compiler,
        defaults=step_defaults,
        declaration_checker=declaration_checker,
        tracer=tracer,
        vjp_engine=vjp_engine,
        gradient_transformer=gradient_transformer,
        capture_planner=capture_planner,
        dependency_classifier=dependency_classifier,
        optimizer_tracer=optimizer_tracer,
        simplifier=simplifier,
        legalizer=legalizer,
        pass_runner=pass_runner,
        lowerer=lowerer,
    )

    def __new__(  # pyright: ignore[reportInconsistentConstructor]
        cls,
        *,
        config: Settings | str | os.PathLike[str] | None = None,
        **overriding_providers: Any,
    ) -> TrainingStepContainer:
        """Make an instance, with these settings over the class's and these providers overridden.

        Raises:
            BackendError: A keyword names no provider.
            SettingsError: A setting is unknown or of the wrong kind.
        """
        settings: Settings = {} if config is None else read_settings(config)
        unknown = [name for name in overriding_providers if name not in cls.providers]
        if unknown:
            raise BackendError(
                cls.__name__,
                expected=f"names among {', '.join(cls.providers)}",
                got=", ".join(f"{cls.__name__}.{name}" for name in unknown),
            )
        made: TrainingStepContainer = super().__new__(cls, **overriding_providers)
        if settings:
            _set_defaults(made.config, settings)
        _make_synchronous(made.providers)
        return made

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Copy the base's graph, with the slots that the subclass declares filled.

        Raises:
            BackendError: The subclass redeclares what is no slot, or has two container bases.
        """
        super().__init_subclass__(**kwargs)
        bases = [base for base in cls.__bases__ if isinstance(base, type(TrainingStepContainer))]
        if len(bases) != 1:
            names = ", ".join(base.__name__ for base in bases)
            raise BackendError(cls.__name__, expected="one container base", got=names)
        _derive(cls, bases[0].providers, dict(cls.cls_providers))
        if "default_config" in vars(cls):
            check_settings(cls.default_config, f"{cls.__name__}.default_config")
            _set_defaults(cls.config, cls.default_config)


def _set_defaults(config: providers.Configuration, settings: Settings) -> None:
    """Put settings over those that a configuration has, as its own: a reset leaves them."""
    config.set_default(cast("dict[Any, Any]", merged(config(), settings)))


def _derive(
    cls: type[TrainingStepContainer],
    inherited: dict[str, providers.Provider[Any]],
    own: dict[str, providers.Provider[Any]],
) -> None:
    """Put a copy of the inherited graph on a class, its slots filled by the class's own providers.

    One memo serves all copies, so that they refer to each other as the originals did; what refers
    to a provider that fills a slot refers to the slot.
    """
    plain = [n for n in vars(cls) if n in inherited and n not in own]
    if plain:
        raise BackendError(
            cls.__name__,
            expected=f"providers for {', '.join(f'{cls.__name__}.{n}' for n in plain)}",
            got=", ".join(repr(vars(cls)[n]) for n in plain),
            hint="providers.Factory(SomeClass) makes one each time, providers.Object(it) gives it.",
        )
    fixed = [n for n in own if n in inherited and not isinstance(inherited[n], Slot)]
    if fixed:
        raise BackendError(
            cls.__name__,
            expected="new providers, and the slots "
            f"{', '.join(n for n, p in inherited.items() if isinstance(p, Slot))}",
            got=f"a redeclared {', '.join(f'{cls.__name__}.{n}' for n in fixed)}",
            hint="Override a stage on an instance: container.tracer.override(...).",
        )
    memo: dict[int, Any] = {}
    copies = providers.deepcopy(inherited, memo)
    for name, provider in own.items():
        if name in copies:
            copies[name].set_default(providers.deepcopy(provider, memo))
            memo[id(provider)] = copies[name]
    for name, provider in own.items():
        if name not in copies:
            copies[name] = providers.deepcopy(provider, memo)
    _make_synchronous(copies)
    for name, provider in copies.items():
        setattr(cls, name, provider)


def _make_synchronous(named: dict[str, providers.Provider[Any]]) -> None:
    """Keep one asynchronous fake from making the graph return futures for ever."""
    for provider in named.values():
        provider.disable_async_mode()


_OWN = frozenset(TrainingStepContainer.providers)
_make_synchronous(TrainingStepContainer.providers)


def compiler_for(
    handlers: HandlerRegistry | Callable[[], HandlerRegistry], fusion: FusionHook | None
) -> TrainingStepCompiler:
    """Return the container's compiler, with a lowerer for these very objects.

    Args:
        handlers: A registry, used for every program, or a function that makes one per program.
        fusion: The fusion hook, used for every program; none if ``None``.
    """
    is_registry = hasattr(handlers, "has_handler") and not isinstance(handlers, type)
    if not is_registry and not callable(handlers):
        raise BackendError(
            "handlers", expected="a registry, or a function that makes one", got=repr(handlers)
        )
    registry_for_program = cast(
        Callable[[], HandlerRegistry], (lambda: handlers) if is_registry else handlers
    )
    hook = NO_FUSION if fusion is None else fusion
    lowerer = ProgramLowerer(registry_for_program, lambda: hook)
    return TrainingStepContainer.compiler(lowerer=lowerer)
