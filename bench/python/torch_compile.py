"""`torch.compile` with the backend `mdh`, beside torch without it and beside its own default backend, inductor.

Layers of networks, and KernelBench's problems 89 to 93 (level 1): prefix sums and products, also from the end, of what is
before each element, and of what a mask selects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch

import mdh.torch_backend  # noqa: F401  (registers the backend)
from measure import Case

torch.set_grad_enabled(False)
torch.manual_seed(0)

Module = Callable[..., torch.Tensor]


class Attention(torch.nn.Module):
    """A layer of attention, with its softmax written out."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads, self.width = heads, width // heads
        self.query, self.key, self.value, self.out = (torch.nn.Linear(width, width) for _ in range(4))

    def split(self, x: torch.Tensor) -> torch.Tensor:
        """The heads of a projection."""
        return x.view(x.shape[0], x.shape[1], self.heads, self.width).transpose(1, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The layer."""
        query, key, value = self.split(self.query(x)), self.split(self.key(x)), self.split(self.value(x))
        weights = torch.softmax(query @ key.transpose(-1, -2) / self.width**0.5, -1)
        return self.out((weights @ value).transpose(1, 2).reshape(x.shape))


def perceptron() -> torch.nn.Module:
    """Two layers with GELU between them."""
    return torch.nn.Sequential(torch.nn.Linear(512, 2048), torch.nn.GELU(), torch.nn.Linear(2048, 512))


def convolution() -> torch.nn.Module:
    """A convolution, its normalisation, and what follows it."""
    return torch.nn.Sequential(torch.nn.Conv2d(64, 64, 3, padding=1), torch.nn.BatchNorm2d(64), torch.nn.ReLU()).eval()


def exclusive(x: torch.Tensor) -> torch.Tensor:
    """KernelBench's problem 92 along axis 1, where its slice leaves out a row instead."""
    return torch.cumsum(torch.cat((torch.zeros_like(x.select(1, 0).unsqueeze(1)), x), dim=1)[:-1], dim=1)


def listed() -> Iterator[tuple[str, Module, tuple[torch.Tensor, ...]]]:
    """Name, function, and arguments of each case."""
    rows, mask = torch.rand(128, 4000), torch.randint(0, 2, (128, 4000)).bool()
    yield "perceptron", perceptron(), (torch.randn(128, 512),)
    yield "attention", Attention(256, 8), (torch.randn(2, 128, 256),)
    yield "layer_norm", torch.nn.LayerNorm(1024), (torch.randn(1024, 1024),)
    yield "softmax", lambda x: torch.softmax(x, -1), (torch.randn(1024, 1024),)
    yield "conv2d", convolution(), (torch.randn(2, 64, 56, 56),)
    yield "89_cumsum", lambda x: torch.cumsum(x, 1), (rows,)
    yield "90_cumprod", lambda x: torch.cumprod(x, 1), (1 + (rows - 0.5) / 64,)
    yield "91_reverse", lambda x: torch.cumsum(x.flip(1), 1).flip(1), (rows,)
    yield "92_exclusive", exclusive, (rows,)
    yield "93_masked", lambda x, mask: torch.cumsum(x * mask, 1), (rows, mask)
    yield "cummax", lambda x: torch.cummax(x, 1).values, (rows,)
    yield "logcumsumexp", lambda x: torch.logcumsumexp(x, 1), (rows,)


def cases() -> Iterator[Case]:
    """All of them."""
    for name, function, arguments in listed():
        torch._dynamo.reset()
        ours, inductor = torch.compile(function, backend="mdh"), torch.compile(function)
        expected = function(*arguments)
        size = ", ".join("x".join(map(str, argument.shape)) for argument in arguments)
        yield Case(name, size, "float32", called(ours, arguments),
                   {"torch": called(function, arguments), "inductor": called(inductor, arguments)}, expected)


def called(function: Module, arguments: tuple[torch.Tensor, ...]) -> Callable[[], torch.Tensor]:
    """A function with its arguments."""
    return lambda: function(*arguments)
