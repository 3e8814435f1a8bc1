"""torch.compile: the same operators as in torch_peer.py, or loops of them, compiled by inductor
to C++ with OpenMP, with its own search among kernels (max-autotune)."""

import torch

import torch_peer

results = torch_peer.results


def prepare(task):
    make = MADE.get(task.workload)
    if not make or "bf16" in task.types or "i8" in task.types:
        return None
    torch._dynamo.reset()
    arrays = [torch.from_numpy(a) for a in task.inputs]
    compiled = torch.compile(make(task), mode="max-autotune-no-cudagraphs", dynamic=False, fullgraph=True)
    return lambda: compiled(*arrays)


def mcc(task):
    stride = task.dims["t"]
    convolution = torch.nn.functional.conv2d
    if task.texts.get("layout") == "nchw":
        return lambda image, weights: convolution(image, weights, stride=stride)
    return lambda image, weights: convolution(
        image.permute(0, 3, 1, 2), weights.permute(0, 3, 1, 2), stride=stride).permute(0, 2, 3, 1)


def conv2d(task):
    """Sums of shifted images: of one channel, they are what inductor makes one loop of."""
    p, q, high, wide = (task.dims[d] for d in "pqrs")

    def run(image, weights):
        return sum(image[r:r + p, s:s + q] * weights[r, s] for r in range(high) for s in range(wide))

    return run


def jacobi3d(task):
    def run(x):
        sums = (x[1:-1, 1:-1, 1:-1] + x[:-2, 1:-1, 1:-1] + x[2:, 1:-1, 1:-1] + x[1:-1, :-2, 1:-1]
                + x[1:-1, 2:, 1:-1] + x[1:-1, 1:-1, :-2] + x[1:-1, 1:-1, 2:])
        return sums * (1 / 7)

    return run


MADE = {
    "matvec": lambda task: torch.mv,
    "matmul": lambda task: torch.matmul,
    "conv2d": conv2d,
    "mcc": mcc,
    "jacobi3d": jacobi3d,
    "softmax": lambda task: lambda x: torch.softmax(x, 1),
    **torch_peer.NETWORKS,
}
