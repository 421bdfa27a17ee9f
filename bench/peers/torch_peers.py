#!/usr/bin/env python3
"""Times PyTorch beside our kernels, on the same tensors and in the same stream of one process.

Each contestant of a case becomes a CUDA graph over several sets of tensors, more than the L2 cache
holds between two uses of a set. The graphs are replayed in turns, each round in an order of its own,
and a sample is a replay's time over its launches. What is wrong is not timed: outputs are poisoned and
compared before the timed rounds and after them. The JSON is read by bench/src/torch.

The exit status is 1 if a result is wrong or a kernel of ours failed, and 3 without PyTorch or a GPU.
"""

import argparse
import datetime
import gc
import json
import platform
import random
import statistics
import sys

import torch_conditions

NO_GPU = 3
# Replays of each graph before the timed ones.
WARM_UP = 3
# How many times the L2 cache's bytes lie between two uses of a set, at least; and the fewest sets.
CACHES, FEWEST_SETS = 4, 3
# The tasks that have a kernel of ours.
DEFAULT_TASKS = [
    "triple",
    "sum",
    "dot",
    "argmax",
    "transpose",
    "column-sums",
    "neighbour-sum",
    "moving-average",
    "softmax",
    "rms-norm",
    "reverse",
    "histogram",
    "exclusive-scan",
    "gather",
    "convolution",
    "sgemm",
]
OTHER_TASKS = ["matmul", "layers", "attention", "gradient", "decoding", "masks"]


