"""Every scalar operation that kernels have, on every type, for edge values: programs and inputs.

scalars.py write FOLDER: a program for each type, whose kernel computes all operations, and where a register
holds several numbers of the type, one with a kernel for each operation, which LLVM packs; and inputs.
scalars.py run FOLDER: runs them on the simulator and on the interpreter of PTX, and compares all results
with the definition.
"""

import os
import pathlib
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np

POINTS = 256
FLOATS = {"f16": 16, "bf16": 16, "f32": 32, "f64": 64}
INTEGERS = {"i8": 8, "i16": 16, "i32": 32, "i64": 64}
# Types of which a register holds several.
PACKED = ["i8", "i16", "f16", "bf16", "f32"]
COMPARED = ["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"]
COMPARED_FLOATS = ["false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord"]
COMPARED_FLOATS += ["ueq", "ugt", "uge", "ult", "ule", "une", "uno", "true"]
BINARY = ["addi", "subi", "muli", "andi", "ori", "xori", "maxsi", "maxui", "minsi", "minui"]
DIVIDED = ["divsi", "divui", "remsi", "remui", "ceildivsi", "ceildivui", "floordivsi"]
SHIFTED = ["shli", "shrsi", "shrui"]
COUNTED = ["absi", "ctpop", "ctlz", "cttz"]
BINARY_FLOATS = ["addf", "subf", "mulf", "divf", "maximumf", "minimumf", "maxnumf", "minnumf"]
EXACT = ["absf", "ceil", "floor", "round", "roundeven", "trunc", "sqrt"]
FUNCTIONS = ["atan", "cosh", "erf", "exp", "exp2", "expm1", "log", "log10", "log1p", "log2", "sinh", "tanh"]
CLASSES = ["isnan", "isinf", "isfinite", "isnormal"]


class Code:
    """The scalar code of one program: a line for each value, and what is yielded."""

    def __init__(self, ty):
        self.ty, self.lines, self.results, self.names = ty, [], [], 0

    def value(self, text):
        self.names += 1
        self.lines.append(f"%v{self.names} = {text}")
        return f"%v{self.names}"

    def give(self, text, ty):
        """A result; a truth value as a byte."""
        value = self.value(text)
        if ty == "i1":
            value, ty = self.value(f"arith.extui {value} : i1 to i8"), "i8"
        self.results.append((value, ty))


def integers(code):
    ty, bits = code.ty, INTEGERS.get(code.ty, 64)
    for op in BINARY:
        code.give(f"arith.{op} %a, %b : {ty}", ty)
    for predicate in COMPARED:
        code.give(f"arith.cmpi {predicate}, %a, %b : {ty}", "i1")
    # Divisors that are neither 0 nor -1, and shifts that are shorter than the type.
    three = code.value(f"arith.constant 3 : {ty}")
    one = code.value(f"arith.constant 1 : {ty}")
    more = code.value(f"arith.addi %b, {one} : {ty}")
    is_small = code.value(f"arith.cmpi ule, {more}, {one} : {ty}")
    divisor = code.value(f"arith.select {is_small}, {three}, %b : {ty}")
    for op in DIVIDED:
        code.give(f"arith.{op} %a, {divisor} : {ty}", ty)
    most = code.value(f"arith.constant {bits - 1} : {ty}")
    shift = code.value(f"arith.andi %b, {most} : {ty}")
    for op in SHIFTED:
        code.give(f"arith.{op} %a, {shift} : {ty}", ty)
    if ty == "index":
        for other in INTEGERS:
            code.give(f"arith.index_cast %a : index to {other}", other)
            code.give(f"arith.index_castui %a : index to {other}", other)
        return
    for op in COUNTED:
        code.give(f"math.{op} %a : {ty}", ty)
    for other, width in INTEGERS.items():
        if width > bits:
            code.give(f"arith.extsi %a : {ty} to {other}", other)
            code.give(f"arith.extui %a : {ty} to {other}", other)
        if width < bits:
            code.give(f"arith.trunci %a : {ty} to {other}", other)
    for other, width in FLOATS.items():
        code.give(f"arith.sitofp %a : {ty} to {other}", other)
        code.give(f"arith.uitofp %a : {ty} to {other}", other)
        if width == bits:
            code.give(f"arith.bitcast %a : {ty} to {other}", other)
    code.give(f"arith.index_cast %a : {ty} to index", "index")
    code.give(f"arith.index_castui %a : {ty} to index", "index")


