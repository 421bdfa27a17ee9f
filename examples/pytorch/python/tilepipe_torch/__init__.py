"""The root mean square norm of rows, and a layer and attention by tensor cores, with their gradients, by kernels in safe
Rust.

``rms_norm``, ``linear`` and ``attention`` take tensors of PyTorch, with gradients, or arrays of NumPy. Tensors on a GPU are used where
they lie, in PyTorch's current stream; everything else runs on the CPU.
"""

from __future__ import annotations

from . import _native

try:
    import torch
except ImportError:
    torch = None
else:
    from . import operators

__all__ = [
    "attention",
    "has_gpu_kernels",
    "linear",
    "linear_backward",
    "rms_norm",
    "rms_norm_backward",
    "rms_norm_into",
]

has_gpu_kernels = _native.has_gpu_kernels


def rms_norm(x, weight, eps=1e-6):
    """Returns ``x * weight / sqrt(mean(x * x) + eps)``, where the mean is that of a row: of the last dimension."""
    if _is_tensor(x):
        return operators.rms_norm(x, weight, float(eps))
    numpy = _numpy(x)
    out = numpy.empty(x.shape, numpy.float32)
    _native.rms_norm(x, weight, out, eps)
    return out


def rms_norm_into(x, weight, out, eps=1e-6):
    """As ``rms_norm``, into ``out``, of whatever library the arrays are.

    Nothing is recorded for a gradient: a tensor that needs one is refused, unless gradients are off.
    """
    if torch is not None:
        operators.refuse_gradients(x=x, weight=weight, out=out)
    _native.rms_norm(x, weight, out, eps)


def rms_norm_backward(x, weight, gradient, eps=1e-6):
    """Returns the gradients of ``x`` and of ``weight``, where ``gradient`` is that of ``rms_norm(x, weight, eps)``."""
    if _is_tensor(x):
        return operators.rms_norm_backward(x, weight, gradient, float(eps))
    numpy = _numpy(x)
    rows = _rows(x.shape)
    x_gradient, weight_gradient = numpy.empty(x.shape, numpy.float32), numpy.zeros(x.shape[-1:], numpy.float32)
    factors = numpy.empty(rows, numpy.float32)
    partial = numpy.empty((_native.parts(rows), *x.shape[-1:]), numpy.float32)
    _native.rms_norm_backward(x, weight, gradient, x_gradient, weight_gradient, factors, partial, eps)
    return x_gradient, weight_gradient


def linear(x, weight, bias=None, activation=None):
    """Returns ``activation(x @ weight.T + bias)``, of float16 or bfloat16, with sums in float32 that are rounded once.

    ``weight`` has a row for each output, and ``activation`` is ``"relu"``, ``"silu"`` or ``None``. On a GPU it needs
    tensor cores of sm_90. Inputs and outputs are as many as a multiple of 8.
    """
    if _is_tensor(x):
        return operators.layer(x, weight, bias, activation)
    numpy = _numpy(x)
    out = numpy.empty((*x.shape[:-1], *weight.shape[:1]), x.dtype)
    _native.linear(x, weight, bias, out, activation)
    return out


def linear_backward(x, weight, gradient):
    """Returns the gradients of ``x`` and of ``weight``, where ``gradient`` is that of ``x @ weight.T``."""
    if _is_tensor(x):
        return operators.linear_backward(x, weight, gradient, True, True)
    numpy = _numpy(x)
    x_gradient, weight_gradient = numpy.empty(x.shape, x.dtype), numpy.zeros(weight.shape, x.dtype)
    _native.linear_backward(x, weight, gradient, x_gradient, weight_gradient)
    return x_gradient, weight_gradient


def attention(q, k, v, causal=False, window=(None, None), scale=None):
    """Returns ``softmax(scale * q @ k.T) @ v`` of each head, of float16 or bfloat16, with sums in float32.

    The shapes are ``(sequences, tokens, heads, elements)``, or without the first; ``k`` and ``v`` may have another number
    of tokens, and of heads one that divides that of ``q``. Heads have a multiple of 8 elements, up to 256. The last query's
    own key is the last one: ``causal`` leaves a query the keys up to its own, and ``window`` so many before it and behind
    it, of which ``None`` is all. ``scale`` is ``1 / sqrt(elements)`` without it. On a GPU it needs tensor cores of sm_90.
    """
    before, behind = window
    options = (before, 0 if causal else behind, None if scale is None else float(scale))
    if _is_tensor(q):
        return operators.attention(q, k, v, *options)[0]
    numpy = _numpy(q)
    out = numpy.empty(q.shape, q.dtype)
    logarithms = numpy.empty((*q.shape[:-3], *q.shape[-2:-1], *q.shape[-3:-2]), numpy.float32)
    _native.attention(q, k, v, out, logarithms, *options)
    return out


def _is_tensor(x):
    return torch is not None and isinstance(x, torch.Tensor)


def _numpy(x):
    """Imports NumPy, of which ``x`` is an array."""
    if type(x).__module__.partition(".")[0] != "numpy":
        raise TypeError(
            f"x: it is `{type(x).__name__}`; pass a `torch.Tensor` or a `numpy.ndarray`, or use `rms_norm_into` "
            "for other arrays"
        )
    import numpy

    return numpy


def _rows(shape):
    """The number of rows: the product of all extents but the last."""
    rows = 1
    for extent in shape[:-1]:
        rows *= extent
    return rows
