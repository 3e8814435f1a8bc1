"""Reductions that compare and choose, and sums under conditions: raised, against upstream's lowering.

    linalg_choices.py MDH

Each function is run as it is raised and as upstream lowers it, on the same data: few numbers, so that there are
many ties, with NaN, infinities and zeros of both signs among them, at the start, in the middle and at the end of
rows, short ones and such as are cut into parts. Results have the same bits, but for NaN. Where the rows of a
function stay, as they say themselves, that is compared, too: a form that ought to be raised is marked so.
"""

import concurrent.futures
import itertools
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

# %a is the element, %o what is held, %i and %q their places; %c, the last one, keeps what is held.
PAIRS = {
    "jax": ["cmpf {gt}, %o, %a : f32", "cmpf une, %o, %o : f32", "ori %1, %2 : i1", "cmpf oeq, %o, %a : f32",
            "cmpi slt, %q, %i : i32", "andi %4, %5 : i1", "ori %3, %6 : i1"],
    "first": ["cmpf {ungt}, %a, %o : f32"],
    "kept": ["cmpf {ge}, %o, %a : f32", "cmpf uno, %o, %o : f32", "ori %1, %2 : i1"],
    "latest": ["cmpf {gt}, %o, %a : f32", "cmpf uno, %o, %o : f32", "ori %1, %2 : i1"],
    "spoilt": ["cmpf {unle}, %a, %o : f32", "cmpf uno, %o, %o : f32", "ori %1, %2 : i1", "cmpf uno, %a, %a : f32",
               "constant true", "xori %4, %5 : i1", "andi %1, %6 : i1", "ori %7, %2 : i1"],
}
ORDERS = {
    "most": {"gt": "ogt", "ge": "oge", "ungt": "ule", "unle": "ule"},
    "least": {"gt": "olt", "ge": "ole", "ungt": "uge", "unle": "uge"},
}
SINGLE = {
    "sum": "{m} = arith.addf %o, %a : f32",
    "difference": "{m} = arith.subf %o, %a : f32",
    "most": "{m} = arith.maximumf %o, %a : f32",
    "number": "{m} = arith.minnumf %a, %o : f32",
}
MASKS = {
    "positive": "%m = arith.cmpf ogt, %a, %zero : f32",
    "every": "%m = arith.cmpi eq, %r, %none : index",
    "never": "%m = arith.cmpf olt, %a, %a : f32",
}
STARTS = {"sum": "0.0", "difference": "0.0", "most": "0xFF800000", "number": "1.0"}


def function(name, shape, body, results, starts):
    """A reduction over the second loop."""
    rows, width = shape
    types = ["f32", "i32"][:results]
    kinds = [f"tensor<{rows}x{ty}>" for ty in types]
    lines = [f"func.func @{name}(%x: tensor<{rows}x{width}xf32>) -> ({', '.join(kinds)}) {{"]
    for n, (kind, start, ty) in enumerate(zip(kinds, starts, types)):
        lines += [f"  %s{n} = arith.constant {start} : {ty}", f"  %e{n} = tensor.empty() : {kind}",
                  f"  %f{n} = linalg.fill ins(%s{n} : {ty}) outs(%e{n} : {kind}) -> {kind}"]
    maps = ", ".join(["affine_map<(i, k) -> (i, k)>"] + ["affine_map<(i, k) -> (i)>"] * results)
    outs = ", ".join(f"%f{n}" for n in range(results))
    held = ", %o: f32" + (", %q: i32" if results == 2 else "")
    lines += [f'  %z:{results} = linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel", "reduction"]}}',
              f"      ins(%x : tensor<{rows}x{width}xf32>) outs({outs} : {', '.join(kinds)}) {{",
              f"  ^bb0(%a: f32{held}):", *body, f"  }} -> ({', '.join(kinds)})",
              f"  return {', '.join(f'%z#{n}' for n in range(results))} : {', '.join(kinds)}", "}"]
    return "\n".join(lines)


def pair(form, order):
    rows = [f"    %{n + 1} = arith.{row.format(**ORDERS[order])}" for n, row in enumerate(PAIRS[form])]
    last = f"%{len(rows)}"
    return ["    %k = linalg.index 1 : index", "    %i = arith.index_cast %k : index to i32", *rows,
            f"    %v = arith.select {last}, %o, %a : f32", f"    %w = arith.select {last}, %q, %i : i32",
            "    linalg.yield %v, %w : f32, i32"]


