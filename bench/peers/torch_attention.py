"""The task `attention` of torch_peers.py: softmax(Q K^T) V of several heads. See torch_tasks.py.

Tensors have a row for each token, with its heads side by side. PyTorch's operations see the same memory as heads of
tokens. They return a tensor of their own, so that their results are not compared.
"""

import ctypes
import math
import struct

import torch
from torch.nn import functional
from torch.nn.attention import SDPBackend, sdpa_kernel

import torch_tasks
from torch_libraries import constant, matrices, nothing, rows_in_matrices, view
from torch_tasks import Case, Contestant, empty

# By the size of a head, whether attention is causal, and the rows of queries of a tile.
INSTANCES = {
    (64, False, 128): "attention__bf16_Grouped_1024__0_false_64_4_128_208_2_2_384_256_24_240_0_false",
    (64, False, 192): "attention__bf16_Grouped_1024__0_false_64_2_192_128_2_3_512_384_32_160_3_false",
    (64, True, 128): "attention__bf16_LastFirst_1_false_64_4_128_128_2_2_384_256_24_240_0_false",
    (64, True, 192): "attention__bf16_FromEnd_1_false_64_4_192_128_2_3_512_384_32_160_3_true",
    (128, False, 128): "attention__bf16_Grouped_1024__0_false_128_4_128_128_2_2_384_256_24_240_0_false",
    (128, False, 192): "attention__bf16_Grouped_1024__0_false_128_4_192_80_2_2_512_384_32_160_0_false",
    (128, True, 128): "attention__bf16_LastFirst_1_false_128_4_128_128_2_2_384_256_24_240_0_false",
    (128, True, 192): "attention__bf16_FromEnd_1_false_128_4_192_80_2_2_512_384_32_160_0_true",
    (256, False, 128): "attention__bf16_Grouped_1024__0_false_256_4_128_64_1_2_384_256_24_240_0_false",
    (256, True, 128): "attention__bf16_LastFirst_2_false_256_4_128_64_1_2_384_256_24_240_0_true",
}
# The most heads of which each has a slope: `tilepipe_kernels::attention::MOST_HEADS`.
MOST_HEADS = 256
# The most tokens for which tiles of 128 rows are taken without asking how many rounds they are.
ANY = 1 << 30
OF_128_ROWS = {
    (64, False): 1023, (64, True): 512, (128, False): 0, (128, True): 4095, (256, False): ANY, (256, True): ANY,
}  # fmt: skip
# How much longer tiles of 128 rows take for each row, where rounds decide.
LONGER = {64: 1.15, 128: 1.06}
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


