"""The norm and its gradients in 64 bits, and how wrong a result in 32 bits may be.

A result is a sum of terms. Its error is compared with the sum of their magnitudes, since a term that cancels another
one keeps its own error. The kernels add a row of ``n`` elements in ``n / 128`` steps and 13 more, and the gradient of a
weight in at most ``rows / parts + parts`` steps; with what is computed of the sums that is below 160 units of 2^-24 for
the sizes of the tests: below 1e-5.
"""

import numpy

BOUND = 1e-5


def norm(x, weight, eps):
    """The norm, and the magnitudes of its terms."""
    x, weight = x.astype(numpy.float64), weight.astype(numpy.float64)
    result = x * _factor(x, eps) * weight
    return result, abs(result)


def gradients(x, weight, gradient, eps):
    """The gradients of ``x`` and of ``weight``, each with the magnitudes of its terms."""
    x, weight, gradient = (array.astype(numpy.float64) for array in (x, weight, gradient))
    factor, width = _factor(x, eps), x.shape[-1]
    scaled = gradient * weight
    along = x * factor**3 / width
    of_x = factor * scaled - along * (scaled * x).sum(-1, keepdims=True)
    of_x_terms = abs(factor * scaled) + abs(along) * abs(scaled * x).sum(-1, keepdims=True)
    of_weight = (gradient * x * factor).reshape(-1, width)
    return (of_x, of_x_terms), (of_weight.sum(0), abs(of_weight).sum(0))


def wrong(found, expected):
    """How many elements are more wrong than the bound allows."""
    value, magnitude = expected
    return numpy.count_nonzero(~(abs(found.astype(numpy.float64) - value) <= BOUND * magnitude))


def _factor(x, eps):
    return 1 / numpy.sqrt((x * x).mean(-1, keepdims=True) + eps)
