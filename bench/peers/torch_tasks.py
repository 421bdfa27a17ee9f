"""What torch_peers.py compares: for each task the tensors, the result, and the contestants.

A task is a function of the bench that yields a `Case` for each element type and size; `TASKS` names
them. To add one, write its function and its line there, or as torch_largest.py does. The names of our kernels are texts of this
file, which a test of bench/capi compares with the kernels that there are.

A contestant runs on the tensors of one set: what it writes is `out`. It is captured into a graph, so
it may neither wait nor read from the GPU. `fused` functions are for torch.compile, which makes one
kernel of them; they write `out` by `copy_`, for which it makes no copy.
"""

import ctypes
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Callable, Optional

import torch
from torch.nn import functional

from torch_libraries import RESIDENT, TILES, constant, view

# Elements of a group, within which the neighbour sum takes neighbours.
GROUP = 256
# Neighbours on either side that enter a moving average.
RADIUS = 8
# The grid of the kernels that `tilepipe-bench measure` times.
GRID = 4096
# More blocks than run at once on any GPU.
MOST_BLOCKS = 1 << 16
INT32 = (-(1 << 31), 1 << 31)
# Whole numbers that a float has, and those after them.
WHOLE = (-(1 << 23), 1 << 23)


@dataclass
class Contestant:
    """One way to compute a case's result."""

    name: str
    # A class of bench/src/record.rs: "tilepipe", "py-torch", "library" or "hand".
    kind: str
    # The entry of a kernel of ours, else what is called.
    symbol: str
    run: Callable
    # Called once with the first set's tensors; returns the number of blocks where that is known.
    prepare: Callable = lambda tensors: None
    grid: Optional[int] = None
    # Whether it leaves `out` alone or writes something else there: a measure, whose result is not compared.
    is_measure: bool = False


@dataclass
class Case:
    """A task with an element type and a size."""

    task: str
    dtype: str
    elements: int
    # Bytes that a launch reads and writes at least.
    bytes_moved: int
    # Makes the tensors of a set by name, one of them `out`.
    make: Callable
    # Computes what `out` must be, by other operations than the contestants'.
    expected: Callable
    contestants: list
    # Counts the wrong elements of `out`, given what is expected.
    wrong: Callable = lambda out, expected: int((out != expected).sum())


def integers(shape, bounds, dtype=torch.int32):
    """Makes random whole numbers; as floats they are exact."""
    return torch.randint(*bounds, shape if isinstance(shape, tuple) else (shape,), dtype=torch.int32, device=DEVICE).to(dtype)


# Where tensors lie. Tests of this file's arithmetic, for which there need be no GPU, set another.
DEVICE = "cuda"


def empty(shape, dtype=torch.int32):
    return torch.empty(shape, dtype=dtype, device=DEVICE)


def eager(symbol, run):
    """PyTorch's operations one by one, each a kernel of its own."""
    return Contestant("PyTorch", "py-torch", symbol, run)


def compiled(bench, symbol, fused):
    """One function for torch.compile, which needs Triton."""

    def prepare(_):
        bench.require_triton()

    return Contestant("torch.compile", "py-torch", symbol, torch.compile(fused, fullgraph=True, dynamic=False), prepare)


def ours(bench, symbol, grid, inputs=("x",), lanes=1, numbers=()):
    """A launch of one kernel of ours, with the tensors of these names, a constant of each of these arrays, and `out`."""

    def views(tensors):
        of_inputs = [view(tensors[name], False, lanes) for name in inputs]
        return [*of_inputs, *map(constant, numbers), view(tensors["out"], True, lanes)]

    def prepare(tensors):
        return bench.tilepipe.blocks(symbol, grid, views(tensors))

    return Contestant("tilepipe", "tilepipe", symbol, lambda t: bench.tilepipe.launch(symbol, grid, views(t)), prepare)


def our_reduction(bench, symbol, last, inputs):
    """A launch with a result of each block, as many as run at once, and one of `last`, which adds them."""
    partial = None

    def prepare(tensors):
        nonlocal partial
        room = empty(MOST_BLOCKS, tensors["out"].dtype)
        views = [*(view(tensors[name], False) for name in inputs), view(room, True)]
        blocks = bench.tilepipe.blocks(symbol, RESIDENT, views)
        partial = room[:blocks]
        return blocks

    def run(tensors):
        views = [*(view(tensors[name], False) for name in inputs), view(partial, True)]
        bench.tilepipe.launch(symbol, partial.numel(), views)
        bench.tilepipe.launch(last, 1, [view(partial, False), view(tensors["out"], True)])

    return Contestant("tilepipe", "tilepipe", symbol, run, prepare)


def ours_added(bench, symbol, grid):
    """A launch that adds to what `out` holds, and before it the zeros."""
    launched = ours(bench, symbol, grid)

    def run(tensors):
        tensors["out"].zero_()
        launched.run(tensors)

    return Contestant("tilepipe", "tilepipe", symbol, run, launched.prepare)


def wrapped(numbers):
    """The low 32 bits of 64-bit integers, as int32."""
    low = numbers & 0xFFFFFFFF
    return torch.where(low >= 1 << 31, low - (1 << 32), low).to(torch.int32)


