#!/usr/bin/env python3
"""Measures the Python package beside others: bench/python/run.py [--json FILE] [--rounds N] [TABLE..]

Tables are `contractions`, `networks`, `scans` and `overhead`, which are measured if none is named, and `torch_compile`.
README.md says what they are, and which packages this needs.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import sys
import tempfile

TABLES = ("contractions", "networks", "scans", "overhead")
# Only if it is named, since it needs torch-mlir.
NAMED = ("torch_compile",)


def main() -> int:
    """Measures, prints a line for each row, and writes the rows."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("tables", nargs="*", metavar="TABLE", help=", ".join(TABLES))
    parser.add_argument("--json", metavar="FILE", help="where the rows go, also while they are measured")
    parser.add_argument("--rounds", type=int, default=9, help="turns of each (default: 9)")
    parser.add_argument("--only", default="", metavar="TEXT", help="cases with this in their size or name")
    given = parser.parse_args()
    unknown = set(given.tables) - {*TABLES, *NAMED}
    if unknown:
        parser.error(f"found {', '.join(sorted(unknown))}, expected {', '.join(TABLES + NAMED)}")
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    rows = []
    with tempfile.TemporaryDirectory() as cache:
        # So that the times of first calls are those of a first process.
        os.environ["MDH_CACHE"] = cache
        for table in given.tables or TABLES:
            rows += measured(table, given.rounds, given.only, lambda row: write(given.json, [*rows, *row]))
    write(given.json, rows)
    return 1 if any(row["failed"] for row in rows) else 0


def measured(table, rounds, only, note):
    """The rows of a table; `note` gets those that there are after each."""
    import measure

    rows = []
    for case in importlib.import_module(table).cases():
        if only in case.workload or only in case.size:
            rows.append(measure.row(case, rounds))
            print(measure.shown(rows[-1]), flush=True)
            note(rows)
    print(f"{table}: {measure.summary(rows)}\n", flush=True)
    return rows


def write(path, rows):
    """Writes rows, whole or not at all."""
    if path:
        with open(f"{path}.new", "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)
            file.write("\n")
        os.replace(f"{path}.new", path)


if __name__ == "__main__":
    sys.exit(main())
