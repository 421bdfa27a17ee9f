"""The task `argmax` of torch_peers.py: where the largest element is. See torch_tasks.py."""

import torch

from torch_tasks import WHOLE, Case, compiled, eager, empty, integers, of_cub, our_reduction


def argmax(bench):
    """The index of the largest float, of equal ones the first.

    Ours writes a key, with the index below the bits of the element; where only the index is wanted, the
    program takes it from the key. So `out` may hold the one or the other.
    """
    symbols = ["argmax__256_1024_4", "argmax__256_1024_8", "argmax_bulk__256_1024_4"]
    for elements in bench.sizes:
        yield Case(
            "argmax", "f32", elements, 4 * elements,
            # Of 2^28 whole numbers the largest one is there several times.
            lambda elements=elements: {"x": integers(elements, WHOLE, torch.float32), "out": empty(1, torch.int64)},
            index_and_key,
            [
                *(our_reduction(bench, symbol, "largest_key__256_512_4", ["x"]) for symbol in symbols),
                eager("torch.argmax", lambda t: torch.argmax(t["x"], 0, out=t["out"][0])),
                compiled(bench, "argmax(x)", lambda t: t["out"].copy_(torch.argmax(t["x"], 0))),
                of_cub("cub::DeviceReduce::ArgMax", lambda x, out: bench.cub().argmax(x, out)),
            ],
            lambda out, expected: int((out != expected).all()),
        )  # fmt: skip


def index_and_key(tensors):
    """The index of the largest element, and its key as `tilepipe::key::argmax` makes it."""
    x = tensors["x"]
    # A zero of either sign has the key of 0.0.
    largest = x.max() + 0.0
    index = (x == largest).nonzero()[0, 0]
    bits = largest.view(torch.int32).long() & 0xFFFFFFFF
    # In the order of unsigned numbers: all bits of a negative number are the others, else the sign's.
    ordered = bits ^ torch.where(bits >= 1 << 31, 0xFFFFFFFF, 1 << 31)
    return torch.stack([index, wrapped_64(ordered, 0xFFFFFFFF - index)])


def wrapped_64(high, low):
    """Two halves as int64, whose sign is the upper one's highest bit."""
    return (torch.where(high >= 1 << 31, high - (1 << 32), high) << 32) | low


# By the names that `--tasks` takes.
TASKS = {"argmax": argmax}
