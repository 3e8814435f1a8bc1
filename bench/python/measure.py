"""Times of several ways to compute one thing, in turns, and the rows of results that they make.

In each round everybody has a turn, of at least one call that counts; what counts of a turn is its median, and of all turns
their median. Results are compared before anything is timed. Rows have the fields of `mdh bench --json`.
"""

from __future__ import annotations

import gc
import math
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy

#: Time of a turn, and of the pause before it, in which the threads of the one before fall asleep.
TURN_SECONDS, PAUSE_SECONDS = 0.03, 0.005

#: The largest relative error of a sum of products, by type: differences in the order of sums are far below it.
TOLERANCES = {"float16": 2e-2, "float32": 1e-3, "float64": 1e-9, "complex64": 1e-3, "complex128": 1e-9}


@dataclass
class Case:
    """One thing to compute, and who computes it: functions without arguments. `ours` is what is held against the others.

    `reference` is what results are compared with; None where there is nothing to compare (`import mdh`).
    """

    workload: str
    size: str
    dtype: str
    ours: Callable[[], Any]
    peers: dict[str, Callable[[], Any]]
    reference: Any = None
    notes: list[str] = field(default_factory=list)


def row(case: Case, rounds: int) -> dict[str, Any]:
    """Measures a case."""
    made = {
        "workload": case.workload, "size": case.size, "dtype": case.dtype, "device": "cpu", "ours_ms": None, "ci": None,
        "compile_ms": None, "limit": None, "peers": {}, "best_peer": None, "ratio": None, "checked": False, "failed": None,
        "notes": list(case.notes),
    }
    started = time.perf_counter()
    try:
        wrong = difference(case.ours(), case.reference, case.dtype)
    except Exception as error:
        made["failed"] = f"{type(error).__name__}: {error}".split("\n")[0]
        return made
    made["compile_ms"] = 1e3 * (time.perf_counter() - started)
    if wrong is not None:
        made["failed"] = wrong
        return made
    made["checked"] = case.reference is not None
    measured = {"mdh": case.ours}
    for name, call in case.peers.items():
        try:
            wrong = difference(call(), case.reference, case.dtype)
        except Exception as error:
            wrong = f"{type(error).__name__}: {error}".split("\n")[0]
        if wrong is None:
            measured[name] = call
        else:
            made["notes"].append(f"{name}: {wrong}")
    turns = in_turns(measured, rounds)
    medians = {name: statistics.median(times) for name, times in turns.items()}
    made["ours_ms"], made["ci"] = medians.pop("mdh"), interval(turns["mdh"])
    made["peers"] = medians
    if medians:
        made["best_peer"] = min(medians, key=medians.__getitem__)
        made["ratio"] = medians[made["best_peer"]] / made["ours_ms"]
    return made


def difference(result: Any, reference: Any, dtype: str) -> str | None:
    """The way in which a result is not the reference; None if it is."""
    if reference is None:
        return None
    result, reference = numpy.asarray(result), numpy.asarray(reference)
    if result.shape != reference.shape:
        return f"found shape {result.shape}, expected {reference.shape}"
    if dtype not in TOLERANCES:
        return None if numpy.array_equal(result, reference) else "found other numbers"
    scale = float(numpy.abs(reference).max(initial=0)) or 1.0
    error = float(numpy.abs(result - reference).max(initial=0)) / scale
    # A NaN is no error that is small.
    return None if error <= TOLERANCES[dtype] else f"found an error of {error:.1e} of the largest element"


def in_turns(calls: dict[str, Callable[[], Any]], rounds: int) -> dict[str, list[float]]:
    """The median of each turn, in milliseconds, by name."""
    turns: dict[str, list[float]] = {name: [] for name in calls}
    names = list(calls)
    for number in range(rounds):
        # Another one is first in each round.
        for name in names[number % len(names):] + names[:number % len(names)]:
            time.sleep(PAUSE_SECONDS)
            turns[name].append(turn(calls[name]))
    return turns


def turn(call: Callable[[], Any]) -> float:
    """The median time of calls, in milliseconds; those of less than some microseconds are timed together."""
    gc.collect()
    gc.disable()
    clock = time.perf_counter_ns
    started = clock()
    call()
    first = clock() - started
    together = max(1, min(1000, int(20_000 / max(first, 100))))
    times = [first] if first > 1e9 * TURN_SECONDS else []
    until = clock() + int(1e9 * TURN_SECONDS)
    while not times or (clock() < until and first <= 1e9 * TURN_SECONDS):
        started = clock()
        for _ in range(together):
            call()
        times.append((clock() - started) / together)
    gc.enable()
    return statistics.median(times) / 1e6


def interval(times: list[float]) -> list[float]:
    """The ends of the median's 99 % confidence interval, by order statistics; all that there is of few times."""
    ordered = sorted(times)
    count, outside = len(ordered), 0
    while outside + 1 < count / 2 and 2 * sum(math.comb(count, below) for below in range(outside + 2)) / 2**count <= 0.01:
        outside += 1
    return [ordered[outside], ordered[-1 - outside]]


def shown(made: dict[str, Any]) -> str:
    """A row as a line."""
    where = f"{made['workload']:10} {made['size'][:58]:58} {made['dtype']:10}"
    if made["failed"]:
        return f"{where} failed: {made['failed']}"
    peers = ", ".join(f"{name} {number(ms)}" for name, ms in sorted(made["peers"].items(), key=lambda peer: peer[1]))
    ratio = f"{made['ratio']:6.2f}x" if made["ratio"] else " " * 7
    return f"{where} {number(made['ours_ms']):>8} {ratio}  {peers}  {'; '.join(made['notes'])}"


def number(ms: float) -> str:
    """A time: microseconds where it is short."""
    return f"{1e3 * ms:.3g} us" if ms < 1 else f"{ms:.3g} ms"


def summary(rows: list[dict[str, Any]]) -> str:
    """Counts what is won, and says by how much."""
    ratios = [made["ratio"] for made in rows if made["ratio"]]
    if not ratios:
        return "no row with a peer"
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    won = sum(ratio >= 1 for ratio in ratios)
    return f"{len(ratios)} rows with a peer; faster than the best one in {won}; geometric mean of the ratios {mean:.2f}"
