"""Times the norm and its gradients beside PyTorch's own operator and `torch.compile`, in one process.

    python compare.py [--rows 8192] [--widths 512,1024,2048,4096,8192] [--repetitions 30] [--json FILE]

Each contestant is first compared with a reference in 64 bits. What is timed is one replay of a CUDA graph of calls over
several sets of buffers, which together are twice as large as the L2 cache: so no call finds its input there.
Contestants take turns, in another order each time, and CUDA events around each replay give its time. "forward" is
without gradients, "training" the norm and both gradients. A ratio is the other's median over ours: above 1 ours is
faster. GB/s count what has to move once: `x` and the result, for training also `x` again, and a gradient in and out.
At last the time that Python needs for a call, without a graph, is measured by the clock, over calls that the GPU is
done with sooner.
"""

import argparse
import json
import random
import statistics
import sys
import time

import numpy
import torch

import tilepipe_torch

EPS = 1e-6
#: How wrong a result may be, over the magnitudes of its terms: PyTorch's own is accurate to about 1e-6.
BOUND = 1e-4


def formula(x, weight):
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + EPS) * weight


def contestants(width):
    found = {
        "tilepipe": lambda x, weight: tilepipe_torch.rms_norm(x, weight, EPS),
        "torch.compile": torch.compile(formula),
        "eager formula": formula,
    }
    if hasattr(torch.nn.functional, "rms_norm"):
        found["F.rms_norm"] = lambda x, weight: torch.nn.functional.rms_norm(x, (width,), weight, EPS)
    return found


def make_sets(rows, width):
    """Sets of ``x``, weights and gradient: as many as the L2 cache has no room for."""
    of_set = 2 * rows * width * 4
    count = max(2, -(-2 * torch.cuda.get_device_properties(0).L2_cache_size // of_set) + 1)
    sets = []
    for _ in range(count):
        x, gradient = (torch.rand(rows, width, device="cuda").mul_(2).sub_(1) for _ in range(2))
        weight = torch.rand(width, device="cuda").mul_(2).sub_(1)
        sets.append((x.requires_grad_(), weight.requires_grad_(), gradient))
    return sets


def forward(norm, x, weight, _):
    with torch.no_grad():
        return (norm(x, weight),)


def training(norm, x, weight, gradient):
    out = norm(x, weight)
    return out, *torch.autograd.grad(out, (x, weight), gradient)


def check(run, norm, tensors):
    """Raises an error unless a contestant is right."""
    x, weight, gradient = (tensor.detach().double().cpu().numpy() for tensor in tensors)
    factor = 1 / numpy.sqrt((x * x).mean(-1, keepdims=True) + EPS)
    scaled, along = gradient * weight, x * factor**3 / x.shape[-1]
    terms = [
        (x * factor * weight, abs(x * factor * weight)),
        (
            factor * scaled - along * (scaled * x).sum(-1, keepdims=True),
            abs(factor * scaled) + abs(along) * abs(scaled * x).sum(-1, keepdims=True),
        ),
        ((gradient * x * factor).sum(0), abs(gradient * x * factor).sum(0)),
    ]
    for found, (value, magnitude) in zip(run(norm, *tensors), terms):
        wrong = ~(abs(found.detach().double().cpu().numpy() - value) <= BOUND * magnitude)
        if wrong.any():
            raise ArithmeticError(f"{numpy.count_nonzero(wrong)} of {wrong.size} elements are wrong")


def capture(run, norm, sets, stream):
    """Makes a graph of a call over each set; what a first call does is done before."""
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for tensors in sets[:2] * 2:
            run(norm, *tensors)
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        for tensors in sets:
            run(norm, *tensors)
    return graph


def replay_times(graphs, repetitions, calls):
    """Microseconds a call, for each graph as many as there are repetitions."""
    times = {name: [] for name in graphs}
    for _ in range(repetitions):
        for name in random.sample(list(graphs), len(graphs)):
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            start.record()
            graphs[name].replay()
            end.record()
            end.synchronize()
            times[name].append(start.elapsed_time(end) * 1e3 / calls)
    return times


def host_times(run, norms, repetitions):
    """Microseconds of Python for a call over tensors so small that the GPU waits for it."""
    tensors = make_sets(8, 128)[0]
    times = {name: [] for name in norms}
    for _ in range(repetitions):
        for name in random.sample(list(norms), len(norms)):
            run(norms[name], *tensors)
            torch.cuda.synchronize()
            start = time.perf_counter()
            for _ in range(100):
                run(norms[name], *tensors)
            times[name].append((time.perf_counter() - start) * 1e4)
            torch.cuda.synchronize()
    return times


def report(what, times, bytes_moved=None):
    """Prints medians and ratios, and returns them."""
    ours = statistics.median(times["tilepipe"])
    lines = {}
    for name, of_one in sorted(times.items(), key=lambda item: statistics.median(item[1])):
        median = statistics.median(of_one)
        lines[name] = {"median_us": median, "least_us": min(of_one), "most_us": max(of_one), "ratio": median / ours}
        speed = "" if bytes_moved is None else f"{bytes_moved / median / 1e3:8.0f} GB/s"
        print(f"{what:<34} {name:<15} {median:10.2f} us {speed:>14}   {median / ours:6.3f}", flush=True)
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=8192)
    parser.add_argument("--widths", default="512,1024,2048,4096,8192")
    parser.add_argument("--repetitions", type=int, default=30)
    parser.add_argument("--json", help="a file for all medians")
    options = parser.parse_args()
    if not torch.cuda.is_available() or not tilepipe_torch.has_gpu_kernels():
        print("skipped: there is no GPU for PyTorch, or the wheel has no kernels for one")
        return 0
    gpu = torch.cuda.get_device_name(0)
    print(f"{gpu}, PyTorch {torch.__version__}, {options.rows} rows; times a call, other/ours")
    stream, record, failed = torch.cuda.Stream(), {}, 0
    for width in map(int, options.widths.split(",")):
        norms = contestants(width)
        sets = make_sets(options.rows, width)
        moved = {"forward": 2, "training": 5}
        for run in (forward, training):
            what, graphs = f"{run.__name__}, width {width}", {}
            for name, norm in norms.items():
                try:
                    check(run, norm, sets[0])
                    graphs[name] = capture(run, norm, sets, stream)
                except Exception as error:  # What another contestant cannot do is no reason to stop.
                    print(f"{what}: {name} is left out: {type(error).__name__}: {error}")
                    failed += name == "tilepipe"
            if "tilepipe" in graphs:
                times = replay_times(graphs, options.repetitions, len(sets))
                bytes_moved = moved[run.__name__] * options.rows * width * 4
                record[what] = report(what, times, bytes_moved)
            del graphs
            torch._dynamo.reset()
        del sets
        torch.cuda.empty_cache()
    for run in (forward, training):
        what = f"{run.__name__}, Python alone"
        record[what] = report(what, host_times(run, contestants(128), options.repetitions))
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"gpu": gpu, "torch": torch.__version__, "times": record}, file, indent=1)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
