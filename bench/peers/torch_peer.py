"""torch: its operators, and torch's own formats for convolutions."""

import functools
import os

import torch

torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
torch.set_grad_enabled(False)


def results(value):
    # Results in another format of memory are copied into that of the program.
    values = value if isinstance(value, tuple) else (value,)
    return [(v.float() if v.dtype == torch.bfloat16 else v).contiguous().numpy() for v in values]


def prepare(task):
    make = MADE.get(task.workload)
    arrays = [tensor(a, of) for a, of in zip(task.inputs + task.outputs, task.types)]
    return make and make(task, *arrays)


def tensor(array, of):
    made = torch.from_numpy(array)
    return made.view(torch.bfloat16) if of == "bf16" else made


def matmul(task, a, b, c):
    if a.dtype == torch.int8:
        return lambda: torch._int_mm(a, b, out=c)
    if a.dtype != c.dtype:  # products of bf16 are bf16
        return lambda: torch.matmul(a, b)
    return lambda: torch.matmul(a, b, out=c)


def inplace(task, *arrays):
    *factors, u, out = arrays
    if task.texts["kernel"] != "combination":
        return lambda: torch.mul(*factors, u, out=out)
    a, b, v = factors
    weight = b.item()
    return lambda: torch.mul(a, u, out=out).add_(v, alpha=weight)


def matmul_t(task, a, b, c):
    return lambda: torch.matmul(b, a, out=c)


def conv2d(task, image, weights, out):
    image, weights = image[None, None], weights[None, None]
    return lambda: torch.nn.functional.conv2d(image, weights)[0, 0]


def conv2d_padded(task, image, weights, out):
    image, weights = image[None, None], weights[None, None]
    around = (task.dims["r"] // 2, task.dims["s"] // 2)
    return lambda: torch.nn.functional.conv2d(image, weights, padding=around)[0, 0]


def stencil(task, x, y):
    """A convolution; without padding, x has one more point at each side."""
    near = torch.tensor([0.25, 0.5, 0.25], device=x.device)
    weights = functools.reduce(torch.multiply, torch.meshgrid([near] * x.dim(), indexing="ij"))[None, None]
    image, around = x[None, None], int(x.shape == y.shape)
    convolution = {2: torch.nn.functional.conv2d, 3: torch.nn.functional.conv3d}[x.dim()]
    return lambda: convolution(image, weights, padding=around)[0, 0]


def mcc_padded(task, image, weights, out):
    image, weights = image.permute(0, 3, 1, 2), weights.permute(0, 3, 1, 2)
    around = (task.dims["r"] // 2, task.dims["s"] // 2)
    stride = task.dims["t"]
    return lambda: torch.nn.functional.conv2d(image, weights, stride=stride, padding=around).permute(0, 2, 3, 1)


def depthwise(task, image, weights, out):
    weights, channels, stride = weights[:, None], task.dims["c"], task.dims["t"]
    is_padded = task.texts.get("padding") == "zeros"
    around = tuple(task.dims[d] // 2 if is_padded else 0 for d in "rs")
    return lambda: torch.nn.functional.conv2d(image, weights, stride=stride, padding=around, groups=channels)


def mcc(task, image, weights, out):
    """Images whose channels come last are what torch calls channels_last: only strides differ."""
    stride = task.dims["t"]
    if task.texts.get("layout") == "nchw":
        return lambda: torch.nn.functional.conv2d(image, weights, stride=stride)
    image, weights = image.permute(0, 3, 1, 2), weights.permute(0, 3, 1, 2)
    return lambda: torch.nn.functional.conv2d(image, weights, stride=stride).permute(0, 2, 3, 1)


def ccsdt(task, a, b, out):
    letters = f"{task.texts['A']},{task.texts['B']}->abcdef"
    return lambda: torch.einsum(letters, a, b)


def transpose(task, x, y):
    return lambda: y.copy_(x.T)


def mbbs(task, x, m):
    return lambda: torch.clamp(torch.cumsum(x.sum(dim=1).flip(0), 0).max(), min=0)


def histo(task, x, h):
    return lambda: torch.bincount(x, minlength=len(h)).to(h.dtype)


def attention(task):
    linear = torch.nn.functional.linear
    heads = [task.dims[name] for name in ("b", "s", "h", "d")]

    def run(x, wq, bq, wk, bk, wv, bv, wo, bo):
        q, k, v = (linear(x, w, b).view(heads).transpose(1, 2) for w, b in ((wq, bq), (wk, bk), (wv, bv)))
        mixed = torch.nn.functional.scaled_dot_product_attention(q, k, v)
        return linear(mixed.transpose(1, 2).reshape(x.shape), wo, bo)

    return run


def mlp(task):
    linear, gelu = torch.nn.functional.linear, torch.nn.functional.gelu
    return lambda x, w1, b1, w2, b2: linear(gelu(linear(x, w1, b1)), w2, b2)


def resnet_block(task):
    """Scale and shift are batch normalisation, of a mean of 0 and a variance of 1."""

    def layer(image, weights, scale, shift, padding=0):
        image = torch.nn.functional.conv2d(image, weights, padding=padding)
        mean, variance = torch.zeros_like(scale), torch.ones_like(scale)
        return torch.nn.functional.batch_norm(image, mean, variance, scale, shift, eps=0.0)

    def run(x, w1, scale1, shift1, w2, scale2, shift2, w3, scale3, shift3):
        inner = layer(x, w1, scale1, shift1).relu_()
        inner = layer(inner, w2, scale2, shift2, padding=1).relu_()
        return layer(inner, w3, scale3, shift3).add_(x).relu_()

    return run


# What programs of linalg were imported from, as functions of their inputs.
NETWORKS = {"attention": attention, "mlp": mlp, "resnet_block": resnet_block}


def network(task, *arrays):
    run, inputs = NETWORKS[task.workload](task), arrays[:len(task.inputs)]
    return lambda: run(*inputs)


MADE = {
    "dot": lambda task, x, y, s: lambda: torch.dot(x, y, out=s),
    "matvec": lambda task, m, v, w: lambda: torch.mv(m, v, out=w),
    "matmul": matmul,
    "matmul_t": matmul_t,
    "bmatmul": lambda task, a, b, c: lambda: torch.bmm(a, b, out=c),
    "conv2d": conv2d,
    "conv2d_padded": conv2d_padded,
    "mcc": mcc,
    "mcc_padded": mcc_padded,
    "depthwise": depthwise,
    "stencil9": stencil,
    "stencil27": stencil,
    "ccsdt": ccsdt,
    "histo": histo,
    "inplace": inplace,
    "scan": lambda task, x, y: lambda: torch.cumsum(x, 0, out=y),
    "mbbs": mbbs,
    "transpose": transpose,
    "softmax": lambda task, x, y: lambda: torch.softmax(x, 1, out=y),
    **dict.fromkeys(NETWORKS, network),
}
