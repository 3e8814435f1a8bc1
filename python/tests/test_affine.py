"""Index functions: what they read, their text, their values and bounds, all against Python."""

import itertools

import pytest

from mdh import ProgramError
from mdh.affine import index_function
from mdh.trace import Trace

FUNCTIONS = [
    (lambda i, k: i, "i"),
    (lambda i, k: 0, "0"),
    (lambda i, k: 2 * i + k - 3, "2 * i + k - 3"),
    (lambda i, k: 5 - i, "5 - i"),
    (lambda i, k: k - i - 5, "k - i - 5"),
    (lambda i, k: -i - 2 * k, "0 - i - 2 * k"),
    (lambda i, k: -i - 2, "0 - i - 2"),
    (lambda i, k: i - i + 4, "4"),
    (lambda i, k: (i + k) // 3, "((i + k) floordiv 3)"),
    (lambda i, k: i % 4 + k // 2, "(i mod 4) + (k floordiv 2)"),
    (lambda i, k: 3 * (i // 2) - k % 5, "3 * (i floordiv 2) - (k mod 5)"),
    (lambda i, k: i // 1 + i % 1, "i"),
    (lambda i, k: (i + 2) * 3, "3 * i + 6"),
    (lambda i, k: divmod(7 * i + k, 4)[1], "((7 * i + k) mod 4)"),
    (lambda i, k: ((i // 2) * 2 + i % 2) // 3, "((2 * (i floordiv 2) + (i mod 2)) floordiv 3)"),
]


def affine(function):
    with Trace("an index function") as trace:
        value = function(trace.index(0), trace.index(1))
    return index_function(value, "x")


@pytest.mark.parametrize("function, text", FUNCTIONS)
def test_text_values_and_bounds(function, text):
    expression = affine(function)
    assert expression.text(["i", "k"]) == text
    ranges = [range(1, 8), range(0, 9, 2)]
    values = [function(i, k) for i, k in itertools.product(*ranges)]
    assert [expression.at(point) for point in itertools.product(*ranges)] == values
    assert expression.bounds(ranges) == (min(values), max(values))


def test_bounds_of_many_points_hold_all_values():
    expression = affine(lambda i, k: (i // 2) * 2 + k % 7)
    low, high = expression.bounds([range(1000), range(1000)])
    assert low <= 0 and high >= 998 + 6


@pytest.mark.parametrize(
    "function, message",
    [
        (lambda i, k: i * k, "product of two expressions"),
        (lambda i, k: i / 2, "write //"),
        (lambda i, k: i // k, "positive"),
        (lambda i, k: i % -3, "positive constant"),
        (lambda i, k: 1.5, "1.5 of type float"),
        (lambda i, k: abs(i), "operation 'abs'"),
        (lambda i, k: None, "None of type NoneType"),
        (lambda i, k: True, "True of type bool"),
    ],
)
def test_what_is_not_affine(function, message):
    with pytest.raises(ProgramError, match=message):
        affine(function)
