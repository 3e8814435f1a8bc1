"""Other programs for the workloads on a GPU: torch, torch.compile, CuPy.

A peer is given the very inputs that ours had, as files of mdh-exec, and its results are compared
with ours. It is timed as ours is: after it has warmed up, runs follow each other at once between two
events, on copies of the data that take turns; as one CUDA graph where it can be captured, so that
Python's calls are not counted.
"""

import importlib
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
SPAN_MS = 2.0  # how long the runs between two events take, at least


class Task:
    """Facts that peers are told of a case."""

    def __init__(self, entry):
        self.dims, self.texts = entry["dims"], entry["texts"]


class Torch:
    """torch on the GPU: cuBLAS, cuDNN and its own kernels; sums are f32 everywhere, without TF32."""

    name = "torch"
    TYPES = {"f32": "float32", "f64": "float64", "bf16": "bfloat16", "f16": "float16",
             "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "i1": "bool"}

    def __init__(self):
        import torch
        if not torch.cuda.is_available():
            raise ImportError("torch finds no GPU")
        self.torch = torch
        torch.backends.cuda.matmul.allow_tf32 = False
        torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False
        torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False
        torch.backends.cudnn.allow_tf32 = False
        torch.backends.cudnn.benchmark = True
        sys.path.insert(0, str(HERE.parent / "peers"))
        self.made = importlib.import_module("torch_peer").MADE

    def arrays(self, arrays):
        """The inputs as ours had them, and places for results: arrays of files, in their order."""
        made = []
        for array in arrays:
            dtype = getattr(self.torch, self.TYPES[array.dtype])
            host = self.torch.frombuffer(bytearray(array.bytes()), dtype=dtype).reshape(array.shape)
            made.append(host.cuda())
        return made

    def prepare(self, entry, arrays):
        """Returns a function that runs a case once and returns its results, or None where there is nothing."""
        make = self.made.get(entry["workload"])
        return make and make(Task(entry), *self.arrays(arrays))

    def results(self, value):
        """Results as arrays of numpy, and the distance from 1 to the next number of their types."""
        values = value if isinstance(value, tuple) else (value,)
        return [(v.double().cpu().numpy(), self.torch.finfo(v.dtype).eps if v.is_floating_point() else 0.0)
                for v in values]

    def times(self, runs, samples):
        """So many times of a run in milliseconds, of runs on copies of the data in turn."""
        cuda = self.torch.cuda

        def all_of_them():
            for run in runs:
                run()

        all_of_them()
        cuda.synchronize()
        once = self.captured(all_of_them) or all_of_them
        between = lambda count: self.between(once, count) / (count * len(runs))
        count = max(1, min(1000, round(SPAN_MS / max(between(1) * len(runs), 1e-6))))
        between(count)
        return [between(count) for _ in range(samples)]

    def captured(self, run):
        """A CUDA graph of what a run launches; None where it waits for the GPU in between."""
        cuda = self.torch.cuda
        graph = cuda.CUDAGraph()
        try:
            with cuda.graph(graph):
                run()
            graph.replay()
            cuda.synchronize()
            return graph.replay
        except Exception:  # Whatever is in the way of it: it is launched by hand.
            cuda.synchronize()
            return None

    def between(self, run, count):
        """Milliseconds of so many runs, each right after the other."""
        cuda = self.torch.cuda
        start, stop = cuda.Event(enable_timing=True), cuda.Event(enable_timing=True)
        start.record()
        for _ in range(count):
            run()
        stop.record()
        cuda.synchronize()
        return start.elapsed_time(stop)

    def copy_bandwidth(self):
        """Bytes a second that a copy moves, those read and those written."""
        source = self.torch.empty(1 << 28, device="cuda", dtype=self.torch.float32)
        target = self.torch.empty_like(source)
        best = min(self.times([lambda: target.copy_(source)], 20))
        return 2 * source.numel() * 4 / best * 1e3


class TorchCompile(Torch):
    """The same compiled by inductor, to Triton kernels."""

    name = "torch_compile"

    def __init__(self):
        super().__init__()
        self.made = importlib.import_module("torch_compile_peer").MADE

    def prepare(self, entry, arrays):
        # Where torch's own operators have nothing, or something slow.
        if entry["workload"] not in ("jacobi3d", "conv2d", "softmax"):
            return None
        compiled = self.torch.compile(self.made[entry["workload"]](Task(entry)), dynamic=False)
        inputs = self.arrays(arrays)[:-1]
        return lambda: compiled(*inputs)


class Cupy(Torch):
    """CuPy: its operators."""

    name = "cupy"

    def __init__(self):
        super().__init__()
        import cupy
        self.cupy = cupy

    def prepare(self, entry, arrays):
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
        if not make:
            return None
        run = make(*[cupy.from_dlpack(a) for a in self.arrays(arrays)])

        def on_torch_stream():
            # CuPy has a current stream of its own: events and graphs of torch do not see it.
            with cupy.cuda.ExternalStream(self.torch.cuda.current_stream().cuda_stream):
                return run()
        return on_torch_stream

    def captured(self, run):
        """None: graphs of torch may be empty of what CuPy launches."""
        return None

    def results(self, value):
        # CuPy copies on a stream of its own, which does not wait for the one above.
        self.torch.cuda.synchronize()
        eps = self.cupy.finfo(value.dtype).eps if value.dtype.kind == "f" else 0.0
        return [(self.cupy.asnumpy(value).astype("float64"), float(eps))]


PEERS = [Torch, TorchCompile, Cupy]


def start(wanted):
    """The peers that are there, of those wanted: all, none, or names with commas between them."""
    peers, names = [], [peer.name for peer in PEERS]
    wanted = {"all": names, "none": []}.get(wanted) or [name for name in wanted.split(",") if name != "none"]
    for peer in PEERS:
        if peer.name in wanted:
            try:
                peers.append(peer())
            except Exception as error:  # Whatever it is: it is not there.
                print(f"note: no {peer.name}: {error}", file=sys.stderr)
    for name in sorted(set(wanted) - set(names)):
        print(f"note: no peer '{name}' on a GPU: expected all, none or some of {', '.join(names)}", file=sys.stderr)
    return peers
