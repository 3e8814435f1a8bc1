"""Libraries with interfaces in C, which are called by ctypes."""

import ctypes
import functools
import glob
import os
import sys

# A function that does nothing, whatever it is called with: a call of it takes what Python does for a call.
NOTHING = ctypes.CDLL(None).labs
NOTHING.restype = None


def load(file, pattern):
    """The library of that name: the system's, or the newest whose name begins so in the peers' environment."""
    beside = sorted(glob.glob(os.path.join(sys.prefix, "lib", pattern + "*")))
    why = None
    for path in [file, *beside[-1:]]:
        try:
            return ctypes.CDLL(path)
        except OSError as error:
            why = error
    raise ImportError(f"{file} cannot be loaded: {why}")


def address(array):
    """An array's address, in the form that a call takes the fastest."""
    return ctypes.byref(ctypes.c_char.from_buffer(array))


def calls(*steps):
    """A run of functions, each given with its arguments. Its `nothing` calls nothing as often, with the same."""
    run = in_turn([functools.partial(function, *arguments) for function, *arguments in steps])
    run.nothing = in_turn([functools.partial(NOTHING, *arguments) for _, *arguments in steps])
    return run


def in_turn(parts):
    if len(parts) == 1:
        return parts[0]

    def run():
        for part in parts:
            part()

    return run
