"""Measures packages of kernels beside peers on a GPU: run.py FOLDER [options]

FOLDER has packages and an index.json, as `mdh bench --device cuda --packages FOLDER` makes them.
Needs Python, mdh-exec and a GPU; peers that are not installed are named and left out. Every result
is compared with the definition, by mdh-exec. Times are those of kernels on data that is in the
device's memory, by events; whoever takes part takes turns with the others.

The limit of a row is what the device allows: the bytes at the bandwidth of a copy that is measured
in the same run, or the operations at the rate of its plain arithmetic units (no tensor cores).
"""

import argparse
import importlib
import json
import math
import pathlib
import statistics
import subprocess
import sys
import tarfile
import time

HERE = pathlib.Path(__file__).resolve().parent
# Multiply-adds of one multiprocessor in a cycle, f32 and f64, by compute capability.
LANES = {80: (64, 32), 86: (128, 2), 89: (128, 2), 90: (128, 64), 100: (128, 64), 120: (128, 2)}
ROUNDS = 2


class Torch:
    """torch on the GPU: cuBLAS, cuDNN and its own kernels, without TF32."""

    name = "torch"

    def __init__(self):
        import torch
        if not torch.cuda.is_available():
            raise ImportError("torch finds no GPU")
        self.torch = torch
        torch.backends.cuda.matmul.allow_tf32 = False
        torch.backends.cudnn.allow_tf32 = False
        torch.backends.cudnn.benchmark = True
        sys.path.insert(0, str(HERE.parent / "peers"))
        self.made = importlib.import_module("torch_peer").MADE

    def arrays(self, entry, manifest):
        torch = self.torch
        types = {"f32": torch.float32, "f64": torch.float64, "bf16": torch.bfloat16, "f16": torch.float16,
                 "i8": torch.int8, "i16": torch.int16, "i32": torch.int32, "i64": torch.int64}
        made = []
        for array in manifest["arguments"] + manifest["results"]:
            if array["fill"] == "poison" and array in manifest["arguments"]:
                continue
            dtype = types[array["dtype"]]
            fill = array["fill"].get("uniform") if isinstance(array["fill"], dict) else None
            low, high = (fill["low"], fill["high"]) if fill else (-1, 1)
            if dtype.is_floating_point:
                value = torch.rand(array["shape"], device="cuda") * (high - low) + low
            else:
                value = torch.randint(int(low), int(max(high, low + 1)), array["shape"], device="cuda")
            made.append(value.to(dtype))
        return made

    def prepare(self, entry, manifest):
        make = self.made.get(entry["workload"])
        return make and make(Task(entry), *self.arrays(entry, manifest))

    def times(self, run, budget):
        """Milliseconds of each run, for so many seconds."""
        cuda = self.torch.cuda
        run()
        cuda.synchronize()
        times, end = [], time.monotonic() + budget
        while len(times) < 5 or (len(times) < 30 and time.monotonic() < end):
            start, stop = cuda.Event(enable_timing=True), cuda.Event(enable_timing=True)
            start.record()
            run()
            stop.record()
            cuda.synchronize()
            times.append(start.elapsed_time(stop))
        return times

    def copy_bandwidth(self):
        """Bytes a second that a copy moves, those read and those written."""
        source = self.torch.empty(1 << 28, device="cuda", dtype=self.torch.float32)
        target = self.torch.empty_like(source)
        best = min(self.times(lambda: target.copy_(source), 1.0))
        return 2 * source.numel() * 4 / best * 1e3


class TorchCompile(Torch):
    """The same compiled by inductor, to Triton kernels."""

    name = "torch_compile"

    def __init__(self):
        super().__init__()
        self.made = importlib.import_module("torch_compile_peer").MADE

    def prepare(self, entry, manifest):
        # Where torch's own operators have nothing, or something slow.
        if entry["workload"] not in ("jacobi3d", "conv2d", "softmax"):
            return None
        compiled = self.torch.compile(self.made[entry["workload"]](Task(entry)), dynamic=False)
        arrays = self.arrays(entry, manifest)[:-1]
        return lambda: compiled(*arrays)


