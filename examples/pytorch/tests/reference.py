"""The norm, the layer, attention and their gradients in 64 bits, and how wrong a result may be.

For the norm: a result is a sum of terms. Its error is compared with the sum of their magnitudes, since a term that cancels another
one keeps its own error. The kernels add a row of ``n`` elements in ``n / 128`` steps and 13 more, and the gradient of a
weight in at most ``rows / parts + parts`` steps; with what is computed of the sums that is below 160 units of 2^-24 for
the sizes of the tests: below 1e-5.

For the layer: a sum in 32 bits of ``k`` terms is wrong by less than ``k`` units of 2^-24 of the sum of their magnitudes,
and tensor cores may drop as much again. With fewer than 1000 terms that is below 2^-13. What is stored is rounded to 16
bits, by at most a unit of 2^-11 of the value (float16) or 2^-8 (bfloat16). Results that were rounded before and are used
again are terms with an error of their own.

For attention: weights are rounded to 16 bits before they multiply the values, and the result once more: by at most two
units of the sum of the values' magnitudes times their weights. Its gradients are compared with their largest element,
since that of a score is a difference of numbers that were rounded.
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


def attention(q, k, v, before=None, behind=None, scale=None):
    """Attention of ``(.., tokens, heads, elements)``, the magnitudes of its terms, and logarithms of sums of weights."""
    q, k, v = (array.astype(numpy.float64) for array in (q, k, v))
    weights, logarithms = _weights(q, k, before, behind, scale)
    value, magnitude = (numpy.swapaxes(weights @ _heads(one, q), -2, -3) for one in (v, abs(v)))
    return (value, magnitude.max(-1, keepdims=True)), logarithms


def attention_gradients(q, k, v, gradient, before=None, behind=None, scale=None):
    """The gradients of ``q``, ``k`` and ``v``."""
    q, k, v, gradient = (array.astype(numpy.float64) for array in (q, k, v, gradient))
    weights, _ = _weights(q, k, before, behind, scale)
    of_out, scale = numpy.swapaxes(gradient, -2, -3), scale or q.shape[-1] ** -0.5
    slopes = of_out @ numpy.swapaxes(_heads(v, q), -1, -2)
    slopes = weights * (slopes - (weights * slopes).sum(-1, keepdims=True)) * scale
    of_q = slopes @ _heads(k, q)
    of_k, of_v = numpy.swapaxes(slopes, -1, -2) @ numpy.swapaxes(q, -2, -3), numpy.swapaxes(weights, -1, -2) @ of_out

    def of_shared(one):
        """The sum of the heads that share one of keys."""
        parts = one.reshape(*one.shape[:-3], k.shape[-2], -1, *one.shape[-2:])
        return parts.sum(-3)

    return tuple(numpy.swapaxes(one, -2, -3) for one in (of_q, of_shared(of_k), of_shared(of_v)))


def wrong_attention(found, expected, unit):
    """How many elements of a result of 16 bits are more wrong than the bound allows."""
    value, magnitude = expected
    return numpy.count_nonzero(~(abs(found.astype(numpy.float64) - value) <= 2 * unit * (abs(value) + magnitude) + BOUND))


def _heads(array, q):
    """Keys or values by heads, as many as of queries."""
    return numpy.repeat(numpy.swapaxes(array, -2, -3), q.shape[-2] // array.shape[-2], -3)


def _weights(q, k, before, behind, scale):
    scores = numpy.swapaxes(q, -2, -3) @ numpy.swapaxes(_heads(k, q), -1, -2) * (scale or q.shape[-1] ** -0.5)
    queries, keys = scores.shape[-2:]
    between = numpy.arange(queries)[:, None] + keys - queries - numpy.arange(keys)
    seen = (between <= (keys + queries if before is None else before)) & (
        -between <= (keys + queries if behind is None else behind)
    )
    scores = numpy.where(seen, scores, -numpy.inf)
    largest = numpy.maximum(scores.max(-1, keepdims=True), -1e300)
    weights = numpy.exp(scores - largest)
    total = weights.sum(-1, keepdims=True)
    with numpy.errstate(divide="ignore"):
        logarithms = (numpy.log(total) + largest)[..., 0]
    return weights / numpy.maximum(total, 1e-300), numpy.where(total[..., 0] > 0, logarithms, -numpy.inf)


def _factor(x, eps):
    return 1 / numpy.sqrt((x * x).mean(-1, keepdims=True) + eps)