def sets_for(set_bytes, cache_bytes):
    """How many sets there are: the others have the bytes of `CACHES` caches, while one waits."""
    return max(FEWEST_SETS, 1 + -(-CACHES * cache_bytes // set_bytes))


def turns(count, rounds, seed):
    """The order of the contestants in each round, drawn from a seed."""
    draw = random.Random(seed)
    return [draw.sample(range(count), count) for _ in range(rounds)]


def by_contestant(order, times, launches):
    """Sorts the times of replays, in the order of the rounds, to samples of each contestant."""
    numbers = [number for turn in order for number in turn]
    if len(numbers) != len(times):
        raise ValueError(f"{len(times)} times of {len(numbers)} replays")
    samples = [[] for _ in order[0]]
    for number, time in zip(numbers, times):
        samples[number].append(time / launches)
    return samples


def self_test():
    """Checks what needs no GPU: the arithmetic here, and with PyTorch the tasks' results on the CPU."""
    assert sets_for(8 << 20, 50 << 20) == 26 and sets_for(8 << 30, 50 << 20) == FEWEST_SETS
    for set_bytes in [1 << 10, 3 << 20, 50 << 20, 200 << 20, 201 << 20]:
        sets = sets_for(set_bytes, 50 << 20)
        assert sets >= FEWEST_SETS and (sets - 1) * set_bytes >= CACHES * (50 << 20)
        assert sets == FEWEST_SETS or (sets - 2) * set_bytes < CACHES * (50 << 20)
    order = turns(5, 40, 7)
    assert all(sorted(turn) == list(range(5)) for turn in order) and len(order) == 40
    assert order == turns(5, 40, 7) != turns(5, 40, 8)
    # Every place of a round is every contestant's now and then.
    assert all({turn[place] for turn in order} == set(range(5)) for place in range(5))
    samples = by_contestant([[1, 0], [0, 1]], [10.0, 2.0, 4.0, 20.0], 2)
    assert samples == [[1.0, 2.0], [5.0, 10.0]]
    torch_conditions.self_test()
    assert parse(["--self-test"]).tasks == DEFAULT_TASKS
    assert parse(["--self-test", "--tasks", "sum,matmul"]).tasks == ["sum", "matmul"]
    assert parse(["--self-test", "--elements-log2", "10,12"]).elements_log2 == [10, 12]
    try:
        import torch  # noqa: F401
    except ImportError:
        print("self-test passed; without PyTorch that of the tasks is skipped")
        return
    from torch_tasks import check_on_cpu

    tasks = all_tasks()
    assert sorted(tasks) == sorted(DEFAULT_TASKS + OTHER_TASKS)
    print(f"self-test passed, and {check_on_cpu(tasks.values())} contestants on the CPU")


def all_tasks():
    """The tasks of all modules that have some, by the names that `--tasks` takes."""
    from torch_attention import TASKS as of_attention
    from torch_largest import TASKS as of_largest
    from torch_masks import TASKS as of_masks
    from torch_tasks import TASKS

    return {**TASKS, **of_largest, **of_attention, **of_masks}


def parse(arguments):
    def tasks(text):
        unknown = [name for name in text.split(",") if name not in DEFAULT_TASKS + OTHER_TASKS]
        if unknown:
            raise argparse.ArgumentTypeError(f"no task {', '.join(unknown)}; there are {', '.join(DEFAULT_TASKS + OTHER_TASKS)}")
        return text.split(",")

    def numbers(text):
        return [int(number) for number in text.split(",")]

    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--library", help="our library, libtilepipe_bench_c.so")
    parser.add_argument("--module", help="the folder with our kernels' PTX and machine code")
    parser.add_argument("--cublaslt", help="the library that build.sh makes of cublaslt.cu")
    parser.add_argument("--cub", help="the library that build.sh makes of cub.cu")
    parser.add_argument("--sgemm", help="the library that build.sh makes of sgemm.cu")
    parser.add_argument("--output", help="where to write the results as JSON")
    parser.add_argument("--seed", type=int, default=1, help="what data and order are drawn from [1]")
    parser.add_argument("--repetitions", type=int, default=30, help="rounds of timed replays [30]")
    parser.add_argument("--tasks", type=tasks, default=DEFAULT_TASKS, help=f"of {','.join(DEFAULT_TASKS + OTHER_TASKS)} [all but {', '.join(OTHER_TASKS)}]")
    parser.add_argument("--elements-log2", type=numbers, default=[28, 20], help="sizes, as powers of two [28,20]")
    parser.add_argument("--sides", type=numbers, default=[4096, 8192], help="sides of the matrices of sgemm, matmul and layers [4096,8192]")
    parser.add_argument("--commit", default="unknown", help="the commit to put on record")
    parser.add_argument("--command", help="the command to put on record [this one]")
    parser.add_argument("--self-test", action="store_true", help="check what needs neither a GPU nor PyTorch")
    options = parser.parse_args(arguments)
    is_ours = any(name in DEFAULT_TASKS for name in options.tasks)
    if is_ours and not options.self_test and not (options.library and options.module):
        parser.error("--library and --module are needed for our kernels")
    if options.repetitions < 1:
        parser.error("--repetitions is at least 1")
    if not all(10 <= number <= 32 for number in options.elements_log2):
        parser.error("--elements-log2 takes numbers from 10 to 32")
    return options


class Bench:
    """What the tasks are given, and what they leave out."""

    def __init__(self, options):
        from torch_libraries import Tilepipe

        self.sizes = [1 << number for number in options.elements_log2]
        self.sides = options.sides
        self.tilepipe = Tilepipe(options.library, options.module) if options.library else None
        self.left_out, self.failures = [], []
        self._cublaslt_path, self._cublaslt = options.cublaslt, None
        self._cub_path, self._cub = options.cub, None
        self._sgemm_path, self._sgemm = options.sgemm, None

    def leave_out(self, task, contestant, why):
        print(f"{task}: {contestant} is left out: {why}", flush=True)
        self.left_out.append({"task": task, "contestant": contestant, "why": why})

    def require_triton(self):
        import triton  # noqa: F401

    def cublaslt(self):
        from torch_libraries import CublasLt

        if not self._cublaslt_path:
            raise RuntimeError("no library was named by --cublaslt")
        if self._cublaslt is None:
            self._cublaslt = CublasLt(self._cublaslt_path)
        return self._cublaslt

    def cub(self):
        from torch_libraries import Cub

        if not self._cub_path:
            raise RuntimeError("no library was named by --cub")
        if self._cub is None:
            self._cub = Cub(self._cub_path)
        return self._cub

    def sgemm(self):
        from torch_libraries import Sgemm

        if not self._sgemm_path:
            raise RuntimeError("no library was named by --sgemm")
        if self._sgemm is None:
            self._sgemm = Sgemm(self._sgemm_path)
        return self._sgemm

    def cublaslt_version(self):
        return None if self._cublaslt is None else str(self._cublaslt.version())


def measure(bench, case, options, stream):
    """Checks and times a case's contestants; returns its part of the JSON, none if nobody is left."""
    import torch

    where = f"{case.task}, {case.elements} {case.dtype}"
    # Compiled functions of other cases would count as variants of these.
    torch._dynamo.reset()
    tensors = case.make()
    set_bytes = sum(tensor.numel() * tensor.element_size() for tensor in tensors.values())
    count = sets_for(set_bytes, torch.cuda.get_device_properties(0).L2_cache_size)
    sets = [tensors] + [case.make() for _ in range(count - 1)]

    found = []
    for contestant in case.contestants:
        try:
            graph = capture(contestant, sets, stream)
            count = 0 if contestant.is_measure else wrong(bench, case, sets, graph, stream)
            found.append((contestant, graph, count))
        except Exception as error:  # What one contestant cannot do is no reason to drop the others.
            bench.leave_out(where, f"{contestant.name} ({contestant.symbol})", reason(error))
            if contestant.kind == "tilepipe":
                bench.failures.append(f"{where}: {contestant.symbol} failed")
            torch.cuda.synchronize()
    timed = [graph for _, graph, count in found if count == 0]
    order = turns(len(timed), options.repetitions, f"{options.seed} {where}")
    samples = iter(time(timed, order, len(sets), stream) if timed else [])

    results = []
    for contestant, graph, count in found:
        own = next(samples) if count == 0 else []
        # Once more: a race may show only now.
        count += wrong(bench, case, sets, graph, stream) if count == 0 and not contestant.is_measure else 0
        if count > 0:
            bench.failures.append(f"{where}: {contestant.name} ({contestant.symbol}): {count} elements are wrong")
        results.append({
            "name": contestant.name, "class": contestant.kind, "symbol": contestant.symbol, "grid": contestant.grid,
            "samples": own, "wrong": count,
        })  # fmt: skip
    if not results:
        return None
    return {
        "task": case.task, "dtype": case.dtype, "elements": case.elements, "bytes_moved": case.bytes_moved,
        "launches_per_sample": len(sets), "contestants": results,
    }  # fmt: skip


def capture(contestant, sets, stream):
    """Makes a graph of a contestant's runs over all sets. What it does once, it does before."""
    import torch

    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        contestant.grid = contestant.prepare(sets[0])
        for tensors in sets[:1] * WARM_UP + sets:
            contestant.run(tensors)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        for tensors in sets:
            contestant.run(tensors)
    return graph


def wrong(bench, case, sets, graph, stream):
    """Counts the wrong elements of all sets after one replay over poisoned outputs."""
    import torch

    for tensors in sets:
        tensors["out"].view(torch.uint8).fill_(0xA5)
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        graph.replay()
    if bench.tilepipe:
        # If a kernel of ours has panicked, its message comes from here.
        bench.tilepipe.synchronize()
    torch.cuda.synchronize()
    return sum(case.wrong(tensors["out"], case.expected(tensors)) for tensors in sets)


def time(graphs, order, launches, stream):
    """Replays graphs in turns, all put into the stream at once, and returns samples of each."""
    import torch

    def event():
        event = torch.cuda.Event(enable_timing=True)
        event.record(stream)
        return event

    with torch.cuda.stream(stream):
        for graph in graphs * WARM_UP:
            graph.replay()
        pairs = []
        for number in (number for turn in order for number in turn):
            start = event()
            graphs[number].replay()
            pairs.append((start, event()))
    torch.cuda.synchronize()
    return by_contestant(order, [start.elapsed_time(end) for start, end in pairs], launches)


def reason(error):
    """An error in one line."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {' '.join(lines[:2])}"[:400] if lines else type(error).__name__


def show(result):
    """Prints a case: medians, rates, and each time over that of our fastest, round by round."""
    contestants = result["contestants"]
    ours = [one for one in contestants if one["class"] == "tilepipe" and one["samples"]]
    best = min(ours, key=lambda one: statistics.median(one["samples"]), default=None)
    print(f"\n{result['task']}, {result['elements']} {result['dtype']}, {result['launches_per_sample']} launches a sample")
    for one in contestants:
        name = f"  {one['name']:14} {one['symbol']:52} {one['grid'] or '':>8}"
        if not one["samples"] or one["wrong"]:
            print(f"{name} WRONG: {one['wrong']} elements")
            continue
        median = statistics.median(one["samples"])
        rate = f"{result['bytes_moved'] / median / 1e6:8.0f} GB/s"
        ratio = ""
        if best:
            ratio = f"{statistics.median(a / b for a, b in zip(one['samples'], best['samples'])):7.3f}"
        print(f"{name} {median:9.4f} ms {rate} {ratio}", flush=True)


def main():
    options = parse(sys.argv[1:])
    if options.self_test:
        return self_test()
    try:
        import torch
    except ImportError as error:
        sys.stderr.write(f"error: there is no PyTorch: {error}\n")
        return NO_GPU
    if not torch.cuda.is_available():
        sys.stderr.write("error: PyTorch finds no GPU\n")
        return NO_GPU
    tasks = all_tasks()
    date = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    # Makes the device's context this thread's, in which our library works.
    torch.cuda.synchronize()
    torch.zeros(1, device="cuda")
    torch.manual_seed(options.seed)
    bench, stream, results = Bench(options), torch.cuda.Stream(), []
    watch = torch_conditions.Watch()
    for name in options.tasks:
        for case in tasks[name](bench):
            result = measure(bench, case, options, stream)
            if result:
                results.append(result)
                show(result)
            # The graphs' memory, for the next case.
            gc.collect()
            torch.cuda.empty_cache()
    conditions = watch.finish()

    versions = {"torch": torch.__version__, "cuda": torch.version.cuda, "python": platform.python_version()}
    try:
        import triton

        versions["triton"] = triton.__version__
    except ImportError:
        versions["triton"] = "none"
    if bench.cublaslt_version():
        versions["cublasLt"] = bench.cublaslt_version()
    run = {
        "date": date, "commit": options.commit, "command": options.command or " ".join(sys.argv), "seed": options.seed,
        "gpu": torch.cuda.get_device_name(0), "versions": versions, "conditions": conditions, "left_out": bench.left_out,
        "results": results,
    }  # fmt: skip
    if options.output:
        with open(options.output, "w", encoding="utf-8") as file:
            file.write(json.dumps(run, indent=2) + "\n")
    for failure in bench.failures:
        sys.stderr.write(f"error: {failure}\n")
    return 1 if bench.failures else 0


if __name__ == "__main__":
    sys.exit(main())