class Cupy(Torch):
    """CuPy: its operators."""

    name = "cupy"

    def __init__(self):
        super().__init__()
        import cupy
        self.cupy = cupy

    def prepare(self, entry, manifest):
        cupy = self.cupy
        if entry["dtype"] in ("bf16", "f16", "i8"):
            return None
        make = {
            "dot": lambda x, y, *_: lambda: cupy.dot(x, y),
            "matvec": lambda m, v, *_: lambda: cupy.dot(m, v),
            "matmul": lambda a, b, *_: lambda: cupy.matmul(a, b),
            "bmatmul": lambda a, b, *_: lambda: cupy.matmul(a, b),
            "scan": lambda x, *_: lambda: cupy.cumsum(x),
            "transpose": lambda x, *_: lambda: cupy.ascontiguousarray(x.T),
            "histo": lambda x, h, *_: lambda: cupy.bincount(x, minlength=len(h)),
        }.get(entry["workload"])
        arrays = [cupy.from_dlpack(a) for a in self.arrays(entry, manifest)] if make else []
        run = make and make(*arrays)
        # CuPy has a stream of its own.
        stream = self.torch.cuda.ExternalStream(cupy.cuda.get_current_stream().ptr)

        def on_its_stream():
            with self.torch.cuda.stream(stream):
                run()
        return run and on_its_stream


PEERS = [Torch, TorchCompile, Cupy]


class Task:
    """What peers are told of a case."""

    def __init__(self, entry):
        self.dims, self.texts = entry["dims"], entry["texts"]


def start_peers(wanted):
    """The peers that are there."""
    peers = []
    names = [peer.name for peer in PEERS]
    wanted = {"all": names, "none": []}.get(wanted) or [name for name in wanted.split(",") if name != "none"]
    for peer in PEERS:
        if peer.name in wanted:
            try:
                peers.append(peer())
            except Exception as error:  # Whatever it is: it is not there.
                print(f"note: no {peer.name}: {error}", file=sys.stderr)
    for name in set(wanted) - set(names):
        print(f"note: no peer '{name}' on a GPU: expected all, none or some of {', '.join(names)}", file=sys.stderr)
    return peers


def manifest_of(path):
    with tarfile.open(path) as package:
        return json.load(package.extractfile("manifest.json"))


