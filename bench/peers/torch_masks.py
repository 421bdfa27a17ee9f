"""The task `masks` of torch_peers.py: attention in which each query sees a window of keys, or those of its own sequence.

Tensors are those of torch_attention.py. PyTorch calls cuDNN for packed sequences as nested tensors alone, which cannot be
captured into a graph.
"""

import ctypes
import math
import random

import torch

import torch_tasks
from torch_attention import by_heads, far_off, tensors_of
from torch_libraries import constant, matrices, nothing, view
from torch_tasks import Case, Contestant

# By the size of a head, rows of queries of a tile, and whether a query sees as many keys as `WIDE` says, or more: `rows` and
# `keys` of `tilepipe_kernels::attention::forward`, of sequences of 512 queries or more, or fewer.
WINDOW = {
    (64, False): (192, "attention__bf16_FromEnd_2_false_64_4_192_64_2_5_512_384_32_160_0_true"),
    (64, True): (192, "attention__bf16_FromEnd_2_false_64_4_192_128_2_3_512_384_32_160_3_true"),
    (128, False): (128, "attention__bf16_LastFirst_2_false_128_4_128_128_2_2_384_256_24_240_0_false"),
    (128, True): (192, "attention__bf16_FromEnd_2_false_128_4_192_80_2_2_512_384_32_160_0_true"),
}
OF_FEW_QUERIES = (128, "attention__bf16_LastFirst_2_false_64_4_128_128_2_2_384_256_24_240_0_false")
WIDE = {64: 896, 128: 1536}
PACKED = {
    64: "attention_packed__bf16_LastFirst_64_128_128_2_2_384_256_24_240",
    128: "attention_packed__bf16_LastFirst_128_128_128_2_2_384_256_24_240",
}
# Tokens, heads of queries, and of keys, and how many keys before its own a query sees.
WINDOWS = [(16384, 16, 16, 16384), (16384, 16, 16, 4096), (16384, 16, 16, 1024), (16384, 16, 16, 256)]
SMALL_WINDOWS = [(300, 4, 2, 100)]
# Sequences and tokens of all of them, heads of queries, and of keys; and whether lengths differ.
BATCHES = [(16, 32768, 16, 16, False), (16, 32768, 16, 16, True), (128, 32768, 16, 16, True), (4, 32768, 16, 4, True)]
SMALL_BATCHES = [(3, 300, 4, 2, True)]


def masks(bench):
    """Attention of bf16, causal, in windows and of packed sequences."""
    is_device = torch_tasks.DEVICE == "cuda"
    for tokens, heads, of_keys, before in WINDOWS if is_device else SMALL_WINDOWS:
        for head in WIDE:
            shape = (tokens, heads, of_keys, head)
            yield Case(
                f"masks window of {before} {tokens} tokens {heads}/{of_keys} heads of {head}", "bf16",
                tokens * heads * head, 4 * tokens * (heads + of_keys) * head,
                lambda shape=shape: tensors_of(shape),
                lambda t, head=head, before=before: exact(t, head, [0, t["q"].shape[0]], before),
                [our_window(bench, shape, before), flash(head, before)],
                far_off,
            )  # fmt: skip
    for sequences, tokens, heads, of_keys, differ in BATCHES if is_device else SMALL_BATCHES:
        offsets = offsets_of(sequences, tokens, differ)
        for head in PACKED:
            shape = (tokens, heads, of_keys, head)
            contestants = [our_packed(bench, shape, offsets), flash(head, -1, offsets)]
            kind = "any" if differ else "equal"
            yield Case(
                f"masks {sequences} sequences of {kind} lengths {tokens} tokens {heads}/{of_keys} heads of {head}", "bf16",
                tokens * heads * head, 4 * tokens * (heads + of_keys) * head,
                lambda shape=shape: tensors_of(shape),
                lambda t, head=head, offsets=offsets: exact(t, head, offsets, t["q"].shape[0]),
                contestants,
                far_off,
            )  # fmt: skip


