"""Compiles a training step (loss, derivative, optimizer update) for any backend.

Every public name is resolved when it is first asked for, so importing the package is cheap.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tinychain_compile.api import check_fusion as check_fusion
    from tinychain_compile.api import check_tier as check_tier
    from tinychain_compile.api import compile_function as compile_function
    from tinychain_compile.api import compile_training_step as compile_training_step
    from tinychain_compile.api import explain_support as explain_support
    from tinychain_compile.api import lower_derivative_program as lower_derivative_program
    from tinychain_compile.api import lower_graph as lower_graph
    from tinychain_compile.api import rank_next_handlers as rank_next_handlers
    from tinychain_compile.api import trace_parameter_update as trace_parameter_update
    from tinychain_compile.artifacts import BufferCompilation as BufferCompilation
    from tinychain_compile.artifacts import CompiledFunction as CompiledFunction
    from tinychain_compile.artifacts import CompiledTrainingStep as CompiledTrainingStep
    from tinychain_compile.artifacts import CompileOptions as CompileOptions
    from tinychain_compile.artifacts import DependencyAnalysis as DependencyAnalysis
    from tinychain_compile.artifacts import DerivativeProgram as DerivativeProgram
    from tinychain_compile.artifacts import LoweredOperation as LoweredOperation
    from tinychain_compile.artifacts import LoweredProgram as LoweredProgram
    from tinychain_compile.artifacts import ParameterCompilation as ParameterCompilation
    from tinychain_compile.artifacts import Provenance as Provenance
    from tinychain_compile.artifacts import TracedUpdate as TracedUpdate
    from tinychain_compile.artifacts import ValueDependency as ValueDependency
    from tinychain_compile.capture_policies import ByteBudget as ByteBudget
    from tinychain_compile.capture_policies import CapturePolicy as CapturePolicy
    from tinychain_compile.capture_policies import KeepAll as KeepAll
    from tinychain_compile.capture_policies import KeepNamed as KeepNamed
    from tinychain_compile.capture_policies import MinimumCut as MinimumCut
    from tinychain_compile.capture_policies import RecomputeAll as RecomputeAll
    from tinychain_compile.errors import BackendError as BackendError
    from tinychain_compile.errors import BindingError as BindingError
    from tinychain_compile.errors import CompilationError as CompilationError
    from tinychain_compile.errors import HandlerContractError as HandlerContractError
    from tinychain_compile.errors import PrecisionWarning as PrecisionWarning
    from tinychain_compile.ir.dimensions import Dimension as Dimension
    from tinychain_compile.ir.dimensions import Shape as Shape
    from tinychain_compile.ir.dimensions import resolve_shape as resolve_shape
    from tinychain_compile.ir.dimensions import symbol_sources as symbol_sources
    from tinychain_compile.ir.dimensions import symbols_in as symbols_in
    from tinychain_compile.ir.graph import Graph as Graph
    from tinychain_compile.ir.graph import Operation as Operation
    from tinychain_compile.ir.graph import Value as Value
    from tinychain_compile.ir.origin import source_line as source_line
    from tinychain_compile.ir.printer import fingerprint as fingerprint
    from tinychain_compile.ir.printer import print_graph as print_graph
    from tinychain_compile.ir.types import TensorType as TensorType
    from tinychain_compile.ir.verifier import verify as verify
    from tinychain_compile.ledgers import Ledger as Ledger
    from tinychain_compile.ledgers import LedgerRow as LedgerRow
    from tinychain_compile.lowering.fusion import NO_FUSION as NO_FUSION
    from tinychain_compile.lowering.patterns import Pattern as Pattern
    from tinychain_compile.lowering.patterns import PatternHook as PatternHook
    from tinychain_compile.lowering.patterns import pattern as pattern
    from tinychain_compile.lowering.ready_hooks import BroadcastFoldingHook as BroadcastFoldingHook
    from tinychain_compile.lowering.ready_hooks import ElementwiseChainHook as ElementwiseChainHook
    from tinychain_compile.lowering.regions import Region as Region
    from tinychain_compile.lowering.registry import (
        OperationHandlerRegistry as OperationHandlerRegistry,
    )
    from tinychain_compile.merging import merge_step as merge_step
    from tinychain_compile.optimizers.adafactor import Adafactor as Adafactor
    from tinychain_compile.optimizers.adam import Adam as Adam
    from tinychain_compile.optimizers.adam import Adamax as Adamax
    from tinychain_compile.optimizers.adam import AdamW as AdamW
    from tinychain_compile.optimizers.adam import AMSGrad as AMSGrad
    from tinychain_compile.optimizers.adam_further import LAMB as LAMB
    from tinychain_compile.optimizers.adam_further import NAdam as NAdam
    from tinychain_compile.optimizers.adaptive import Adadelta as Adadelta
    from tinychain_compile.optimizers.adaptive import Adagrad as Adagrad
    from tinychain_compile.optimizers.adaptive import RMSprop as RMSprop
    from tinychain_compile.optimizers.mixed_precision import MixedPrecision as MixedPrecision
    from tinychain_compile.optimizers.sgd import SGD as SGD
    from tinychain_compile.optimizers.sgd import Lion as Lion
    from tinychain_compile.passes.rewriting import rewrite as rewrite
    from tinychain_compile.protocols import FROZEN as FROZEN
    from tinychain_compile.protocols import AnyOptimizer as AnyOptimizer
    from tinychain_compile.protocols import Declined as Declined
    from tinychain_compile.protocols import Evaluator as Evaluator
    from tinychain_compile.protocols import Frozen as Frozen
    from tinychain_compile.protocols import FusionCandidate as FusionCandidate
    from tinychain_compile.protocols import FusionContext as FusionContext
    from tinychain_compile.protocols import FusionHook as FusionHook
    from tinychain_compile.protocols import FusionResult as FusionResult
    from tinychain_compile.protocols import GradientTransform as GradientTransform
    from tinychain_compile.protocols import GradientTransformer as GradientTransformer
    from tinychain_compile.protocols import HandlerRegistry as HandlerRegistry
    from tinychain_compile.protocols import InputSpec as InputSpec
    from tinychain_compile.protocols import OperationContext as OperationContext
    from tinychain_compile.protocols import OperationHandler as OperationHandler
    from tinychain_compile.protocols import Optimizer as Optimizer
    from tinychain_compile.protocols import OptimizerChoice as OptimizerChoice
    from tinychain_compile.reports import ClaimRow as ClaimRow
    from tinychain_compile.reports import FusionProof as FusionProof
    from tinychain_compile.reports import HandlerRank as HandlerRank
    from tinychain_compile.reports import HandlerRanking as HandlerRanking
    from tinychain_compile.reports import SupportReport as SupportReport
    from tinychain_compile.reports import SupportRow as SupportRow
    from tinychain_compile.reports import SupportStatus as SupportStatus
    from tinychain_compile.runtime_inputs import RuntimeInput as RuntimeInput
    from tinychain_compile.slots import CopyOfParameter as CopyOfParameter
    from tinychain_compile.slots import Fill as Fill
    from tinychain_compile.slots import Slot as Slot
    from tinychain_compile.slots import SlotCompilation as SlotCompilation
    from tinychain_compile.tensor import Tensor as Tensor
    from tinychain_compile.transforms.clipping import ClipByGlobalNorm as ClipByGlobalNorm
    from tinychain_compile.transforms.clipping import ClipByNorm as ClipByNorm
    from tinychain_compile.transforms.clipping import ClipByValue as ClipByValue
    from tinychain_compile.transforms.clipping import PublishGlobalNorm as PublishGlobalNorm
    from tinychain_compile.transforms.shaping import CentralizeGradients as CentralizeGradients
    from tinychain_compile.transforms.shaping import ScaleGradients as ScaleGradients
    from tinychain_compile.transforms.shaping import WeightDecay as WeightDecay
    from tinychain_compile.trees import flatten as flatten
    from tinychain_compile.trees import unflatten as unflatten

_MODULE_BY_NAME = {
    "PrecisionWarning": "errors",
    "FROZEN": "protocols",
    "Frozen": "protocols",
    "GradientTransform": "protocols",
    "GradientTransformer": "protocols",
    "AnyOptimizer": "protocols",
    "OptimizerChoice": "protocols",
    "Adam": "optimizers.adam",
    "AdamW": "optimizers.adam",
    "AMSGrad": "optimizers.adam",
    "Adamax": "optimizers.adam",
    "NAdam": "optimizers.adam_further",
    "LAMB": "optimizers.adam_further",
    "Lion": "optimizers.sgd",
    "Adagrad": "optimizers.adaptive",
    "Adadelta": "optimizers.adaptive",
    "RMSprop": "optimizers.adaptive",
    "Adafactor": "optimizers.adafactor",
    "MixedPrecision": "optimizers.mixed_precision",
    "ClipByValue": "transforms.clipping",
    "ClipByNorm": "transforms.clipping",
    "ClipByGlobalNorm": "transforms.clipping",
    "PublishGlobalNorm": "transforms.clipping",
    "WeightDecay": "transforms.shaping",
    "ScaleGradients": "transforms.shaping",
    "CentralizeGradients": "transforms.shaping",
    "Slot": "slots",
    "SlotCompilation": "slots",
    "Fill": "slots",
    "CopyOfParameter": "slots",
    "merge_step": "merging",
    "check_fusion": "api",
    "FusionProof": "reports",
    "ClaimRow": "reports",
    "PatternHook": "lowering.patterns",
    "pattern": "lowering.patterns",
    "Pattern": "lowering.patterns",
    "ElementwiseChainHook": "lowering.ready_hooks",
    "BroadcastFoldingHook": "lowering.ready_hooks",
    "Region": "lowering.regions",
    "check_tier": "api",
    "explain_support": "api",
    "rank_next_handlers": "api",
    "SupportReport": "reports",
    "SupportRow": "reports",
    "SupportStatus": "reports",
    "HandlerRank": "reports",
    "HandlerRanking": "reports",
    "Ledger": "ledgers",
    "LedgerRow": "ledgers",
    "BackendError": "errors",
    "BindingError": "errors",
    "BufferCompilation": "artifacts",
    "CompilationError": "errors",
    "CompileOptions": "artifacts",
    "ByteBudget": "capture_policies",
    "CapturePolicy": "capture_policies",
    "KeepAll": "capture_policies",
    "KeepNamed": "capture_policies",
    "MinimumCut": "capture_policies",
    "RecomputeAll": "capture_policies",
    "CompiledFunction": "artifacts",
    "CompiledTrainingStep": "artifacts",
    "Declined": "protocols",
    "DependencyAnalysis": "artifacts",
    "DerivativeProgram": "artifacts",
    "Evaluator": "protocols",
    "FusionCandidate": "protocols",
    "FusionContext": "protocols",
    "FusionHook": "protocols",
    "FusionResult": "protocols",
    "Graph": "ir.graph",
    "HandlerContractError": "errors",
    "HandlerRegistry": "protocols",
    "InputSpec": "protocols",
    "LoweredOperation": "artifacts",
    "LoweredProgram": "artifacts",
    "NO_FUSION": "lowering.fusion",
    "Operation": "ir.graph",
    "OperationContext": "protocols",
    "OperationHandler": "protocols",
    "OperationHandlerRegistry": "lowering.registry",
    "Optimizer": "protocols",
    "ParameterCompilation": "artifacts",
    "Provenance": "artifacts",
    "RuntimeInput": "runtime_inputs",
    "SGD": "optimizers.sgd",
    "Tensor": "tensor",
    "TensorType": "ir.types",
    "TracedUpdate": "artifacts",
    "Value": "ir.graph",
    "ValueDependency": "artifacts",
    "compile_function": "api",
    "compile_training_step": "api",
    "fingerprint": "ir.printer",
    "flatten": "trees",
    "lower_derivative_program": "api",
    "lower_graph": "api",
    "print_graph": "ir.printer",
    "Dimension": "ir.dimensions",
    "Shape": "ir.dimensions",
    "source_line": "ir.origin",
    "resolve_shape": "ir.dimensions",
    "symbol_sources": "ir.dimensions",
    "symbols_in": "ir.dimensions",
    "rewrite": "passes.rewriting",
    "trace_parameter_update": "api",
    "unflatten": "trees",
    "verify": "ir.verifier",
}

__all__ = list(_MODULE_BY_NAME)  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    if name not in _MODULE_BY_NAME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULE_BY_NAME[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULE_BY_NAME})