def floats(code):
    ty, bits = code.ty, FLOATS[code.ty]
    for op in BINARY_FLOATS:
        code.give(f"arith.{op} %a, %b : {ty}", ty)
    if ty != "f64":
        code.give(f"arith.remf %a, %b : {ty}", ty)
    code.give(f"arith.negf %a : {ty}", ty)
    for op in EXACT + FUNCTIONS:
        code.give(f"math.{op} %a : {ty}", ty)
    for op in CLASSES:
        code.give(f"math.{op} %a : {ty}", "i1")
    code.give(f"math.copysign %a, %b : {ty}", ty)
    code.give(f"math.fma %a, %b, %a : {ty}", ty)
    if ty != "f64":
        code.give(f"math.powf %a, %b : {ty}", ty)
    for predicate in COMPARED_FLOATS:
        code.give(f"arith.cmpf {predicate}, %a, %b : {ty}", "i1")
    is_less = code.value(f"arith.cmpf olt, %a, %b : {ty}")
    code.give(f"arith.select {is_less}, %a, %b : {ty}", ty)
    for other, width in FLOATS.items():
        if width > bits:
            code.give(f"arith.extf %a : {ty} to {other}", other)
        if width < bits:
            code.give(f"arith.truncf %a : {ty} to {other}", other)
    # Integers of numbers that they have.
    for other, width in INTEGERS.items():
        code.give(f"arith.bitcast %a : {ty} to {other}", other) if width == bits else None
        for op, least, most in [("fptosi", -(2 ** (width - 1)), 2 ** (width - 1)), ("fptoui", 0, 2**width)]:
            bound = {"f16": 65504.0, "bf16": 2.0**120, "f32": 2.0**120, "f64": 2.0**1000}[ty]
            low = code.value(f"arith.constant {max(float(least), -bound):.1f} : {ty}")
            # Half of the range, so that no bound is rounded up.
            high = code.value(f"arith.constant {min(float(most // 2), bound):.1f} : {ty}")
            above = code.value(f"arith.maxnumf %a, {low} : {ty}")
            within = code.value(f"arith.minnumf {above}, {high} : {ty}")
            zero = code.value(f"arith.constant 0.0 : {ty}")
            is_number = code.value(f"arith.cmpf ord, %a, %a : {ty}")
            bounded = code.value(f"arith.select {is_number}, {within}, {zero} : {ty}")
            code.give(f"arith.{op} {bounded} : {ty} to {other}", other)


def truths(code):
    for op in ["andi", "ori", "xori", "addi", "muli", "maxui", "minui", "maxsi", "minsi"]:
        code.give(f"arith.{op} %a, %b : i1", "i1")
    for predicate in COMPARED:
        code.give(f"arith.cmpi {predicate}, %a, %b : i1", "i1")
    code.give("arith.select %a, %b, %a : i1", "i1")
    for other in INTEGERS:
        code.give(f"arith.extui %a : i1 to {other}", other)
        code.give(f"arith.extsi %a : i1 to {other}", other)
    for other in FLOATS:
        code.give(f"arith.uitofp %a : i1 to {other}", other)
        code.give(f"arith.sitofp %a : i1 to {other}", other)


