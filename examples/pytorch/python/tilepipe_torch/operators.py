"""The operators of PyTorch, registered with autograd: ``torch.ops.tilepipe.rms_norm`` and ``linear``."""

from typing import Optional, Tuple

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


def layer(x, weight, bias, activation):
    """``linear``; where there will be gradients, SiLU is an operation of its own, which keeps what it is of."""
    needs = torch.is_grad_enabled() and any(one is not None and one.requires_grad for one in (x, weight, bias))
    if activation == "silu" and needs:
        return torch.nn.functional.silu(linear(x, weight, bias, None))
    return linear(x, weight, bias, activation)


@torch.library.custom_op("tilepipe::linear", mutates_args=(), device_types=("cpu", "cuda"))
def linear(x: Tensor, weight: Tensor, bias: Optional[Tensor], activation: Optional[str]) -> Tensor:
    out = x.new_empty((*x.shape[:-1], *weight.shape[:1]))
    _native.linear(x, weight, bias, out, activation)
    return out


@linear.register_fake
def _(x, weight, bias, activation):
    _check_layer(x, weight)
    return x.new_empty((*x.shape[:-1], weight.shape[0]))


@torch.library.custom_op("tilepipe::linear_backward", mutates_args=(), device_types=("cpu", "cuda"))
def linear_backward(
    x: Tensor, weight: Tensor, gradient: Tensor, of_x: bool, of_weight: bool
) -> Tuple[Tensor, Tensor]:
    """The gradients that are wanted, and a tensor without elements in place of another."""
    x_gradient = torch.empty_like(x, memory_format=torch.contiguous_format) if of_x else x.new_empty(0)
    if not of_weight:
        weight_gradient = x.new_empty(0)
    else:
        # It stays zero where there are no rows.
        weight_gradient = torch.zeros_like(weight) if x.numel() == 0 else torch.empty_like(weight)
    wanted = (x_gradient if of_x else None, weight_gradient if of_weight else None)
    _native.linear_backward(x, weight, gradient, *wanted)
    return x_gradient, weight_gradient


@linear_backward.register_fake
def _(x, weight, gradient, of_x, of_weight):
    _check_layer(x, weight)
    return (
        torch.empty_like(x, memory_format=torch.contiguous_format) if of_x else x.new_empty(0),
        torch.empty_like(weight) if of_weight else x.new_empty(0),
    )


def _check_layer(x, weight):
    torch._check(
        weight.dim() == 2,
        lambda: f"weight: its shape is {tuple(weight.shape)}, and it has two dimensions: outputs, and inputs",
    )
    torch._check(
        x.dim() >= 1 and x.shape[-1] == weight.shape[1],
        lambda: f"x: its shape is {tuple(x.shape)}, and its last dimension has to be {weight.shape[1]}",
    )


def _setup_layer(ctx, inputs, output):
    x, weight, bias, ctx.activation = inputs
    # The derivative of ReLU is known of its result; for that of SiLU, where `layer` was not asked, the product is
    # computed again.
    ctx.save_for_backward(x, weight, bias, output if ctx.activation == "relu" else None)


def _backward_layer(ctx, gradient):
    x, weight, bias, out = ctx.saved_tensors
    gradient = gradient.contiguous()
    if ctx.activation == "relu":
        gradient = torch.ops.aten.threshold_backward(gradient, out, 0)
    elif ctx.activation == "silu":
        gradient = torch.ops.aten.silu_backward(gradient, linear(x, weight, bias, None))
    of_x, of_weight, of_bias, _ = ctx.needs_input_grad
    bias_gradient = gradient.reshape(-1, gradient.shape[-1]).sum(0) if of_bias else None
    x_gradient = weight_gradient = None
    if of_x or of_weight:
        gradients = linear_backward(x, weight, gradient, of_x, of_weight)
        x_gradient, weight_gradient = (one if wanted else None for one, wanted in zip(gradients, (of_x, of_weight)))
    return x_gradient, weight_gradient, bias_gradient, None


linear.register_autograd(_backward_layer, setup_context=_setup_layer)


@torch.library.custom_op("tilepipe::attention", mutates_args=(), device_types=("cpu", "cuda"))
def attention(
    q: Tensor, k: Tensor, v: Tensor, before: Optional[int], behind: Optional[int], scale: Optional[float]
) -> Tuple[Tensor, Tensor]:
    """Attention, and the logarithms of the sums of its weights."""
    out = torch.empty_like(q, memory_format=torch.contiguous_format)
    logarithms = torch.empty(_of_logarithms(q), dtype=torch.float32, device=q.device)
    _native.attention(q, k, v, out, logarithms, before, behind, scale)
    return out, logarithms


@attention.register_fake
def _(q, k, v, before, behind, scale):
    _check_attention(q, k, v)
    logarithms = torch.empty(_of_logarithms(q), dtype=torch.float32, device=q.device)
    return torch.empty_like(q, memory_format=torch.contiguous_format), logarithms


@torch.library.custom_op("tilepipe::attention_backward", mutates_args=(), device_types=("cpu", "cuda"))
def attention_backward(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    out: Tensor,
    logarithms: Tensor,
    gradient: Tensor,
    before: Optional[int],
    behind: Optional[int],
    scale: Optional[float],
) -> Tuple[Tensor, Tensor, Tensor]:
    # Those of keys and values stay zero where there are no queries.
    make = torch.zeros_like if q.numel() == 0 else torch.empty_like
    gradients = tuple(make(one, memory_format=torch.contiguous_format) for one in (q, k, v))
    # Rows of the copy engine's: of a multiple of 16 bytes.
    rows, queries = 2 * logarithms.shape[:-1].numel(), (logarithms.shape[-1] + 3) // 4 * 4
    room = torch.empty((rows, queries), dtype=torch.float32, device=q.device)
    _native.attention_backward(q, k, v, out, logarithms, gradient, *gradients, room, before, behind, scale)
    return gradients


@attention_backward.register_fake
def _(q, k, v, out, logarithms, gradient, before, behind, scale):
    _check_attention(q, k, v)
    return tuple(torch.empty_like(one, memory_format=torch.contiguous_format) for one in (q, k, v))


def _of_logarithms(q):
    return (*q.shape[:-3], q.shape[-2], q.shape[-3])


def _check_attention(q, k, v):
    torch._check(q.dim() >= 3, lambda: f"q: its shape is {tuple(q.shape)}, and it has three dimensions at least")
    torch._check(k.shape == v.shape, lambda: f"v: its shape is {tuple(v.shape)}, and k's {tuple(k.shape)}")
    torch._check(
        k.dim() == q.dim() and k.shape[:-3] == q.shape[:-3] and k.shape[-1] == q.shape[-1],
        lambda: f"k: its shape is {tuple(k.shape)}, which does not fit q's, {tuple(q.shape)}",
    )


def _setup_attention(ctx, inputs, output):
    q, k, v, *ctx.options = inputs
    ctx.save_for_backward(q, k, v, *output)
    # A number of each row, which has no gradient here.
    ctx.mark_non_differentiable(output[1])


def _backward_attention(ctx, gradient, _):
    gradients = attention_backward(*ctx.saved_tensors, gradient.contiguous(), *ctx.options)
    return (*gradients, None, None, None)


attention.register_autograd(_backward_attention, setup_context=_setup_attention)
