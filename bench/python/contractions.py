"""Einsums of one to five operands: numpy's documentation, TCCG's contractions, skewed, batched, integer and small ones.

Pure views (`ii->i`, `ij->ji`), which numpy and torch give without touching an element, are not among them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy
import opt_einsum
import torch

import mdh
from measure import Case

# Of numpy.einsum's page, at its sizes and at one where there is something to compute.
DOCUMENTED = [
    ("ii", "i=5"), ("ij->i", "i=5 j=5"), ("ij,j->i", "i=5 j=5"), ("i,i->", "i=5"), ("i,j->ij", "i=2 j=5"),
    ("ijk,jil->kl", "i=3 j=4 k=5 l=2"), ("ki,jk->ij", "i=3 j=4 k=2"), ("ijk,ilm,njm,nlk,abc->", "i=2 j=4 k=8 l=4 m=8 n=2 a=2 b=4 c=8"),
    ("ij->i", "i=4096 j=4096"), ("ij,j->i", "i=4096 j=4096"), ("i,i->", "i=16777216"), ("ijk,jil->kl", "i=64 j=64 k=512 l=256"),
]

# TCCG names the result first, then both operands.
TCCG = [
    ("abc-bda-dc", "a=312 b=24 c=296 d=312"), ("abcd-dbea-ec", "a=72 b=24 c=72 d=72 e=72"),
    ("abcde-efbad-cf", "a=48 b=24 c=24 d=24 e=24 f=24"), ("abcd-ea-ebcd", "a=72 b=72 c=72 d=24 e=72"),
    ("abcd-eb-aecd", "a=72 b=72 c=24 d=72 e=72"), ("ab-acd-dbc", "a=312 b=296 c=72 d=72"),
    ("abc-acd-db", "a=72 b=312 c=72 d=312"), ("abc-adec-ebd", "a=72 b=72 c=72 d=24 e=72"),
    ("abcd-aebf-dfce", "a=24 b=24 c=24 d=24 e=24 f=24"), ("abcd-aefb-fdce", "a=24 b=24 c=24 d=24 e=24 f=24"),
    ("abcdef-dega-gfbc", "a=16 b=16 c=16 d=16 e=16 f=16 g=16"), ("abcdef-gdab-efgc", "a=16 b=16 c=16 d=16 e=16 f=16 g=16"),
]

SKEWED = [
    ("ik,kj->ij", "i=4 j=4096 k=4096"), ("ik,kj->ij", "i=65536 j=8 k=64"), ("ik,kj->ij", "i=64 j=64 k=262144"),
    ("ki,kj->ij", "i=16 j=24 k=100000"), ("ab,bcde->acde", "a=3 b=3 c=256 d=256 e=16"),
]

BATCHED = [
    ("bik,bkj->bij", "b=64 i=128 j=128 k=128"), ("bhid,bhjd->bhij", "b=4 h=8 i=256 j=256 d=64"),
    ("bij,bj->bi", "b=512 i=128 j=128"), ("bik,bkj->ij", "b=64 i=128 j=128 k=128"),
    ("il,jm,kn,elmn->eijk", "i=12 j=12 k=12 l=12 m=12 n=12 e=256"),
]

# The type of elements stands behind the sizes.
OTHER_TYPES = [
    ("ik,kj->ij", "i=512 j=512 k=512", "int32"), ("ik,kj->ij", "i=256 j=256 k=256", "int64"),
    ("ijk,jil->kl", "i=32 j=32 k=128 l=128", "int64"), ("ik,kj->ij", "i=512 j=512 k=512", "float64"),
]

SMALL = [("ik,kj->ij", "i=16 j=16 k=16"), ("ijk,ilm->jklm", "i=8 j=8 k=8 l=8 m=8")]


def listed() -> Iterator[tuple[str, str, str]]:
    """Specification, sizes and type of each contraction."""
    for spec, sizes in DOCUMENTED:
        yield spec, sizes, "float64"
    for name, sizes in TCCG:
        result, left, right = name.split("-")
        yield f"{left},{right}->{result}", sizes, "float32"
    for spec, sizes in [*SKEWED, *BATCHED]:
        yield spec, sizes, "float32"
    yield from OTHER_TYPES
    for spec, sizes in SMALL:
        yield spec, sizes, "float32"


def cases() -> Iterator[Case]:
    """All contractions, with arrays that are random but the same each time."""
    for spec, sizes, dtype in listed():
        extents = {letter: int(size) for letter, size in re.findall(r"(\w)=(\d+)", sizes)}
        yield contraction(spec, f"{spec} {sizes}", [tuple(extents[letter] for letter in term)
                                                    for term in spec.partition("->")[0].split(",")], dtype)


def arrays(shapes: list[tuple[int, ...]], dtype: str) -> list[numpy.ndarray]:
    """Random operands."""
    random = numpy.random.default_rng(0)
    if dtype.startswith("int"):
        return [random.integers(-9, 10, shape).astype(dtype) for shape in shapes]
    return [random.random(shape, "float64").astype(dtype) - numpy.dtype(dtype).type(0.5) for shape in shapes]


def contraction(spec: str, size: str, shapes: list[tuple[int, ...]], dtype: str) -> Case:
    """An einsum by all."""
    operands = arrays(shapes, dtype)
    tensors = [torch.from_numpy(operand) for operand in operands]
    expression = opt_einsum.contract_expression(spec, *shapes)
    wide = [operand.astype("float64") if dtype.startswith("float") else operand for operand in operands]
    return Case(
        "einsum", size, dtype,
        lambda: mdh.einsum(spec, *operands),
        {
            "numpy": lambda: numpy.einsum(spec, *operands, optimize=True),
            "torch": lambda: torch.einsum(spec, *tensors),
            "opt_einsum": lambda: expression(*operands),
        },
        numpy.einsum(spec, *wide, optimize=True),
    )