def rows_of_tile(tokens, heads, head, causal, multiprocessors):
    """The rows of a tile of queries that `tilepipe_kernels::attention::forward` takes."""
    if tokens <= OF_128_ROWS[head, causal]:
        return 128
    if causal:
        return 192
    in_rounds = {rows: -(-(-(-tokens // rows) * heads) // multiprocessors) * rows for rows in (128, 192)}
    return 192 if in_rounds[192] < LONGER[head] * in_rounds[128] else 128


def our_attention(bench, shape, causal, out="out", logarithms=lambda tensors: nothing()):
    tokens, heads, of_keys, head = shape
    multiprocessors = torch.cuda.get_device_properties(0).multi_processor_count if torch_tasks.DEVICE == "cuda" else 1
    rows = rows_of_tile(tokens, heads, head, causal, multiprocessors)
    tiles = -(-tokens // rows) * heads
    symbol, grid = INSTANCES[head, causal, rows], min(tiles, multiprocessors)
    scale = (ctypes.c_float * 1)(math.log2(math.e) / math.sqrt(head))
    # All keys before a query's own, and those behind it that it sees. (Two numbers that are passed as one value.)
    band = (ctypes.c_int64 * 1)(tokens | (0 if causal else tokens) << 32)
    # Neither a cap nor slopes.
    shaped = ((ctypes.c_float * (1 + MOST_HEADS)) * 1)()

    def heads_of(tensor, is_output):
        # Some instances take the heads side by side.
        return view(tensor, is_output) if f"_{head}_2_{rows}_" in symbol else matrices(tensor, is_output, tokens, head)

    def views(tensors):
        of_inputs = [heads_of(tensors[one], False) for one in ("q", "k", "v")]
        return [*of_inputs, *map(constant, (scale, band, shaped)), heads_of(tensors[out], True), logarithms(tensors)]

    def prepare(tensors):
        return bench.tilepipe.blocks(symbol, grid, views(tensors))

    return Contestant("tilepipe", "tilepipe", symbol, lambda t: bench.tilepipe.launch(symbol, grid, views(t)), prepare)


# The gradient's kernels: numbers of rows, of queries by size of a head and whether attention is causal,
# and of keys by size of a head and whether it goes row by row.
ROW_PRODUCTS = "attention_row_products__bf16"
QUERIES_GRADIENT = {
    (64, False): "attention_queries_gradient__bf16_Grouped_1024__0_64_128_128_2_0",
    (64, True): "attention_queries_gradient__bf16_LastFirst_2_64_128_128_2_0",
    (128, False): "attention_queries_gradient__bf16_Grouped_1024__0_128_128_64_3_2",
    (128, True): "attention_queries_gradient__bf16_LastFirst_2_128_128_64_3_0",
    (256, False): "attention_queries_gradient__bf16_Grouped_1024__0_256_128_32_2_0",
    (256, True): "attention_queries_gradient__bf16_LastFirst_2_256_128_32_2_0",
}
KEYS_GRADIENT = {
    (64, False): "attention_keys_gradient__bf16_Grouped_32__2_64_128_96_2",
    (64, True): "attention_keys_gradient__bf16_Cyclic_2_64_128_96_2",
    (128, False): "attention_keys_gradient__bf16_Grouped_32__2_128_128_64_2",
    (128, True): "attention_keys_gradient__bf16_Cyclic_2_128_128_64_2",
}
# Of keys, and of values, where each has a kernel: by size of a head.
KEYS_GRADIENT_ALONE = {256: "attention_keys_gradient_alone__bf16_Grouped_32__2_256_128_32_2"}
VALUES_GRADIENT = {256: "attention_values_gradient__bf16_Grouped_32__2_256_128_64_2"}
# The most keys of a causal sequence whose gradient is computed row of tiles by row.
MOST_ROW_BY_ROW = 2048
# All three, those of the queries added up in any order, by size of a head; and from their sums.
WHOLE_GRADIENT = {128: "attention_gradient__bf16_Grouped_32__2_128_128_64_4"}
GRADIENT_JOIN = "attention_gradient_join__bf16"


def gradient(bench):
    """The gradient of attention of bf16, of all keys and causal: those of queries, keys and values one after the other."""
    torch.backends.cuda.matmul.allow_tf32 = False
    for tokens, heads, of_keys in SHAPES if torch_tasks.DEVICE == "cuda" else SMALL:
        for head, causal in QUERIES_GRADIENT:
            shape = (tokens, heads, of_keys, head)
            yield Case(
                f"gradient {'causal' if causal else 'full'} {tokens} tokens {heads}/{of_keys} heads of {head}", "bf16",
                tokens * heads * head, 4 * tokens * (2 * heads + 2 * of_keys) * head,
                lambda shape=shape: tensors_of_gradient(shape),
                lambda t, shape=shape, causal=causal: exact_gradient(t, shape, causal),
                [
                    our_gradient(bench, shape, causal),
                    *([our_gradient(bench, shape, causal, True)] if head in WHOLE_GRADIENT else []),
                    gradient_of_torch("cuDNN", SDPBackend.CUDNN_ATTENTION, shape, causal),
                    gradient_of_torch("FlashAttention 2", SDPBackend.FLASH_ATTENTION, shape, causal),
                ],
                lambda out, expected, shape=shape: gradient_far_off(out, expected, shape),
            )  # fmt: skip


def tensors_of_gradient(shape):
    tokens, heads, of_keys, head = shape
    tensors = tensors_of(shape)
    tensors["gradient"] = torch.randn_like(tensors["q"])
    tensors["result"] = torch.empty_like(tensors["q"])
    tensors["logarithms"] = torch.empty(heads, tokens, device=torch_tasks.DEVICE)
    tensors["numbers"] = torch.empty(2 * heads, tokens, device=torch_tasks.DEVICE)
    if head in WHOLE_GRADIENT:
        tensors["sums"] = torch.empty(128 * heads * -(-tokens // 64), 64, device=torch_tasks.DEVICE)
    tensors["out"] = empty(tokens * (heads + 2 * of_keys) * head, torch.bfloat16)
    return tensors


def our_gradient(bench, shape, causal, unordered=False):
    tokens, heads, of_keys, head = shape
    forward = our_attention(bench, shape, causal, "result", lambda tensors: view(tensors["logarithms"], True))
    multiprocessors = torch.cuda.get_device_properties(0).multi_processor_count if torch_tasks.DEVICE == "cuda" else 1
    tiles = -(-tokens // 128)
    elements, queries = (ctypes.c_uint32 * 1)(head), (ctypes.c_uint32 * 1)(tokens)
    scale = 1 / math.sqrt(head)
    scores = (ctypes.c_uint32 * 4)(*struct.unpack("<4I", struct.pack(
        "<ffii", scale, scale * math.log2(math.e), tokens, 0 if causal else tokens)))  # fmt: skip
    # One value of 16 bytes.
    scores = ((ctypes.c_uint32 * 4) * 1)(scores)

    # The tensors whose result is there.
    computed = set()

    def run(tensors):
        numbers, out = tensors["numbers"], tensors["out"]
        if out.data_ptr() not in computed:
            forward.run(tensors)
            computed.add(out.data_ptr())
        parts = [part.view(tokens, -1) for part in out.split([tokens * count * head for count in (heads, of_keys, of_keys)])]
        of_queries, of_keys_, of_values = (matrices(part, True, tokens, head) for part in parts)
        bench.tilepipe.launch(ROW_PRODUCTS, min(2 * heads * tiles, 16 * multiprocessors), [
            view(tensors["result"], False), view(tensors["gradient"], False), view(tensors["logarithms"], False),
            constant(elements), view(numbers, True),
        ])  # fmt: skip
        given = [matrices(tensors[one], False, tokens, head) for one in ("q", "k", "v", "gradient")]
        given += [view(numbers, False), constant(scores)]
        if unordered:
            sums = tensors["sums"].zero_()
            bench.tilepipe.launch(WHOLE_GRADIENT[head], min(of_keys * tiles, multiprocessors), [
                *given, of_keys_, of_values, view(sums, True),
            ])  # fmt: skip
            bench.tilepipe.launch(GRADIENT_JOIN, min(-(-tokens // 16) * heads * head // 128, 16 * multiprocessors), [
                view(sums, False), constant(elements), constant(queries), view(parts[0], True),
            ])  # fmt: skip
            return
        bench.tilepipe.launch(QUERIES_GRADIENT[head, causal], min(heads * tiles, multiprocessors), [*given, of_queries])
        if head in KEYS_GRADIENT_ALONE:
            q, k, _, gradient, *of_scores = given
            grid = min(of_keys * tiles, multiprocessors)
            bench.tilepipe.launch(KEYS_GRADIENT_ALONE[head], grid, [*given, of_keys_])
            bench.tilepipe.launch(VALUES_GRADIENT[head], grid, [q, k, gradient, *of_scores, of_values])
            return
        by_keys = KEYS_GRADIENT[head, causal and tokens <= MOST_ROW_BY_ROW]
        bench.tilepipe.launch(by_keys, min(of_keys * tiles, multiprocessors), [*given, of_keys_, of_values])

    def prepare(_):
        return multiprocessors

    if unordered:
        return Contestant("tilepipe, unordered", "tilepipe", WHOLE_GRADIENT[head], run, prepare)
    return Contestant("tilepipe", "tilepipe", QUERIES_GRADIENT[head, causal], run, prepare)


def gradient_of_torch(name, backend, shape, causal):
    _, heads, of_keys, head = shape
    kept = {}

    def prepare(tensors):
        given = [by_heads(tensors[one], head).detach().requires_grad_() for one in ("q", "k", "v")]
        with sdpa_kernel(backend):
            result = functional.scaled_dot_product_attention(*given, is_causal=causal, enable_gqa=heads != of_keys)
        kept[tensors["q"].data_ptr()] = given, result

    def run(tensors):
        if tensors["q"].data_ptr() not in kept:
            prepare(tensors)
        given, result = kept[tensors["q"].data_ptr()]
        torch.autograd.grad(result, given, by_heads(tensors["gradient"], head), retain_graph=True)

    return Contestant(name, "library", "scaled_dot_product_attention", run, prepare, is_measure=True)


def exact_gradient(tensors, shape, causal):
    """In float, a head of keys at a time."""
    tokens, heads, of_keys, head = shape
    q, k, v, gradient = (by_heads(tensors[one], head)[0].float() for one in ("q", "k", "v", "gradient"))
    results = [torch.zeros(tokens, count, head, device=torch_tasks.DEVICE) for count in (heads, of_keys, of_keys)]
    later = torch.ones(tokens, tokens, dtype=torch.bool, device=torch_tasks.DEVICE).triu(1) if causal else None
    for one in range(heads):
        shared = one // (heads // of_keys)
        scores = q[one] @ k[shared].t() / math.sqrt(head)
        if causal:
            scores.masked_fill_(later, -math.inf)
        weights = torch.softmax(scores, -1)
        results[2][:, shared] += weights.t() @ gradient[one]
        slopes = gradient[one] @ v[shared].t()
        slopes = weights * (slopes - (weights * slopes).sum(-1, keepdim=True)) / math.sqrt(head)
        results[0][:, one] = slopes @ k[shared]
        results[1][:, shared] += slopes.t() @ q[one]
    return torch.cat([result.flatten() for result in results])


def gradient_far_off(out, expected, shape):
    """As `far_off`; a row's size is that of its gradients, which are differences.

    Where a query sees few keys these nearly cancel out: what is left of the result's rounding, times a key, is up to 2^-6.
    """
    tokens, heads, of_keys, head = shape
    rows = expected.view(-1, 64)
    size = rows.square().mean(-1, keepdim=True).sqrt().expand_as(rows).flatten()
    early = torch.cat([
        (torch.arange(tokens, device=out.device) < 64).repeat_interleave(count * head) for count in (heads, of_keys, of_keys)
    ])  # fmt: skip
    allowed = 2**-4 * (expected.abs() + size) + torch.where(early, 2**-6, 2**-9)
    return int((~((out.float() - expected).abs() <= allowed)).sum())


# Attention of one query to a cache of keys, by the size of a head, and what joins its parts.
DECODING = {
    64: "attention_decoding__bf16_false_64_128_4",
    128: "attention_decoding__bf16_false_128_128_3",
}
JOIN = "attention_join__bf16"
# Sequences, keys of each, heads of queries, and of keys.
CACHES = [(1, 32768, 64, 8), (8, 32768, 64, 8), (1, 131072, 64, 8), (64, 4096, 32, 8), (16, 8192, 16, 16)]
SMALL_CACHES = [(2, 300, 4, 2)]


def decoding(bench):
    """One query of bf16 for each sequence, against all keys of it; and a copy of as many bytes as keys and values have."""
    for sequences, keys, heads, of_keys in CACHES if torch_tasks.DEVICE == "cuda" else SMALL_CACHES:
        for head in DECODING:
            shape = (sequences, keys, heads, of_keys, head)
            read = 2 * sequences * keys * of_keys * head
            yield Case(
                f"decoding {sequences} sequences of {keys} keys {heads}/{of_keys} heads of {head}", "bf16",
                sequences * heads * head, 2 * read,
                lambda shape=shape: cache_of(shape),
                lambda t, shape=shape: exact_decoding(t, shape),
                [
                    our_decoding(bench, shape),
                    decoding_of_torch("cuDNN", SDPBackend.CUDNN_ATTENTION, shape),
                    decoding_of_torch("FlashAttention 2", SDPBackend.FLASH_ATTENTION, shape),
                    # It reads and writes half of the bytes each.
                    Contestant("copy", "library", "copy_", copy_of_keys, is_measure=True),
                ],
                far_off,
            )  # fmt: skip


def cache_of(shape):
    sequences, keys, heads, of_keys, head = shape

    def rows(tokens, heads):
        return torch.randn(tokens, heads * head, dtype=torch.bfloat16, device=torch_tasks.DEVICE)

    k, v = rows(sequences * keys, of_keys), rows(sequences * keys, of_keys)
    return {
        "q": rows(sequences, heads), "k": k, "v": v, "room": torch.empty_like(k),
        "lengths": torch.full((sequences,), keys, dtype=torch.int32, device=torch_tasks.DEVICE),
        "out": empty((sequences, heads * head), torch.bfloat16),
    }  # fmt: skip


def copy_of_keys(tensors):
    tensors["room"].copy_(tensors["k"])


def our_decoding(bench, shape):
    sequences, keys, heads, of_keys, head = shape
    shared = heads // of_keys
    multiprocessors = torch.cuda.get_device_properties(0).multi_processor_count if torch_tasks.DEVICE == "cuda" else 1
    # As `tilepipe_kernels::attention::parts`.
    parts = min(max(multiprocessors // (sequences * of_keys), 1), max(-(-keys // 512), 1))
    tiles = sequences * parts * of_keys
    scale = (ctypes.c_float * 1)(math.log2(math.e) / math.sqrt(head))
    elements = (ctypes.c_uint32 * 1)(head)
    results = torch.empty(sequences * parts, heads * head, device=torch_tasks.DEVICE)
    logarithms = torch.empty(sequences * parts * of_keys, shared, device=torch_tasks.DEVICE)

    def run(tensors):
        lengths = view(tensors["lengths"], False)
        bench.tilepipe.launch(DECODING[head], min(tiles, multiprocessors), [
            rows_in_matrices(tensors["q"], False, shared, head),
            *(matrices(tensors[one], False, keys, head) for one in ("k", "v")),
            lengths, lengths, constant(scale), rows_in_matrices(results, True, shared, head), view(logarithms, True),
        ])  # fmt: skip
        grid = min(sequences * -(-heads * head // 128), 16 * multiprocessors)
        out = view(tensors["out"], True)
        bench.tilepipe.launch(JOIN, grid, [view(results, False), view(logarithms, False), constant(elements), out])

    return Contestant("tilepipe", "tilepipe", DECODING[head], run, lambda _: min(tiles, multiprocessors))


def decoding_of_torch(name, backend, shape):
    sequences, keys, heads, of_keys, head = shape

    def run(tensors):
        q = tensors["q"].view(sequences, 1, heads, head).transpose(1, 2)
        k, v = (tensors[one].view(sequences, keys, of_keys, head).transpose(1, 2) for one in ("k", "v"))
        with sdpa_kernel(backend):
            functional.scaled_dot_product_attention(q, k, v, enable_gqa=heads != of_keys)

    return Contestant(name, "library", "scaled_dot_product_attention", run, is_measure=True)


def exact_decoding(tensors, shape):
    """In float, a sequence at a time."""
    sequences, keys, heads, of_keys, head = shape
    result = torch.empty(sequences, heads, head, device=torch_tasks.DEVICE)
    for one in range(sequences):
        q = tensors["q"][one].view(of_keys, heads // of_keys, head).float()
        k, v = (tensors[name].view(sequences, keys, of_keys, head)[one].transpose(0, 1).float() for name in ("k", "v"))
        result[one] = (torch.softmax(q @ k.transpose(1, 2) / math.sqrt(head), -1) @ v).view(heads, head)
    return result.view(sequences, heads * head)


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
TASKS = {"attention": attention, "gradient": gradient, "decoding": decoding}
