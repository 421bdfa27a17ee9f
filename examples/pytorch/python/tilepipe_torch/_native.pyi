"""What is in Rust. Programs call `tilepipe_torch` itself.

Every array is a `torch.Tensor`, anything on the CPU with `__dlpack__`, or a capsule of such a thing. It has elements
of float32 and no gaps. What is wrong with one is an exception before anything is written: `TypeError` for what is no
such array, `ValueError` for one that does not fit, `RuntimeError` for what a device says.
"""

from typing import Any

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

def parts(rows: int) -> int:
    """Returns how many rows `partial` has for so many rows of `x`."""

def has_gpu_kernels() -> bool:
    """Returns whether this was built with kernels for GPUs; without them it runs on the CPU alone."""
