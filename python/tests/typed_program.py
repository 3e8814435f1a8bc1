"""A program with types: `test_stubs.py` has a type checker read it. It is not run.

A comment that ignores an error says that there is one: the checker tells of those that ignore nothing.
"""

from typing import Any

import numpy as np
from typing_extensions import assert_type

import mdh
from mdh import (Buffer, add, argmin, cc, combine_ops, exp, fp32, inp, inp_view, int64, md_hom, mul, out, out_view, ps, pw,
                 where)
from mdh.compiled import Library
from mdh.contraction import Einsum
from mdh.operators import Operator

A, x = np.ones((3, 4)), np.ones(4)


@mdh.mdh()
def matvec():
    return (
        out_view[fp32](w=[lambda i, k: (i)]),
        md_hom[3, 4](mul, (cc, pw(add))),
        inp_view[fp32, fp32](M=[lambda i, k: (i, k)], v=[lambda i, k: (k)]),
    )


@mdh.mdh(out(w=Buffer[fp32]), inp(M=Buffer[fp32, [3, 4]]), combine_ops(cc, ps(add)), device="cpu")
def row_sums(w, M):
    for i in range(3):
        for k in range(4):
            w[i, k] = M[i, k]


@mdh.combine_operator
def larger(a, b):
    return where(a > b, a, b)


@mdh.combine_operator(commutative=True, neutral=0.0)
def plus(a, b):
    return a + b


def computations() -> None:
    assert_type(matvec, mdh.Computation)
    assert_type(row_sums, mdh.Computation)
    assert_type(row_sums.compile(A), mdh.Compiled)
    matvec.text(A, x).upper()
    mdh.mdh("matvec")  # type: ignore[call-overload]


def einsums() -> None:
    mdh.einsum("ij,j->i", A, x, combine="min", scalar="add", path=[(0, 1)], deterministic=True)
    mdh.einsum("ij,j->i", A, x, combine=argmin, scalar=lambda a, b: (a + b, mdh.cast(mdh.index("j"), int64)))
    program = mdh.compile_einsum("ij,j->i", A, x, combine=larger, scalar=plus)
    assert_type(program, Einsum)
    assert_type(program.shape, tuple[int, ...])
    assert_type(program.path, list[tuple[int, ...]])
    assert_type(program.explain("h100"), str)
    mdh.einsum("ij,j->i", A, x, combine=3)  # type: ignore[arg-type]
    mdh.compile_einsum(["ij"], A)  # type: ignore[arg-type]


def reductions() -> None:
    assert_type(larger, Operator)
    assert_type(plus, Operator)
    mdh.reduce(plus, x, axis=(0, 1), keepdims=True, dtype="float64")
    mdh.scan("add", x, exclusive=True)
    mdh.histogram(np.array([1]), bins=3)
    mdh.reduce("add", x, axis="rows")  # type: ignore[arg-type]
    mdh.histogram(np.array([1]), bins="3")  # type: ignore[arg-type]
    exp(x)


def compiled(text: str) -> None:
    function = mdh.compile(text, name="f", device="cuda:1")
    assert_type(function, mdh.Compiled)
    assert_type(function.interface, str)
    assert_type(function.argument_names, list[str])
    assert_type(function.schedule, dict[str, Any])
    function.schedule = None
    function.schedule = "#mdh.schedule<asm = cpu, layers = []>"
    function.schedule = {"layers": []}
    function.schedule = 3  # type: ignore[assignment]
    function.tune(0.5)
    function.tune("long")  # type: ignore[arg-type]
    assert_type(function.check(A, x), str)
    function.save("libf.so")
    assert_type(mdh.load("libf.so"), Library)
    mdh.load("libf.so")(A, x, out=x)


def threads() -> None:
    assert_type(mdh.thread_count(), int)
    mdh.set_threads(4)
    mdh.set_threads("4")  # type: ignore[arg-type]


def errors() -> None:
    try:
        mdh.reduce(add, x)
    except mdh.ShapeError as error:
        assert_type(error, mdh.ShapeError)
    mdh.nothing  # type: ignore[attr-defined]
