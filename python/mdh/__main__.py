"""The command ``mdh``: ``python -m mdh run FILE`` and all others."""

import os
import pathlib
import sys

from ._mdh import main


def command() -> int:
    """Runs the command that the process was given, and returns its exit code."""
    # For processes that it starts to measure in: see `worker/sitecustomize.py`.
    package = pathlib.Path(__file__).resolve().parent
    paths = [str(package / "worker"), str(package.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    os.environ["PYTHONPATH"] = os.pathsep.join(paths)
    return main(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(command())
