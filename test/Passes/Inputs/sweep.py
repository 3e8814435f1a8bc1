"""Changes one parameter of a schedule after the other: the loops are others then, or the change is
refused by name.

    sweep.py docs/schedule.schema.json FOLDER

The parameters are those of the schema, so that none is forgotten.
"""

import json
import pathlib
import re
import subprocess
import sys

# Sizes that no tile divides.
PRODUCT = """
func.func @f(%A: tensor<30x70xf32>, %B: tensor<70x50xf32>) -> tensor<30x50xf32> {
  %init = tensor.empty() : tensor<30x50xf32>
  %points = mdh.inp_view (i = 30, j = 50, k = 70)
      (%A[i, k] : tensor<30x70xf32>, %B[k, j] : tensor<70x50xf32>) : !mdh.mda<30x50x70, f32, f32>
  %sums = mdh.hom(mulf, (cc, cc, pw(addf))) %points
      : !mdh.mda<30x50x70, f32, f32> -> !mdh.mda<30x50x1, f32>
  %C = mdh.out_view (i, j, k) %sums -> (C = %init[i, j] : tensor<30x50xf32>)
      : !mdh.mda<30x50x1, f32>
  return %C : tensor<30x50xf32>
}
"""
CHAIN = """
func.func @f(%x: tensor<30x70xf32>) -> tensor<30x70xf32> {
  %first = tensor.empty() : tensor<30x70xf32>
  %points = mdh.inp_view (i = 30, j = 70) (%x[i, j] : tensor<30x70xf32>) : !mdh.mda<30x70, f32>
  %square = mdh.hom((%v: f32) {
    %w = math.exp %v : f32
    mdh.yield %w : f32
  }, (cc, cc)) %points : !mdh.mda<30x70, f32> -> !mdh.mda<30x70, f32>
  %y = mdh.out_view (i, j) %square -> (y = %first[i, j] : tensor<30x70xf32>) : !mdh.mda<30x70, f32>
  %second = tensor.empty() : tensor<30x70xf32>
  %again = mdh.inp_view (i = 30, j = 70) (%y[i, j] : tensor<30x70xf32>) : !mdh.mda<30x70, f32>
  %root = mdh.hom((%v: f32) {
    %w = math.sqrt %v : f32
    mdh.yield %w : f32
  }, (cc, cc)) %again : !mdh.mda<30x70, f32> -> !mdh.mda<30x70, f32>
  %z = mdh.out_view (i, j) %root -> (z = %second[i, j] : tensor<30x70xf32>) : !mdh.mda<30x70, f32>
  return %z : tensor<30x70xf32>
}
"""
BASE = {
    "asm": "cpu",
    "layers": [{"core": {"i": 2}}, {"L2": {"i": "*", "j": "*"}}, {"L1": {"k": "*"}}, {"register": {"i": 3}},
               {"simd": {"j": 8}}],
    "decompose": {"order": ["core.i", "L2.i", "L2.j", "L1.k", "register.i", "simd.j"]},
    "inputs": {"B": {"stage": {"L1.k": "L1"}}},
    "outputs": {"C": {"combine": {"L1.k": "register"}}},
}
# Results that stay where they are, so that phases may be loop nests of their own.
APART = dict(BASE, inputs={}, outputs={})
# Results that are combined in memory of tiles.
LATE = dict(BASE, inputs={}, outputs={"C": {"combine": {"L2.j": "L2"}}})
# Sums of parts that several cores have.
PARTS = dict(BASE, layers=[{"core": {"k": 2}}, {"L2": {"i": "*", "j": "*", "k": "*"}}, {"simd": {"j": 8}}],
             decompose={}, inputs={}, outputs={})
TILE = [{"L2": {"i": 2, "j": 2}}, {"L1": {"i": "*", "j": "*", "k": "*"}}, {"simd": {"j": 8}}]
TILES = dict(BASE, layers=TILE, decompose={}, inputs={}, outputs={})
OTHER = ["core.i", "L2.j", "L2.i", "L1.k", "register.i", "simd.j"]
LATER = ["core.i", "L2.i", "L2.j", "register.i", "simd.j", "L1.k"]
PAIR = {"L2.i": "L1.x", "L1.i": "L2.x"}
CHAINS = {"computations": {"0": dict(TILES, layers=[{"L2": {"i": "*", "j": "*"}}, {"simd": {"j": 8}}]),
                           "1": dict(TILES, layers=[{"L2": {"i": "*"}}, {"L1": {"i": 4, "j": "*"}},
                                                    {"simd": {"j": 8}}])}}

# Tiles in the memory of a GPU's blocks.
KERNEL = {
    "asm": "cuda",
    "layers": [{"device": {"k": "*"}}, {"block": {"i": "*", "j": "*"}}, {"shared": {"k": 8}}, {"thread": {"i": 8, "j": 8}}],
    "decompose": {"order": ["block.i", "block.j", "thread.i", "thread.j", "device.k", "shared.k"]},
    "inputs": {"B": {"stage": {"shared.k": "shared"}}},
}