def ours(command, package, repeat, seconds):
    """What mdh-exec says of a package, or why it says nothing."""
    line = [command, package, "--json", "--repeat", str(repeat)]
    try:
        done = subprocess.run(line, capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        return None, f"failed: not done in {seconds:.0f} seconds"
    if done.returncode != 0:
        return None, f"failed: {done.stderr.strip() or done.returncode}"
    return json.loads(done.stdout), None


def limit(entry, manifest, device, bandwidth):
    """What bounds a row, and the milliseconds that it allows."""
    memory = manifest["bytes"] / bandwidth * 1e3
    chip = int(device["chip"].removeprefix("sm_"))
    narrow, wide = LANES.get(chip, (128, 64))
    lanes = wide if entry["dtype"] == "f64" else narrow
    peak = device["multiprocessors"] * lanes * 2 * device["clock_khz"] * 1e3
    work = 0 if entry["memory_bound"] else manifest["flops"] / peak * 1e3
    return ("FMA", work) if work > memory else ("memory", memory)


def measure(entry, arguments, peers, bandwidth):
    """The row of a package."""
    package = pathlib.Path(arguments.folder) / entry["package"]
    manifest = manifest_of(package)
    row = {"workload": entry["workload"], "size": entry["size"], "dtype": entry["dtype"], "device": None,
           "ours_ms": None, "ci": None, "compile_ms": entry["compile_ms"], "limit": None, "peers": {},
           "best_peer": None, "ratio": None, "checked": False, "failed": None, "notes": []}
    prepared = []
    for peer in peers:
        try:
            run = peer.prepare(entry, manifest)
            if run:
                run()
                prepared.append((peer, run, []))
        except Exception as error:  # A peer that fails is a note.
            row["notes"].append(f"{peer.name}: {type(error).__name__}: {str(error).splitlines()[0][:200]}")
    times = []
    for _ in range(1 if arguments.quick else ROUNDS):
        told, row["failed"] = ours(arguments.exec, package, 3 if arguments.quick else 20, arguments.case)
        if told is None:
            return row, None
        times += told["kernels_ms"]
        for peer, run, taken in prepared:
            taken += peer.times(run, 0.05 if arguments.quick else 0.3)
    device = told["device"]
    row["device"], row["checked"] = device["name"], told["checked"]
    row["peers"] = {peer.name: statistics.median(taken) for peer, _, taken in prepared}
    if not times:
        row["failed"] = "failed: it launches nothing"
        return row, device
    row["ours_ms"] = statistics.median(times)
    row["ci"] = interval(times)
    bandwidth = bandwidth or 2 * device["memory_clock_khz"] * 1e3 * device["bus_bits"] / 8
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
    return f"{name:36} {row['ours_ms']:10.4f} ms  {share:16} {peer}"


def geometric_mean(numbers):
    return math.exp(sum(map(math.log, numbers)) / len(numbers))


def portability(results):
    """Pennycook's measure for each row that all devices have: the harmonic mean of what is reached of
    each device's limit, 0 where one of them does not run it."""
    devices = {}
    for path in sorted(pathlib.Path(results).glob("*.json")):
        rows = json.loads(path.read_text())
        if isinstance(rows, list) and all("limit" in row and "device" in row for row in rows):
            devices[path.stem] = {f"{row['workload']}/{row['size']}": row for row in rows}
    if len(devices) < 2:
        return f"portability: one device was measured so far, or none: {', '.join(devices)}"
    common = set.intersection(*(set(rows) for rows in devices.values()))
    measures = []
    for name in sorted(common):
        limits = [rows[name]["limit"] for rows in devices.values()]
        reached = [min(1.0, known["fraction"]) if known else 0.0 for known in limits]
        measures.append(len(reached) / sum(1 / x for x in reached) if all(reached) else 0.0)
    mean = statistics.mean(measures) if measures else 0.0
    return (f"portability (Pennycook, of the limit, {len(common)} rows on {', '.join(devices)}): mean {mean:.2f}, "
            f"lowest {min(measures, default=0.0):.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", help="the packages, with index.json")
    parser.add_argument("--exec", default="mdh-exec", help="the command mdh-exec")
    parser.add_argument("--peers", default="all", help="all, none, or some of torch,torch_compile,cupy")
    parser.add_argument("--json", help="a file for the rows")
    parser.add_argument("--results", help="a folder with a file for each device: adds this one's")
    parser.add_argument("--minutes", type=float, default=9, help="rows that are not begun then are left out")
    parser.add_argument("--case", type=float, default=60, help="seconds that one package may take")
    parser.add_argument("--quick", action="store_true", help="only to see that everything runs")
    arguments = parser.parse_args()
    end = time.monotonic() + arguments.minutes * 60
    index = json.loads((pathlib.Path(arguments.folder) / "index.json").read_text())
    peers = start_peers(arguments.peers)
    torch = next((peer for peer in peers if peer.name == "torch"), None)
    bandwidth = torch.copy_bandwidth() if torch else None
    if bandwidth:
        print(f"a copy moves {bandwidth / 1e9:.0f} GB/s")
    rows, device = [], None
    for entry in index:
        if time.monotonic() > end:
            print(f"{entry['workload']}/{entry['size']}: left out, the time is over")
            continue
        row, found = measure(entry, arguments, peers, bandwidth)
        device = device or found
        rows.append(row)
        print(line(row), flush=True)
    ratios = [row["ratio"] for row in rows if row["ratio"]]
    if ratios:
        print(f"{len(ratios)} rows with a peer: {geometric_mean(ratios):.2f} times as fast as the best one "
              f"(geometric mean), slowest {min(ratios):.2f}")
    text = json.dumps(rows, indent=1) + "\n"
    if arguments.json:
        pathlib.Path(arguments.json).write_text(text)
    if arguments.results and device:
        name = "".join(c if c.isalnum() else "-" for c in device["name"].lower())
        (pathlib.Path(arguments.results) / f"{name}.json").write_text(text)
        print(portability(arguments.results))
    failed = [f"{row['workload']}/{row['size']}" for row in rows if row["failed"] or not row["checked"]]
    if failed:
        sys.exit(f"error: there are no right results of {', '.join(failed)}")


if __name__ == "__main__":
    main()
