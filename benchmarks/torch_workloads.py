"""The benchmarks' workloads as PyTorch writes them, eager."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import torch
from functorch.compile import aot_function, nop
from torch.nn import functional as nn
from workloads import Workload

from tinychain_compile import unflatten

torch.set_num_threads(1)


def _mlp(p: Mapping[str, Any], x: Any, labels: Any) -> Any:
    hidden = x
    for layer in (1, 2):
        hidden = nn.relu(hidden @ p[f"w{layer}"] + p[f"b{layer}"])
    return nn.cross_entropy(hidden @ p["w3"] + p["b3"], labels.long())


def _cnn(p: Mapping[str, Any], x: Any, labels: Any) -> Any:
    hidden = nn.max_pool2d(nn.relu(nn.conv2d(x, p["k1"], p["c1"], padding=1)), 2)
    hidden = nn.max_pool2d(nn.relu(nn.conv2d(hidden, p["k2"], p["c2"], padding=1)), 2)
    return nn.cross_entropy(hidden.reshape(hidden.shape[0], -1) @ p["w"] + p["b"], labels.long())


def _gpt(p: Mapping[str, Any], tokens: Any, targets: Any, heads: int = 8) -> Any:
    model = p["model"]
    batch, length = tokens.shape
    hidden = model["tokens"][tokens.long()] + model["positions"]
    width = hidden.shape[-1]
    for block in model["blocks"]:
        normal = nn.layer_norm(hidden, (width,), block["scale1"], block["bias1"])
        mixed = (normal @ block["qkv"]).reshape(batch, length, 3, heads, width // heads)
        q, k, v = mixed.permute(2, 0, 3, 1, 4)
        seen = nn.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2)
        hidden = hidden + seen.reshape(batch, length, width) @ block["out"]
        normal = nn.layer_norm(hidden, (width,), block["scale2"], block["bias2"])
        hidden = hidden + nn.gelu(normal @ block["up"] + block["up_bias"]) @ block["down"]
    normal = nn.layer_norm(hidden, (width,), model["scale"], model["bias"])
    scores = normal @ model["tokens"].T
    return nn.cross_entropy(scores.flatten(0, 1), targets.flatten().long())


LOSSES: Mapping[str, Any] = {"W1": _mlp, "W2": _cnn, "W3": _gpt}
"""The loss of each workload that is written here."""


def step_of(workload: Workload, rate: float) -> Callable[[], Any]:
    """Return a training step of a workload."""
    parameters: list[Any] = []
    leaves: dict[str, Any] = {}
    for name, array in workload.arrays().items():
        leaves[name] = torch.from_numpy(array)
        if any(name == p or name.startswith(f"{p}.") for p in workload.parameters):
            parameters.append(leaves[name].requires_grad_())
    nested = unflatten(leaves)
    learned = {name: nested.pop(name) for name in workload.parameters}
    optimizer: Any = (
        torch.optim.AdamW(parameters, lr=rate, weight_decay=0.01)
        if workload.optimizer == "adamw"
        else torch.optim.SGD(
            parameters, lr=rate, momentum=0.9 if workload.optimizer == "momentum" else 0.0
        )
    )
    loss_of: Any = LOSSES[workload.name]

    def step() -> Any:
        optimizer.zero_grad()
        loss = loss_of(learned, **nested)
        loss.backward()
        optimizer.step()
        return loss.detach()

    return step


def aot_seconds(workload: Workload) -> float:
    """Return the CPU time of AOTAutograd: joint graph and default partition, no code generated."""
    names: list[str] = []
    tensors: list[Any] = []
    for name, array in workload.arrays().items():
        is_learned = any(name == p or name.startswith(f"{p}.") for p in workload.parameters)
        names.append(name)
        tensors.append(torch.from_numpy(array).requires_grad_(is_learned))
    loss_of: Any = LOSSES[workload.name]

    def flat(*values: Any) -> Any:
        nested = unflatten(dict(zip(names, values, strict=True)))
        learned = {name: nested.pop(name) for name in workload.parameters}
        return loss_of(learned, **nested)

    compiled = aot_function(flat, fw_compiler=nop, bw_compiler=nop)
    start = time.process_time()
    compiled(*tensors)
    return time.process_time() - start
