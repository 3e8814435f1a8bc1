"""Einsums of many operands, made by the generators of the package `einsum_benchmark`, along one path for all.

The package's recorded instances are a download of many gigabytes; its generators make the same kinds. Axes are short, so
that much of the time is calls: each of these programs is one call here, and a hundred of numpy's or torch's.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy
import opt_einsum
import torch
from einsum_benchmark.generators.quantum_computing import matrix_product_state
from einsum_benchmark.generators.random import connected_hypernetwork, connected_network
from einsum_benchmark.generators.structured import lattice, matrix_chain, tree

import mdh
from measure import Case

#: Kinds of networks: their names, and what makes each.
NETWORKS = {
    "matrix_chain 10": lambda: matrix_chain(10, 100, 400, seed=1),
    "matrix_chain 50": lambda: matrix_chain(50, 20, 200, seed=1),
    "matrix_product_state 20": lambda: matrix_product_state(20, 4, 16, 16, seed=1),
    "matrix_product_state 50": lambda: matrix_product_state(50, 4, 40, 24, seed=1),
    "lattice 4x4": lambda: lattice((4, 4), d_min=16),
    "lattice 6x6": lambda: lattice((6, 6), d_min=6),
    "lattice 10x10": lambda: lattice((10, 10), d_min=2),
    "lattice 3x3x3": lambda: lattice((3, 3, 3), d_min=3),
    "tree 40": lambda: tree(40, seed=1),
    "tree 100": lambda: tree(100, seed=1),
    "connected_network 20": lambda: connected_network(20, 3.5, 2, 2, 6, seed=1),
    "connected_network 60": lambda: connected_network(60, 2.7, 2, 2, 4, seed=1),
    "connected_hypernetwork 20": lambda: connected_hypernetwork(20, 2.8, 5, 3, number_of_output_indices=2, max_axis_size=6, seed=1),
    "connected_hypernetwork 50": lambda: connected_hypernetwork(50, 2.5, 6, 3, number_of_output_indices=2, max_axis_size=3, seed=1),
}

#: Networks whose best path that is found costs more scalar operations, or stores a larger array, take too long here.
MOST_OPERATIONS, MOST_ELEMENTS = 2e10, 1e8


def cases() -> Iterator[Case]:
    """All networks whose cost is within the limits."""
    for name, make in NETWORKS.items():
        spec, shapes = make()
        spec, shapes = spec.replace(" ", ""), [tuple(map(int, shape)) for shape in shapes]
        path, about = opt_einsum.contract_path(spec, *shapes, shapes=True, optimize="auto-hq")
        if about.opt_cost > MOST_OPERATIONS or about.largest_intermediate > MOST_ELEMENTS:
            continue
        yield network(name, spec, shapes, path, float(about.opt_cost))


def network(name: str, spec: str, shapes: list[tuple[int, ...]], path: Any, cost: float) -> Case:
    """A network by all, along one path."""
    random = numpy.random.default_rng(0)
    # Of independent numbers around zero, products of a hundred factors would go out of range; these stay near one.
    operands = [(random.random(shape) * 2 / numpy.prod(shape) ** 0.5).astype("float64") for shape in shapes]
    tensors = [torch.from_numpy(operand) for operand in operands]
    expression = opt_einsum.contract_expression(spec, *shapes, optimize=path)
    return Case(
        "network", f"{name} ({cost:.1e} operations)", "float64",
        lambda: mdh.einsum(spec, *operands, path=path),
        {
            "opt_einsum with numpy": lambda: expression(*operands),
            "opt_einsum with torch": lambda: expression(*tensors),
        },
        expression(*operands),
    )
