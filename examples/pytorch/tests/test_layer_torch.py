"""What holds of the layer with PyTorch: on the CPU, and on a GPU. Without either the tests say so."""

import unittest

try:
    import torch
except ImportError:
    raise unittest.SkipTest("PyTorch is not installed") from None

import reference

import tilepipe_torch
from tilepipe_torch import _native

#: Shapes of x, and outputs: less than a tile of a product, several, and what is cut off.
CASES = [((8,), 8), ((1, 8), 8), ((3, 72), 264), ((2, 65, 200), 16), ((260, 64), 136), ((500, 520), 776)]
ACTIVATIONS = (None, "relu", "silu")
HAS_GPU = torch.cuda.is_available()
WITHOUT_GPU = "there is no GPU for PyTorch" if not HAS_GPU else None
if WITHOUT_GPU is None and not tilepipe_torch.has_gpu_kernels():
    WITHOUT_GPU = "the wheel was built without kernels for GPUs"
if WITHOUT_GPU is None and torch.cuda.get_device_capability()[0] != 9:
    WITHOUT_GPU = "the GPU has no tensor cores of sm_90"


def case(shape, outputs, dtype, device):
    """``x``, weights and bias, which require gradients, and the gradient of the outputs."""
    generator = torch.Generator().manual_seed(hash((shape, outputs)))
    extents = (shape, (outputs, shape[-1]), (outputs,), (*shape[:-1], outputs))
    x, weight, bias, gradient = (
        torch.rand(one, generator=generator).mul(2).sub(1).to(device=device, dtype=dtype) for one in extents
    )
    return x.requires_grad_(), weight.requires_grad_(), bias.requires_grad_(), gradient


def numpy_of(*tensors):
    """As arrays of float32, which has all numbers of 16 bits."""
    return tuple(tensor.detach().float().cpu().numpy() for tensor in tensors)


class Layer:
    """The tests of a device."""

    device = None
    dtypes = {torch.float16: reference.UNITS["float16"], torch.bfloat16: reference.UNITS["bfloat16"]}

    def each(self, cases=CASES):
        for dtype, unit in self.dtypes.items():
            for shape, outputs in cases:
                yield *case(shape, outputs, dtype, self.device), unit

    def test_values_are_those_of_the_reference(self):
        for x, weight, bias, _, unit in self.each():
            for given in (None, bias):
                for activation in ACTIVATIONS:
                    # With gradients SiLU is of a product that was rounded to 16 bits.
                    with torch.no_grad():
                        out = tilepipe_torch.linear(x, weight, given, activation)
                    self.assertEqual((out.device.type, out.dtype), (self.device, x.dtype))
                    arrays = numpy_of(x, weight) + (() if given is None else numpy_of(given))
                    expected = reference.layer(*arrays, activation=activation)
                    (found,) = numpy_of(out)
                    wrong = reference.wrong_halves(found, expected, unit)
                    self.assertEqual((found.shape, wrong), (out.shape, 0), f"{weight.shape}, {x.dtype}, {activation}")

    def test_gradients_are_those_of_the_reference(self):
        for x, weight, bias, gradient, unit in self.each():
            tilepipe_torch.linear(x, weight, bias).backward(gradient)
            expected = reference.layer_gradients(*numpy_of(x, weight, gradient))
            for tensor, value in zip((x, weight), expected):
                (found,) = numpy_of(tensor.grad)
                wrong = reference.wrong_halves(found, value, unit)
                self.assertEqual((tensor.grad.dtype, wrong), (x.dtype, 0), f"{tensor.shape} of {x.shape}")
            self.assertTrue(torch.equal(bias.grad, gradient.reshape(-1, gradient.shape[-1]).sum(0)))

    def test_gradients_through_an_activation_are_those_of_pytorch(self):
        functions = {"relu": torch.nn.functional.relu, "silu": torch.nn.functional.silu}
        for x, weight, bias, gradient, unit in self.each(CASES[2:]):
            for activation, function in functions.items():
                ours = torch.autograd.grad(
                    tilepipe_torch.linear(x, weight, bias, activation), (x, weight, bias), gradient
                )
                wide = [tensor.detach().double().requires_grad_() for tensor in (x, weight, bias)]
                value = function(torch.nn.functional.linear(*wide))
                theirs = torch.autograd.grad(value, wide, gradient.double())
                for one, other in zip(ours, theirs):
                    # The gradient of the product is rounded on the way, and where the product is next to 0
                    # its rounding decides whether ReLU passes it on.
                    scale = other.abs().max().item() + 1
                    self.assertLess((one.double() - other).abs().max().item(), 16 * unit * scale, activation)

    def test_only_the_gradients_that_are_wanted_are_computed(self):
        for x, weight, bias, gradient, _ in self.each(CASES[2:3]):
            both = torch.autograd.grad(tilepipe_torch.linear(x, weight, bias), (x, weight, bias), gradient)
            for wanted in range(3):
                tensors = [x.detach(), weight.detach(), bias.detach()]
                tensors[wanted].requires_grad_()
                tilepipe_torch.linear(*tensors).backward(gradient)
                self.assertTrue(torch.equal(tensors[wanted].grad, both[wanted]))

    def test_tensors_without_elements_have_results_without_elements(self):
        for x, weight, bias, gradient, _ in self.each([((0, 8), 16)]):
            tilepipe_torch.linear(x, weight, bias, "silu").backward(gradient)
            self.assertEqual((x.grad.shape, weight.grad.abs().max().item()), (x.shape, 0))

    def test_the_operator_is_registered_as_pytorch_wants_it(self):
        for x, weight, bias, _, _ in self.each(CASES[2:3]):
            for arguments in ((x, weight, None, None), (x, weight, bias, "relu")):
                torch.library.opcheck(torch.ops.tilepipe.linear.default, arguments)
            # Traced, PyTorch's derivative of SiLU is several operations, each of which rounds to 16 bits.
            tests = ("test_schema", "test_autograd_registration", "test_faketensor")
            arguments = (x, weight, bias, "silu")
            torch.library.opcheck(torch.ops.tilepipe.linear.default, arguments, test_utils=tests)

    def test_a_second_derivative_is_refused(self):
        for x, weight, bias, _, _ in self.each(CASES[2:3]):
            (first,) = torch.autograd.grad(tilepipe_torch.linear(x, weight, bias).sum(), x, create_graph=True)
            with self.assertRaisesRegex(RuntimeError, "autograd|grad"):
                first.sum().backward()

    def test_tensors_that_do_not_fit_are_refused(self):
        for x, weight, bias, _, _ in self.each(CASES[2:3]):
            x, weight, bias = (tensor.detach() for tensor in (x, weight, bias))
            for error, part, arguments in [
                (TypeError, "x: its elements are float32", (x.float(), weight)),
                (TypeError, "bias: its elements are", (x, weight, bias.float())),
                (ValueError, "x: it is not contiguous", (x.repeat(1, 2)[:, ::2], weight)),
                (ValueError, "x: its shape is", (x[:, :64].contiguous(), weight)),
                (ValueError, "bias: its shape is", (x, weight, bias[:8])),
                (ValueError, "multiples of 8", (x[:, :70].contiguous(), weight[:, :70].contiguous())),
                (ValueError, "begins at no multiple of 16 bytes", (x.reshape(-1)[1:73], weight)),
                (ValueError, "activation: there is no", (x, weight, bias, "gelu")),
            ]:
                with self.assertRaisesRegex(error, part):
                    tilepipe_torch.linear(*arguments)


