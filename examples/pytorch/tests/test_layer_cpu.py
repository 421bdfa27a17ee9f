"""What holds of the layer on the CPU, with NumPy alone, which has float16 and no bfloat16."""

import unittest

import numpy
import reference
from capsules import Capsule, Element

import tilepipe_torch
from tilepipe_torch import _native

#: Shapes of x, and outputs: less than a tile of a product, several, and what is cut off.
CASES = [((8,), 8), ((1, 8), 8), ((3, 72), 264), ((2, 65, 200), 16), ((260, 64), 136)]
UNIT = reference.UNITS["float16"]
#: What outputs hold before they are written.
UNTOUCHED = 12345.0


def numbers(shape, seed):
    return numpy.random.default_rng(seed).uniform(-1, 1, shape).astype(numpy.float16)


def case(shape, outputs):
    """``x``, weights, bias, and the gradient of the outputs."""
    return (
        numbers(shape, 1), numbers((outputs, shape[-1]), 2), numbers(outputs, 3), numbers((*shape[:-1], outputs), 4)
    )  # fmt: skip


class Values(unittest.TestCase):
    def test_layers_and_gradients_are_those_of_the_reference(self):
        for shape, outputs in CASES:
            x, weight, bias, gradient = case(shape, outputs)
            for given in (None, bias):
                for activation in (None, "relu", "silu"):
                    with self.subTest(shape=shape, outputs=outputs, bias=given is not None, activation=activation):
                        out = tilepipe_torch.linear(x, weight, given, activation)
                        self.assertEqual((out.shape, out.dtype), ((*shape[:-1], outputs), numpy.float16))
                        expected = reference.layer(x, weight, given, activation)
                        self.assertEqual(reference.wrong_halves(out, expected, UNIT), 0)
            found = tilepipe_torch.linear_backward(x, weight, gradient)
            for one, like, expected in zip(found, (x, weight), reference.layer_gradients(x, weight, gradient)):
                self.assertEqual((one.shape, reference.wrong_halves(one, expected, UNIT)), (like.shape, 0))

    def test_the_reference_has_the_gradients_of_its_layer(self):
        x, weight, _, gradient = (array.astype(numpy.float64) for array in case((2, 3), 4))
        for array, (found, _) in zip((x, weight), reference.layer_gradients(x, weight, gradient)):
            for place in numpy.ndindex(array.shape):
                sides = []
                for step in (1e-6, -1e-6):
                    array[place] += step
                    sides.append((reference.layer(x, weight)[0] * gradient).sum())
                    array[place] -= step
                self.assertAlmostEqual((sides[0] - sides[1]) / 2e-6, found[place], places=7)

    def test_a_gradient_alone_is_that_of_both(self):
        x, weight, _, gradient = case((40, 64), 24)
        both = tilepipe_torch.linear_backward(x, weight, gradient)
        for wanted in (0, 1):
            outputs = [None, None]
            outputs[wanted] = numpy.empty_like((x, weight)[wanted])
            self.assertTrue(_native.linear_backward(x, weight, gradient, *outputs))
            self.assertEqual(outputs[wanted].tobytes(), both[wanted].tobytes())
        self.assertFalse(_native.linear_backward(x, weight, gradient, None, None))

    def test_special_values_are_as_the_formula_has_them(self):
        x, weight, bias, _ = case((3, 16), 8)
        x[1, 5] = numpy.nan
        for activation in (None, "relu", "silu"):
            rows = numpy.isnan(tilepipe_torch.linear(x, weight, bias, activation)).all(-1)
            self.assertEqual(rows.tolist(), [False, True, False], activation)
        x[1], weight[...] = 60000, 60000
        self.assertTrue(numpy.isposinf(tilepipe_torch.linear(x, weight)[1]).all(), "what is too large is infinite")

    def test_arrays_without_elements_have_results_without_elements(self):
        x, weight, _, _ = case((0, 8), 16)
        self.assertEqual(tilepipe_torch.linear(x, weight).shape, (0, 16))
        of_x, of_weight = tilepipe_torch.linear_backward(x, weight, numbers((0, 16), 4))
        self.assertEqual((of_x.shape, of_weight.shape, abs(of_weight).max()), ((0, 8), (16, 8), 0))
        x, weight, _, _ = case((3, 8), 0)
        self.assertEqual(tilepipe_torch.linear(x, weight).shape, (3, 0))


class Refused(unittest.TestCase):
    """Each mistake is an exception that says what to do, and nothing is written."""

    def setUp(self):
        self.x, self.weight, self.bias, self.gradient = case((4, 16), 24)
        self.out = numpy.full((4, 24), UNTOUCHED, numpy.float16)

    def refuse(self, error, *parts, **changes):
        arrays = {"x": self.x, "weight": self.weight, "bias": self.bias, "out": self.out, "activation": None}
        with self.assertRaises(error) as raised:
            _native.linear(*{**arrays, **changes}.values())
        for part in parts:
            self.assertIn(part, str(raised.exception))
        self.assertTrue((self.out == UNTOUCHED).all())

    def test_element_types_that_are_others_or_differ(self):
        self.refuse(TypeError, "x: its elements are float32", "take bfloat16 or float16", x=numpy.float32(self.x))
        bfloat = Capsule(self.weight, element=Element(4, 16, 1)).capsule
        self.refuse(TypeError, "weight: its elements are bfloat16, and those of x are float16", weight=bfloat)

    def test_shapes_that_do_not_fit(self):
        self.refuse(ValueError, "x: its shape is (4, 8)", "has to be 16", x=numbers((4, 8), 1))
        self.refuse(ValueError, "x: its shape is ()", x=numpy.array(1, numpy.float16))
        self.refuse(ValueError, "weight: its shape is (24,)", "two dimensions", weight=self.weight[:, 0].copy())
        self.refuse(ValueError, "bias: its shape is (16,), and (24,) is needed", bias=numbers(16, 1))
        self.refuse(ValueError, "out: its shape is (4, 16), and (4, 24)", out=numbers((4, 16), 1))

    def test_rows_that_the_copy_engine_does_not_take(self):
        for shape, outputs in [((4, 12), 24), ((4, 16), 20), ((4, 0), 24)]:
            x, weight, _, _ = case(shape, outputs)
            self.refuse(ValueError, "weight: its shape is", "multiples of 8", "pad weight", x=x, weight=weight)
        memory = numpy.zeros(4 * 16 + 16, numpy.float16)
        start = (-(memory.ctypes.data // 2) % 8) + 1
        shifted = memory[start : start + 64].reshape(4, 16)
        self.refuse(ValueError, "x: it begins at no multiple of 16 bytes", "pass a copy", x=shifted)

    def test_activations_that_there_are_not(self):
        self.refuse(ValueError, 'there is no "gelu"', '"relu", "silu" or None', activation="gelu")

    def test_outputs_that_share_memory(self):
        self.refuse(ValueError, "out and bias share memory", bias=self.out[0])
        square, weight = numbers((24, 24), 1), numbers((24, 24), 2)
        self.refuse(ValueError, "out and x share memory", x=square, weight=weight, out=square)
        both = numpy.zeros((24, 24), numpy.float16)
        with self.assertRaisesRegex(ValueError, "weight_gradient and x_gradient share memory"):
            _native.linear_backward(square, weight, numbers((24, 24), 3), both, both)


if __name__ == "__main__":
    unittest.main()
