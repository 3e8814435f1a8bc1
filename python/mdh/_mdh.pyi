"""What the package has of Rust. Users call the modules beside it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from typing_extensions import Self, disjoint_base, final

__all__ = [
    "Code", "compile", "database", "gpu", "version", "Einsum", "einsum", "einsum_indices", "Function", "main", "set_threads",
    "thread_count",
]

@final
class Code:
    """Object code of a function."""

    interface: str
    symbol: str
    said: str
    kernels: str | None
    def __new__(
        cls, interface: str, symbol: str, said: str, object: bytes, kernels: str | None = None
    ) -> Self: ...
    def object(self) -> bytes: ...

@disjoint_base
class Function:
    """Code that is called with arrays."""

    interface: str
    argument_names: list[str]
    def __new__(cls, interface: str, dtypes: Sequence[str] | None = None) -> Self: ...
    @staticmethod
    def open(path: str | os.PathLike[str], function: str, dtypes: Sequence[str] | None = None) -> Function: ...
    def __call__(self, *arguments: Any, out: Any = None) -> Any: ...
    def load(self, code: Code, place: int | None = None, gpu: int | None = None) -> None: ...
    def forget(self) -> None: ...

@final
class Einsum:
    """An einsum as a program."""

    text: str
    shape: list[int]
    dtype: str
    path: list[list[int]]
    flops: float
    largest: float

def einsum(
    spec: str,
    operands: Sequence[tuple[Sequence[int], str, Sequence[int] | None]],
    combine: str,
    scalar: str,
    path: Sequence[Sequence[int]] | None = None,
) -> Einsum: ...
def einsum_indices(
    spec: str, shapes: Sequence[Sequence[int]]
) -> tuple[list[str], list[int], list[list[int | None]], list[int]]: ...
def compile(
    text: str,
    name: str,
    entry: str | None = None,
    schedule: str | None = None,
    tuned: bool = True,
    deterministic: bool = False,
    checked: bool = True,
    gpu: tuple[int, bool] | None = None,
) -> Code: ...
def database() -> str: ...
def gpu(number: int) -> str: ...
def main(words: Sequence[str], python: str) -> int: ...
def set_threads(threads: int) -> None: ...
def thread_count() -> int: ...
def version() -> str: ...
