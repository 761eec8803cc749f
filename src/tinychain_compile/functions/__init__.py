"""What NumPy lacks: arrays in, arrays out; traced tensors in, one named operator out.

So a loss that uses these still runs under plain NumPy.
"""

from __future__ import annotations

from tinychain_compile.functions.activations import (
    elu,
    erf,
    gelu,
    leaky_relu,
    relu,
    sigmoid,
    silu,
    softplus,
)
from tinychain_compile.functions.attention import attention
from tinychain_compile.functions.convolution import conv
from tinychain_compile.functions.indexing import one_hot, take, top_k
from tinychain_compile.functions.marking import named, stop_gradient
from tinychain_compile.functions.normalization import (
    batch_norm,
    batch_norm_inference,
    layer_norm,
    rms_norm,
    running_statistics,
)
from tinychain_compile.functions.pooling import avg_pool, max_pool
from tinychain_compile.functions.random import dropout, random_bits, random_uniform
from tinychain_compile.functions.softmax import (
    log_softmax,
    logsumexp,
    softmax,
    softmax_cross_entropy,
)

__all__ = [
    "attention",
    "avg_pool",
    "batch_norm",
    "batch_norm_inference",
    "conv",
    "dropout",
    "elu",
    "erf",
    "gelu",
    "layer_norm",
    "leaky_relu",
    "log_softmax",
    "logsumexp",
    "max_pool",
    "named",
    "one_hot",
    "random_bits",
    "random_uniform",
    "relu",
    "rms_norm",
    "running_statistics",
    "sigmoid",
    "silu",
    "softmax",
    "softmax_cross_entropy",
    "softplus",
    "stop_gradient",
    "take",
    "top_k",
]
