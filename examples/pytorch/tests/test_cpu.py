"""What holds on the CPU, with NumPy alone."""

import pathlib
import sys
import threading
import unittest

import numpy
import reference
from capsules import Capsule, Device, Element

import tilepipe_torch
from tilepipe_torch import _native

EPS = 1e-5
#: Less than a tile of a kernel, a whole one, one that is cut off, and several; widths of all remainders by four.
SHAPES = [(1, 1), (3, 4), (2, 3, 5), (7, 130), (1, 1024), (5, 1020), (3, 1027), (200, 33), (2, 4100), (9, 2049), (12,)]
#: What outputs hold before they are written.
UNTOUCHED = 12345.0


def numbers(shape, seed):
    return numpy.random.default_rng(seed).uniform(-1, 1, shape).astype(numpy.float32)


def case(shape):
    """``x``, weights, and the gradient of the norm."""
    return numbers(shape, 1), numbers(shape[-1:], 2), numbers(shape, 3)


def shifted(array):
    """A copy whose first element lies 4 bytes after a multiple of 16."""
    memory = numpy.empty(array.size + 8, numpy.float32)
    start = (-(memory.ctypes.data // 4) % 4) + 1
    view = memory[start : start + array.size].reshape(array.shape)
    view[...] = array
    assert view.ctypes.data % 16 == 4
    return view


class Legacy:
    """An array of a library that does not know the versions of DLPack."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self):
        return self.array.__dlpack__()

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class Values(unittest.TestCase):
    def check(self, x, weight, gradient):
        norm = tilepipe_torch.rms_norm(x, weight, EPS)
        self.assertEqual(reference.wrong(norm, reference.norm(x, weight, EPS)), 0)
        of_x, of_weight = tilepipe_torch.rms_norm_backward(x, weight, gradient, EPS)
        expected_of_x, expected_of_weight = reference.gradients(x, weight, gradient, EPS)
        self.assertEqual(reference.wrong(of_x, expected_of_x), 0)
        self.assertEqual(reference.wrong(of_weight, expected_of_weight), 0)

    def test_norms_and_gradients_are_those_of_the_reference(self):
        for shape in SHAPES:
            with self.subTest(shape=shape):
                self.check(*case(shape))

    def test_any_alignment_of_any_array_is_right(self):
        for shape in [(3, 4), (5, 1024), (2, 4100)]:
            arrays = case(shape)
            for at in range(3):
                with self.subTest(shape=shape, shifted=at):
                    self.check(*(shifted(array) if one == at else array for one, array in enumerate(arrays)))

    def test_more_rows_than_blocks_are_right(self):
        self.check(*case((9000, 3)))

    def test_the_reference_has_the_gradients_of_its_norm(self):
        x, weight, gradient = (array.astype(numpy.float64) for array in case((2, 3)))
        (of_x, _), (of_weight, _) = reference.gradients(x, weight, gradient, EPS)
        for array, found in [(x, of_x), (weight, of_weight)]:
            for place in numpy.ndindex(array.shape):
                sides = []
                for step in (1e-6, -1e-6):
                    array[place] += step
                    sides.append((reference.norm(x, weight, EPS)[0] * gradient).sum())
                    array[place] -= step
                self.assertAlmostEqual((sides[0] - sides[1]) / 2e-6, found[place], places=7)

    def test_results_are_the_same_in_each_call(self):
        x, weight, gradient = case((300, 77))
        first = tilepipe_torch.rms_norm_backward(x, weight, gradient, EPS)
        for _ in range(5):
            for one, other in zip(first, tilepipe_torch.rms_norm_backward(x, weight, gradient, EPS)):
                self.assertEqual(one.tobytes(), other.tobytes())

    def test_special_values_are_as_the_formula_has_them(self):
        zeros, ones = numpy.zeros((1, 8), numpy.float32), numpy.ones(8, numpy.float32)
        self.assertTrue((tilepipe_torch.rms_norm(zeros, ones, EPS) == 0).all())
        self.assertTrue(numpy.isnan(tilepipe_torch.rms_norm(zeros, ones, 0.0)).all())
        x = numbers((3, 8), 1)
        x[1, 5] = numpy.nan
        rows = numpy.isnan(tilepipe_torch.rms_norm(x, ones, EPS)).all(-1)
        self.assertEqual(rows.tolist(), [False, True, False])

    def test_arrays_without_elements_have_results_without_elements(self):
        for shape in [(0, 5), (3, 0), (0,), (2, 0, 4)]:
            with self.subTest(shape=shape):
                x, weight, gradient = case(shape)
                self.assertEqual(tilepipe_torch.rms_norm(x, weight).shape, shape)
                of_x, of_weight = tilepipe_torch.rms_norm_backward(x, weight, gradient)
                self.assertEqual((of_x.shape, of_weight.tolist()), (shape, [0.0] * shape[-1]))
        empty = numpy.empty((0, 5), numpy.float32)
        x, out = (Capsule(empty, data=None).capsule for _ in range(2))
        self.assertFalse(_native.rms_norm(x, numbers(5, 2), out, EPS), "memory of no elements may be null")


class Memory(unittest.TestCase):
    def test_what_is_written_is_the_output_and_nothing_beside_it(self):
        x, weight, _ = case((5, 7))
        for start in range(1, 5):
            memory = numpy.full(5 * 7 + 8, UNTOUCHED, numpy.float32)
            out = memory[start : start + 35].reshape(5, 7)
            tilepipe_torch.rms_norm_into(x, weight, out, EPS)
            self.assertEqual(reference.wrong(out, reference.norm(x, weight, EPS)), 0)
            self.assertTrue((memory[:start] == UNTOUCHED).all() and (memory[start + 35 :] == UNTOUCHED).all())

    def test_arrays_of_old_libraries_and_capsules_are_shared_too(self):
        x, weight, _ = case((4, 6))
        for wrap in (Legacy, lambda array: array.__dlpack__(), lambda array: array.__dlpack__(max_version=(1, 0))):
            out = numpy.full(x.shape, UNTOUCHED, numpy.float32)
            tilepipe_torch.rms_norm_into(wrap(x), wrap(weight), wrap(out), EPS)
            self.assertEqual(reference.wrong(out, reference.norm(x, weight, EPS)), 0)

    def test_an_array_is_given_back_after_each_call_also_after_one_that_failed(self):
        x, weight, _ = case((4, 6))
        out = numpy.empty_like(x)
        before = [sys.getrefcount(array) for array in (x, weight, out)]
        for _ in range(100):
            tilepipe_torch.rms_norm_into(x, weight, out, EPS)
            with self.assertRaises(ValueError):
                tilepipe_torch.rms_norm_into(x, weight, x, EPS)
            with self.assertRaises(ValueError):
                tilepipe_torch.rms_norm_into(x, weight, out, -1.0)
        self.assertEqual([sys.getrefcount(array) for array in (x, weight, out)], before)

    def test_a_capsule_s_deleter_is_called_once(self):
        x, weight, _ = case((4, 6))
        out = numpy.empty_like(x)
        for eps in (EPS, -1.0):
            capsules = [Capsule(array) for array in (x, weight, out)]
            try:
                _native.rms_norm(*(one.capsule for one in capsules), eps)
            except ValueError:
                self.assertEqual(eps, -1.0)
            self.assertEqual([one.deleted for one in capsules], [1, 1, 1])

    def test_many_threads_call_at_once(self):
        expected = {}
        for shape in SHAPES:
            x, weight, _ = case(shape)
            expected[shape] = (x, weight, tilepipe_torch.rms_norm(x, weight, EPS).tobytes())
        different = []

        def calls():
            for _ in range(40):
                for x, weight, result in expected.values():
                    if tilepipe_torch.rms_norm(x, weight, EPS).tobytes() != result:
                        different.append(x.shape)

        threads = [threading.Thread(target=calls) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(different, [])


class Refused(unittest.TestCase):
    """Each mistake is an exception that says what to do, and nothing is written."""

    def setUp(self):
        self.x, self.weight, self.gradient = case((4, 6))
        self.out = numpy.full((4, 6), UNTOUCHED, numpy.float32)

    def refuse(self, error, *parts, **changes):
        given = {"x": self.x, "weight": self.weight, "out": self.out, "eps": EPS, **changes}
        with self.assertRaises(error) as raised:
            tilepipe_torch.rms_norm_into(given["x"], given["weight"], given["out"], given["eps"])
        for part in parts:
            self.assertIn(part, str(raised.exception))
        self.assertTrue((self.out == UNTOUCHED).all())

    def test_what_is_no_array(self):
        self.refuse(TypeError, "x: it is `list`", "`torch.Tensor`, a `numpy.ndarray`", x=[1.0, 2.0])
        self.refuse(TypeError, "out: it is `NoneType`", out=None)
        with self.assertRaisesRegex(TypeError, "use `rms_norm_into` for other arrays"):
            tilepipe_torch.rms_norm(Legacy(self.x), self.weight)

    def test_other_element_types(self):
        for dtype, name in [(numpy.float64, "float64"), (numpy.float16, "float16"), (numpy.int32, "int32")]:
            self.refuse(TypeError, f"x: its elements are {name}", "take float32", x=self.x.astype(dtype))
        bfloat = Capsule(self.x, element=Element(4, 16, 1))
        self.refuse(TypeError, "x: its elements are bfloat16", x=bfloat.capsule)
        vectors = Capsule(self.x, element=Element(2, 32, 4))
        self.refuse(TypeError, "float32 in vectors of 4", x=vectors.capsule)

    def test_shapes_that_do_not_fit(self):
        self.refuse(ValueError, "weight: its shape is (5,), and (6,) is needed", weight=self.weight[:5])
        self.refuse(ValueError, "weight: its shape is (1, 6)", weight=self.weight[None])
        self.refuse(ValueError, "out: its shape is (6, 4), and (4, 6)", "that of x", out=self.out.reshape(6, 4))
        self.refuse(ValueError, "x: it has no dimension", x=numpy.array(1, numpy.float32))
        self.refuse(ValueError, "no array has the shape [4, -6]", x=Capsule(self.x, shape=(4, -6)).capsule)
        self.refuse(ValueError, "no array has the shape", x=Capsule(self.x, shape=(1 << 40, 1 << 40)).capsule)
        self.refuse(ValueError, "too large", x=Capsule(self.x, shape=(1 << 33, 6)).capsule)

    def test_arrays_with_gaps(self):
        wide = numbers((4, 12), 1)
        self.refuse(ValueError, "x: it is not contiguous", "`numpy.ascontiguousarray(..)`", x=wide[:, ::2])
        self.refuse(ValueError, "x: it is not contiguous", x=numbers((6, 4), 1).T)
        self.refuse(ValueError, "x: it is not contiguous", x=self.x[:, ::-1])
        self.refuse(ValueError, "x: it is not contiguous", x=numpy.broadcast_to(self.weight, (4, 6)))
        self.refuse(ValueError, "out: it is not contiguous", out=numpy.asfortranarray(self.out))
        # Whatever a dimension of one element says of its stride.
        x = numbers((8, 6), 1)[::2][:1]
        tilepipe_torch.rms_norm_into(x, self.weight, numpy.empty_like(x), EPS)

    def test_outputs_that_share_memory_with_inputs(self):
        self.refuse(ValueError, "out and x share memory", "pass another array", x=self.out)
        memory = numpy.full(48, UNTOUCHED, numpy.float32)
        for start in range(1, 24):
            x, out = memory[:24].reshape(4, 6), memory[start : start + 24].reshape(4, 6)
            self.refuse(ValueError, "out and x share memory", x=x, out=out)
        self.assertTrue((memory == UNTOUCHED).all())
        self.refuse(ValueError, "out and weight share memory", weight=self.out[2])
        x, out = memory[:24].reshape(4, 6), memory[24:].reshape(4, 6)
        tilepipe_torch.rms_norm_into(x, self.weight, out, EPS)

    def test_gradients_that_share_memory(self):
        x, weight, gradient = self.x, self.weight, self.gradient
        arrays = {
            "x": x, "weight": weight, "gradient": gradient,
            "x_gradient": self.out, "weight_gradient": numpy.full(6, UNTOUCHED, numpy.float32),
            "factors": numpy.full(4, UNTOUCHED, numpy.float32), "partial": numpy.full((1, 6), UNTOUCHED, numpy.float32),
        }  # fmt: skip
        alike = [("x_gradient", "gradient"), ("x_gradient", "x"), ("weight_gradient", "weight")]
        inside = [
            ("weight_gradient", "x", x[1]), ("factors", "weight", weight[:4]), ("partial", "gradient", gradient[:1])
        ]  # fmt: skip
        both = [("partial", "x_gradient", self.out[2:3]), ("factors", "weight_gradient", arrays["weight_gradient"][:4])]
        for output, other, array in [*((one, two, arrays[two]) for one, two in alike), *inside, *both]:
            with self.assertRaisesRegex(ValueError, f"{output} and {other} share memory"):
                _native.rms_norm_backward(*{**arrays, output: array}.values(), EPS)
        for name in ("x_gradient", "weight_gradient", "factors", "partial"):
            self.assertTrue((arrays[name] == UNTOUCHED).all(), name)
        self.assertTrue(_native.rms_norm_backward(*arrays.values(), EPS))

    def test_outputs_that_are_read_only(self):
        self.out.setflags(write=False)
        self.refuse(ValueError, "out: it is an output, and it is read-only", out=self.out)
        self.refuse(ValueError, "out: it cannot be shared: ", out=Legacy(self.out))
        copied = Capsule(self.out, flags=2)
        self.refuse(ValueError, "out: it is an output, and what was exported is a copy of it", out=copied.capsule)
        # As an input it is as good as any.
        self.x.setflags(write=False)
        tilepipe_torch.rms_norm_into(self.x, self.weight, numpy.empty_like(self.x), EPS)

    def test_capsules_that_hold_nothing_of_use(self):
        capsule = self.x.__dlpack__()
        tilepipe_torch.rms_norm_into(capsule, self.weight, numpy.empty_like(self.x), EPS)
        self.refuse(ValueError, "x: this capsule was consumed before", "export the array again", x=capsule)
        versioned = self.x.__dlpack__(max_version=(1, 0))
        tilepipe_torch.rms_norm_into(versioned, self.weight, numpy.empty_like(self.x), EPS)
        self.refuse(ValueError, "x: this capsule was consumed before", x=versioned)
        self.refuse(TypeError, "x: this capsule holds no array", x=Capsule(self.x, name=b"arrow_array").capsule)
        newer = Capsule(self.x, major=2)
        self.refuse(ValueError, "its capsule is of DLPack 2", "max_version=(1, 0)", x=newer.capsule)
        self.assertEqual(newer.deleted, 1)
        self.refuse(ValueError, "x: it has 24 elements and no memory", x=Capsule(self.x, data=None).capsule)

    def test_memory_elsewhere(self):
        on_gpu = Capsule(self.x, device=Device(2, 0))
        self.refuse(TypeError, "x: it is in a GPU's memory and no `torch.Tensor`", x=on_gpu.capsule)
        self.assertEqual(on_gpu.deleted, 1)
        elsewhere = Capsule(self.x, device=Device(10, 0))
        self.refuse(ValueError, "x: it is on a device of DLPack's kind 10", x=elsewhere.capsule)

    def test_addresses_between_elements(self):
        memory = numpy.zeros(24 * 4 + 1, numpy.uint8)[1:].view(numpy.float32).reshape(4, 6)
        self.refuse(RuntimeError, "is no address of elements of f32", x=memory)

    def test_numbers_that_are_no_epsilon(self):
        for eps in (-1.0, float("nan"), float("inf"), 1e300):
            self.refuse(ValueError, "eps: it is", "finite number that is not negative", eps=eps)


class Package(unittest.TestCase):
    def test_it_has_types_and_says_whether_it_has_kernels_for_gpus(self):
        folder = pathlib.Path(tilepipe_torch.__file__).parent
        for name in ("py.typed", "__init__.pyi", "_native.pyi"):
            self.assertTrue((folder / name).is_file(), name)
        print(f"\nkernels for GPUs: {tilepipe_torch.has_gpu_kernels()}", file=sys.stderr)

    def test_the_stubs_name_all_that_there_is(self):
        stubs = (pathlib.Path(tilepipe_torch.__file__).parent / "_native.pyi").read_text()
        functions = [name for name in dir(_native) if not name.startswith("_")]
        self.assertTrue(functions)
        for name in functions:
            self.assertIn(f"def {name}(", stubs)


if __name__ == "__main__":
    unittest.main()