def triple(bench):
    """3 * x."""
    of_ours = [
        ("scale_own__i32_CpAsync_BlockScope_256_2", GRID, 1),
        ("scale_own__i32_CpAsync_BlockScope_256_4", GRID, 1),
        ("scale_own__i32_CpAsync_ThreadScope_256_2", GRID, 1),
        ("scale_own__i32_CpAsync_ThreadScope_256_4", GRID, 1),
        # Four numbers a thread.
        ("scale_own__I32x4_CpAsync_ThreadScope_256_2", TILES, 4),
        ("scale_own__I32x4_CpAsync_ThreadScope_256_4", GRID, 4),
        ("scale_own_wide__i32_ThreadScope_128_512_1", TILES, 1),
    ]
    for elements in bench.sizes:
        yield Case(
            "triple", "i32", elements, 8 * elements,
            lambda elements=elements: {"x": integers(elements, INT32), "out": empty(elements)},
            lambda t: wrapped(3 * t["x"].long()),
            [
                *(ours(bench, symbol, grid, lanes=lanes) for symbol, grid, lanes in of_ours),
                eager("torch.mul", lambda t: torch.mul(t["x"], 3, out=t["out"])),
                compiled(bench, "3 * x", lambda t: t["out"].copy_(3 * t["x"])),
            ],
        )  # fmt: skip


def total(bench):
    """The sum of all elements. Floats are small whole numbers, so that every order is exact."""
    of_ours = {
        "i32": (["sum__i32_256_1024_4", "sum__i32_256_1024_8"], "sum__i32_256_1024_4", torch.int32, INT32),
        "f32": (["sum__f32_256_1024_4", "sum__f32_256_1024_8"], "sum__f32_256_1024_4", torch.float32, (-100, 101)),
    }
    for elements in bench.sizes:
        for name, (symbols, last, dtype, bounds) in of_ours.items():
            yield Case(
                "sum", name, elements, 4 * elements,
                lambda elements=elements, dtype=dtype, bounds=bounds: {
                    "x": integers(elements, bounds, dtype), "out": empty(1, dtype)
                },
                exact_sum,
                [
                    *(our_reduction(bench, symbol, last, ["x"]) for symbol in symbols),
                    eager("torch.sum", lambda t, dtype=dtype: torch.sum(t["x"], 0, dtype=dtype, out=t["out"][0])),
                    compiled(bench, "sum(x)", lambda t, dtype=dtype: t["out"].copy_(t["x"].sum(dtype=dtype))),
                    *([of_cub("cub::DeviceReduce::Sum", lambda x, out: bench.cub().sum(x, out))] if name == "f32" else []),
                ],
            )  # fmt: skip


def exact_sum(tensors):
    x = tensors["x"]
    if x.dtype == torch.int32:
        return wrapped(x.long().sum())
    return x.double().sum().to(x.dtype)


def dot(bench):
    """The sum of the products. Floats are small whole numbers, so that every order is exact."""
    of_ours = {
        "i32": (["dot__i32_256_1024_2", "dot__i32_256_1024_4"], "sum__i32_256_1024_4", torch.int32, INT32),
        "f32": (["dot__f32_256_1024_2", "dot__f32_256_1024_4"], "sum__f32_256_1024_4", torch.float32, (-10, 11)),
    }
    for elements in bench.sizes:
        for name, (symbols, last, dtype, bounds) in of_ours.items():
            if dtype == torch.float32:
                of_torch = eager("torch.dot", lambda t: torch.dot(t["x"], t["y"], out=t["out"][0]))
            else:
                # torch.dot takes no integers on a GPU.
                of_torch = eager("torch.mul, torch.sum", mul_and_sum)
            yield Case(
                "dot", name, elements, 8 * elements,
                lambda elements=elements, dtype=dtype, bounds=bounds: {
                    "x": integers(elements, bounds, dtype), "y": integers(elements, bounds, dtype), "out": empty(1, dtype)
                },
                exact_dot,
                [
                    *(our_reduction(bench, symbol, last, ["x", "y"]) for symbol in symbols),
                    of_torch,
                    compiled(bench, "sum(x * y)", lambda t, dtype=dtype: t["out"].copy_((t["x"] * t["y"]).sum(dtype=dtype))),
                ],
            )  # fmt: skip


def mul_and_sum(tensors):
    torch.sum(tensors["x"] * tensors["y"], 0, dtype=torch.int32, out=tensors["out"][0])


def exact_dot(tensors):
    x, y = tensors["x"], tensors["y"]
    if x.dtype == torch.int32:
        # What wraps at 2^64 has the same low bits.
        return wrapped((x.long() * y.long()).sum())
    return (x.double() * y.double()).sum().to(x.dtype)


