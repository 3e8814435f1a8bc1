"""Data-parallel computations, written once, compiled for processors and GPUs.

A computation is written as `out_view . md_hom . inp_view` or as annotated loops, under the decorator
`mdh`; `reduce`, `scan` and `histogram` are computations that need no writing:

    from mdh import *

    @mdh(out(w=Buffer[fp32]), inp(M=Buffer[fp32], v=Buffer[fp32]), combine_ops(cc, pw(add)))
    def matvec(w, M, v):
        for i in range(1024):
            for k in range(1024):
                w[i] = M[i, k] * v[k]

    w = matvec(M, v)

`from mdh import *` brings what programs are written with. Its `min` and `max` are Python's beside
numbers; `abs`, `pow` and `round` are Python's own, which work on values too.
"""

import importlib
from typing import TYPE_CHECKING, Any

from .algebra import inp_view, md_hom, out_view
from .computation import Computation, Program
from .decorator import combine_ops, inp, mdh, out
from .errors import (CheckError, DeviceError, DTypeError, Error, InternalError, ProgramError, ResourceError,
                     ShapeError, TraceError)
from .functions import *  # noqa: F403
from .operators import (CC, PS, PW, Operator, add, and_, argmax, argmin, cc, check_laws, combine_operator, identity,
                        logaddexp, max, min, mul, or_, ps, pw, pw_custom_func, xor)
from .scalar import scalar_function
from .types import (BasicType, Buffer, Scalar, ScalarType, bf16, bfloat16, bool_, char, double, float16, float32,
                    float64, fp16, fp32, fp64, half, int8, int16, int32, int64, single, uchar, uint8, uint16, uint32,
                    uint64)

if TYPE_CHECKING:
    # What `__getattr__` gives below, for type checkers.
    from . import mdhc as mdhc
    from .threads import set_threads as set_threads
    from ._mdh import thread_count as thread_count
    from .compiled import Compiled as Compiled
    from .compiled import Library as Library
    from .compiled import compile as compile
    from .compiled import load as load
    from .contraction import compile_einsum as compile_einsum
    from .contraction import einsum as einsum
    from .mdhc import CPU as CPU
    from .mdhc import CUDA as CUDA
    from .mdhc import CUDARuntimeProfiler as CUDARuntimeProfiler
    from .mdhc import OpenCL as OpenCL
    from .mdhc import OpenMP as OpenMP
    from .mdhc import OpenMPRuntimeProfiler as OpenMPRuntimeProfiler
    from .mdhc import evaluations as evaluations
    from .mdhc import pyATF as pyATF
    from .reductions import histogram as histogram
    from .reductions import histogram_text as histogram_text
    from .reductions import reduce as reduce
    from .reductions import reduce_text as reduce_text
    from .reductions import scan as scan
    from .reductions import scan_text as scan_text

# Modules that are loaded when something in them is asked for.
_LATE = {
    "reduce": "reductions", "scan": "reductions", "histogram": "reductions", "reduce_text": "reductions",
    "scan_text": "reductions", "histogram_text": "reductions",
    "CPU": "mdhc", "CUDA": "mdhc", "OpenMP": "mdhc", "OpenCL": "mdhc", "pyATF": "mdhc", "CUDARuntimeProfiler": "mdhc",
    "OpenMPRuntimeProfiler": "mdhc", "evaluations": "mdhc",
    "compile": "compiled", "load": "compiled", "Compiled": "compiled", "Library": "compiled",
    "einsum": "contraction", "compile_einsum": "contraction",
    "set_threads": "threads", "thread_count": "_mdh",
}

__all__ = [
    "mdh", "mdhc", "out", "inp", "combine_ops", "out_view", "md_hom", "inp_view", "scalar_function", "pw_custom_func",
    "Computation", "Program", "Operator", "cc", "CC", "pw", "PW", "ps", "PS", "combine_operator", "check_laws",
    "add", "mul", "min", "max", "and_", "or_", "xor", "logaddexp", "argmin", "argmax", "identity",
    "BasicType", "ScalarType", "Scalar", "Buffer", "fp16", "bf16", "fp32", "fp64", "float16", "bfloat16", "float32",
    "float64", "half", "single", "double", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "char", "uchar", "bool_",
    "reduce", "scan", "histogram", "CPU", "CUDA", "OpenMP", "OpenCL", "pyATF", "CUDARuntimeProfiler",
    "OpenMPRuntimeProfiler", "evaluations",
    "Error", "ProgramError", "ShapeError", "DTypeError", "DeviceError", "TraceError", "ResourceError",
    "CheckError", "InternalError",
    # Those of `functions`, one by one for type checkers, but for `abs`, `pow` and `round`.
    "where", "cast", "index", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "rsqrt", "cbrt",
    "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh",
    "erf", "erfc", "hypot", "sign", "floor", "ceil", "trunc", "minimum", "maximum", "fmin", "fmax", "clip",
    "fma", "copysign", "isnan", "isinf", "isfinite", "logical_and", "logical_or", "logical_not",
]


if not TYPE_CHECKING:
    # Type checkers would take any name for one that is there.
    def __getattr__(name: str) -> Any:
        if name == "mdhc":
            return importlib.import_module(".mdhc", __name__)
        if name in _LATE:
            return getattr(importlib.import_module(f".{_LATE[name]}", __name__), name)
        raise AttributeError(f"module 'mdh' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATE, "mdhc"})
