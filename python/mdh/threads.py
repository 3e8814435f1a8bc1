"""The threads of computations."""

from __future__ import annotations

#: How often their number was set: a part of what compiled functions are looked up by, since code is for a number.
changes = 0


def set_threads(threads: int) -> None:
    """Sets how many threads computations use from now on, the caller's included (1 to 1024). What is compiled after that
    is for so many cores; a `Compiled` that exists keeps its code, which runs on as many threads as there are.

    Raises:
        ProgramError: the number is out of range.
    """
    global changes
    from . import _mdh

    _mdh.set_threads(threads)
    changes += 1
