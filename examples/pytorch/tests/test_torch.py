"""What holds with PyTorch: on the CPU, and on a GPU. Without PyTorch, or without a GPU, the tests say so."""

import gc
import subprocess
import sys
import textwrap
import threading
import unittest

try:
    import torch
except ImportError:
    raise unittest.SkipTest("PyTorch is not installed") from None

import reference

import tilepipe_torch
from tilepipe_torch import _native

EPS = 1e-5
SHAPES = [(1, 1), (3, 4), (2, 3, 5), (7, 130), (5, 1024), (3, 1027), (300, 33), (64, 4096), (9, 4100), (2, 20000)]
HAS_GPU = torch.cuda.is_available()
WITHOUT_GPU = "there is no GPU for PyTorch" if not HAS_GPU else None
if WITHOUT_GPU is None and not tilepipe_torch.has_gpu_kernels():
    WITHOUT_GPU = "the wheel was built without kernels for GPUs"


def case(shape, device):
    """``x`` and weights, which require gradients, and the gradient of the norm."""
    generator = torch.Generator().manual_seed(hash(shape))
    x, weight, gradient = (
        torch.rand(extents, generator=generator).mul(2).sub(1).to(device) for extents in (shape, shape[-1:], shape)
    )
    return x.requires_grad_(), weight.requires_grad_(), gradient


def numpy_of(*tensors):
    return tuple(tensor.detach().cpu().numpy() for tensor in tensors)


