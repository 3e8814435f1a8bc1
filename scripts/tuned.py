"""The table of scripts/tuned: times of the default and of searches, and how much slower one is than another.

usage: tuned.py 'TIME TIME..' FOLDER/WORKLOAD..
"""

import json
import math
import sys
from pathlib import Path


def row(path):
    """The row of a workload whose results are in the folder that the path begins with."""
    folder, name = path
    file = folder / (name.replace("/", "_") + ".bench.json")
    [found] = json.loads(file.read_text())
    return found


def mean(ratios):
    """The geometric mean."""
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def main(times, paths):
    rows = []
    for path in paths:
        found = row(path)
        own = {other["name"]: other["ms"] for other in found["schedules"]}
        rows.append((path[1], found["ours_ms"], [own["t" + time] for time in times]))
    print("| workload | default, ms |" + "".join(f" {time}, ms |" for time in times) + " default / best | first search / best |")
    print("|---" * (4 + len(times)) + "|")
    gaps, firsts = [], []
    for name, default, found in rows:
        best = min([default, *found])
        gaps.append(default / best)
        firsts.append(found[0] / best)
        each = "".join(f" {ms:.3g} |" for ms in found)
        print(f"| {name} | {default:.3g} |{each} {gaps[-1]:.2f} | {firsts[-1]:.2f} |")
    last = f"{mean(gaps):.2f}, worst {max(gaps):.2f} | {mean(firsts):.2f}, worst {max(firsts):.2f} |"
    print("| geometric mean |" + " |" * (1 + len(times)) + " " + last)


if __name__ == "__main__":
    paths = []
    for text in sys.argv[2:]:
        parts = Path(text).parts
        paths.append((Path(*parts[:-2]), "/".join(parts[-2:])))
    main(sys.argv[1].split(), paths)
