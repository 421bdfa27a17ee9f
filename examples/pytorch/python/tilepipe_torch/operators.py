"""The operators of PyTorch: ``torch.ops.tilepipe.rms_norm`` and its gradient, registered with autograd."""

from typing import Tuple

import torch
from torch import Tensor

from . import _native


def refuse_gradients(**tensors):
    """Raises an error if one of these is a tensor whose gradient would be lost."""
    if not torch.is_grad_enabled():
        return
    for name, tensor in tensors.items():
        if isinstance(tensor, Tensor) and tensor.requires_grad:
            raise RuntimeError(
                f"{name}: it requires grad, and `rms_norm_into` has none; use `rms_norm`, or call this within "
                f"`torch.no_grad()`, or pass `{name}.detach()`"
            )


# Outputs are of the current stream, in which the kernels run as well.
@torch.library.custom_op("tilepipe::rms_norm", mutates_args=(), device_types=("cpu", "cuda"))
def rms_norm(x: Tensor, weight: Tensor, eps: float) -> Tensor:
    out = torch.empty_like(x, memory_format=torch.contiguous_format)
    _native.rms_norm(x, weight, out, eps)
    return out


@rms_norm.register_fake
def _(x, weight, eps):
    _check_shapes(x, weight)
    return torch.empty_like(x, memory_format=torch.contiguous_format)


@torch.library.custom_op("tilepipe::rms_norm_backward", mutates_args=(), device_types=("cpu", "cuda"))
def rms_norm_backward(x: Tensor, weight: Tensor, gradient: Tensor, eps: float) -> Tuple[Tensor, Tensor]:
    x_gradient = torch.empty_like(x, memory_format=torch.contiguous_format)
    # It stays zero where there are no rows.
    weight_gradient = torch.zeros_like(weight) if x.numel() == 0 else torch.empty_like(weight)
    rows = x.shape[:-1].numel()
    factors = torch.empty(rows, dtype=torch.float32, device=x.device)
    partial = torch.empty((_native.parts(rows), *x.shape[-1:]), dtype=torch.float32, device=x.device)
    _native.rms_norm_backward(x, weight, gradient, x_gradient, weight_gradient, factors, partial, eps)
    return x_gradient, weight_gradient


@rms_norm_backward.register_fake
def _(x, weight, gradient, eps):
    _check_shapes(x, weight)
    torch._check(gradient.shape == x.shape, lambda: f"gradient: its shape is {gradient.shape}, and x's {x.shape}")
    return torch.empty_like(x, memory_format=torch.contiguous_format), torch.empty_like(weight)


def _check_shapes(x, weight):
    torch._check(x.dim() >= 1, lambda: "x: it has no dimension; a row is its last one, so it has one at least")
    torch._check(
        weight.dim() == 1 and weight.shape[0] == x.shape[-1],
        lambda: f"weight: its shape is {tuple(weight.shape)}, and ({x.shape[-1]},) is needed",
    )


def _setup_context(ctx, inputs, output):
    x, weight, ctx.eps = inputs
    ctx.save_for_backward(x, weight)


def _backward(ctx, gradient):
    x, weight = ctx.saved_tensors
    # That of a sum, for one, is a single number that is seen as many.
    gradient = gradient.contiguous()
    x_gradient, weight_gradient = rms_norm_backward(x, weight, gradient, ctx.eps)
    return x_gradient, weight_gradient, None


rms_norm.register_autograd(_backward, setup_context=_setup_context)