def edges(ty):
    """Edge values of a type, as numpy has them."""
    if ty == "i1":
        return np.array([False, True])
    if ty in INTEGERS or ty == "index":
        bits = INTEGERS.get(ty, 64)
        top = 2 ** (bits - 1)
        values = [0, 1, 2, 3, 5, 7, 10, 100, 64, top - 1, top // 2 - 1, -1, -2, -7, -top, 1 - top]
        return np.array(values).astype(f"i{bits // 8}")
    tiny = {"f16": 2.0**-24, "bf16": 2.0**-133, "f32": 2.0**-149, "f64": 2.0**-1074}[ty]
    least = {"f16": 2.0**-14, "bf16": 2.0**-126, "f32": 2.0**-126, "f64": 2.0**-1022}[ty]
    most = {"f16": 65504.0, "bf16": 2.0**127 * 1.9921875, "f32": 3.4028234663852886e38, "f64": 1.7976931348623157e308}[ty]
    values = [0.0, -0.0, 1.0, -1.5, 2.5, -0.3125, 3.0, 0.7, tiny, -3 * tiny, least, most, -most]
    values += [np.inf, -np.inf, np.nan]
    if ty == "bf16":
        words = np.array(values, "f4").view("u4")
        rounded = words + 0x7FFF + (words >> 16 & 1)
        return np.where(np.isnan(np.array(values)), 0x7FC0, rounded >> 16).astype("u2")
    return np.array(values).astype({"f16": "f2", "f32": "f4", "f64": "f8"}[ty])


KINDS = {"i1": truths, **{ty: integers for ty in [*INTEGERS, "index"]}, **{ty: floats for ty in FLOATS}}
def needed(lines, value):
    """The lines that a value needs, by the names in them."""
    wanted, kept = {value}, []
    for line in reversed(lines):
        name, text = line.split(" = ", 1)
        if name in wanted:
            wanted |= set(re.findall(r"%v\d+", text))
            kept.append(line)
    return kept[::-1]


def computation(name, ty, lines, results, layers):
    """A computation of some results, and the names of these."""
    tensors = [f"tensor<{POINTS}x{result}>" for _, result in results]
    text = "".join(f"  %{name}_e{n} = tensor.empty() : {tensor}\n" for n, tensor in enumerate(tensors))
    views = ", ".join(f"r{n} = %{name}_e{n}[i] : {tensor}" for n, tensor in enumerate(tensors))
    body = "\n".join(f"      {line}" for line in lines)
    input_type = f"tensor<{POINTS}x{ty}>"
    text += f"""  %{name}:{len(tensors)} = mdh.compute (i = {POINTS})
    out_view({views})
    md_hom((%a: {ty}, %b: {ty}) {{
{body}
      mdh.yield {", ".join(value for value, _ in results)} : {", ".join(result for _, result in results)}
    }}, (cc))
    inp_view(x = %x[i] : {input_type}, y = %y[i] : {input_type})
    schedule(#mdh.schedule<asm = cuda, layers = [{layers}]>)
"""
    return text, [(f"%{name}#{n}", tensor) for n, tensor in enumerate(tensors)]


def program(ty, way):
    """A function with all operations in one computation, or each in one of its own whose threads have
    neighbours, which LLVM packs."""
    code = Code(ty)
    KINDS[ty](code)
    if way == "alone":
        layers = f"block {{i: 4}}, thread {{i: {POINTS // 4}}}"
        parts = [computation("all", ty, code.lines, code.results, layers)]
    else:
        layers = f"block {{i: 1}}, thread {{i: {POINTS // 4}}}, register {{i: 4}}"
        parts = [
            computation(f"c{n}", ty, needed(code.lines, result[0]), [result], layers)
            for n, result in enumerate(code.results)
        ]
    given = [one for _, results in parts for one in results]
    types = ", ".join(tensor for _, tensor in given)
    values = ", ".join(value for value, _ in given)
    head = f"func.func @f(%x: tensor<{POINTS}x{ty}>, %y: tensor<{POINTS}x{ty}>) -> ({types}) {{\n"
    return f"{head}{''.join(text for text, _ in parts)}  return {values} : {types}\n}}\n"


def write(folder):
    for ty in KINDS:
        values = edges(ty)
        every = np.arange(POINTS)
        np.save(folder / f"{ty}.x.npy", values[every // 16 % len(values)])
        np.save(folder / f"{ty}.y.npy", values[every % len(values)])
        (folder / f"{ty}.mlir").write_text(program(ty, "alone"))
        if ty in PACKED:
            (folder / f"{ty}.packed.mlir").write_text(program(ty, "packed"))


def runs():
    """The programs, the device for each, and its chip: the oldest that has packed numbers of a kind."""
    for ty in KINDS:
        yield ty, "sim", "90"
        yield ty, "cuda", "90"
    for ty in PACKED:
        yield f"{ty}.packed", "cuda", "100"
    for ty in ["f16", "bf16"]:
        yield f"{ty}.packed", "sim", "90"
        yield f"{ty}.packed", "cuda", "80"


def compare(folder, name, device, chip):
    """Returns what a run says, and whether all is right."""
    ty = name.split(".")[0]
    inputs = [f"{array}={folder}/{ty}.{array}.npy" for array in "xy"]
    command = ["mdh", "run", f"{folder}/{name}.mlir", "--device", device, "--check", "--in", *inputs]
    environment = dict(os.environ, MDH_PTX_CHIP=chip)
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    said = done.stdout + done.stderr
    is_right = done.returncode == 0 and re.search("check +passed", said)
    what = re.search("check +passed.*", said)[0] if is_right else f"exit code {done.returncode}\n{said}"
    return f"{name} {device} {chip}: {what}", is_right


def run(folder):
    """Tells whether all is right, of two runs at a time."""
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda one: compare(folder, *one), runs()))
    print("\n".join(said for said, _ in found))
    return all(is_right for _, is_right in found)


if __name__ == "__main__":
    what, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    write(folder)
    if what == "run" and not run(folder):
        sys.exit(1)