def offsets_of(sequences, tokens, differ):
    """Where sequences begin, and where the last one ends: the same in each process."""
    if not differ:
        return [tokens // sequences * one for one in range(sequences)] + [tokens]
    drawn = random.Random(sequences)
    # Lengths between a quarter and seven quarters of the mean, more or less.
    lengths = [drawn.uniform(0.25, 1.75) for _ in range(sequences)]
    ends = [round(tokens * sum(lengths[: one + 1]) / sum(lengths)) for one in range(sequences)]
    return [0, *ends]


def multiprocessors():
    return torch.cuda.get_device_properties(0).multi_processor_count if torch_tasks.DEVICE == "cuda" else 1


def scale_of(head):
    return (ctypes.c_float * 1)(math.log2(math.e) / math.sqrt(head))


def contestant(bench, symbol, shape, views, rows=128):
    tokens, heads, _, _ = shape
    grid = min(-(-tokens // rows) * heads, multiprocessors())

    def run(tensors):
        bench.tilepipe.launch(symbol, grid, views(tensors))

    return Contestant("tilepipe", "tilepipe", symbol, run, lambda t: bench.tilepipe.blocks(symbol, grid, views(t)))


def our_window(bench, shape, before):
    tokens, _, _, head = shape
    scale, band = scale_of(head), (ctypes.c_int64 * 1)(before)
    shaped = ((ctypes.c_float * 257) * 1)()

    def views(tensors):
        inputs = [matrices(tensors[one], False, tokens, head) for one in ("q", "k", "v")]
        return [*inputs, *map(constant, (scale, band, shaped)), matrices(tensors["out"], True, tokens, head), nothing()]

    rows, kernel = WINDOW[head, min(before + 1, tokens) >= WIDE[head]]
    if head == 64 and tokens < 512:
        rows, kernel = OF_FEW_QUERIES
    return contestant(bench, kernel, shape, views, rows)


def our_packed(bench, shape, offsets):
    tokens, _, _, head = shape
    scale, band = scale_of(head), (ctypes.c_int64 * 1)(tokens)
    # Of each query the first key of its sequence, where they end, and its own: `Place` of the kernels.
    places = [[start, end, own] for start, end in zip(offsets, offsets[1:]) for own in range(start, end)]
    places = torch.tensor(places, dtype=torch.int32, device=torch_tasks.DEVICE)

    def views(tensors):
        inputs = [matrices(tensors[one], False, tokens, head) for one in ("q", "k", "v")]
        out = matrices(tensors["out"], True, tokens, head)
        return [*inputs, view(places.flatten(), False, lanes=3), *map(constant, (scale, band)), out, nothing()]

    return contestant(bench, PACKED[head], shape, views)


def flash(head, before, offsets=None):
    """FlashAttention 2 as PyTorch has it, causal."""
    ends = offsets and torch.tensor(offsets, dtype=torch.int32, device=torch_tasks.DEVICE)
    longest = offsets and max(end - start for start, end in zip(offsets, offsets[1:]))

    def run(tensors):
        q, k, v = (tensors[one].view(tensors[one].shape[0], -1, head) for one in ("q", "k", "v"))
        if offsets is None:
            q, k, v = q[None], k[None], v[None]
        most = longest or q.shape[1]
        torch.ops.aten._flash_attention_forward(
            q, k, v, ends, ends, most, most, 0.0, True, False,
            # All keys before its own are no window.
            window_size_left=before if before < most else None, window_size_right=None if before < 0 or before >= most else 0,
        )  # fmt: skip

    return Contestant("FlashAttention 2", "library", "_flash_attention_forward", run, is_measure=True)


def exact(tensors, head, offsets, before):
    """In float, a head of a sequence at a time."""
    q, k, v = (by_heads(tensors[one], head)[0].float() for one in ("q", "k", "v"))
    heads, tokens = q.shape[0], q.shape[1]
    result = torch.empty(tokens, heads, head, device=torch_tasks.DEVICE)
    shared_by = heads // k.shape[0]
    for start, end in zip(offsets, offsets[1:]):
        length = end - start
        seen = torch.ones(length, length, dtype=torch.bool, device=torch_tasks.DEVICE).tril().triu(-before)
        for one in range(heads):
            own = slice(start, end)
            scores = q[one, own] @ k[one // shared_by, own].t() / math.sqrt(head)
            result[own, one] = torch.softmax(scores.masked_fill_(~seen, -math.inf), -1) @ v[one // shared_by, own]
    return result.view(tokens, heads * head)


# By the names that `--tasks` takes.
TASKS = {"masks": masks}
