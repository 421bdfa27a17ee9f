"""Times the norm and the layer beside PyTorch's own and `torch.compile`: `python3 compare.py` on a machine with a GPU.

Each contestant is checked against float64 first. Then a graph of calls over rotating buffers, which the L2 cache has no
room for, is made of each, and all graphs are replayed in turns, in an order that is drawn anew each time; CUDA events
around each replay give its time. "forward" is without gradients, "training" the result and all gradients. A ratio is
the other's median over ours: above 1 ours is faster. For the norm GB/s count what has to move once: `x` and the result,
for training also `x` again, and a gradient in and out; for the layer TFLOP/s count its one or three products. At last
the time that Python needs for a call, without a graph, is measured by the clock, over calls that the GPU is done with
sooner.
"""

import argparse
import json
import random
import statistics
import sys
import time
from dataclasses import dataclass
from typing import Callable, Dict, List

import numpy
import torch

import tilepipe_torch

EPS = 1e-6
#: How wrong a norm may be, over the magnitudes of its terms: PyTorch's own is accurate to about 1e-6.
BOUND = 1e-4
#: How wrong a layer may be, over the value and over the values' root mean square: what is used again was rounded to
#: 8 bits before.
BOUND_OF_VALUE, BOUND_OF_SCALE = 2.0**-7, 2.0**-5


@dataclass
class Task:
    """What is compared: who computes it, of which tensors (the last one is the gradient), and what it amounts to."""

    name: str
    operators: Dict[str, Callable]
    sets: List[tuple]
    check: Callable
    #: For "forward" and "training", in a unit for a microsecond.
    amounts: Dict[str, float]
    unit: str