def masked(operator, mask, branches):
    step = SINGLE[operator].format(m="%t")
    first = ["    %zero = arith.constant 0.0 : f32", "    %none = arith.constant 0 : index",
             "    %three = arith.constant 3 : index", "    %k = linalg.index 1 : index",
             "    %r = arith.remui %k, %three : index", f"    {MASKS[mask]}"]
    if branches:
        return [*first, "    %v = scf.if %m -> f32 {", f"      {step}", "      scf.yield %t : f32", "    } else {",
                "      scf.yield %o : f32", "    }", "    linalg.yield %v : f32"]
    return [*first, f"    {step}", "    %v = arith.select %m, %t, %o : f32", "    linalg.yield %v : f32"]


def functions():
    for tag, shape in {"short": (6, 40), "single": (4, 1), "long": (1, 100000)}.items():
        for form, order in itertools.product(PAIRS, ORDERS):
            low = "0xFF800000" if order == "most" else "0x7F800000"
            name = f"{tag}_{form}_{order}"
            yield name, shape, function(name, shape, pair(form, order), 2, [low, "0"])
        for operator, mask, branches in itertools.product(SINGLE, MASKS, [False, True]):
            name = f"{tag}_{operator}_{mask}_{'if' if branches else 'select'}"
            yield name, shape, function(name, shape, masked(operator, mask, branches), 1, [STARTS[operator]])
        name = f"{tag}_plain"
        plain = ["    %v = arith.addf %o, %a : f32", "    linalg.yield %v : f32"]
        yield name, shape, function(name, shape, plain, 1, ["0.0"])


def data(shape, seed):
    """Small whole numbers, of which sums are exact in any order; other rows have what is special."""
    random = np.random.default_rng(seed)
    x = random.integers(-3, 4, shape).astype(np.float32)
    width = shape[1]
    x[x == 0] = random.choice([0.0, -0.0], int((x == 0).sum()))
    for row in range(shape[0] if width < 1000 else 0):
        if row == 1:
            x[row] = -0.0
        elif row == 2:
            x[row] = -np.inf
        elif row >= 3:
            x[row, random.integers(0, width, 3)] = np.nan
    if shape[0] > 4:
        x[4, 0], x[5, -1] = np.nan, np.nan
    if width > 1000 and seed % 2:
        x[0, random.integers(0, width, 4)] = np.nan
    return x


def results(mdh, file, name, inputs, folder, options):
    outs = [str(folder / f"{name}{len(options)}{n}.npy") for n in range(2)]
    count = 2 if any(f"_{form}_" in name for form in PAIRS) and name.endswith(tuple(ORDERS)) else 1
    command = [mdh, "run", str(file), "--entry", name, "--in", inputs, "--out", *outs[:count], *options]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: {done.stderr}")
    return [np.load(out) for out in outs[:count]], "raised to computations" in done.stderr


def same(a, b):
    if a.dtype == np.float32:
        return bool(np.all((a.view(np.uint32) == b.view(np.uint32)) | (np.isnan(a) & np.isnan(b))))
    return bool(np.all(a == b))


def compare(mdh, file, case, folder):
    (name, shape, _), found = case, []
    for seed in range(2):
        inputs = folder / f"{name}{seed}.npy"
        np.save(inputs, data(shape, seed))
        own, raised = results(mdh, file, name, str(inputs), folder, [])
        other, _ = results(mdh, file, name, str(inputs), folder, ["--no-raise"])
        if not all(map(same, own, other)):
            found.append(f"{name}, seed {seed}: {own}, expected {other}")
    return raised, found


def main():
    mdh = sys.argv[1]
    cases = list(functions())
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        file = folder / "all.mlir"
        file.write_text("\n".join(text for _, _, text in cases))
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            all_found = list(pool.map(lambda case: compare(mdh, file, case, folder), cases))
    for (name, _, _), (raised, found) in zip(cases, all_found):
        print(*found, sep="\n", end="\n" if found else "")
        if not raised:
            print(f"{name} stays")
    differ = sum(bool(found) for _, found in all_found)
    print(f"functions: {len(cases)}, {sum(raised for raised, _ in all_found)} raised, {differ} differ")


if __name__ == "__main__":
    main()
