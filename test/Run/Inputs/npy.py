"""Makes the arrays that tests run on, and prints those that come out.

    npy.py save FILE DTYPE EXPRESSION ...    saves numpy expressions
    npy.py show FILE EXPRESSION ...          prints expressions of the array `a` in FILE, row by row
"""

import sys

import numpy as np


def save(file, dtype, expression):
    np.save(file, np.asarray(eval(expression, {"np": np})).astype(dtype))


def show(file, expression):
    a = np.load(file)
    print("x".join(map(str, a.shape)) or "scalar", a.dtype)
    rows = np.atleast_1d(eval(expression, {"np": np, "a": a}))
    for row in rows.reshape(-1, rows.shape[-1]):
        print(*(f"{x:.7g}" for x in row.tolist()))


verb, arguments = sys.argv[1], sys.argv[2:]
function, size = {"save": (save, 3), "show": (show, 2)}[verb]
for i in range(0, len(arguments), size):
    function(*arguments[i:i + size])
