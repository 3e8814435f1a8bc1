"""Einsums of many operands: lattices, trees, chains of matrices, random networks and hypernetworks.

Expressions as those of the public collection `einsum_benchmark`, whose own are a download at run time: its generators have
made these, for small sizes.
"""

import numpy as np
import pytest

import mdh

pytestmark = pytest.mark.runs

#: Kind, text, indices, and the size of each index.
NETWORKS = [
    ("torus of 4 x 4", "abcd,efdg,higj,kljc,bmno,fpoq,irqs,ltsn,muvw,pxwy,rzyA,tBAv,uaCD,xeDE,zhEF,BkFC->",
     "abcdefghijklmnopqrstuvwxyzABCDEF", "22222222222222222222222222222222"),
    ("lattice of 3 x 4", "ab,cbd,edf,gf,ahi,cjik,elkm,gnm,ho,jop,lpq,nq->", "abcdefghijklmnopq", "22232443342424423"),
    ("tree", "ak,abf,bc,cdi,deg,e,fh,g,hj,i,j,k->kb", "akbfcdieghj", "35432234553"),
    ("chain of matrices", "de,gh,bc,fg,hi,ab,ef,cd->ai", "deghbcfia", "295756397"),
    ("network", "iaeb,a,bpkcf,gmhqcd,dl,menl,rf,gj,oh,i,nj,ok->qpr", "iaebpkcfgmhqdlnrjo", "332223422422424433"),
    # Indices that more than two operands have, that one has twice, that only one has, and that the result keeps.
    ("hypernetwork with diagonals", "hgaob,obckimiea,ncbbofm,cdof,do,loe,of,jjhgo->onm", "hgaobckimenfdlj",
     "232232222322223"),
    ("hypernetwork", "fbah,kandblj,jbgcf,mce,dei,e,gf,jg,ohpq,i->oqnp", "fbahkndljgcmeiopq", "43343424222322434"),
]


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("MDH_CACHE", str(tmp_path))


def operands_of(text, indices, sizes):
    """Integers, so that the order in which they are combined makes no difference."""
    size, random = dict(zip(indices, map(int, sizes))), np.random.default_rng(1)
    terms = text.partition("->")[0].split(",")
    return [random.integers(-2, 3, [size[index] for index in term]) for term in terms]


@pytest.mark.parametrize("network", NETWORKS, ids=lambda network: network[0])
def test_networks(network):
    """The own path, and those of numpy and opt_einsum, lead to numpy's result."""
    _, text, indices, sizes = network
    operands = operands_of(text, indices, sizes)
    # Without a limit, numpy stores nothing larger than an operand, and is done with all others in one step.
    path, _ = np.einsum_path(text, *operands, optimize=("greedy", 10**9))
    expected = np.einsum(text, *operands, optimize=path)
    own = mdh.compile_einsum(text, *operands)
    np.testing.assert_array_equal(own(*operands), expected)
    np.testing.assert_array_equal(mdh.einsum(text, *operands, path=path), expected)
    opt_einsum = pytest.importorskip("opt_einsum")
    path, costs = opt_einsum.contract_path(text, *operands, optimize="greedy")
    program = mdh.compile_einsum(text, *operands, path=path)
    np.testing.assert_array_equal(program(*operands), expected)
    # Costs are counted alike, and the own path, which may have steps of one operand, is none of the worse ones.
    assert program.flops == float(costs.opt_cost) and program.largest == float(costs.largest_intermediate)
    assert own.flops <= program.flops
