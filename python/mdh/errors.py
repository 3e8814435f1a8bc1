"""The exceptions of the package: one class for each reason why a program is not run.

All derive from `Error`. A message says what was found, what was expected and what to do; where the
mistake stands in a file of the caller's, it begins with `file:line:` and ends with the source line.
"""


class Error(Exception):
    """Base of all errors that this package raises."""


class ProgramError(Error, ValueError):
    """A computation that is not well defined, or that the compiler refuses."""


class ShapeError(Error, ValueError):
    """Arrays whose sizes do not fit the computation, or each other."""


class DTypeError(Error, TypeError):
    """Arrays or values whose element types do not fit the computation."""


class DeviceError(Error):
    """A device that is not there, or that does not do what is asked of it."""


class TraceError(ProgramError):
    """A Python function of which no scalar code can be made."""


class CheckError(Error, AssertionError):
    """A result that differs from the definition."""


class InternalError(Error):
    """A mistake of this package or of the compiler, not of the program."""
