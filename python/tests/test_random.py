"""Random computations on integers, against the definition: each point by itself, combined one after the other."""

import itertools
import random

import numpy
import pytest

import mdh
from mdh import Buffer, cc, inp_view, int32, md_hom, out_view, ps, pw

OPERATORS = [
    (mdh.add, lambda a, b: a + b),
    (mdh.max, max),
    (mdh.mul, lambda a, b: a * b),
    (mdh.combine_operator(lambda a, b: a * b + a + b, name="circle", commutative=True), lambda a, b: a * b + a + b),
]

SCALARS = [
    lambda values: values[0],
    lambda values: sum(values[1:], values[0]),
    lambda values: values[0] * values[-1] - 3,
    lambda values: (
        mdh.where(values[0] > values[-1], values[0], 2 - values[-1])
        if isinstance(values[0], mdh.trace.Value)
        else (values[0] if values[0] > values[-1] else 2 - values[-1])
    ),
    lambda values: (values[0] % 5) // 2 + values[-1] % -3,
    lambda values: values[0] & 6 ^ values[-1],
]


def term(choice, rank):
    """A random index function of one axis."""
    at, offset, factor = choice.randrange(rank), choice.randrange(3), choice.randint(1, 3)
    other = choice.randrange(rank)
    return choice.choice(
        [
            lambda *i: i[at],
            lambda *i: factor * i[at] + offset,
            lambda *i: i[at] + i[other] + offset,
            lambda *i: i[at] // (factor + 1) + offset,
            lambda *i: i[at] % (factor + 1),
            lambda *i: 9 - i[at],
        ]
    )


def with_parameters(function, rank):
    """The function with as many parameters as dimensions, since these are counted."""
    names = ", ".join(f"d{at}" for at in range(rank))
    return eval(f"lambda {names}: function({names})", {"function": function})


def by_definition(sizes, kinds, combine, points):
    """Combines the values at points, the last dimension first; a dimension that `pw` combines has one point left."""
    values = dict(points)
    for at in reversed(range(len(sizes))):
        if kinds[at] == "cc":
            continue
        combined = {}
        for point in sorted(values):
            before = point[:at] + (point[at] - 1 if kinds[at] == "ps" else 0,) + point[at + 1 :]
            after = point if kinds[at] == "ps" else point[:at] + (0,) + point[at + 1 :]
            is_first = before not in combined
            combined[after] = values[point] if is_first else combine(combined[before], values[point])
        values = combined
    return values


@pytest.mark.runs
@pytest.mark.parametrize("seed", range(40))
def test_against_the_definition(seed):
    choice = random.Random(seed)
    rank = choice.randint(1, 3)
    sizes = [choice.randint(1, 6) for _ in range(rank)]
    operator, combine = choice.choice(OPERATORS)
    kinds = [choice.choice(["cc", "cc", "pw", "ps"]) for _ in range(rank)]
    combines = tuple({"cc": cc, "pw": pw(operator), "ps": ps(operator)}[kind] for kind in kinds)
    scalar = choice.choice(SCALARS)
    buffers = {}
    for name in ["x", "y"][: choice.randint(1, 2)]:
        axes = choice.randint(1, 2)
        accesses = [[term(choice, rank) for _ in range(axes)] for _ in range(choice.randint(1, 2))]
        buffers[name] = [lambda *i, access=access: tuple(axis(*i) for axis in access) for access in accesses]
    left = [at for at in range(rank) if kinds[at] != "pw"]
    order = choice.sample(left, len(left))
    written = with_parameters(lambda *i: tuple(i[at] for at in order), rank)

    @mdh.mdh()
    def computed():
        read = {name: [with_parameters(access, rank) for access in accesses] for name, accesses in buffers.items()}
        hom = md_hom[tuple(sizes)](lambda *values: scalar(values), combines)
        return out_view[int32](z=[written]), hom, inp_view[int32](**read)

    assert isinstance(computed.outputs["z"], Buffer)
    shapes = [view.shape for view in computed.program().inputs]
    generator = numpy.random.default_rng(seed)
    arrays = [generator.integers(-4, 5, shape).astype("int32") for shape in shapes]
    result = computed(*arrays)

    def value(point):
        values = [
            int(array[access(*point)]) for array, accesses in zip(arrays, buffers.values()) for access in accesses
        ]
        return scalar(values)

    points = {point: value(point) for point in itertools.product(*map(range, sizes))}
    expected = by_definition(sizes, kinds, combine, points)
    assert result.size == len(expected)
    for point, number in expected.items():
        assert result[tuple(point[at] for at in order)] == (number + 2**31) % 2**32 - 2**31, (point, computed.text())
