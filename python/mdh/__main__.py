"""The command ``mdh``: ``python -m mdh run FILE`` and all others."""

import sys

from ._mdh import main


def command() -> int:
    """Runs the command that the process was given, and returns its exit code."""
    return main(sys.argv[1:], sys.executable)


if __name__ == "__main__":
    sys.exit(command())