def sets_of(make, bytes_of_one):
    """Tensors of a call, as often as the L2 cache has no room for them."""
    count = max(2, -(-2 * torch.cuda.get_device_properties(0).L2_cache_size // bytes_of_one) + 1)
    return [make() for _ in range(count)]


def uniform(*shape, dtype=torch.float32):
    return torch.rand(*shape, device="cuda").mul_(2).sub_(1).to(dtype)


def formula(x, weight):
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + EPS) * weight


def norm_task(rows, width):
    operators = {
        "tilepipe": lambda x, weight: tilepipe_torch.rms_norm(x, weight, EPS),
        "torch.compile": torch.compile(formula),
        "eager formula": formula,
    }
    if hasattr(torch.nn.functional, "rms_norm"):
        operators["F.rms_norm"] = lambda x, weight: torch.nn.functional.rms_norm(x, (width,), weight, EPS)

    def make():
        return uniform(rows, width).requires_grad_(), uniform(width).requires_grad_(), uniform(rows, width)

    gigabytes = rows * width * 4 / 1e3
    amounts = {"forward": 2 * gigabytes, "training": 5 * gigabytes}
    sets = sets_of(make, 2 * rows * width * 4)
    return Task(f"norm, width {width}", operators, sets, check_norm, amounts, "GB/s")


def check_norm(run, norm, tensors):
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


def layer_task(rows, inputs, outputs, activation):
    function = torch.nn.functional.silu if activation == "silu" else lambda x: x

    def plain(x, weight, bias):
        return function(torch.nn.functional.linear(x, weight, bias))

    def make():
        shapes = ((rows, inputs), (outputs, inputs), (outputs,))
        tensors = (uniform(*shape, dtype=torch.bfloat16).requires_grad_() for shape in shapes)
        return *tensors, uniform(rows, outputs, dtype=torch.bfloat16)

    def check(run, operator, tensors):
        wide = [tensor.detach().double().requires_grad_(tensor.requires_grad) for tensor in tensors]
        for found, value in zip(run(operator, *tensors), run(plain, *wide)):
            bound = BOUND_OF_VALUE * value.abs() + BOUND_OF_SCALE * value.square().mean().sqrt()
            wrong = ~((found.double() - value).abs() <= bound)
            if wrong.any():
                raise ArithmeticError(f"{wrong.count_nonzero()} of {wrong.numel()} elements are wrong")

    operators = {
        "tilepipe": lambda x, weight, bias: tilepipe_torch.linear(x, weight, bias, activation),
        "torch.compile": torch.compile(plain),
        "F.linear" if activation is None else f"F.linear, F.{activation}": plain,
    }
    teraflop = 2 * rows * inputs * outputs / 1e6
    amounts = {"forward": teraflop, "training": 3 * teraflop}
    sets = sets_of(make, 2 * (rows * inputs + outputs * inputs + rows * outputs))
    name = f"layer {rows} x {inputs} to {outputs}" + ("" if activation is None else f", {activation}")
    return Task(name, operators, sets, check, amounts, "TFLOP/s")


def forward(operator, *tensors):
    with torch.no_grad():
        return (operator(*tensors[:-1]),)


def training(operator, *tensors):
    *given, gradient = tensors
    out = operator(*given)
    return out, *torch.autograd.grad(out, given, gradient)


def capture(run, operator, sets, stream):
    """Makes a graph of a call over each set; what a first call does is done before."""
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for tensors in sets[:2] * 2:
            run(operator, *tensors)
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        for tensors in sets:
            run(operator, *tensors)
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


def host_times(run, task, repetitions):
    """Microseconds of Python for a call over tensors so small that the GPU waits for it."""
    operators, tensors = task.operators, task.sets[0]
    times = {name: [] for name in operators}
    for _ in range(repetitions):
        for name in random.sample(list(operators), len(operators)):
            run(operators[name], *tensors)
            torch.cuda.synchronize()
            start = time.perf_counter()
            for _ in range(100):
                run(operators[name], *tensors)
            times[name].append((time.perf_counter() - start) * 1e4)
            torch.cuda.synchronize()
    return times


def report(what, times, amount=None, unit=""):
    """Prints medians and ratios, and returns them."""
    ours = statistics.median(times["tilepipe"])
    lines = {}
    for name, of_one in sorted(times.items(), key=lambda item: statistics.median(item[1])):
        median = statistics.median(of_one)
        lines[name] = {"median_us": median, "least_us": min(of_one), "most_us": max(of_one), "ratio": median / ours}
        speed = "" if amount is None else f"{amount / median:8.0f} {unit}"
        print(f"{what:<48} {name:<17} {median:10.2f} us {speed:>16}   {median / ours:6.3f}", flush=True)
    return lines


def compare(task, repetitions, stream, record):
    """Times a task both ways. Returns whether ours could not be timed."""
    failed = False
    for run in (forward, training):
        what, graphs = f"{task.name}, {run.__name__}", {}
        for name, operator in task.operators.items():
            try:
                task.check(run, operator, task.sets[0])
                graphs[name] = capture(run, operator, task.sets, stream)
            except Exception as error:  # What another contestant cannot do is no reason to stop.
                print(f"{what}: {name} is left out: {type(error).__name__}: {error}")
                failed |= name == "tilepipe"
        if "tilepipe" in graphs:
            times = replay_times(graphs, repetitions, len(task.sets))
            record[what] = report(what, times, task.amounts[run.__name__], task.unit)
        del graphs
        torch._dynamo.reset()
    return failed


def layer_shape(text):
    rows, inputs, outputs = map(int, text.split("x"))
    return rows, inputs, outputs


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=8192, help="of the norm")
    parser.add_argument("--widths", default="512,1024,2048,4096,8192", help="of the norm")
    parser.add_argument(
        "--layers", default="512x4096x4096,4096x4096x4096,8192x4096x14336", help="rows, inputs and outputs of each"
    )
    parser.add_argument("--repetitions", type=int, default=30)
    parser.add_argument("--json", help="a file for all medians")
    options = parser.parse_args()
    if not torch.cuda.is_available() or not tilepipe_torch.has_gpu_kernels():
        print("skipped: there is no GPU for PyTorch, or the wheel has no kernels for one")
        return 0
    gpu = torch.cuda.get_device_name(0)
    print(f"{gpu}, PyTorch {torch.__version__}, norms of {options.rows} rows; times a call, other/ours")
    stream, record, failed = torch.cuda.Stream(), {}, False
    # A task has memory, which the next one needs: each is made when it is its turn.
    widths = [int(width) for width in options.widths.split(",") if width]
    tasks = [lambda width=width: norm_task(options.rows, width) for width in widths]
    if torch.cuda.get_device_capability()[0] == 9:
        for shape in map(layer_shape, filter(None, options.layers.split(","))):
            tasks += [lambda shape=shape, last=last: layer_task(*shape, last) for last in (None, "silu")]
    else:
        print("the layer is left out: it needs tensor cores of sm_90")
    for make in tasks:
        failed |= compare(make(), options.repetitions, stream, record)
        torch.cuda.empty_cache()
    small = [norm_task(8, 128)]
    if torch.cuda.get_device_capability()[0] == 9:
        small.append(layer_task(8, 128, 128, None))
    for task in small:
        for run in (forward, training):
            what = f"{task.name.split()[0].strip(',')}, {run.__name__}, Python alone"
            record[what] = report(what, host_times(run, task, options.repetitions))
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"gpu": gpu, "torch": torch.__version__, "times": record}, file, indent=1)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
