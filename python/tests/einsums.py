"""Random einsums, for the tests of the package (here) and for those of the command (`test/python`)."""

import numpy as np


class Einsum:
    """A random einsum of small arrays, in numpy's notation.

    Args:
        random: a generator of numpy.
        dtypes: names of the types of elements; most einsums have one for all operands.
        letters: six, those of its text.
        sizes: those of the axes.
    """

    def __init__(self, random, dtypes, letters="ijkABz", sizes=(1, 2, 3, 4)):
        self.random, self.letters = random, letters
        self.sizes = {letter: int(random.choice(sizes)) for letter in letters}
        self.dots = [int(n) for n in random.choice([1, 2, 3], random.integers(0, 3))]
        count = int(random.choice([1, 2, 3, 4], p=[0.3, 0.4, 0.2, 0.1]))
        dtype = random.choice(dtypes)
        self.terms, self.shapes, self.dtypes = [], [], []
        for _ in range(count):
            term, shape = self.operand()
            self.terms.append(term)
            self.shapes.append(shape)
            self.dtypes.append(np.dtype(random.choice(dtypes) if random.random() < 0.25 else dtype))
        self.output = self.result()
        self.spec = ",".join(self.terms) + self.output

    def operand(self):
        letters = self.random.choice(list(self.letters), self.random.integers(0, 5 - len(self.dots)))
        extents = {letter: 1 if self.random.random() < 0.1 else self.sizes[letter] for letter in letters}
        shape = [extents[letter] for letter in letters]
        if not self.dots or self.random.random() < 0.3:
            return "".join(letters), shape
        place = int(self.random.integers(0, len(letters) + 1))
        dots = self.dots[int(self.random.integers(0, len(self.dots) + 1)):]
        dots = [1 if self.random.random() < 0.2 else extent for extent in dots]
        return "".join([*letters[:place], "...", *letters[place:]]), shape[:place] + dots + shape[place:]

    def result(self):
        if self.random.random() < 0.3:
            return ""
        letters = sorted(set("".join(self.terms)) - {"."})
        kept = [letter for letter in self.random.permutation(letters) if self.random.random() < 0.5]
        if any("..." in term for term in self.terms):
            kept.insert(int(self.random.integers(0, len(kept) + 1)), "...")
        return "->" + "".join(kept)

    def arrays(self, numbers):
        """Operands, of `numbers(random, shape, dtype)`."""
        return [numbers(self.random, shape, dtype) for shape, dtype in zip(self.shapes, self.dtypes)]

    def defined(self, combine, scalar, arrays):
        """The result by definition, of operators that are ufuncs: all indices are axes, then some are combined."""
        dtype = np.result_type(*arrays)
        dots = max((a.ndim - len(t.replace("...", "")) for a, t in zip(arrays, self.terms) if "..." in t), default=0)
        names = [chr(0x100 + n) for n in range(dots)]
        own = [self.expanded(term, array.ndim, names) for term, array in zip(self.terms, arrays)]
        result = self.output.removeprefix("->").replace("...", "".join(names))
        if not self.output:
            letters = "".join(own)
            result = "".join(names) + "".join(sorted(l for l in set(letters) - set(names) if letters.count(l) == 1))
        summed = [letter for letter in sorted(set("".join(own))) if letter not in result]
        axes = list(result) + summed
        views = []
        for term, array in zip(own, arrays):
            letters = sorted(set(term), key=axes.index)
            view = np.einsum(f"{self.ascii_of(term)}->{self.ascii_of(letters)}", array).astype(dtype)
            at = [slice(None) if letter in letters else np.newaxis for letter in axes]
            views.append(view[tuple(at)])
        value = views[0]
        for view in views[1:]:
            value = scalar(value, view)
        value = np.broadcast_to(value, np.broadcast_shapes(*(view.shape for view in views))).astype(dtype)
        value = value.reshape(value.shape[:len(result)] + (-1,))
        total = value[..., 0]
        for n in range(1, value.shape[-1]):
            total = combine(total, value[..., n])
        return total

    @staticmethod
    def expanded(term, rank, names):
        dots = rank - len(term.replace("...", ""))
        return term.replace("...", "".join(names[len(names) - dots:]))

    def ascii_of(self, letters):
        """Letters of other alphabets as those that numpy takes."""
        known = self.letters + "".join(chr(0x100 + n) for n in range(8))
        return "".join("abcdefghijklmnop"[known.index(letter)] for letter in letters)
