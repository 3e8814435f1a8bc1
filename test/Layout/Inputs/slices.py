"""Evaluates the offsets of a tile of a 12 x 16 matrix in column order, with numpy for Triton."""

import sys

import numpy as np


class tl:
    """Functions of Triton's language that the code uses."""

    arange = staticmethod(np.arange)
    where = staticmethod(np.where)


code = open(sys.argv[1], encoding="utf-8").read()
for pid in range(3):
    for step in range(2):
        names = {"tl": tl, "pid": pid, "step": step}
        exec(code, names)
        i, j = np.meshgrid(np.arange(4), np.arange(8), indexing="ij")
        expected = (step * 8 + j) * 12 + pid * 4 + i
        assert names["layout_apply"].shape == (4, 8)
        assert (names["layout_apply"] == expected).all()
print("right")
