"""What is in Rust. Programs call `tilepipe_torch` itself.

Every array is a `torch.Tensor`, anything on the CPU with `__dlpack__`, or a capsule of such a thing. It has no gaps;
the elements of a norm are float32, and those of a layer or of attention all float16 or all bfloat16. What is wrong with one is an
exception before anything is written: `TypeError` for what is no such array, `ValueError` for one that does not fit,
`RuntimeError` for what a device says.
"""

from typing import Any, Optional

def rms_norm(x: Any, weight: Any, out: Any, eps: float) -> bool:
    """Writes the norm of each row of `x` to `out`.

    Returns False where there is nothing to write, as `x` has no elements.
    """

def rms_norm_backward(
    x: Any,
    weight: Any,
    gradient: Any,
    x_gradient: Any,
    weight_gradient: Any,
    factors: Any,
    partial: Any,
    eps: float,
) -> bool:
    """Writes the gradients of `x` and of `weight` to `x_gradient` and `weight_gradient`.

    `factors` has an element for each row of `x`, and `partial` as many rows of weights as `parts` says; both are
    written. Returns False where nothing was written, as `x` has no elements.
    """

def linear(x: Any, weight: Any, bias: Optional[Any], out: Any, activation: Optional[str]) -> bool:
    """Writes what a layer makes of each row of `x` to `out`.

    Returns False where there is nothing to write, as `out` has no elements.
    """

def linear_backward(
    x: Any, weight: Any, gradient: Any, x_gradient: Optional[Any], weight_gradient: Optional[Any]
) -> bool:
    """Writes the gradients of `x` and of `weight`, each if there is an array for it.

    Returns False where nothing was written, as there are no rows or outputs, or no array.
    """

def attention(
    q: Any,
    k: Any,
    v: Any,
    out: Any,
    logarithms: Any,
    before: Optional[int],
    behind: Optional[int],
    scale: Optional[float],
) -> bool:
    """Writes attention to `out`, and to `logarithms` a number in float32 for each query of each head.

    A query sees `before` keys before its own and `behind` behind it, or all. Returns False where there is nothing to
    write, as `q` has no elements.
    """

def attention_backward(
    q: Any,
    k: Any,
    v: Any,
    out: Any,
    logarithms: Any,
    gradient: Any,
    q_gradient: Any,
    k_gradient: Any,
    v_gradient: Any,
    room: Any,
    before: Optional[int],
    behind: Optional[int],
    scale: Optional[float],
) -> bool:
    """Writes the gradients of `q`, `k` and `v`, from what `attention` wrote and the gradient of `out`.

    `room` has two rows of float32 for each head of each sequence, with a number for each query, rounded up to a
    multiple of 4; it is written. Returns False where nothing was written, as `q` has no elements.
    """

def parts(rows: int) -> int:
    """Returns how many rows `partial` has for so many rows of `x`."""

def has_gpu_kernels() -> bool:
    """Returns whether this was built with kernels for GPUs; without them it runs on the CPU alone."""