class Operator:
    """The tests of a device."""

    device = None

    def test_values_and_gradients_are_those_of_the_reference(self):
        for shape in SHAPES:
            with self.subTest(shape=shape):
                x, weight, gradient = case(shape, self.device)
                out = tilepipe_torch.rms_norm(x, weight, EPS)
                self.assertEqual((out.device.type, out.shape), (self.device, x.shape))
                out.backward(gradient)
                arrays = numpy_of(x, weight, gradient)
                (found,) = numpy_of(out)
                of_x, of_weight = numpy_of(x.grad, weight.grad)
                expected_of_x, expected_of_weight = reference.gradients(*arrays, EPS)
                self.assertEqual(reference.wrong(found, reference.norm(*arrays[:2], EPS)), 0)
                self.assertEqual(reference.wrong(of_x, expected_of_x), 0)
                self.assertEqual(reference.wrong(of_weight, expected_of_weight), 0)

    @unittest.skipUnless(hasattr(torch.nn.functional, "rms_norm"), "this PyTorch has no rms_norm")
    def test_values_and_gradients_are_those_of_pytorch(self):
        for shape in SHAPES:
            with self.subTest(shape=shape):
                x, weight, gradient = case(shape, self.device)
                results = []
                for norm in (
                    lambda: tilepipe_torch.rms_norm(x, weight, EPS),
                    lambda: torch.nn.functional.rms_norm(x, shape[-1:], weight, EPS),
                ):
                    out = norm()
                    results.append((out, *torch.autograd.grad(out, (x, weight), gradient)))
                # The gradient of x is a difference, next to nothing where a row has one element:
                # what matters is how large the terms are.
                factors = torch.rsqrt(x.detach().square().mean(-1, keepdim=True) + EPS)
                terms = (gradient * weight.detach() * factors).abs().max().item()
                for ours, theirs, least in zip(*results, (0.0, terms, 0.0)):
                    magnitude = max(theirs.abs().max().item(), least)
                    torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-4 * magnitude)

    def test_a_gradient_that_is_one_number_seen_as_many_is_copied(self):
        x, weight, _ = case((6, 10), self.device)
        tilepipe_torch.rms_norm(x, weight, EPS).sum().backward()
        expected = reference.gradients(*numpy_of(x, weight, torch.ones(6, 10)), EPS)
        for tensor, value in zip((x, weight), expected):
            self.assertEqual(reference.wrong(*numpy_of(tensor.grad), value), 0)

    def test_the_operator_is_registered_as_pytorch_wants_it(self):
        x, weight, _ = case((6, 10), self.device)
        torch.library.opcheck(torch.ops.tilepipe.rms_norm.default, (x, weight, EPS))

    def test_gradients_are_those_of_finite_differences(self):
        x, weight, gradient = case((3, 8), self.device)
        of_x, of_weight = torch.autograd.grad(tilepipe_torch.rms_norm(x, weight, EPS), (x, weight), gradient)
        step = 1e-2
        for tensor, found in ((x, of_x), (weight, of_weight)):
            for place in range(tensor.numel()):
                sides = []
                for side in (step, -step):
                    moved = tensor.detach().clone()
                    moved.view(-1)[place] += side
                    pair = (moved, weight.detach()) if tensor is x else (x.detach(), moved)
                    norm = tilepipe_torch.rms_norm(*pair, EPS)
                    sides.append((norm.double() * gradient.double()).sum().item())
                # The third derivative, and 24 terms of 2^-24 over the step.
                self.assertAlmostEqual((sides[0] - sides[1]) / (2 * step), found.view(-1)[place].item(), delta=5e-3)

    def test_a_second_derivative_is_refused(self):
        x, weight, _ = case((3, 8), self.device)
        (first,) = torch.autograd.grad(tilepipe_torch.rms_norm(x, weight, EPS).sum(), x, create_graph=True)
        with self.assertRaisesRegex(RuntimeError, "autograd|grad"):
            first.sum().backward()

    def test_a_gradient_that_would_be_lost_is_refused(self):
        x, weight, _ = case((3, 8), self.device)
        out = torch.full((3, 8), 7.0, device=self.device)
        with self.assertRaisesRegex(RuntimeError, "x: it requires grad.*`rms_norm`.*`torch.no_grad\\(\\)`"):
            tilepipe_torch.rms_norm_into(x, weight, out, EPS)
        self.assertTrue((out == 7).all().item())
        with torch.no_grad():
            tilepipe_torch.rms_norm_into(x, weight, out, EPS)
        self.assertFalse((out == 7).all().item())

    def test_tensors_that_do_not_fit_are_refused(self):
        x, weight, _ = (tensor.detach() for tensor in case((4, 6), self.device))
        for error, part, pair in [
            (TypeError, "x: its elements are float64", (x.double(), weight)),
            (TypeError, "x: its elements are bfloat16", (x.bfloat16(), weight)),
            (ValueError, "weight: its shape is", (x, weight[:5])),
            (ValueError, "x: it is not contiguous", (x.repeat(1, 2)[:, ::2], weight)),
            (ValueError, "weight: it is not contiguous", (x, weight.repeat(2)[::2])),
        ]:
            with self.assertRaisesRegex(error, part):
                tilepipe_torch.rms_norm(*pair, EPS)
        memory = torch.full((47,), 7.0, device=self.device)
        with self.assertRaisesRegex(ValueError, "out and x share memory"):
            tilepipe_torch.rms_norm_into(memory[:24].view(4, 6), weight, memory[23:].view(4, 6), EPS)
        self.assertTrue((memory == 7).all().item())

    def test_tensors_without_elements_have_results_without_elements(self):
        for shape in [(0, 5), (3, 0), (0,)]:
            x, weight, gradient = case(shape, self.device)
            tilepipe_torch.rms_norm(x, weight, EPS).backward(gradient)
            self.assertEqual((x.grad.shape, weight.grad.tolist()), (x.shape, [0.0] * shape[-1]))

    def test_a_compiled_function_may_call_it(self):
        x, weight, gradient = case((6, 64), self.device)
        eager = torch.autograd.grad(tilepipe_torch.rms_norm(x, weight, EPS) * 2, (x, weight), gradient)
        try:
            compiled = torch.compile(lambda x, weight: tilepipe_torch.rms_norm(x, weight, EPS) * 2, fullgraph=True)
            out = compiled(x, weight)
        except Exception as error:  # Compilers of C++ or Triton that are not there are many errors.
            if "compiler" not in str(error).lower() and "triton" not in str(error).lower():
                raise
            self.skipTest(f"torch.compile has no compiler here: {error}")
        for one, other in zip(eager, torch.autograd.grad(out, (x, weight), gradient)):
            self.assertTrue(torch.equal(one, other))


class OnCpu(Operator, unittest.TestCase):
    device = "cpu"