class OnCpu(Layer, unittest.TestCase):
    device = "cpu"


@unittest.skipIf(WITHOUT_GPU, WITHOUT_GPU)
class OnGpu(Layer, unittest.TestCase):
    device = "cuda"

    def test_results_are_bit_for_bit_the_same_in_each_call(self):
        x, weight, bias, gradient = (
            tensor.detach() for tensor in case((1000, 2048), 1544, torch.bfloat16, self.device)
        )
        first = (tilepipe_torch.linear(x, weight, bias, "silu"), *tilepipe_torch.linear_backward(x, weight, gradient))
        for _ in range(10):
            again = (
                tilepipe_torch.linear(x, weight, bias, "silu"), *tilepipe_torch.linear_backward(x, weight, gradient)
            )  # fmt: skip
            self.assertTrue(all(torch.equal(one, other) for one, other in zip(first, again)))

    def test_no_data_is_copied(self):
        x, weight, bias, _ = (tensor.detach() for tensor in case((512, 1024), 2048, torch.bfloat16, self.device))
        out = torch.empty(512, 2048, dtype=x.dtype, device=self.device)
        _native.linear(x, weight, bias, out, None)  # What a first launch takes is no copy.
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
        before, addresses = torch.cuda.memory_allocated(), [tensor.data_ptr() for tensor in (x, weight, bias, out)]
        _native.linear(x, weight, bias, out, None)
        self.assertEqual(torch.cuda.max_memory_allocated(), before)
        self.assertEqual([tensor.data_ptr() for tensor in (x, weight, bias, out)], addresses)
        torch.cuda.reset_peak_memory_stats()
        result = tilepipe_torch.linear(x, weight, bias)
        self.assertEqual(torch.cuda.max_memory_allocated() - before, result.numel() * result.element_size())

    def test_a_captured_graph_is_replayed_with_new_values(self):
        x, weight, bias, gradient = case((257, 520), 264, torch.bfloat16, self.device)
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(2):
                torch.autograd.grad(tilepipe_torch.linear(x, weight, bias, "silu"), (x, weight, bias), gradient)
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            out = tilepipe_torch.linear(x, weight, bias, "silu")
            gradients = torch.autograd.grad(out, (x, weight, bias), gradient)
        for seed in range(3):
            with torch.no_grad():
                torch.manual_seed(seed)
                for tensor in (x, weight, bias, gradient):
                    tensor.uniform_(-1, 1)
            graph.replay()
            eager = tilepipe_torch.linear(x, weight, bias, "silu")
            expected = torch.autograd.grad(eager, (x, weight, bias), gradient)
            for one, other in zip((out, *gradients), (eager, *expected)):
                self.assertTrue(torch.equal(one, other))

    def test_a_compiled_function_may_call_it(self):
        x, weight, bias, gradient = case((64, 128), 64, torch.bfloat16, self.device)
        eager = torch.autograd.grad(tilepipe_torch.linear(x, weight, bias, "relu") * 2, (x, weight), gradient)
        compiled = torch.compile(lambda *tensors: tilepipe_torch.linear(*tensors, "relu") * 2, fullgraph=True)
        for one, other in zip(eager, torch.autograd.grad(compiled(x, weight, bias), (x, weight), gradient)):
            self.assertTrue(torch.equal(one, other))


if __name__ == "__main__":
    unittest.main()
