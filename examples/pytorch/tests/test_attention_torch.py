"""What holds of attention with PyTorch: on the CPU, and on a GPU. Without either the tests say so."""

import unittest

try:
    import torch
except ImportError:
    raise unittest.SkipTest("PyTorch is not installed") from None

import reference

import tilepipe_torch

#: Shapes of queries, and tokens and heads of keys.
CASES = [
    ((70, 2, 64), 150, 1),
    ((2, 130, 2, 64), 40, 2),
    ((2, 30, 3, 80), 50, 3),
    ((2, 200, 2, 128), 200, 1),
    ((90, 2, 256), 70, 1),
]
#: What is passed beside the tensors.
OPTIONS = [{}, {"causal": True}, {"window": (20, 5), "scale": 0.2}]
HAS_GPU = torch.cuda.is_available()
WITHOUT_GPU = "there is no GPU for PyTorch" if not HAS_GPU else None
if WITHOUT_GPU is None and not tilepipe_torch.has_gpu_kernels():
    WITHOUT_GPU = "the wheel was built without kernels for GPUs"
if WITHOUT_GPU is None and torch.cuda.get_device_capability()[0] != 9:
    WITHOUT_GPU = "the GPU has no tensor cores of sm_90"


def case(shape, keys, heads, dtype, device):
    """Queries, keys and values, which require gradients, and the gradient of the result."""
    generator = torch.Generator().manual_seed(hash((shape, keys)))
    of_keys = (*shape[:-3], keys, heads, shape[-1])
    *given, gradient = (
        torch.rand(one, generator=generator).mul(4).sub(2).to(device=device, dtype=dtype)
        for one in (shape, of_keys, of_keys, shape)
    )
    return *(one.requires_grad_() for one in given), gradient


def numpy_of(*tensors):
    """As arrays of float32, which has all numbers of 16 bits."""
    return tuple(tensor.detach().float().cpu().numpy() for tensor in tensors)


def for_reference(causal=False, window=(None, None), scale=None):
    return window[0], 0 if causal else window[1], scale


class Attention:
    """The tests of a device."""

    device = None
    dtypes = {torch.float16: reference.UNITS["float16"], torch.bfloat16: reference.UNITS["bfloat16"]}

    def each(self, cases=CASES):
        for dtype, unit in self.dtypes.items():
            for given in cases:
                yield *case(*given, dtype, self.device), unit

    def test_values_and_gradients_are_those_of_the_reference(self):
        for q, k, v, gradient, unit in self.each():
            for options in OPTIONS:
                out = tilepipe_torch.attention(q, k, v, **options)
                self.assertEqual((out.device.type, out.dtype, out.shape), (self.device, q.dtype, q.shape))
                expected, _ = reference.attention(*numpy_of(q, k, v), *for_reference(**options))
                wrong = reference.wrong_attention(numpy_of(out)[0], expected, unit)
                self.assertEqual(wrong, 0, f"{q.shape}, {q.dtype}, {options}")
                found = numpy_of(*torch.autograd.grad(out, (q, k, v), gradient))
                expected = reference.attention_gradients(*numpy_of(q, k, v, gradient), *for_reference(**options))
                for one, value in zip(found, expected):
                    error, largest = abs(one - value).max(), abs(value).max()
                    self.assertLess(error, 16 * unit * largest, f"{q.shape}, {q.dtype}, {options}")

    def test_the_operator_is_registered_as_pytorch_wants_it(self):
        q, k, v, _ = case(*CASES[1], torch.bfloat16, self.device)
        for options in ((None, None, None), (20, 0, 0.5)):
            # Two runs of a gradient agree to the bit, and PyTorch's comparison is stricter than the type.
            torch.library.opcheck(torch.ops.tilepipe.attention.default, (q, k, v, *options))

    def test_tensors_without_elements_have_results_without_elements(self):
        q, k, v, gradient = case((0, 1, 64), 5, 1, torch.bfloat16, self.device)
        tilepipe_torch.attention(q, k, v).backward(gradient)
        self.assertEqual((q.grad.shape, k.grad.abs().max().item()), (q.shape, 0))

    def test_tensors_that_do_not_fit_are_refused(self):
        q, k, v, _ = (tensor.detach() for tensor in case(*CASES[0], torch.bfloat16, self.device))
        for error, part, arguments in [
            (TypeError, "q: its elements are float32", (q.float(), k, v)),
            (ValueError, "q: it is not contiguous", (q.transpose(0, 1), k, v)),
            (ValueError, "v: its shape is", (q, k, v[:1].contiguous())),
            (ValueError, "heads of 60 elements", [one[..., :60].contiguous() for one in (q, k, v)]),
        ]:
            with self.assertRaisesRegex(error, part):
                tilepipe_torch.attention(*arguments)


class OnCpu(Attention, unittest.TestCase):
    device = "cpu"


@unittest.skipIf(WITHOUT_GPU, WITHOUT_GPU)
class OnGpu(Attention, unittest.TestCase):
    device = "cuda"

    def test_it_is_that_of_pytorch(self):
        q, k, v, gradient = case((2, 1000, 8, 128), 1000, 2, torch.bfloat16, self.device)
        out = tilepipe_torch.attention(q, k, v, causal=True)
        by_heads = [tensor.transpose(1, 2) for tensor in (q, k, v)]
        theirs = torch.nn.functional.scaled_dot_product_attention(*by_heads, is_causal=True, enable_gqa=True)
        theirs = theirs.transpose(1, 2)
        self.assertLess((out - theirs).abs().max().item(), 2**-5)
        ours, others = (torch.autograd.grad(one, (q, k, v), gradient) for one in (out, theirs))
        for one, other in zip(ours, others):
            self.assertLess((one - other).abs().max().item(), 2**-5 * other.abs().max().item())

    def test_results_are_bit_for_bit_the_same_in_each_call(self):
        q, k, v, gradient = case((2, 1000, 8, 64), 1500, 8, torch.bfloat16, self.device)

        def run():
            out = tilepipe_torch.attention(q, k, v, causal=True)
            return out, *torch.autograd.grad(out, (q, k, v), gradient)

        first = run()
        for _ in range(5):
            self.assertTrue(all(torch.equal(one, other) for one, other in zip(first, run())))

    def test_a_captured_graph_is_replayed_with_new_values(self):
        q, k, v, gradient = case((300, 4, 128), 300, 4, torch.bfloat16, self.device)

        def run():
            out = tilepipe_torch.attention(q, k, v, causal=True)
            return out, *torch.autograd.grad(out, (q, k, v), gradient)

        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            run()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            captured = run()
        with torch.no_grad():
            for tensor in (q, k, v, gradient):
                tensor.uniform_(-1, 1)
        graph.replay()
        for one, other in zip(captured, run()):
            self.assertTrue(torch.equal(one, other))

    def test_a_compiled_function_may_call_it(self):
        q, k, v, gradient = case((64, 2, 64), 64, 2, torch.bfloat16, self.device)
        eager = torch.autograd.grad(tilepipe_torch.attention(q, k, v) * 2, (q, k, v), gradient)
        compiled = torch.compile(lambda *tensors: tilepipe_torch.attention(*tensors) * 2, fullgraph=True)
        for one, other in zip(eager, torch.autograd.grad(compiled(q, k, v), (q, k, v), gradient)):
            self.assertTrue(torch.equal(one, other))


if __name__ == "__main__":
    unittest.main()
