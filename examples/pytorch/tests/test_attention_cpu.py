"""What holds of attention on the CPU, with NumPy alone, which has float16 and no bfloat16."""

import unittest

import numpy
import reference

import tilepipe_torch
from tilepipe_torch import _native

#: Shapes of queries, and tokens and heads of keys: a token, less than a tile and more, several sequences, shared heads,
#: heads of other sizes, and dimensions before.
CASES = [
    ((1, 1, 64), 1, 1),
    ((70, 2, 64), 150, 1),
    ((2, 130, 2, 64), 40, 2),
    ((2, 1, 30, 3, 80), 50, 3),
    ((60, 1, 128), 90, 1),
    ((2, 40, 2, 136), 70, 1),
]
#: Whether attention is causal, and the window.
MASKS = [(False, (None, None)), (True, (None, None)), (True, (20, None)), (False, (9, 5))]
UNIT = reference.UNITS["float16"]
#: What outputs hold before they are written.
UNTOUCHED = 12345.0


def numbers(shape, seed):
    return numpy.random.default_rng(seed).uniform(-2, 2, shape).astype(numpy.float16)


def case(shape, keys, heads):
    """Queries, keys and values, and the gradient of the result."""
    of_keys = (*shape[:-3], keys, heads, shape[-1])
    return numbers(shape, 1), numbers(of_keys, 2), numbers(of_keys, 3), numbers(shape, 4)


def outputs(q):
    """Room for the result and for the logarithms."""
    logarithms = numpy.full((*q.shape[:-3], q.shape[-2], q.shape[-3]), UNTOUCHED, numpy.float32)
    return numpy.full_like(q, UNTOUCHED), logarithms


class Values(unittest.TestCase):
    def test_results_are_those_of_the_reference(self):
        for given in CASES:
            q, k, v, _ = case(*given)
            for causal, (before, behind) in MASKS:
                for scale in (None, 0.3):
                    with self.subTest(case=given, causal=causal, before=before, behind=behind, scale=scale):
                        found = tilepipe_torch.attention(q, k, v, causal, (before, behind), scale)
                        self.assertEqual((found.shape, found.dtype), (q.shape, numpy.float16))
                        expected, _ = reference.attention(q, k, v, before, 0 if causal else behind, scale)
                        self.assertEqual(reference.wrong_attention(found, expected, UNIT), 0)

    def test_logarithms_are_those_of_the_sums_of_weights(self):
        q, k, v, _ = case(*CASES[2])
        out, logarithms = outputs(q)
        # The first queries see no key.
        self.assertTrue(_native.attention(q, k, v, out, logarithms, None, 0, None))
        _, expected = reference.attention(q, k, v, None, 0)
        self.assertTrue(numpy.array_equal(numpy.isinf(logarithms), numpy.isinf(expected)))
        self.assertGreater(numpy.count_nonzero(numpy.isinf(expected)), 0)
        self.assertTrue((out[0, :90] == 0).all(), "a query that sees no key gets zeros")
        finite = numpy.isfinite(expected)
        self.assertLess(abs(logarithms - expected)[finite].max(), 1e-3)

    def test_gradients_are_those_of_the_reference(self):
        for given in CASES[1:]:
            q, k, v, gradient = case(*given)
            for before, behind in [(None, None), (None, 0), (9, 5)]:
                with self.subTest(case=given, before=before, behind=behind):
                    out, logarithms = outputs(q)
                    _native.attention(q, k, v, out, logarithms, before, behind, None)
                    found = tuple(numpy.full_like(one, UNTOUCHED) for one in (q, k, v))
                    rows, queries = 2 * logarithms.size // logarithms.shape[-1], logarithms.shape[-1]
                    room = numpy.empty((rows, (queries + 3) // 4 * 4), numpy.float32)
                    options = (room, before, behind, None)
                    self.assertTrue(_native.attention_backward(q, k, v, out, logarithms, gradient, *found, *options))
                    expected = reference.attention_gradients(q, k, v, gradient, before, behind)
                    for one, value in zip(found, expected):
                        largest = abs(value).max()
                        self.assertGreater(largest, 0)
                        self.assertLess(abs(one - value).max(), 16 * UNIT * largest)

    def test_the_reference_has_the_gradients_of_its_attention(self):
        shape = (3, 2, 4)
        q, k, v, gradient = (array.astype(numpy.float64) for array in case(shape, 5, 1))
        arrays = (q, k, v)
        for array, found in zip(arrays, reference.attention_gradients(*arrays, gradient, 3, 0)):
            for place in numpy.ndindex(array.shape):
                sides = []
                for step in (1e-6, -1e-6):
                    array[place] += step
                    sides.append((reference.attention(*arrays, 3, 0)[0][0] * gradient).sum())
                    array[place] -= step
                self.assertAlmostEqual((sides[0] - sides[1]) / 2e-6, found[place], places=6)

    def test_arrays_without_elements_have_results_without_elements(self):
        q, k, v, _ = case((0, 1, 64), 5, 1)
        self.assertEqual(tilepipe_torch.attention(q, k, v).shape, (0, 1, 64))


class Refused(unittest.TestCase):
    """Each mistake is an exception that says what to do, and nothing is written."""

    def refuse(self, error, part, shape=(4, 2, 64), **changes):
        q, k, v, _ = case(shape, 5, 1)
        out, logarithms = outputs(q)
        given = {"q": q, "k": k, "v": v, "out": out, "logarithms": logarithms, "before": None, "behind": None, "scale": None}
        with self.assertRaisesRegex(error, part):
            _native.attention(*{**given, **changes}.values())
        self.assertTrue((out == UNTOUCHED).all() and (logarithms == UNTOUCHED).all())

    def test_what_does_not_fit(self):
        self.refuse(ValueError, "q: it has 2 dimensions", q=numbers((4, 64), 1))
        self.refuse(ValueError, "k: it is of 1 sequences and heads of 32 elements", k=numbers((5, 1, 32), 1), v=numbers((5, 1, 32), 1))
        self.refuse(ValueError, "divides q's, 2", k=numbers((5, 3, 64), 1), v=numbers((5, 3, 64), 1))
        self.refuse(ValueError, "one token at least", k=numbers((0, 1, 64), 1), v=numbers((0, 1, 64), 1))
        self.refuse(ValueError, "v: its shape is", v=numbers((6, 1, 64), 1))
        self.refuse(ValueError, "out: its shape is", out=numbers((4, 2, 32), 1))
        self.refuse(ValueError, "logarithms: its shape is", logarithms=numpy.zeros((4, 2), numpy.float32))

    def test_heads_and_scales_that_there_are_no_kernels_for(self):
        self.refuse(ValueError, "heads of 12 elements", shape=(4, 2, 12))
        self.refuse(ValueError, "heads of 264 elements", shape=(4, 2, 264))
        self.refuse(ValueError, "scale", scale=0.0)

    def test_element_types_that_are_others(self):
        self.refuse(TypeError, "q: its elements are float32", q=numpy.zeros((4, 2, 64), numpy.float32))
        self.refuse(TypeError, "logarithms: its elements are float16", logarithms=numpy.zeros((2, 4), numpy.float16))

    def test_memory_that_is_shared_with_an_output(self):
        q, k, v, _ = case((5, 1, 64), 5, 1)
        self.refuse(ValueError, "share memory", shape=(5, 1, 64), q=q, out=q)


if __name__ == "__main__":
    unittest.main()
