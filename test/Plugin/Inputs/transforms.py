"""A module of reductions on tuples, and a script of upstream's transform dialect for each of them.

    transforms.py

Log-sum-exp, arg-max and Welford's mean and variance, each with `tile_using_for`, `tile_using_forall`,
`tile_reduction_using_for`, `tile_reduction_using_forall`, `fuse` and `fuse_into_containing_op`. A function has
the name of both.
"""

ANY = "!transform.any_op"
ELEMENT = """      md_hom((%e: f32) {{
        {0}
      }}, (cc, pw({1})))
      inp_view(x = {2}[i, k] : tensor<12x37xf32>)
      combine {1} commutative associative {3}"""
LSE = """(%m0: f32, %s0: f32, %m1: f32, %s1: f32) {
        %m = arith.maximumf %m0, %m1 : f32
        %d0 = arith.subf %m0, %m : f32
        %d1 = arith.subf %m1, %m : f32
        %e0 = math.exp %d0 : f32
        %e1 = math.exp %d1 : f32
        %p0 = arith.mulf %s0, %e0 : f32
        %p1 = arith.mulf %s1, %e1 : f32
        %s = arith.addf %p0, %p1 : f32
        mdh.yield %m, %s : f32, f32
      }"""
ARGMAX = """(%v0: f32, %i0: index, %v1: f32, %i1: index) {
        %greater = arith.cmpf ogt, %v0, %v1 : f32
        %equal = arith.cmpf oeq, %v0, %v1 : f32
        %before = arith.cmpi ult, %i0, %i1 : index
        %tie = arith.andi %equal, %before : i1
        %first = arith.ori %greater, %tie : i1
        %v = arith.select %first, %v0, %v1 : f32
        %i = arith.select %first, %i0, %i1 : index
        mdh.yield %v, %i : f32, index
      }"""
WELFORD = """(%m0: f32, %q0: f32, %n0: f32, %m1: f32, %q1: f32, %n1: f32) {
        %n = arith.addf %n0, %n1 : f32
        %d = arith.subf %m1, %m0 : f32
        %w = arith.divf %n1, %n : f32
        %dw = arith.mulf %d, %w : f32
        %m = arith.addf %m0, %dw : f32
        %q = arith.addf %q0, %q1 : f32
        %dd = arith.mulf %d, %dw : f32
        %c = arith.mulf %dd, %n0 : f32
        %r = arith.addf %q, %c : f32
        mdh.yield %m, %r, %n : f32, f32, f32
      }"""
# The elements' types, what an element is, and the operator.
REDUCTIONS = {
    "logsumexp": (["f32", "f32"], "%one = arith.constant 1.0 : f32 mdh.yield %e, %one : f32, f32", LSE),
    "argmax": (["f32", "index"], "%at = mdh.index 1 : index mdh.yield %e, %at : f32, index", ARGMAX),
    "welford": (["f32"] * 3, "%zero = arith.constant 0.0 : f32 %one = arith.constant 1.0 : f32 "
                "mdh.yield %e, %zero, %one : f32, f32, f32", WELFORD),
}
SQUARES = """    %any = tensor.empty() : tensor<12x37xf32>
    %squares = mdh.compute (i = 12, k = 37)
      out_view(squares = %any[i, k] : tensor<12x37xf32>)
      md_hom(mulf, (cc, cc))
      inp_view(x = %x[i, k][i, k] : tensor<12x37xf32>)
"""
HALVES = """    %e = tensor.empty() : tensor<12xf32>
    %half = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
        ins(%r#0 : tensor<12xf32>) outs(%e : tensor<12xf32>) attrs = {of = "NAME"} {
      ^bb0(%a: f32, %o: f32):
        %h = arith.constant 0.5 : f32
        %c = arith.mulf %a, %h : f32
        linalg.yield %c : f32
    } -> tensor<12xf32>
"""


def results(count):
    return ", ".join([ANY] * count)


def scripts(name, count):
    """The lines that transform the computation whose first output has this name."""
    starts = f"%{name}_s:{count}, %{name}_p, %{name}_m, %{name}_l"
    return {
        "tile_using_for": f"%{name}_t, %{name}_l:2 = transform.structured.tile_using_for %{name} tile_sizes [5, 8] "
                          f": ({ANY}) -> ({results(3)})",
        "tile_using_forall": f"%{name}_t, %{name}_l = transform.structured.tile_using_forall %{name} num_threads [3] "
                             f": ({ANY}) -> ({results(2)})",
        "tile_reduction_using_for": f"{starts} = transform.structured.tile_reduction_using_for %{name} "
                                    f"by tile_sizes = [0, 8] : ({ANY}) -> ({results(count + 3)})",
        "tile_reduction_using_forall": f"{starts} = transform.structured.tile_reduction_using_forall %{name} "
                                       f"by num_threads = [0, 4] : ({ANY}) -> ({results(count + 3)})",
        "fuse": f"%{name}_t, %{name}_l:2 = transform.structured.fuse %{name} tile_sizes [5, 8] "
                f": ({ANY}) -> ({results(3)})",
        "fuse_into_containing_op":
            f"%{name}_h = transform.structured.match attributes{{of = \"{name}\"}} in %root : ({ANY}) -> {ANY}\n"
            f"    %{name}_t, %{name}_l = transform.structured.tile_using_forall %{name}_h num_threads [3] "
            f": ({ANY}) -> ({results(2)})\n"
            f"    %{name}_f, %{name}_n = transform.structured.fuse_into_containing_op %{name} into %{name}_l "
            f": ({ANY}, {ANY}) -> ({results(2)})",
    }


def main():
    functions, script = [], []
    for reduction, (types, element, operator) in REDUCTIONS.items():
        for transform in scripts("x", len(types)):
            name = f"{transform}_{reduction}"
            tensors = [f"tensor<12x{ty}>" for ty in types]
            views = [f"{name if n == 0 else f'out{n}'} = %init{n}[i] : {ty}" for n, ty in enumerate(tensors)]
            lines = [f"    %init{n} = tensor.empty() : {ty}\n" for n, ty in enumerate(tensors)]
            source = "%squares" if transform == "fuse" else "%x"
            lines += [SQUARES] if transform == "fuse" else []
            lines += [f"    %r:{len(types)} = mdh.compute (i = 12, k = 37)\n      out_view({', '.join(views)})\n",
                      ELEMENT.format(element, reduction, source, operator), "\n"]
            values, kinds = [f"%r#{n}" for n in range(len(types))], tensors
            if transform == "fuse_into_containing_op":
                lines.append(HALVES.replace("NAME", name))
                values, kinds = ["%half"], tensors[:1]
            kinds = ", ".join(kinds)
            functions.append(f"  func.func @{name}(%x: tensor<12x37xf32>) -> ({kinds}) {{\n{''.join(lines)}"
                             f"    return {', '.join(values)} : {kinds}\n  }}\n")
            script.append(f"    %{name} = transform.mdh.match {name} in %root : ({ANY}) -> {ANY}\n"
                          f"    {scripts(name, len(types))[transform]}\n")
    print("module attributes {transform.with_named_sequence} {")
    print("".join(functions), end="")
    print(f"  transform.named_sequence @__transform_main(%root: {ANY} {{transform.readonly}}) {{")
    print("".join(script) + "    transform.yield\n  }\n}")


main()
