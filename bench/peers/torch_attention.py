"""The task `attention` of torch_peers.py: softmax(Q K^T) V of several heads. See torch_tasks.py.

Tensors have a row for each token, with its heads side by side. PyTorch's operations see the same memory as heads of
tokens. They return a tensor of their own, so that their results are not compared.
"""

import ctypes
import math

import torch
from torch.nn import functional
from torch.nn.attention import SDPBackend, sdpa_kernel

import torch_tasks
from torch_libraries import constant, matrices, nothing
from torch_tasks import Case, Contestant, empty

# By the size of a head, whether attention is causal, and the rows of queries of a tile.
INSTANCES = {
    (64, False, 192): "attention__bf16_Grouped_1024__0_false_64_192_128_1_3_512_384_32_160",
    (64, True, 128): "attention__bf16_LastFirst_1_false_64_128_128_2_2_384_256_24_240",
    (64, True, 192): "attention__bf16_LastFirst_1_false_64_192_128_1_3_512_384_32_160",
    (128, False, 128): "attention__bf16_Grouped_1024__0_false_128_128_128_2_2_384_256_24_240",
    (128, False, 192): "attention__bf16_Grouped_1024__0_false_128_192_80_1_3_512_384_32_160",
    (128, True, 128): "attention__bf16_LastFirst_1_false_128_128_128_2_2_384_256_24_240",
    (128, True, 192): "attention__bf16_LastFirst_1_false_128_192_80_2_2_512_384_32_160",
    (256, False, 128): "attention__bf16_Grouped_1024__0_false_256_128_64_1_2_384_256_24_240",
    (256, True, 128): "attention__bf16_LastFirst_2_false_256_128_64_1_2_384_256_24_240",
}
# The most heads of which each has a slope: `tilepipe_kernels::attention::MOST_HEADS`.
MOST_HEADS = 256
# The most tokens for which tiles of 128 rows are taken, as `tilepipe_kernels::attention::forward` does.
ANY = 1 << 30
OF_128_ROWS = {
    (64, False): 0, (64, True): 1024, (128, False): 4096, (128, True): 4096, (256, False): ANY, (256, True): ANY,
}  # fmt: skip
# Tokens, heads of queries, and of keys. With 32 heads as many rows of tiles as of a batch of two with 16.
SHAPES = [(1024, 128, 128), (2048, 64, 64), (4096, 32, 32), (8192, 32, 32), (16384, 16, 16), (2048, 64, 8), (8192, 64, 8)]
SMALL = [(200, 4, 2)]


def attention(bench):
    """Attention of bf16, of all keys and causal."""
    torch.backends.cuda.matmul.allow_tf32 = False
    for tokens, heads, of_keys in SHAPES if torch_tasks.DEVICE == "cuda" else SMALL:
        for head, causal in OF_128_ROWS:
            shape = (tokens, heads, of_keys, head)
            yield Case(
                f"attention {'causal' if causal else 'full'} {tokens} tokens {heads}/{of_keys} heads of {head}", "bf16",
                tokens * heads * head, 4 * tokens * (heads + of_keys) * head,
                lambda shape=shape: tensors_of(shape),
                lambda t, shape=shape, causal=causal: exact(t, shape, causal),
                [
                    our_attention(bench, shape, causal),
                    of_torch("cuDNN", SDPBackend.CUDNN_ATTENTION, shape, causal),
                    of_torch("FlashAttention 2", SDPBackend.FLASH_ATTENTION, shape, causal),
                ],
                far_off,
            )  # fmt: skip


def tensors_of(shape):
    tokens, heads, of_keys, head = shape

    def rows(heads):
        return torch.randn(tokens, heads * head, dtype=torch.bfloat16, device=torch_tasks.DEVICE)

    out = empty((tokens, heads * head), torch.bfloat16)
    return {"q": rows(heads), "k": rows(of_keys), "v": rows(of_keys), "out": out}


def our_attention(bench, shape, causal):
    tokens, heads, of_keys, head = shape
    rows = 128 if tokens <= OF_128_ROWS[head, causal] else 192
    tiles = -(-tokens // rows) * heads
    multiprocessors = torch.cuda.get_device_properties(0).multi_processor_count if torch_tasks.DEVICE == "cuda" else 1
    symbol, grid = INSTANCES[head, causal, rows], min(tiles, multiprocessors)
    scale = (ctypes.c_float * 1)(math.log2(math.e) / math.sqrt(head))
    # All keys before a query's own, and those behind it that it sees. (Two numbers that are passed as one value.)
    band = (ctypes.c_int64 * 1)(tokens | (0 if causal else tokens) << 32)
    # Neither a cap nor slopes.
    shaped = ((ctypes.c_float * (1 + MOST_HEADS)) * 1)()

    def views(tensors):
        of_inputs = [matrices(tensors[one], False, tokens, head) for one in ("q", "k", "v")]
        return [*of_inputs, *map(constant, (scale, band, shaped)), matrices(tensors["out"], True, tokens, head), nothing()]

    def prepare(tensors):
        return bench.tilepipe.blocks(symbol, grid, views(tensors))

    return Contestant("tilepipe", "tilepipe", symbol, lambda t: bench.tilepipe.launch(symbol, grid, views(t)), prepare)


def by_heads(tensor, head):
    """The same memory as heads of tokens, for PyTorch."""
    return tensor.view(tensor.shape[0], -1, head).transpose(0, 1)[None]


def of_torch(name, backend, shape, causal):
    _, heads, of_keys, head = shape

    def run(tensors):
        q, k, v = (by_heads(tensors[one], head) for one in ("q", "k", "v"))
        with sdpa_kernel(backend):
            functional.scaled_dot_product_attention(q, k, v, is_causal=causal, enable_gqa=heads != of_keys)

    return Contestant(name, "library", "scaled_dot_product_attention", run, is_measure=True)


def exact(tensors, shape, causal):
    """In float, a head at a time."""
    tokens, heads, of_keys, head = shape
    q, k, v = (by_heads(tensors[one], head)[0].float() for one in ("q", "k", "v"))
    result = torch.empty(tokens, heads, head, device=torch_tasks.DEVICE)
    later = torch.ones(tokens, tokens, dtype=torch.bool, device=torch_tasks.DEVICE).triu(1) if causal else None
    for one in range(heads):
        shared = one // (heads // of_keys)
        scores = q[one] @ k[shared].t() / math.sqrt(head)
        if causal:
            scores.masked_fill_(later, -math.inf)
        result[:, one] = torch.softmax(scores, -1) @ v[shared]
    return result.view(tokens, heads * head)


def far_off(out, expected):
    """Counts the elements that differ by more than the rounding of weights, and then of the result.

    Weights have errors of 2^-9, which add up to 2^-8 or so of a row's size.
    """
    rows = expected.view(expected.shape[0], -1, 64)
    size = rows.square().mean(-1, keepdim=True).sqrt().expand_as(rows).reshape(expected.shape)
    allowed = torch.finfo(out.dtype).eps * expected.abs() + 2**-5 * size
    return int((~((out.float() - expected).abs() <= allowed)).sum())


# By the names that `--tasks` takes.
TASKS = {"attention": attention}
