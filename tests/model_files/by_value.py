"""Gradients of weights that exporters have transposed, divided, joined or copied."""
import numpy


class Gradients:
    """By the value of the parameter's element, which no other has but by chance: exporters transpose, divide and
    join weights. Elements of one value count together, as copies of a tied weight do."""

    def __init__(self, parameters):
        values, gradients = ([one.ravel().astype(numpy.float32) for one in column] for column in zip(*parameters))
        self.values, places, self.counts = numpy.unique(numpy.concatenate(values), return_inverse=True,
                                                        return_counts=True)
        self.sums = numpy.zeros(len(self.values))
        numpy.add.at(self.sums, places, numpy.concatenate(gradients))
        self.largest = max(numpy.abs(one).max() for one in gradients)

    def places(self, values):
        """None where an element is missing."""
        values = values.ravel().astype(numpy.float32)
        places = numpy.searchsorted(self.values, values).clip(0, len(self.values) - 1)
        return places if numpy.array_equal(self.values[places], values) else None

    def of(self, values):
        """None where an element is missing."""
        places = self.places(values)
        return None if places is None else self.sums[places]

    def is_single(self, values):
        """Whether an element has a value that as many have as any other of them: one, or the copies of a tied
        weight."""
        counts = self.counts[self.places(values)]
        return counts == counts.min()

    def of_single(self, values):
        """The same with 0 for elements whose value others have."""
        places = self.places(values)
        return None if places is None else numpy.where(self.counts[places] == 1, self.sums[places], 0)