@unittest.skipIf(WITHOUT_GPU, WITHOUT_GPU)
class OnGpu(Operator, unittest.TestCase):
    device = "cuda"

    def test_results_are_bit_for_bit_the_same_in_each_call(self):
        x, weight, gradient = (tensor.detach() for tensor in case((1000, 1024), "cuda"))
        first = tilepipe_torch.rms_norm_backward(x, weight, gradient, EPS)
        for _ in range(10):
            for one, other in zip(first, tilepipe_torch.rms_norm_backward(x, weight, gradient, EPS)):
                self.assertTrue(torch.equal(one, other))

    def test_no_data_is_copied(self):
        x, weight, _ = (tensor.detach() for tensor in case((512, 1024), "cuda"))
        out = torch.empty_like(x)
        tilepipe_torch.rms_norm_into(x, weight, out, EPS)  # What a first launch takes is no copy.
        addresses = [tensor.data_ptr() for tensor in (x, weight, out)]
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        tilepipe_torch.rms_norm_into(x, weight, out, EPS)
        self.assertEqual(torch.cuda.max_memory_allocated(), before)
        self.assertEqual([tensor.data_ptr() for tensor in (x, weight, out)], addresses)
        self.assertEqual(reference.wrong(*numpy_of(out), reference.norm(*numpy_of(x, weight), EPS)), 0)
        # The operator allocates its result and nothing else.
        torch.cuda.reset_peak_memory_stats()
        result = tilepipe_torch.rms_norm(x, weight, EPS)
        self.assertEqual(torch.cuda.max_memory_allocated() - before, result.numel() * result.element_size())

    def test_launches_are_in_the_current_stream(self):
        x, weight, _ = (tensor.detach() for tensor in case((4096, 4096), "cuda"))
        tilepipe_torch.rms_norm(x, weight, EPS)
        expected = tilepipe_torch.rms_norm(torch.ones_like(x), weight, EPS)
        torch.cuda.synchronize()
        for stream in (torch.cuda.Stream(), torch.cuda.default_stream(), torch.cuda.Stream(priority=-1)):
            with torch.cuda.stream(stream):
                late = torch.zeros_like(x)
                torch.cuda._sleep(20_000_000)
                late.fill_(1.0)
                out = tilepipe_torch.rms_norm(late, weight, EPS)
                # Whatever is put there next comes after the kernel.
                late.zero_()
                right = torch.equal(out, expected)
            self.assertTrue(right)

    def test_memory_that_goes_right_after_a_call_is_not_used_before_the_kernel_ends(self):
        x, weight, _ = (tensor.detach() for tensor in case((2048, 4096), "cuda"))
        expected = tilepipe_torch.rms_norm(x, weight, EPS)
        side = torch.cuda.Stream()
        for _ in range(20):
            out = torch.zeros_like(x)
            side.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(side):
                torch.cuda._sleep(2_000_000)
                # Allocated in another stream than that of the launch.
                tilepipe_torch.rms_norm_into(x, weight, out, EPS)
                kept = out.clone()
            del out
            others = [torch.full_like(x, 3.0) for _ in range(4)]
            torch.cuda.synchronize()
            self.assertTrue(torch.equal(kept, expected))
            self.assertTrue(all((other == 3).all().item() for other in others))

    def test_tensors_on_different_devices_are_refused(self):
        x, weight, _ = (tensor.detach() for tensor in case((4, 6), "cuda"))
        with self.assertRaisesRegex(ValueError, "x is on cuda:0 and weight on the CPU; .* move one of them"):
            tilepipe_torch.rms_norm_into(x, weight.cpu(), torch.empty_like(x), EPS)
        out = torch.full((4, 6), 7.0)
        with self.assertRaisesRegex(ValueError, "x is on cuda:0 and out on the CPU"):
            tilepipe_torch.rms_norm_into(x, weight, out, EPS)
        self.assertTrue((out == 7).all().item())

    def test_a_capsule_of_a_gpu_s_memory_is_refused(self):
        x, weight, _ = (tensor.detach() for tensor in case((4, 6), "cuda"))
        with self.assertRaisesRegex(TypeError, "x: it is in a GPU's memory and no `torch.Tensor`"):
            _native.rms_norm(x.__dlpack__(), weight, torch.empty_like(x), EPS)

    def test_a_captured_graph_is_replayed_with_new_values(self):
        x, weight, gradient = case((257, 1030), "cuda")
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                torch.autograd.grad(tilepipe_torch.rms_norm(x, weight, EPS), (x, weight), gradient)
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            out = tilepipe_torch.rms_norm(x, weight, EPS)
            of_x, of_weight = torch.autograd.grad(out, (x, weight), gradient)
        for seed in range(3):
            with torch.no_grad():
                torch.manual_seed(seed)
                for tensor in (x, weight, gradient):
                    tensor.uniform_(-1, 1)
            graph.replay()
            torch.cuda.synchronize()
            arrays = numpy_of(x, weight, gradient)
            expected_of_x, expected_of_weight = reference.gradients(*arrays, EPS)
            self.assertEqual(reference.wrong(*numpy_of(out), reference.norm(*arrays[:2], EPS)), 0)
            self.assertEqual(reference.wrong(*numpy_of(of_x), expected_of_x), 0)
            self.assertEqual(reference.wrong(*numpy_of(of_weight), expected_of_weight), 0)

    def test_a_first_launch_in_a_capture_says_to_warm_up_and_one_in_another_thread_does_not_end_it(self):
        program = """
            import threading
            import torch
            import tilepipe_torch

            x, weight = torch.ones(4, 8, device="cuda"), torch.ones(8, device="cuda")
            y = torch.zeros_like(x)
            try:
                with torch.cuda.graph(torch.cuda.CUDAGraph()):
                    tilepipe_torch.rms_norm(x, weight)
            except RuntimeError as error:
                assert "launch it once before the capture begins" in str(error), error
            else:
                raise AssertionError("the first launch was captured")

            def first_launch():
                with torch.cuda.stream(other):
                    tilepipe_torch.rms_norm_into(x, weight, y)

            # Another kernel is loaded by a second thread while this one captures.
            x, weight = torch.ones(4, 2048, device="cuda"), torch.ones(2048, device="cuda")
            y, z = torch.zeros_like(x), torch.zeros(8, device="cuda")
            torch.cuda.synchronize()
            other, graph = torch.cuda.Stream(), torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                z.add_(1)
                thread = threading.Thread(target=first_launch)
                thread.start()
                thread.join()
                z.add_(1)
            graph.replay()
            torch.cuda.synchronize()
            assert z.tolist() == [2.0] * 8, z
            assert (y > 0.99).all().item(), y
            tilepipe_torch.rms_norm(x, weight)
            print("done")
        """
        run = [sys.executable, "-c", textwrap.dedent(program)]
        result = subprocess.run(run, capture_output=True, text=True, timeout=300)
        self.assertEqual((result.returncode, result.stdout.strip()), (0, "done"), result.stderr)

    def test_ten_thousand_calls_of_eight_threads_leave_no_memory_behind(self):
        x, weight, gradient = case((64, 1024), "cuda")
        wrong = []

        def calls(count):
            expected = tilepipe_torch.rms_norm(x, weight, EPS).detach()
            with torch.cuda.stream(torch.cuda.Stream()):
                torch.cuda.current_stream().wait_stream(torch.cuda.default_stream())
                for _ in range(count):
                    out = tilepipe_torch.rms_norm(x, weight, EPS)
                    torch.autograd.grad(out, (x, weight), gradient)
                if not torch.equal(out.detach(), expected):
                    wrong.append(out)

        def run(count):
            threads = [threading.Thread(target=calls, args=(count,)) for _ in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            gc.collect()
            torch.cuda.synchronize()
            torch.cuda.empty_cache()
            return torch.cuda.mem_get_info()[0], torch.cuda.memory_allocated()

        # Streams, and what PyTorch keeps for each of them, are there after the first time.
        for _ in range(5):
            free, allocated = run(50)
        free_after, allocated_after = run(1250)
        self.assertEqual(wrong, [])
        self.assertEqual(allocated_after, allocated)
        # A leaked byte for each launch would be 40 KB, a leaked buffer of 256 bytes 10 MB.
        self.assertGreaterEqual(free_after, free - (4 << 20))

    @unittest.skipUnless(HAS_GPU and torch.cuda.device_count() > 1, "there is one GPU")
    def test_each_gpu_has_its_launches_and_the_thread_keeps_its_own(self):
        for number in range(torch.cuda.device_count()):
            x, weight, gradient = case((33, 1024), f"cuda:{number}")
            out = tilepipe_torch.rms_norm(x, weight, EPS)
            torch.autograd.grad(out, (x, weight), gradient)
            self.assertEqual(out.device.index, number)
            self.assertEqual(torch.cuda.current_device(), 0)
            self.assertEqual(reference.wrong(*numpy_of(out), reference.norm(*numpy_of(x, weight), EPS)), 0)


if __name__ == "__main__":
    unittest.main()
