"""All named operations of linalg, raised, as linalg again, and raised again.

    linalg_round_trip.py MDH MDH_OPT PART/PARTS [NAME..]

The functions are those of linalg_ops.py. What is raised twice has to be the same computations up to names,
and the linalg in between has to give what the function as it was written gives, by upstream's own lowering:
those of one part of several are run, so that a test ends in time.
Prints a line for each that is not so, how often operations have come out under the name that they came in
with, and what the others are.
"""

import collections
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import linalg_ops
import numpy as np

RAISE = ["--mdh-raise-linalg", "--canonicalize", "--cse"]
ERROR = {"f16": 1e-2, "bf16": 1e-1}


def call(command, text=None):
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: {done.stderr}")
    return done


def functions(text):
    """The functions of a module, by name."""
    found = {}
    text = text.rstrip().removesuffix("}")
    for body in re.split(r"(?m)^  (?=func\.func )", text)[1:]:
        found[re.match(r"func\.func @(\w+)", body)[1]] = body
    return found


def renamed(text):
    """Text in which values are named by their order, constants by what they are, and maps are spelled out."""
    constants = {}
    lines = []
    for line in text.splitlines():
        constant = re.match(r"\s*(%[\w#]+) = arith\.constant (.*)", line)
        if constant:
            constants[constant[1]] = f"<{constant[2]}>"
        else:
            lines.append(line.strip())
    numbers = {}

    def name(found):
        text = found[0]
        return constants.get(text) or numbers.setdefault(text, f"%{len(numbers)}")

    text = "\n".join(line for line in lines if line and line != "}")
    for label in re.findall(r"combine (\w+)", text):
        text = re.sub(rf"\b(combine |pw\(){label}\b", r"\1own", text)
    return re.sub(r"%[\w]+", name, re.sub(r"\w+ = (?=%[\w#]+\[)", "", text))


def results(mdh, file, case, options, folder):
    """Values that a function leaves, by the number of an argument or of a result."""
    command = [mdh, "run", str(file), "--entry", case.name, "--json", "--random", "5", *options]
    count = len(case.inputs) + len(case.outputs)
    own = [f"{form[0]}{n}" for form in case.forms for n in range(count)]
    names = [f"arg{n}" for n in range(len(own))] if options else own
    reads = [name for n, name in enumerate(names) if n % count < len(case.inputs)]
    command += [f"--range={name}={text}" for text in case.ranges for name in reads]
    left = [output["name"] for output in json.loads(call(command).stdout)["outputs"]]
    outs = [str(folder / f"{case.name}{len(options)}{n}.npy") for n in range(len(left))]
    call([*command, "--out", *outs])
    rest = [name for name in left if name not in names]
    keys = [names.index(name) if name in names else f"result {rest.index(name)}" for name in left]
    return dict(zip(keys, map(np.load, outs), strict=True))


def is_close(case, a, b):
    if a.dtype.kind in "iub" or a.dtype.names:
        return np.array_equal(a, b)
    kinds = [element for _, element in case.inputs + case.outputs]
    error = max([ERROR.get(kind, 1e-4) for kind in kinds])
    return np.allclose(a.astype(np.float64), b.astype(np.float64), error, error, equal_nan=True)


def differs(mdh, case, before, after, folder):
    """The fault of the results of what came out, if there is one."""
    expected = results(mdh, before, case, [], folder)
    found = results(mdh, after, case, ["--no-raise"], folder)
    return [f"{key} is {found[key].ravel()[:4]}, expected {a.ravel()[:4]}" for key, a in expected.items()
            if a.shape != found[key].shape or not is_close(case, a, found[key])]


def main():
    mdh, opt, runs, *names = sys.argv[1:]
    part, parts = map(int, runs.split("/"))
    cases = list(linalg_ops.cases())
    cases = [case for case in cases if not names or case.name in names]
    written = "".join(case.function() for case in cases)
    raised = call([opt, *RAISE], written).stdout
    lowered = call([opt, "--mdh-lower-to-linalg"], raised)
    again = functions(call([opt, *RAISE], lowered.stdout).stdout)
    raised, out = functions(raised), functions(lowered.stdout)
    problems = collections.defaultdict(list)
    kept, others = 0, collections.Counter()
    for case in cases:
        if "mdh.compute" in out[case.name]:
            problems[case.name].append("a computation stays")
        if renamed(raised[case.name]) != renamed(again[case.name]):
            problems[case.name].append(f"raised:\n{raised[case.name]}raised again:\n{again[case.name]}")
        own = [op for op in re.findall(r"\blinalg\.\w+", out[case.name]) if op not in ("linalg.yield", "linalg.index")]
        own = [op for op in own if op != "linalg.fill" or case.op == op]
        kept += own == [case.op] * len(case.forms)
        if own != [case.op] * len(case.forms):
            others[f"{case.op}: {' '.join(collections.Counter(own))}"] += 1
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        aliases = lowered.stdout.partition("module")[0]

        # A file of its own for each: others would be compiled with it.
        def compared(case):
            before, after = folder / f"{case.name}-before.mlir", folder / f"{case.name}-after.mlir"
            before.write_text(case.function())
            after.write_text(aliases + out[case.name])
            return case, differs(mdh, case, before, after, folder)

        with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            for case, wrong in pool.map(compared, cases[part - 1::parts]):
                problems[case.name] += wrong
    failed = {name: found for name, found in problems.items() if found}
    for name, found in failed.items():
        print(f"{name}: " + "\n".join(found))
    for text, count in sorted(others.items()):
        print(f"  {text} ({count})")
    print(f"{len(cases)} functions in and out: {kept} with their own operation, {len(failed)} not as expected")
    sys.exit(bool(failed))


main()