# Parameter: a schedule, its changes, and words that a refusal has, one of them.
SWEEP = {
    "asm": (BASE, ["cuda", "opencl", "toaster"], ["'asm'", "unknown-layer"]),
    "layers": (BASE, [
        [{"core": {"i": 3}}, *BASE["layers"][1:]],
        [*BASE["layers"][:3], {"register": {"i": 2}}, {"simd": {"j": 8}}],
        [*BASE["layers"][:4], {"simd": {"j": 4}}],
        [{"core": {"i": 0}}, *BASE["layers"][1:]],
    ], ["part"]),
    "decompose.order": (BASE, [OTHER, OTHER[:3]], ["order", "permutation"]),
    "decompose.assign": (BASE, [PAIR, {"core.i": "L3.x", "L3.i": "core.x"}, {"L2.i": "L1.x"}],
                         ["assign", "bijection", "assignment"]),
    "scalar.order": (BASE, [OTHER, LATER], ["order", "scalar", "combines 'C' in"]),
    "scalar.assign": (BASE, [PAIR, {"L2.i": "L1.x"}], ["assign", "scalar"]),
    "recompose.order": (APART, [LATER, OTHER], ["order", "re-composition", "R1"]),
    "recompose.assign": (APART, [PAIR, {"L2.i": "L1.x"}], ["assign", "re-composition"]),
    "inputs.*.stage": (BASE, [{}, {"L2.j": "L2"}, {"L1.k": "L2"}, {"L1.k": "moon"}], ["region"]),
    "inputs.*.layout": (BASE, [{"L1.k": {"permuted": [2, 1]}}, {"L1.k": {"padded": [0, 3]}},
                               {"L1.k": {"blocked": [1, 8]}}, {"L1.k": {"permuted": [1, 1]}}],
                        ["layout", "permuted", "in blocks of"]),
    "inputs.*.stages": (KERNEL, [1, 2, 3, 0, 1000], ["stages", "capacity"]),
    "inputs.*.scalar": (BASE, ["L2", "moon"], ["region", "scalar", "register"]),
    "inputs.*.scalar_layout": (BASE, [{"permuted": [2, 1]}, {"padded": [0, 3]}], ["layout", "scalar"]),
    "outputs.*.scalar": (APART, ["L1", "moon"], ["region", "scalar"]),
    "outputs.*.scalar_layout": (APART, [{"permuted": [2, 1]}, {"padded": [0, 3]}], ["layout", "scalar"]),
    "outputs.*.combine": (BASE, [{}, {"L1.k": "L1"}, {"L1.k": "moon"}], ["region", "combine"]),
    "outputs.*.layout": (LATE, [{"L2.j": {"permuted": [2, 1]}}, {"L2.j": {"padded": [0, 3]}}], ["layout", "combine"]),
    "tails": (BASE, [{"j": "mask"}, {"k": "mask"}, {"j": "drop"}], ["tail"]),
    "tile_order": (TILES, [{"levels": ["L2.i", "L2.j"], "layout": "GenP([2,2],reverse)"},
                           {"levels": ["L2.i", "L2.j"], "layout": "GenP([3,3],reverse)"}], ["tile", "order"]),
    "compute_at": (CHAINS, [{"consumer": "z", "level": "L2.i"}, {"consumer": "w", "level": "L2.i"}],
                   ["compute-at", "computes it at", "consumer"]),
    # What is lowered keeps it in any case.
    "deterministic": (PARTS, [True], None),
}


def parameters(schema):
    """The paths of all parameters."""
    def of(path, node):
        node = schema["$defs"][node["$ref"].rsplit("/", 1)[1]] if "$ref" in node else node
        inner = node.get("properties")
        each = node.get("additionalProperties")
        if path in ("tails", "compute_at", "tile_order", "layers") or path.count(".") > 1:
            return [path]
        if inner:
            return [found for name, one in inner.items() for found in of(f"{path}.{name}".lstrip("."), one)]
        if isinstance(each, dict) and "properties" in each:
            return of(f"{path}.*", each)
        return [path]
    return of("", schema["$defs"]["schedule"])


def changed(schedule, path, value):
    """A schedule with another value of a parameter."""
    new = json.loads(json.dumps(schedule))
    if "computations" in new:
        new["computations"]["0"] = changed(new["computations"]["0"], path, value)
        return new
    words = path.split(".")
    names = {"inputs": "B", "outputs": "C"}
    at = new
    for n, word in enumerate(words[:-1]):
        at = at.setdefault(names[words[n - 1]] if word == "*" else word, {})
    at[words[-1]] = value
    return new


def loops(folder, schedule):
    """Result of a schedule: loops and the regions of their memory, or why not."""
    is_chain = "computations" in schedule
    program, file = folder / "f.mlir", folder / "s.json"
    program.write_text(CHAIN if is_chain else PRODUCT)
    file.write_text(json.dumps(schedule))
    def at(stage):
        command = ["mdh", "compile", program, "--emit", stage, "--schedule", file]
        return subprocess.run(command, capture_output=True, text=True)
    done = at("loops")
    if done.returncode != 0:
        return done.returncode, "", done.stderr
    # To the loops of a processor all memory is one.
    regions = re.findall(r"memref\.alloc.*(#mdh\.memory<[^>]*>)", at("tiles").stdout)
    return 0, "\n".join([done.stdout, *regions]), done.stderr


def main():
    schema, folder = json.loads(pathlib.Path(sys.argv[1]).read_text()), pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    wrong = 0
    for path in sorted(set(parameters(schema)) ^ set(SWEEP)):
        print(f"{path}: of the schema or of the sweep alone")
        wrong += 1
    count = others = 0
    for path, (base, values, words) in SWEEP.items():
        code, before, said = loops(folder, base)
        if code != 0:
            print(f"{path}: the schedule itself is refused\n{said}")
            wrong += 1
            continue
        made = 0
        for value in values:
            count += 1
            code, after, said = loops(folder, changed(base, path, value))
            if code == 0 and (after == before if words is None else after != before):
                made += words is not None
            elif code != 1 or not any(word in said for word in words or []):
                print(f"{path} = {json.dumps(value)}: exit code {code}, nothing else\n{said}")
                wrong += 1
        others += made > 0
        if made == 0 and words is not None:
            print(f"note: {path}: all changes are refused")
    print(f"{count} changes of {len(SWEEP)} parameters, {others} of which change loops; {wrong} are wrong")


main()
