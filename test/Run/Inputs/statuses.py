"""Statuses of a C function of numbers and one result, a double, for each list of numbers; then the last result.

usage: statuses.py LIBRARY FUNCTION NUMBERS..
"""

import ctypes
import sys

library, function, *lists = sys.argv[1:]
call = getattr(ctypes.CDLL(library), function)
result = ctypes.c_double()
statuses, results = [], []
for numbers in lists:
    numbers = eval(f"[{numbers}]")
    statuses.append(call(*map(ctypes.c_int64, numbers), ctypes.byref(result)))
    results.append(result.value)
print(statuses, results[0])
