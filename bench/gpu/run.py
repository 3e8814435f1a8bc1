"""Measures packages of kernels beside peers on a GPU: run.py FOLDER [options]

FOLDER has packages and an index.json, as `mdh bench --device cuda --package FOLDER` makes them.
Needs Python, mdh-exec and a GPU; peers that are not installed are named and left out. Every result
is compared with the definition, by mdh-exec, and peers' results with ours: who is wrong has no time.
Times are those of kernels on data that is in the device's memory; see mdh-exec --help, and peers.py.
Whoever takes part takes turns with the others.

The rows that tell most come first: one of each workload and type, that with most to do, then the
second ones. What was measured is written after each row, so that a run that is ended early, by
--minutes or by force, leaves what it has.

The limit of a row is what the device allows: the bytes at the bandwidth of a copy that is measured
in the same run, or the operations at the rate of its arithmetic units, which are those for products of
matrices for f16 and bf16.
"""

import argparse
import json
import math
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.dont_write_bytecode = True  # nothing is left beside the sources
import peers as others  # noqa: E402
import portability  # noqa: E402

# Multiply-adds of one multiprocessor in a cycle, by compute capability: f32, f64, and f16 or bf16 by
# the units for products of matrices.
LANES = {80: (64, 32, 1024), 86: (128, 2, 256), 89: (128, 2, 256), 90: (128, 64, 2048), 100: (128, 64, 4096),
         120: (128, 2, 256)}
ROUNDS = 2
# Bytes that the arrays of a row's copies have at most, for a peer.
MOST = 8 << 30


class Array:
    """An array of a package, with its elements in a file of mdh-exec."""

    def __init__(self, described, path):
        self.dtype, self.shape, self.path = described["dtype"], described["shape"], path

    def bytes(self):
        return self.path.read_bytes()

    def values(self):
        """The elements as numbers of 64 bits."""
        import numpy
        if self.dtype == "bf16":
            halves = numpy.frombuffer(self.bytes(), dtype="<u2").astype("<u4") << 16
            return halves.view("<f4").astype("f8").reshape(self.shape)
        kind = {"i1": "?"}.get(self.dtype, f"<{self.dtype[0]}{int(self.dtype[1:]) // 8}")
        return numpy.frombuffer(self.bytes(), dtype=kind).astype("f8").reshape(self.shape)


def inputs_and_places(manifest, folder):
    """The arrays that peers are given: inputs, and where results go."""
    arguments = [(array, f"argument-{n}.bin") for n, array in enumerate(manifest["arguments"])]
    results = [(array, f"result-{n}.bin") for n, array in enumerate(manifest["results"])]
    wanted = [(array, name) for array, name in arguments if array["fill"] != "poison"] + results
    return [Array(array, folder / name) for array, name in wanted]


def expected_arrays(manifest, folder):
    """Our results, each with how far a right one may be from the definition."""
    found = []
    for expected in manifest["expected"]:
        [(kind, n)] = expected["place"].items()
        bounds = [error for error in expected["errors"] if error is not None]
        array = Array(manifest[f"{kind}s"][n], folder / f"{kind}-{n}.bin")
        found.append((array, max(bounds, default=None)))
    return found


def disagreement(ours, theirs):
    """Says how a peer's results differ from ours by more than both may be wrong; None if they do not."""
    import numpy
    if len(ours) != len(theirs):
        return f"has {len(theirs)} results, expected {len(ours)}"
    for (array, bound), (values, eps) in zip(ours, theirs):
        right = array.values()
        if values.size != right.size:
            return f"has a result of {values.size} elements, expected {right.size}"
        if bound is None:
            continue
        right, values = right.ravel(), numpy.asarray(values, dtype="f8").ravel()
        with numpy.errstate(invalid="ignore"):
            distance = numpy.abs(values - right)
            is_far = ~((distance <= 2 * bound + eps * numpy.abs(right)) | (values == right)
                       | (numpy.isnan(values) & numpy.isnan(right)))
        if is_far.any():
            at = int(numpy.argmax(is_far))
            return f"{int(is_far.sum())} elements differ, the first is {values[at]:g} where ours is {right[at]:g}"
    return None


def manifest_of(path):
    with tarfile.open(path) as package:
        return json.load(package.extractfile("manifest.json"))


