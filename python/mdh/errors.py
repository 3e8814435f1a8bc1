"""Exceptions of the package. It raises no others of its own; each says what was given, and what was expected."""

from __future__ import annotations


class Error(Exception):
    """Something that the package refuses, or that failed."""


class ProgramError(Error, ValueError):
    """A program is wrong, or fails for the arrays that it is given (a check at run time, for instance)."""


class TraceError(ProgramError):
    """A function does with a symbolic value what cannot be compiled."""


class ShapeError(Error, ValueError):
    """The extents or strides of an array are not those that a computation takes."""


class DTypeError(Error, TypeError):
    """The elements of an array are not of the type that a computation takes."""


class DeviceError(Error, RuntimeError):
    """An array is on another device than the computation, or a GPU is not there or fails."""


class ResourceError(Error, MemoryError):
    """There is not enough memory, or a size is beyond what can be addressed."""


class CheckError(Error, AssertionError):
    """A result is not what the definition says, or a law that was stated does not hold."""


class InternalError(Error, RuntimeError):
    """A bug in mdh. Please report it with the program and the message."""
