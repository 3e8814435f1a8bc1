"""Portability over the devices that were measured, as the MDH paper has it (section 5): for each
problem the harmonic mean, over the devices, of the efficiency of ours, which is the time of the best
application on that device divided by the time of ours (Pennycook's metric); 0 where one of the devices
does not run it. Problems that nobody but us was measured on say nothing and are left out.
"""

import json
import pathlib
import statistics


def rows_of(path):
    """The rows of a GPU by their names; None for other files, such as those of CPUs."""
    try:
        rows = json.loads(path.read_text())
    except ValueError:
        return None
    if not isinstance(rows, list) or not all(isinstance(row, dict) and row.get("chip") for row in rows):
        return None
    return {f"{row['workload']}/{row['size']}": row for row in rows} or None


def efficiency(row):
    """The best application's time divided by ours; 0 without a right result, None without a peer."""
    if not row["peers"]:
        return None
    if row["ours_ms"] is None or row["failed"] or not row["checked"]:
        return 0.0
    return min(row["ours_ms"], *row["peers"].values()) / row["ours_ms"]


def measures(devices):
    """The metric of each problem that all devices have and that has peers on each."""
    found = {}
    for name in sorted(set.intersection(*map(set, devices.values()))):
        reached = [efficiency(rows[name]) for rows in devices.values()]
        if None not in reached:
            found[name] = len(reached) / sum(1 / e for e in reached) if all(reached) else 0.0
    return found


def summary(folder):
    """Returns the text about all devices that have a file in a folder."""
    files = {path.stem: rows_of(path) for path in sorted(pathlib.Path(folder).glob("*.json"))}
    devices = {name: rows for name, rows in files.items() if rows}
    if len(devices) < 2:
        return f"portability: needs two GPUs, found {', '.join(devices) or 'none'} in {folder}"
    found = measures(devices)
    if not found:
        return f"portability: no row has peers on each of {', '.join(devices)}"
    return (f"portability (Pennycook, over the best application, {len(found)} rows on {', '.join(devices)}): "
            f"mean {statistics.mean(found.values()):.2f}, lowest {min(found.values()):.2f}")