def transpose(bench):
    """out[c][r] = x[r][c], of square matrices."""
    symbols = ["transpose__i32_256_32_1_1", "transpose__i32_256_32_1_2", "transpose__i32_256_32_1_3"]
    wide = [
        "transpose_wide__i32_256_64_64_4_1",
        "transpose_wide__i32_256_64_64_4_2",
        "transpose_wide__i32_128_32_64_4_1",
    ]
    for elements in bench.sizes:
        side = 1 << (elements.bit_length() // 2)
        if side * side != elements:
            bench.leave_out("transpose", "all", f"{elements} elements are no square matrix")
            continue
        yield Case(
            "transpose", "i32", elements, 8 * elements,
            lambda side=side: {"x": integers((side, side), INT32), "out": empty((side, side))},
            transposed,
            [
                *(ours(bench, symbol, grid) for symbol in symbols for grid in (TILES, RESIDENT)),
                *(ours(bench, symbol, TILES) for symbol in wide),
                ours(bench, "transpose_wide__i32_256_64_64_4_2", RESIDENT),
                ours(bench, "transpose_tma__i32_64_32_4_1_1", TILES),
                ours(bench, "transpose_tma__i32_64_32_4_2_2", RESIDENT),
                eager("out.copy_(x.t())", lambda t: t["out"].copy_(t["x"].t())),
                compiled(bench, "x.t()", lambda t: t["out"].copy_(t["x"].t())),
            ],
        )  # fmt: skip


def transposed(tensors):
    """Takes each element from its place, which no copy of a strided tensor has a part in."""
    rows, columns = tensors["x"].shape
    places = torch.arange(rows * columns, device=DEVICE)
    return tensors["x"].flatten()[places % rows * columns + places // rows].view(columns, rows)


def column_sums(bench):
    """out[0][c] = x[0][c] + x[1][c] + .., of square matrices."""
    symbols = [
        "column_sums__i32_Add_64_16_256_4_2_1",
        "column_sums__i32_Add_64_16_256_4_4_1",
        "column_sums__i32_Add_64_32_256_4_2_1",
        "column_sums__i32_Add_64_32_256_4_4_1",
    ]
    for elements in bench.sizes:
        side = 1 << (elements.bit_length() // 2)
        if side * side != elements:
            bench.leave_out("column-sums", "all", f"{elements} elements are no square matrix")
            continue
        yield Case(
            "column-sums", "i32", elements, 4 * elements,
            lambda side=side: {"x": integers((side, side), INT32), "out": empty((1, side))},
            lambda t: wrapped(t["x"].long().sum(0, keepdim=True)),
            [
                *(ours_added(bench, symbol, RESIDENT) for symbol in symbols),
                eager("torch.sum", lambda t: torch.sum(t["x"], 0, True, dtype=torch.int32, out=t["out"])),
                compiled(bench, "x.sum(0)", lambda t: t["out"].copy_(t["x"].sum(0, keepdim=True, dtype=torch.int32))),
            ],
        )  # fmt: skip


def neighbour_sum(bench):
    """3 * x[i] + x[next of i in its group of 256], where the last one's next is the first."""
    symbol = "with_staging_unified__i32_NeighbourSum_CpAsync_256_4"
    for elements in bench.sizes:
        yield Case(
            "neighbour sum", "i32", elements, 8 * elements,
            lambda elements=elements: {"x": integers(elements, INT32), "out": empty(elements)},
            with_neighbours,
            [
                ours(bench, symbol, GRID),
                ours(bench, symbol, RESIDENT),
                ours(bench, "with_staging_unified_wide__i32_GroupSum_CpAsync_128_512_1", TILES),
                eager("torch.roll, torch.add", roll_and_add),
                compiled(bench, "3 * x + roll(x)", fused_neighbour_sum),
            ],
        )  # fmt: skip


def roll_and_add(tensors):
    groups = tensors["x"].view(-1, GROUP)
    torch.add(torch.roll(groups, -1, 1), groups, alpha=3, out=tensors["out"].view(-1, GROUP))


def fused_neighbour_sum(tensors):
    groups = tensors["x"].view(-1, GROUP)
    tensors["out"].copy_((3 * groups + torch.roll(groups, -1, 1)).view(-1))


def with_neighbours(tensors):
    x = tensors["x"].long()
    places = torch.arange(x.numel(), device=DEVICE)
    return wrapped(3 * x + x[places // GROUP * GROUP + (places + 1) % GROUP])


def moving_average(bench):
    """The mean of the 17 elements around each, rounded towards zero; beyond the ends there are zeros."""
    symbol = "moving_average__i32_256_4"
    for elements in bench.sizes:
        yield Case(
            "moving average", "i32", elements, 8 * elements,
            # Sums do not wrap.
            lambda elements=elements: {"x": integers(elements, (-(1 << 26), 1 << 26)), "out": empty(elements)},
            averaged,
            [
                ours(bench, symbol, GRID),
                ours(bench, symbol, RESIDENT),
                ours(bench, "moving_average_wide__i32_256_1024_1", TILES),
                ours(bench, "moving_average_wide__i32_128_512_1", TILES),
                eager("unfold, sum, torch.div", unfold_and_sum),
                compiled(bench, "sum of 17 / 17", fused_average),
            ],
        )  # fmt: skip


def unfold_and_sum(tensors):
    padded = functional.pad(tensors["x"], (RADIUS, RADIUS))
    sums = padded.unfold(0, 2 * RADIUS + 1, 1).sum(-1, dtype=torch.int32)
    torch.div(sums, 2 * RADIUS + 1, rounding_mode="trunc", out=tensors["out"])


def fused_average(tensors):
    x = tensors["x"]
    padded, sums = functional.pad(x, (RADIUS, RADIUS)), torch.zeros_like(x)
    for shift in range(2 * RADIUS + 1):
        sums = sums + padded[shift : shift + x.numel()]
    tensors["out"].copy_(torch.div(sums, 2 * RADIUS + 1, rounding_mode="trunc"))


def averaged(tensors):
    x = tensors["x"].long()
    # before[i] is the sum of the elements before element i.
    before = functional.pad(x.cumsum(0), (1, 0))
    places = torch.arange(x.numel(), device=DEVICE)
    sums = before[(places + RADIUS + 1).clamp(max=x.numel())] - before[(places - RADIUS).clamp(min=0)]
    return (sums.sign() * (sums.abs() // (2 * RADIUS + 1))).to(torch.int32)


def softmax(bench):
    """exp(x - max) / sum of each row, in the shapes of an attention's scores and of long rows."""
    symbols = {
        4096: ["softmax__256_4_4096", "softmax__512_2_4096"],
        1024: ["softmax__64_4_1024", "softmax__128_2_1024"],
    }
    for elements, rows, columns in matrices(bench, symbols):
        yield Case(
            f"softmax of rows of {columns}", "f32", elements, 8 * elements,
            lambda rows=rows, columns=columns: {
                "x": torch.randn(rows, columns, device=DEVICE), "out": empty((rows, columns), torch.float32)
            },
            lambda t: torch.softmax(t["x"].double(), -1),
            [
                *(ours(bench, symbol, grid) for symbol in symbols[columns] for grid in (TILES, RESIDENT)),
                eager("torch.softmax", lambda t: torch.softmax(t["x"], -1, out=t["out"])),
                compiled(bench, "softmax(x)", lambda t: t["out"].copy_(torch.softmax(t["x"], -1))),
                the_copy(),
            ],
            off_by_rounding,
        )  # fmt: skip


def matrices(bench, widths):
    """The sizes with as many rows of each width as they have room for."""
    for elements in bench.sizes:
        for columns in widths:
            if elements >= columns:
                yield elements, elements // columns, columns


def off_by_rounding(out, expected):
    """Counts the elements that are further off than 1e-5 of what they must be."""
    return int((~((out.double() - expected).abs() <= 1e-5 * expected.abs())).sum())


def rms_norm(bench):
    """x / sqrt(mean(x * x) + 1e-6) * w of each row, with a weight for each column."""
    symbols = {
        4096: ["rms_norm__256_4_4096", "rms_norm__512_2_4096"],
        1024: ["rms_norm__64_4_1024", "rms_norm__128_2_1024"],
    }
    for elements, rows, columns in matrices(bench, symbols):
        yield Case(
            f"RMS norm of rows of {columns}", "f32", elements, 8 * elements,
            lambda rows=rows, columns=columns: {
                "x": torch.randn(rows, columns, device=DEVICE), "w": torch.rand(columns, device=DEVICE) + 0.5,
                "out": empty((rows, columns), torch.float32),
            },
            normalised,
            [
                *(ours(bench, symbol, grid, ["x", "w"]) for symbol in symbols[columns] for grid in (TILES, RESIDENT)),
                eager("rms_norm, copy_", lambda t: t["out"].copy_(of_torch(t))),
                # PyTorch's function takes no tensor to write to.
                Contestant("PyTorch, no copy", "py-torch", "rms_norm", of_torch, is_measure=True),
                compiled(bench, "rms_norm(x, w)", lambda t: t["out"].copy_(of_torch(t))),
                the_copy(),
            ],
            off_by_rounding,
        )  # fmt: skip


EPSILON = 1e-6


def of_torch(tensors):
    return functional.rms_norm(tensors["x"], (tensors["x"].shape[1],), tensors["w"], EPSILON)


def normalised(tensors):
    x = tensors["x"].double()
    return x / torch.sqrt(x.square().mean(1, keepdim=True) + EPSILON) * tensors["w"].double()


def the_copy(source="x", to="out"):
    """The driver's copy of the same bytes, as a measure of the memory. Its result is not compared."""
    return Contestant("the driver's copy", "library", "cudaMemcpyAsync", lambda t: t[to].copy_(t[source]), is_measure=True)


def reverse(bench):
    """The elements from the last to the first."""
    symbols = ["reverse__i32_256_1_1024", "reverse__i32_256_2_2048", "reverse__i32_256_4_4096", "reverse__i32_128_4_2048"]
    for elements in bench.sizes:
        yield Case(
            "reverse", "i32", elements, 8 * elements,
            lambda elements=elements: {"x": integers(elements, INT32), "out": empty(elements)},
            lambda t: t["x"][torch.arange(t["x"].numel() - 1, -1, -1, device=DEVICE)],
            [
                *(ours(bench, symbol, grid) for symbol in symbols for grid in (TILES, RESIDENT)),
                eager("out.copy_(x.flip(0))", lambda t: t["out"].copy_(t["x"].flip(0))),
                compiled(bench, "x.flip(0)", lambda t: t["out"].copy_(t["x"].flip(0))),
                the_copy(),
            ],
        )  # fmt: skip


def histogram(bench):
    """How many elements have each value: bytes of several kinds, and keys of 4096 values."""
    of_bytes = ["histogram__256_4096_4_1", "histogram__256_4096_4_2", "histogram__256_4096_4_8", "histogram_bulk__256_4096_4_1"]
    of_keys = ["histogram_u32__256_1024_4_0", "histogram_u32_bulk__256_1024_4_0"]
    kinds = {
        "uniform": lambda n: torch.randint(0, 256, (n,), dtype=torch.uint8, device=DEVICE),
        # About half of them are zeros.
        "skewed": lambda n: (torch.randn(n, device=DEVICE).abs() * 1.5).square().clamp(max=255).to(torch.uint8),
        "constant": lambda n: torch.full((n,), 7, dtype=torch.uint8, device=DEVICE),
    }
    for elements in bench.sizes:
        for kind, make in kinds.items():
            yield Case(
                f"histogram of {kind} bytes", "u8", elements, elements,
                lambda elements=elements, make=make: {"x": make(elements), "out": empty(256)},
                counted,
                [*(ours_added(bench, symbol, RESIDENT) for symbol in of_bytes), cub_histogram(bench)],
            )  # fmt: skip
        yield Case(
            "histogram of keys", "u32", elements, 4 * elements,
            lambda elements=elements: {"x": integers(elements, (0, 4096)), "out": empty(4096)},
            counted,
            [*(ours_added(bench, symbol, RESIDENT) for symbol in of_keys), cub_histogram(bench)],
        )  # fmt: skip


def counted(tensors):
    # By sorting, which no contestant does.
    values, counts = torch.unique(tensors["x"], return_counts=True)
    expected = empty(tensors["out"].numel(), torch.int32).zero_()
    expected[values.long()] = counts.to(torch.int32)
    return expected


def of_cub(symbol, plan):
    """CUB's function, which `plan` prepares for the first set's tensors."""
    start = None

    def prepare(tensors):
        nonlocal start
        start = plan(tensors["x"], tensors["out"])

    return Contestant("CUB", "library", symbol, lambda t: start(t["x"], t["out"]), prepare)


def cub_histogram(bench):
    return of_cub("cub::DeviceHistogram::HistogramEven", lambda x, out: bench.cub().histogram(x, out))


def exclusive_scan(bench):
    """The sum of all elements before each."""
    of_ours = [
        ("exclusive_scan__i32_256_1024_4", "part_sums__i32_256_1024_4"),
        ("exclusive_scan__i32_512_2048_4", "part_sums__i32_512_2048_4"),
        ("exclusive_scan_bulk__i32_256_1024_4", "part_sums_bulk__i32_256_1024_4"),
    ]
    for elements in bench.sizes:
        yield Case(
            "exclusive-scan", "i32", elements, 8 * elements,
            lambda elements=elements: {"x": integers(elements, INT32), "out": empty(elements)},
            lambda t: wrapped(functional.pad(t["x"].long().cumsum(0), (1, 0))[:-1]),
            [
                *(our_scan(bench, symbol, first) for symbol, first in of_ours),
                eager("torch.cumsum, torch.sub", cumsum_and_sub),
                of_cub("cub::DeviceScan::ExclusiveSum", lambda x, out: bench.cub().exclusive_scan(x, out)),
            ],
        )  # fmt: skip


def cumsum_and_sub(tensors):
    torch.cumsum(tensors["x"], 0, dtype=torch.int32, out=tensors["out"])
    tensors["out"].sub_(tensors["x"])


def our_scan(bench, symbol, first):
    """A launch with a sum of each block's part, and one with as many blocks and tiles as long that scans."""
    sums = None

    def prepare(tensors):
        nonlocal sums
        room = empty(MOST_BLOCKS)
        views = [view(tensors["x"], False), view(room, False), view(tensors["out"], True)]
        blocks = bench.tilepipe.blocks(symbol, RESIDENT, views)
        sums = room[:blocks]
        return blocks

    def run(tensors):
        bench.tilepipe.launch(first, sums.numel(), [view(tensors["x"], False), view(sums, True)])
        bench.tilepipe.launch(symbol, sums.numel(), [view(tensors["x"], False), view(sums, False), view(tensors["out"], True)])

    return Contestant("tilepipe", "tilepipe", symbol, run, prepare)


def gather(bench):
    """out[i] = table[indices[i]], for indices in order, as a copy has them, and in no order."""
    symbols = ["gather__f32_256_1_1024", "gather__f32_256_2_2048", "gather__f32_256_4_4096", "gather__f32_128_4_2048"]
    kinds = {
        "in order": lambda n: torch.arange(n, dtype=torch.int32, device=DEVICE),
        "in no order": lambda n: torch.randperm(n, dtype=torch.int32, device=DEVICE),
    }
    for elements in bench.sizes:
        for kind, make in kinds.items():
            yield Case(
                f"gather {kind}", "f32", elements, 12 * elements,
                lambda elements=elements, make=make: {
                    "indices": make(elements), "table": integers(elements, WHOLE, torch.float32),
                    "out": empty(elements, torch.float32), **of_as_many_bytes(elements),
                },
                lambda t: torch.take(t["table"], t["indices"].long()),
                [
                    *(ours(bench, symbol, grid, ["indices", "table"]) for symbol in symbols for grid in (TILES, RESIDENT)),
                    eager("torch.index_select", lambda t: torch.index_select(t["table"], 0, t["indices"], out=t["out"])),
                    compiled(bench, "table[indices]", lambda t: t["out"].copy_(t["table"][t["indices"]])),
                    the_copy("from", "to"),
                ],
            )  # fmt: skip


def of_as_many_bytes(elements):
    """Tensors between which a copy reads and writes 12 bytes for each element."""
    return {"from": empty(elements + elements // 2), "to": empty(elements + elements // 2)}


def convolution(bench):
    """The sum of the 17 or 33 elements around each, each times a number of the filter; beyond the ends there are zeros."""
    symbols = {
        17: [
            "convolution__f32_128_512_8_17_1",
            "convolution__f32_256_1024_8_17_1",
            "convolution__f32_256_1024_8_17_4",
            "convolution_bulk__f32_256_1024_8_17_2",
        ],
        33: ["convolution__f32_128_512_16_33_1", "convolution__f32_256_1024_16_33_1", "convolution__f32_256_1024_16_33_4"],
    }
    for elements in bench.sizes:
        for taps in [17, 33]:
            filter = (ctypes.c_float * taps)(*range(taps, 0, -1))
            yield Case(
                f"convolution with {taps} numbers", "f32", elements, 8 * elements,
                # Whole numbers, whose sums are exact in every order.
                lambda elements=elements, filter=filter: {
                    "x": integers(elements, (-1000, 1001), torch.float32), "out": empty(elements, torch.float32),
                    "w": torch.tensor(list(filter), device=DEVICE),
                },
                convolved,
                [
                    *(ours(bench, symbol, grid, numbers=(filter,)) for symbol in symbols[taps] for grid in (TILES, RESIDENT)),
                    eager("torch.conv1d, copy_", lambda t: t["out"].copy_(conv1d(t))),
                    # PyTorch's function takes no tensor to write to.
                    Contestant("PyTorch, no copy", "py-torch", "torch.conv1d", conv1d, is_measure=True),
                    compiled(bench, f"sum of {taps}", lambda t, filter=tuple(filter): fused_convolution(t, filter)),
                    the_copy(),
                ],
            )  # fmt: skip


def conv1d(tensors):
    # By default cuDNN takes factors of 10 bits.
    torch.backends.cudnn.allow_tf32 = False
    x, w = tensors["x"].view(1, 1, -1), tensors["w"].view(1, 1, -1)
    return functional.conv1d(x, w, padding=w.numel() // 2).view(-1)


def fused_convolution(tensors, filter):
    x = tensors["x"]
    radius = len(filter) // 2
    padded, sums = functional.pad(x, (radius, radius)), torch.zeros_like(x)
    for shift, weight in enumerate(filter):
        sums = sums + weight * padded[shift : shift + x.numel()]
    tensors["out"].copy_(sums)


def convolved(tensors):
    x, w = tensors["x"].double(), tensors["w"].double()
    radius, sums = w.numel() // 2, torch.zeros_like(x)
    for tap, weight in enumerate(w.tolist()):
        # Of all elements but those whose neighbour at this distance lies beyond an end.
        first, last = max(0, radius - tap), min(x.numel(), x.numel() + radius - tap)
        sums[first:last] += weight * x[first + tap - radius : last + tap - radius]
    return sums.float()


def sgemm(bench):
    """a * b in floats, by CUDA cores: no factor is rounded to fewer bits."""
    torch.backends.cuda.matmul.allow_tf32 = False
    symbols = ["sgemm__128_128_128_8_2", "sgemm__128_128_128_8_3"]
    for side in bench.sides:
        yield Case(
            f"sgemm {side}x{side}x{side}", "f32", side * side, 3 * side * side * 4,
            lambda side=side: {
                **{key: torch.randn(side, side, device=DEVICE) for key in ("a", "b")}, "out": empty((side, side), torch.float32),
            },
            lambda t: (t["a"].double() @ t["b"].double()).float(),
            [
                *(ours(bench, symbol, grid, ("a", "b"), numbers=ALPHA) for symbol in symbols for grid in (TILES, RESIDENT)),
                *(sgemm_by_hand(bench, stages) for stages in (2, 3, 4)),
                eager("torch.matmul", lambda t: torch.matmul(t["a"], t["b"], out=t["out"])),
            ],
            far_off,
        )  # fmt: skip


# What a product is multiplied by.
ALPHA = ((ctypes.c_float * 1)(1.0),)


def sgemm_by_hand(bench, stages):
    def run(tensors):
        bench.sgemm().run(stages, tensors["a"], tensors["b"], tensors["out"])

    return Contestant("C++ by hand", "hand", f"product<{stages}>", run)


def matmul(bench):
    """a * b, with b as it is ("nn") or transposed ("nt"), by tensor cores. Ours takes b transposed."""
    torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False
    torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False
    torch.backends.cuda.matmul.allow_tf32 = False
    of_layers = LAYERS if DEVICE == "cuda" else [(64, 32, 48)]
    for rows, columns, deep in [*((side, side, side) for side in bench.sides), *of_layers]:
        for name, dtype in [("f16", torch.float16), ("bf16", torch.bfloat16)]:
            for layout in ["nn", "nt"]:
                if rows != columns and (name, layout) != ("bf16", "nt"):
                    continue
                widths = PRODUCTS if layout == "nt" else (256, 128)
                yield Case(
                    f"matmul {layout} {rows}x{columns}x{deep}", name, rows * columns,
                    (rows * columns + rows * deep + columns * deep) * dtype.itemsize,
                    lambda shape=(rows, columns, deep), dtype=dtype, layout=layout: factors(shape, dtype, layout),
                    lambda t, layout=layout: t["a"].float() @ right(t, layout).float(),
                    [
                        *(our_product(bench, name, layout, width, rows, columns) for width in widths),
                        *(our_product_in_parts(bench, name, layout, parts, rows, columns) for parts in parts_of(rows, columns, deep)),
                        eager("torch.matmul", lambda t, layout=layout: torch.matmul(t["a"], right(t, layout), out=t["out"])),
                        cublaslt(bench, layout),
                    ],
                    lambda out, expected, deep=deep: far_off(out, expected, deep),
                )  # fmt: skip


def factors(shape, dtype, layout):
    rows, columns, deep = shape
    of_right = (columns, deep) if layout == "nt" else (deep, columns)
    return {
        "a": torch.randn(rows, deep, dtype=dtype, device=DEVICE),
        "b": torch.randn(*of_right, dtype=dtype, device=DEVICE),
        "out": empty((rows, columns), dtype),
    }


# The columns of a tile of the product, and the rest of the instance's name.
PRODUCTS = {
    256: "Swizzle128_256_64_4_2",
    224: "Swizzle128_224_64_4_2",
    208: "Swizzle128_208_64_4_2",
    192: "Swizzle128_192_64_4_2",
    176: "Swizzle128_176_64_5_2",
    168: "Swizzle128_168_64_5_2",
    160: "Swizzle128_160_64_5_2",
    128: "Swizzle128_128_64_6_2",
    64: "Swizzle128_64_64_8_2",
}
# Rows, columns and K of a transformer's layers.
LAYERS = [(rows, *layer) for rows in (64, 128, 256, 512, 2048) for layer in ((4096, 4096), (11008, 4096), (4096, 11008), (14336, 4096), (4096, 14336))]


def our_product(bench, dtype, layout, width, rows, columns):
    """A product in tiles of 128 rows and so many columns, on as few multiprocessors as its rounds need."""
    right = "Along" if layout == "nt" else "Across"
    tiles = -(-rows // 128) * -(-columns // width)
    multiprocessors = torch.cuda.get_device_properties(0).multi_processor_count if DEVICE == "cuda" else 1
    symbol = f"gemm__{dtype}_Along_{right}_{PRODUCTS[width]}"
    return ours(bench, symbol, -(-tiles // -(-tiles // multiprocessors)), ("a", "b"))


def parts_of(rows, columns, deep):
    """Numbers of parts of K that may pay: where the tiles are fewer than multiprocessors, so many that there is a round for all."""
    tiles = -(-rows // 128) * -(-columns // 128)
    if DEVICE != "cuda":
        return [2]
    of_rounds = {rounds * 132 // tiles for rounds in (1, 2)}
    return sorted(parts for parts in of_rounds if 2 <= parts <= deep // 64 // 8)


def our_product_in_parts(bench, dtype, layout, parts, rows, columns):
    """A product with K in so many parts, whose sums a second kernel adds up."""
    right = "Along" if layout == "nt" else "Across"
    symbols = [f"gemm_parts__{dtype}_Along_{right}", f"gemm_join__{dtype}"]
    below, tiles = -(-rows // 128), -(-columns // 128)
    multiprocessors = torch.cuda.get_device_properties(0).multi_processor_count if DEVICE == "cuda" else 1
    grids = [min(parts * below * tiles, multiprocessors), min(rows * -(-columns // 512), 16 * multiprocessors)]
    room = None

    def prepare(tensors):
        nonlocal room
        room = empty((parts * 128 * below, columns), torch.float32)
        return grids[0]

    def run(tensors):
        factors = [view(tensors[name], False) for name in ("a", "b")]
        bench.tilepipe.launch(symbols[0], grids[0], [*factors, view(room, True)])
        bench.tilepipe.launch(symbols[1], grids[1], [view(room, False), view(tensors["out"], True)])

    return Contestant("tilepipe", "tilepipe", f"{symbols[0]} in {parts} parts", run, prepare)


def right(tensors, layout):
    return tensors["b"].t() if layout == "nt" else tensors["b"]


# What a layer adds to a product: the vector `bias` and the matrix `residual`, with factors, and what is computed at last.
LAYER_EPILOGUES = {
    "bias": ("Linear", {"bias"}, (1.0, 0.0, float("-inf"))),
    "bias relu": ("Linear", {"bias"}, (1.0, 0.0, 0.0)),
    "bias silu": ("Silu", {"bias"}, (1.0, 0.0, float("-inf"))),
    "scaled sum": ("Linear", {"residual"}, (2.0, 0.5, float("-inf"))),
    "residual relu": ("Linear", {"residual"}, (1.0, 1.0, 0.0)),
}
# The instances, by what is computed at last, whether a matrix is added, and by the columns of a tile.
LAYER_INSTANCES = {
    ("Linear", False, 256): "gemm_fused__bf16_Along_Along_Linear_Swizzle128_256_64_4",
    ("Linear", False, 128): "gemm_fused__bf16_Along_Along_Linear_Swizzle128_128_64_6",
    ("Silu", False, 256): "gemm_fused__bf16_Along_Along_Silu_Swizzle128_256_64_4",
    ("Silu", False, 128): "gemm_fused__bf16_Along_Along_Silu_Swizzle128_128_64_6",
    ("Linear", True, 256): "gemm_fused_with_matrix__bf16_Along_Along_Linear_Swizzle64_256_32_4",
    ("Linear", True, 128): "gemm_fused_with_matrix__bf16_Along_Along_Linear_Swizzle64_128_32_6",
}


def layers(bench):
    """A product with what a layer of a network does to it, by one kernel of ours, and by PyTorch's shortest program."""
    torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False
    torch.backends.cuda.matmul.allow_tf32 = False
    of_layers = [(2048, 11008, 4096), (2048, 4096, 11008), (512, 11008, 4096)] if DEVICE == "cuda" else [(64, 32, 48)]
    for rows, columns, deep in [*((side, side, side) for side in bench.sides), *of_layers]:
        for epilogue in LAYER_EPILOGUES:
            yield Case(
                f"layer {epilogue} {rows}x{columns}x{deep}", "bf16", rows * columns,
                (rows * columns * (2 if "residual" in LAYER_EPILOGUES[epilogue][1] else 1) + rows * deep + columns * deep) * 2,
                lambda shape=(rows, columns, deep): layer_tensors(shape),
                lambda t, epilogue=epilogue: layer(t, epilogue),
                [
                    *(our_layer(bench, epilogue, width, rows, columns) for width in (256, 128)),
                    torch_layer(epilogue),
                ],
                lambda out, expected, deep=deep: far_off(out, expected, deep),
            )  # fmt: skip


def layer_tensors(shape):
    rows, columns, _ = shape
    return {
        **factors(shape, torch.bfloat16, "nt"),
        "bias": torch.randn(1, columns, dtype=torch.bfloat16, device=DEVICE),
        "residual": torch.randn(rows, columns, dtype=torch.bfloat16, device=DEVICE),
    }


def layer(tensors, epilogue):
    activation, added, (alpha, beta, least) = LAYER_EPILOGUES[epilogue]
    result = alpha * (tensors["a"].float() @ tensors["b"].t().float())
    if "residual" in added:
        result += beta * tensors["residual"].float()
    if "bias" in added:
        result += tensors["bias"].float()
    return functional.silu(result) if activation == "Silu" else result.clamp_min(least)


def our_layer(bench, epilogue, width, rows, columns):
    activation, added, numbers = LAYER_EPILOGUES[epilogue]
    tiles = -(-rows // 128) * -(-columns // width)
    multiprocessors = torch.cuda.get_device_properties(0).multi_processor_count if DEVICE == "cuda" else 1
    has_matrix = "residual" in added
    # A vector that is not added is passed as the left factor, and no bit of it counts.
    vectors = [name if name in added else "a" for name in ("bias", "bias of rows")]
    masks = [0xFFFFFFFF if name in added else 0 for name in ("bias", "bias of rows")]
    scales = numbers if has_matrix else (numbers[0], numbers[2])
    arrays = ((ctypes.c_float * len(scales))(*scales), (ctypes.c_uint32 * 2)(*masks))
    symbol = LAYER_INSTANCES[activation, has_matrix, width]
    inputs = ("a", "b", *(["residual"] if has_matrix else []), *vectors)
    return ours(bench, symbol, -(-tiles // -(-tiles // multiprocessors)), inputs, numbers=arrays)


def torch_layer(epilogue):
    """PyTorch has operations of a product with a bias, with ReLU too, and with a scaled sum. Graphs keep `out`'s address."""

    def bias(t):
        torch.addmm(t["bias"].view(-1), t["a"], t["b"].t(), out=t["out"])

    def bias_relu(t):
        torch._addmm_activation(t["bias"].view(-1), t["a"], t["b"].t(), use_gelu=False, out=t["out"])

    def bias_silu(t):
        bias(t)
        functional.silu(t["out"], inplace=True)

    def scaled_sum(t):
        torch.addmm(t["residual"], t["a"], t["b"].t(), beta=0.5, alpha=2.0, out=t["out"])

    def residual_relu(t):
        torch.addmm(t["residual"], t["a"], t["b"].t(), out=t["out"])
        t["out"].relu_()

    symbol, run = {
        "bias": ("addmm of a vector", bias),
        "bias relu": ("_addmm_activation", bias_relu),
        "bias silu": ("addmm of a vector, silu_", bias_silu),
        "scaled sum": ("addmm", scaled_sum),
        "residual relu": ("addmm, relu_", residual_relu),
    }[epilogue]
    return eager(f"torch: {symbol}", run)


def cublaslt(bench, layout):
    plan = None

    def prepare(tensors):
        nonlocal plan
        plan = bench.cublaslt().plan(tensors["a"], tensors["b"], tensors["out"], layout == "nt")

    return Contestant("cublasLt", "library", "cublasLtMatmul", lambda t: plan.run(t["a"], t["b"], t["out"]), prepare)


def far_off(out, expected, inner=None):
    """Counts the elements that differ by more than rounding of f32 sums, and then of the result."""
    inner = inner or expected.shape[1]
    allowed = torch.finfo(out.dtype).eps * expected.abs() + 1e-4 * inner**0.5
    return int((~((out.float() - expected).abs() <= allowed)).sum())


def check_on_cpu(tasks):
    """Runs PyTorch's operations of these tasks on the CPU; returns how many contestants were compared.

    A result that is off by one in its last element must be found too.
    """
    global DEVICE
    DEVICE = "cpu"
    bench = SimpleNamespace(sizes=[1 << 10, 1 << 12], sides=[64])
    compared = 0
    for task in tasks:
        for case in task(bench):
            tensors = case.make()
            expected = case.expected(tensors)
            for contestant in (one for one in case.contestants if one.name == "PyTorch"):
                tensors["out"].view(torch.uint8).fill_(0xA5)
                assert case.wrong(tensors["out"], expected) > 0, f"{case}: poison is no result"
                contestant.run(tensors)
                assert case.wrong(tensors["out"], expected) == 0, f"{case}: {contestant.symbol} is wrong"
                tensors["out"].view(-1)[-1] += 1
                assert case.wrong(tensors["out"], expected) == 1, f"{case}: a wrong element is not found"
                compared += 1
    return compared


# By the names that `--tasks` takes.
TASKS = {
    "triple": triple,
    "sum": total,
    "dot": dot,
    "transpose": transpose,
    "column-sums": column_sums,
    "neighbour-sum": neighbour_sum,
    "moving-average": moving_average,
    "softmax": softmax,
    "rms-norm": rms_norm,
    "reverse": reverse,
    "histogram": histogram,
    "exclusive-scan": exclusive_scan,
    "gather": gather,
    "convolution": convolution,
    "sgemm": sgemm,
    "matmul": matmul,
    "layers": layers,
}
