"""Gradients of weights that exporters have transposed, divided, joined or copied."""
import numpy


class Gradients:
    """By the value of the parameter's element, which no other has but by chance: exporters transpose, divide and
    join weights. Elements of one value count together, as copies of a tied weight do."""

    def __init__(self, parameters):
        values, gradients = ([one.ravel().astype(numpy.float32) for one in column] for column in zip(*parameters))
        self.values, places = numpy.unique(numpy.concatenate(values), return_inverse=True)
        self.sums = numpy.zeros(len(self.values))
        numpy.add.at(self.sums, places, numpy.concatenate(gradients))

    def of(self, values):
        """None where an element is missing."""
        places = numpy.searchsorted(self.values, values.ravel()).clip(0, len(self.values) - 1)
        return self.sums[places] if numpy.array_equal(self.values[places], values.ravel()) else None
