"""The norm, the layer and their gradients in 64 bits, and how wrong a result may be.

For the norm: a result is a sum of terms. Its error is compared with the sum of their magnitudes, since a term that cancels another
one keeps its own error. The kernels add a row of ``n`` elements in ``n / 128`` steps and 13 more, and the gradient of a
weight in at most ``rows / parts + parts`` steps; with what is computed of the sums that is below 160 units of 2^-24 for
the sizes of the tests: below 1e-5.

For the layer: a sum in 32 bits of ``k`` terms is wrong by less than ``k`` units of 2^-24 of the sum of their magnitudes,
and tensor cores may drop as much again. With fewer than 1000 terms that is below 2^-13. What is stored is rounded to 16
bits, by at most a unit of 2^-11 of the value (float16) or 2^-8 (bfloat16). Results that were rounded before and are used
again are terms with an error of their own.
"""

import numpy

BOUND = 1e-5
BOUND_OF_SUMS = 2.0**-13
#: The units of float16 and of bfloat16.
UNITS = {"float16": 2.0**-11, "bfloat16": 2.0**-8}


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


def layer(x, weight, bias=None, activation=None):
    """The layer, and the magnitudes of its terms."""
    x, weight = x.astype(numpy.float64), weight.astype(numpy.float64)
    value, magnitude = x @ weight.T, abs(x) @ abs(weight).T
    if bias is not None:
        value, magnitude = value + bias.astype(numpy.float64), magnitude + abs(bias.astype(numpy.float64))
    if activation == "relu":
        value = numpy.maximum(value, 0)
    elif activation == "silu":
        value = value / (1 + numpy.exp(-value))
    return value, magnitude


def layer_gradients(x, weight, gradient):
    """The gradients of ``x`` and of ``weight``, each with the magnitudes of its terms."""
    x, weight, gradient = (array.astype(numpy.float64) for array in (x, weight, gradient))
    rows, outputs = x.reshape(-1, x.shape[-1]), gradient.reshape(-1, gradient.shape[-1])
    return (
        (gradient @ weight, abs(gradient) @ abs(weight)),
        (outputs.T @ rows, abs(outputs).T @ abs(rows)),
    )


def wrong_halves(found, expected, unit):
    """How many elements of 16 bits are more wrong than the bound allows; ``unit`` is what they are rounded by."""
    value, magnitude = expected
    return numpy.count_nonzero(
        ~(abs(found.astype(numpy.float64) - value) <= unit * abs(value) + BOUND_OF_SUMS * (magnitude + 1))
    )


def _factor(x, eps):
    return 1 / numpy.sqrt((x * x).mean(-1, keepdims=True) + eps)
