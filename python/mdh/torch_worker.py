"""torch-mlir's passes, in a process of their own: what they do not expect may end the process that runs them.

`lower` asks the worker, which it starts if there is none. A request and an answer are a line of JSON each. The worker needs
torch-mlir alone, not torch.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import re
import subprocess
import sys
import threading
from typing import Any

from .errors import InternalError

#: From the dialect `torch` to linalg on tensors.
_PIPELINES = (
    "builtin.module(torchdynamo-export-to-torch-backend-pipeline{extra-library=})",
    "builtin.module(torch-backend-to-linalg-on-tensors-backend-pipeline)",
)


class NotLowered(Exception):
    """There is no program in linalg; says why."""


class _Worker:
    """The process, and the right to ask it."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._starter = 0
        self._alone = threading.Lock()

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """The answer to a request.

        Raises:
            NotLowered: the process has ended.
        """
        with self._alone:
            process = self._started()
            try:
                process.stdin.write(json.dumps(request) + "\n")
                process.stdin.flush()
                answer = process.stdout.readline()
            except OSError:
                answer = ""
            if answer:
                return json.loads(answer)
            self.close()
            status = process.returncode
        how = f"by signal {-status}" if status < 0 else f"with status {status}"
        raise NotLowered(f"torch-mlir's process ended {how}")

    def close(self) -> None:
        """Ends the process."""
        if self._process is not None and self._starter == os.getpid():
            with contextlib.suppress(OSError):
                # What it did not read before it ended is still to be written.
                self._process.stdin.close()
            self._process.stdout.close()
            self._process.wait()
            self._process = None

    def _started(self) -> subprocess.Popen[str]:
        from .compiled import process_environment

        # A process that was forked has copies of pipes that are not its own.
        if self._process is not None and self._starter == os.getpid():
            return self._process
        pipe = subprocess.PIPE
        process = subprocess.Popen([sys.executable, "-c", _START], stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL,
                                   text=True, env=process_environment())
        self._process, self._starter = process, os.getpid()
        if not process.stdout.readline():
            self.close()
            raise InternalError(f"the process that lowers programs of torch ended with status {process.returncode}")
        return process


#: What the worker runs. Not the folder that the user is in, but the path of this process leads to its modules.
_START = "import sys; del sys.path[0]; from mdh.torch_worker import main; main()"

_WORKER = _Worker()
atexit.register(_WORKER.close)


def lower(text: str) -> str:
    """A module of the dialect `torch` as one of linalg on tensors, with computations for prefix sums.

    Raises:
        NotLowered: there is none.
    """
    answer = _WORKER.ask({"text": text})
    if "text" in answer:
        return answer["text"]
    raise NotLowered(answer["refused"])


def _lowered(text: str) -> str:
    from torch_mlir import ir
    from torch_mlir.dialects import torch as dialect
    from torch_mlir.passmanager import PassManager

    from .torch_scans import NotAScan, outline_scans

    context = ir.Context()
    context.emit_error_diagnostics = True
    dialect.register_dialect(context)
    messages: list[str] = []
    context.attach_diagnostic_handler(lambda diagnostic: _note(messages, diagnostic))
    try:
        module = ir.Module.parse(text, context)
        with context:
            for pipeline in _PIPELINES:
                PassManager.parse(pipeline).run(module.operation)
        functions = outline_scans(module)
    except NotAScan as reason:
        raise NotLowered(f"{reason} is no computation that mdh knows") from None
    except Exception as failure:
        # Whatever torch-mlir raises says that it does not take the program.
        raise NotLowered(_summary(messages, failure)) from failure
    made = str(module)
    foreign = re.search(r"\b(tm_tensor|torch|torch_c|ml_program)\.[\w.]+", made)
    if foreign is not None:
        raise NotLowered(f"torch-mlir makes {foreign[0]} of it, which mdh does not know")
    for declaration, function in functions.items():
        made = made.replace(declaration, function)
    return made


def _note(messages: list[str], diagnostic: Any) -> bool:
    messages.append(diagnostic.message)
    return True


def _summary(messages: list[str], failure: Exception) -> str:
    """A line that says why torch-mlir has failed."""
    first = next((message for message in messages if "failed to legalize" in message), None)
    lines = (first or (messages[0] if messages else str(failure))).strip().split("\n")
    return f"torch-mlir: {lines[0][:200] or type(failure).__name__}"


def main() -> None:
    """Answers requests, until there are no more."""
    # What libraries print must not be taken for an answer.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    import torch_mlir.passmanager  # noqa: F401

    answers.write('"ready"\n')
    answers.flush()
    for line in sys.stdin:
        try:
            answer = {"text": _lowered(json.loads(line)["text"])}
        except NotLowered as reason:
            answer = {"refused": str(reason)}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()