def ordered(index, manifests):
    """The entries, those that tell most first."""
    def work(entry):
        manifest = manifests[entry["package"]]
        return max(manifest["flops"], manifest["bytes"])

    ranks, groups = {}, {}
    for entry in sorted(index, key=work, reverse=True):
        group = (entry["workload"], entry["dtype"])
        ranks[entry["package"]] = groups[group] = groups.get(group, -1) + 1
    return sorted(index, key=lambda entry: (ranks[entry["package"]], -work(entry)))


def ours(command, package, seconds, options):
    """Returns the report of mdh-exec on a package, and why it has no time."""
    line = [command, package, "--json", *options]
    try:
        done = subprocess.run(line, capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        return None, f"failed: not done in {seconds:.0f} seconds"
    told = json.loads(done.stdout) if done.stdout.strip() else None
    if done.returncode != 0:
        return told, f"failed: {done.stderr.strip() or done.returncode}"
    return told, None if told["kernels_ms"] else "failed: it launches nothing"


def limit(entry, manifest, device, bandwidth):
    """Returns the bound of a row, and the milliseconds that it allows."""
    bandwidth = bandwidth or 2 * device["memory_clock_khz"] * 1e3 * device["bus_bits"] / 8
    memory = manifest["bytes"] / bandwidth * 1e3
    single, double, matrix = LANES.get(int(device["chip"].removeprefix("sm_")), (128, 64, 1024))
    kind, lanes = {"f64": ("FMA", double), "f16": ("MMA", matrix), "bf16": ("MMA", matrix)}.get(
        entry["dtype"], ("FMA", single))
    peak = device["multiprocessors"] * lanes * 2 * device["clock_khz"] * 1e3
    work = 0 if entry["memory_bound"] else manifest["flops"] / peak * 1e3
    return (kind, work) if work > memory else ("memory", memory)


def prepared(row, entry, manifest, peers, folder, timing):
    """The peers that have a right result of a row, each with runs on copies of the data."""
    found = []
    arrays = inputs_and_places(manifest, folder) if peers else []
    right = expected_arrays(manifest, folder) if peers else []
    copies = max(1, min(timing["copies"], int(MOST // max(manifest["bytes"], 1))))
    for peer in peers:
        try:
            run = peer.prepare(entry, arrays)
            if not run:
                continue
            wrong = disagreement(right, peer.results(run()))
            row["agree"][peer.name] = wrong is None
            if wrong:
                row["notes"].append(f"{peer.name} disagrees with us: {wrong}")
                continue
            runs = [run] + [peer.prepare(entry, arrays) for _ in range(copies - 1)]
            found.append((peer, runs, []))
        except Exception as error:  # A peer that fails is a note.
            said = str(error).splitlines() or [""]
            row["notes"].append(f"{peer.name}: {type(error).__name__}: {said[0][:200]}")
    return found


def measure(entry, manifest, arguments, peers, bandwidth, folder):
    """The row of a package, and what is known of the device."""
    package = pathlib.Path(arguments.folder) / entry["package"]
    row = {"workload": entry["workload"], "size": entry["size"], "dtype": entry["dtype"], "device": None,
           "chip": None, "ours_ms": None, "ci": None, "timing": None, "compile_ms": entry["compile_ms"],
           "limit": None, "peers": {}, "agree": {}, "best_peer": None, "ratio": None, "checked": False,
           "failed": None, "notes": []}
    options = ["--repeat", "3", "--rotate", "2"] if arguments.quick else ["--repeat", "20"]
    device, times, runners = None, [], None
    for _ in range(1 if arguments.quick else ROUNDS):
        writes = ["--write", str(folder)] if peers and runners is None else []
        told, row["failed"] = ours(arguments.exec, package, arguments.case, options + writes)
        if told:
            device = told["device"]
            row["device"], row["chip"] = device["name"], device["chip"]
        if row["failed"]:
            return row, device
        row["checked"], row["timing"] = told["checked"] and not told["weak"], told["timing"]
        times += told["kernels_ms"]
        if runners is None:
            runners = prepared(row, entry, manifest, peers, folder, told["timing"])
        for peer, runs, taken in runners:
            taken += peer.times(runs, 3 if arguments.quick else 20)
    if not times:
        row["failed"] = "failed: it launches nothing"
        return row, device
    row["peers"] = {peer.name: statistics.median(taken) for peer, _, taken in runners}
    row["ours_ms"], row["ci"] = statistics.median(times), interval(times)
    kind, allowed = limit(entry, manifest, device, bandwidth)
    row["limit"] = {"kind": kind, "fraction": allowed / row["ours_ms"]}
    if row["peers"]:
        row["best_peer"] = min(row["peers"], key=row["peers"].get)
        row["ratio"] = row["peers"][row["best_peer"]] / row["ours_ms"]
    return row, device


def interval(times):
    """The 99 % confidence interval of the median, by ranks; none of few runs."""
    half = 2.576 * math.sqrt(len(times)) / 2
    low, high = math.floor(len(times) / 2 - half), math.ceil(len(times) / 2 + half)
    return [sorted(times)[low], sorted(times)[high - 1]] if low >= 0 else None


def line(row):
    """A row for people."""
    name = f"{row['workload']}/{row['size']}"
    if row["ours_ms"] is None:
        return f"{name:36} {row['failed']}"
    peer = f"{row['best_peer']} {row['peers'][row['best_peer']]:.4f} ms, {row['ratio']:.2f}" if row["best_peer"] else "-"
    share = f"{row['limit']['fraction']:.2f} of {row['limit']['kind']}"
    said = "".join(f"; {note}" for note in row["notes"] if "disagrees" in note)
    return f"{name:36} {row['ours_ms']:10.4f} ms  {share:16} {peer}{said}"


def geometric_mean(numbers):
    return math.exp(sum(map(math.log, numbers)) / len(numbers))


def save(rows, path):
    """Writes the rows: whole, or what was there stays."""
    beside = path.with_name(f".{path.name}.part")
    beside.write_text(json.dumps(rows, indent=1) + "\n")
    os.replace(beside, path)


def files(arguments, device):
    """Table that the rows go to."""
    found = [pathlib.Path(arguments.json)] if arguments.json else []
    if arguments.results and device:
        name = "".join(c if c.isalnum() else "-" for c in device["name"].lower())
        found.append(pathlib.Path(arguments.results) / f"{name}.json")
    return found


def run(arguments, index, peers):
    """The rows of all packages, written after each, and what is known of the device."""
    end = time.monotonic() + arguments.minutes * 60
    manifests = {e["package"]: manifest_of(pathlib.Path(arguments.folder) / e["package"]) for e in index}
    torch = next((peer for peer in peers if peer.name == "torch"), None)
    bandwidth = torch.copy_bandwidth() if torch else None
    if bandwidth:
        print(f"a copy moves {bandwidth / 1e9:.0f} GB/s")
    rows, device = [], None
    for entry in ordered(index, manifests):
        if time.monotonic() > end:
            print(f"{entry['workload']}/{entry['size']}: left out, the time is over")
            continue
        folder = pathlib.Path(tempfile.mkdtemp(prefix="mdh-"))
        try:
            row, found = measure(entry, manifests[entry["package"]], arguments, peers, bandwidth, folder)
        finally:
            shutil.rmtree(folder)
        device = device or found
        rows.append(row)
        for path in files(arguments, device):
            save(rows, path)
        print(line(row), flush=True)
    return rows, device


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", help="the packages, with index.json")
    parser.add_argument("--exec", default="mdh-exec", help="the command mdh-exec")
    parser.add_argument("--peers", default="all", help="all, none, or some of torch,torch_compile,cupy")
    parser.add_argument("--json", help="a file for the rows, which is written after each")
    parser.add_argument("--results", help="a folder with a file for each GPU: adds this one's")
    parser.add_argument("--minutes", type=float, default=9, help="rows that are not begun then are left out")
    parser.add_argument("--case", type=float, default=60, help="seconds that one package may take")
    parser.add_argument("--quick", action="store_true", help="only to see that everything runs")
    arguments = parser.parse_args()
    if arguments.results:
        pathlib.Path(arguments.results).mkdir(parents=True, exist_ok=True)
    index = json.loads((pathlib.Path(arguments.folder) / "index.json").read_text())
    rows, device = run(arguments, index, others.start(arguments.peers))
    ratios = [row["ratio"] for row in rows if row["ratio"]]
    if ratios:
        print(f"{len(ratios)} rows with a peer: {geometric_mean(ratios):.2f} times as fast as the best one "
              f"(geometric mean), slowest {min(ratios):.2f}")
    if arguments.results and device:
        print(portability.summary(arguments.results))
    failed = [f"{row['workload']}/{row['size']}" for row in rows if row["failed"] or not row["checked"]]
    if failed:
        sys.exit(f"error: there are no right results of {', '.join(failed)}")


if __name__ == "__main__":
    main()
