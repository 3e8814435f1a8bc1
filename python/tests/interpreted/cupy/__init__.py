"""As much of cupy as the package asks for, over the driver that a process finds: in tests, the interpreter of PTX.

Arrays are in memory that the driver has given; their elements come and go by its copies alone, as on a device.
"""

import ctypes
import math

import numpy

from . import cuda
from .cuda import driver


class ndarray:
    """An array in the memory of a GPU."""

    def __init__(self, shape, dtype, strides=None, memory=None, device=None):
        self.shape = tuple(shape)
        self.dtype = numpy.dtype(dtype)
        self.device = cuda.current_device() if device is None else device
        steps = [math.prod(self.shape[axis + 1 :]) for axis in range(len(self.shape))]
        self._strides = steps if strides is None else list(strides)
        self._memory = memory or cuda.Memory(max(self.size, 1) * self.dtype.itemsize)

    @property
    def size(self):
        return math.prod(self.shape)

    @property
    def T(self):
        return ndarray(self.shape[::-1], self.dtype, self._strides[::-1], self._memory, self.device)

    def get(self):
        whole = numpy.empty(self._memory.bytes // self.dtype.itemsize, self.dtype)
        driver("cuMemcpyDtoHAsync_v2", whole.ctypes.data_as(ctypes.c_void_p), self._memory.address, whole.nbytes, 0)
        steps = [step * self.dtype.itemsize for step in self._strides]
        return numpy.lib.stride_tricks.as_strided(whole, self.shape, steps).copy()

    def copy(self):
        return asarray(self.get())

    def __dlpack_device__(self):
        return 2, self.device

    def __dlpack__(self, stream=None):
        assert stream == -1, stream
        return self._capsule()

    def _capsule(self):
        rank = len(self.shape)
        codes = {"i": 0, "u": 1, "f": 2, "b": 6}
        tensor = _Tensor(
            self._memory.address,
            2,
            self.device,
            rank,
            codes[self.dtype.kind],
            8 * self.dtype.itemsize,
            1,
            (ctypes.c_int64 * rank)(*self.shape),
            (ctypes.c_int64 * rank)(*self._strides),
            0,
        )
        capsule = _new_capsule(ctypes.byref(tensor), b"dltensor", _forget)
        # A capsule keeps its array.
        _shown[id(capsule)] = (tensor, self)
        return capsule


class _Tensor(ctypes.Structure):
    """DLPack's `DLTensor`."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_kind", ctypes.c_int32),
        ("device", ctypes.c_int32),
        ("rank", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


#: What capsules show, by their addresses.
_shown = {}


@ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def _forget(capsule):
    del _shown[capsule]


_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype = ctypes.py_object
_new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


def empty(shape, dtype=float):
    return ndarray(shape, dtype)


def asarray(array):
    array = numpy.asarray(array, order="C")
    made = ndarray(numpy.shape(array), array.dtype)
    driver("cuMemcpyHtoDAsync_v2", made._memory.address, array.ctypes.data_as(ctypes.c_void_p), array.nbytes, 0)
    return made


def ascontiguousarray(array):
    return asarray(array.get())
