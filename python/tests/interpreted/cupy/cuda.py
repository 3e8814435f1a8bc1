"""Devices, memory and streams of the driver."""

import ctypes

_library = ctypes.CDLL("libcuda.so.1")
_device = 0
_streams = [0]


def driver(call, *arguments):
    """Calls the driver, and fails where it does."""
    words = [ctypes.c_size_t(word) if isinstance(word, int) else word for word in arguments]
    code = getattr(_library, call)(*words)
    assert code == 0, f"{call}: {code}"


driver("cuInit", 0)


class Memory:
    """Memory of the device, for as long as it is kept."""

    def __init__(self, size):
        address = ctypes.c_size_t()
        driver("cuMemAlloc_v2", ctypes.byref(address), size)
        self.address, self.bytes = address.value, size

    def __del__(self):
        driver("cuMemFree_v2", self.address)


class Device:
    """The device that new arrays are on."""

    def __init__(self, number=None):
        self.id = current_device() if number is None else number

    def __enter__(self):
        global _device
        self._before, _device = _device, self.id
        return self

    def __exit__(self, *_):
        global _device
        _device = self._before


def current_device():
    return _device


class Stream:
    """A stream; the current one between `__enter__` and `__exit__`."""

    def __init__(self):
        handle = ctypes.c_size_t()
        driver("cuStreamCreate", ctypes.byref(handle), 1)
        self.ptr = handle.value

    @property
    def launches(self):
        """The number of kernels that were launched on it, which the interpreter counts."""
        count = _library.mdh_ptx_launches
        count.restype = ctypes.c_uint64
        return count(ctypes.c_size_t(self.ptr))

    def __enter__(self):
        _streams.append(self)
        return self

    def __exit__(self, *_):
        _streams.pop()


class _Default:
    ptr = 0


def get_current_stream():
    return _streams[-1] or _Default
