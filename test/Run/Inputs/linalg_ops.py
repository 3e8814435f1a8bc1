"""All named operations of linalg: a function for each, run and checked.

    linalg_ops.py MDH check [NAME..]     raised, and equal to the definition
    linalg_ops.py MDH table [NAME..]     the same beside upstream's own lowering, with times

A function has its operation on tensors, on tensors of unknown sizes, and on memrefs. `check` prints
a line for each that is not as it should be, and totals; it fails if there is one.
"""

import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile

SIZES = {"n": 2, "g": 2, "c": 3, "f": 4, "m": 2, "h": 4, "w": 3, "d": 3}
LARGE = {"n": 4, "g": 2, "c": 32, "f": 32, "m": 2, "h": 56, "w": 56, "d": 8}
KERNEL = {"h": 2, "w": 3, "d": 2}
STRIDES = {"h": 2, "w": 1, "d": 1}
DILATIONS = {"h": 1, "w": 2, "d": 1}


class Case:
    """An operation with its operands: (shape, element) each, the last ones destinations."""

    def __init__(self, name, inputs, outputs, text=None, attributes="", scalars=(), ranges=None,
                 body="", results=None, forms=("static", "dynamic", "memref"), large=None):
        self.name, self.inputs, self.outputs = name, inputs, outputs
        self.op = text or f"linalg.{name}"
        self.attributes, self.scalars, self.body = attributes, scalars, body
        self.ranges, self.forms, self.large = ranges or [], forms, large

    def function(self, forms=None):
        """The operation in each form, in one function."""
        forms = forms or self.forms
        arguments, lines, results, types = [], [], [], []
        constants = [f"  %z{n} = arith.constant {number}" for n, number in enumerate(self.scalars)]
        for form in forms:
            names, kinds = [], []
            for n, (shape, element) in enumerate(self.inputs + self.outputs):
                kind = "memref" if form == "memref" else "tensor"
                sizes = "".join(f"{size}x" for size in shape)
                name = f"%{form[0]}{n}"
                arguments.append(f"{name}: {kind}<{sizes}{element}>")
                if form == "dynamic":
                    own = "".join("?x" for _ in shape)
                    if shape:
                        lines.append(f"  {name}_ = tensor.cast {name} : tensor<{sizes}{element}> to tensor<{own}{element}>")
                        name, sizes = name + "_", own
                names.append(name)
                kinds.append(f"{kind}<{sizes}{element}>")
            count = len(self.inputs)
            ins, outs = names[:count], names[count:]
            scalar = [f"%z{n}" for n in range(len(self.scalars))]
            scalar_types = [text.split(" : ")[1] for text in self.scalars]
            lines += self.operation(form, ins + scalar, kinds[:count] + scalar_types, outs, kinds[count:])
            if form != "memref":
                for n, (shape, element) in enumerate(self.outputs):
                    sizes = "".join(f"{size}x" for size in shape)
                    value = f"%{form[0]}r" + (f"#{n}" if len(self.outputs) > 1 else "")
                    if form == "dynamic" and shape:
                        own = "".join("?x" for _ in shape)
                        lines.append(f"  %{form[0]}c{n} = tensor.cast {value} : tensor<{own}{element}> to tensor<{sizes}{element}>")
                        value = f"%{form[0]}c{n}"
                    results.append(value)
                    types.append(f"tensor<{sizes}{element}>")
        arrow = f" -> ({', '.join(types)})" if types else ""
        tail = f"  return {', '.join(results)} : {', '.join(types)}" if types else "  return"
        head = f"func.func @{self.name}({', '.join(arguments)}){arrow} {{"
        return "\n".join([head, *constants, *lines, tail, "}", ""])

    def names(self, forms=None):
        """The arguments that are read."""
        return [f"{form[0]}{n}" for form in forms or self.forms for n in range(len(self.inputs))]

    def operation(self, form, ins, in_types, outs, out_types):
        number = f":{len(outs)}" if len(outs) > 1 else ""
        result = "" if form == "memref" else f"%{form[0]}r{number} = "
        arrow = "" if form == "memref" else f" -> {', '.join(out_types)}"
        if len(out_types) > 1 and arrow:
            arrow = f" -> ({', '.join(out_types)})"
        inputs = f" ins({', '.join(ins)} : {', '.join(in_types)})" if ins else ""
        out = f" outs({', '.join(outs)} : {', '.join(out_types)})"
        text = self.body
        if callable(text):
            return [f"  {result}{text(form, ins, in_types, outs, out_types)}"]
        if text:
            # What has a body of its own prints no type of its results but linalg.generic.
            arrow = arrow if self.op == "linalg.generic" else ""
            if self.op == "linalg.generic":
                return [f"  {result}{self.op} {self.attributes}{inputs}{out} {text}{arrow}"]
            return [f"  {result}{self.op}{inputs}{out} {self.attributes} {text}"]
        return [f"  {result}{self.op} {self.attributes}{inputs}{out}{arrow}"]


def extents(layout, sizes, window=None):
    """The shape of what lies so; an input of a window has the extents that it reaches."""
    shape = []
    for axis in layout:
        size = sizes[axis]
        if window and axis in "hwd":
            kernel = (window[axis] - 1) * DILATIONS[axis] + 1
            size = (size - 1) * STRIDES[axis] + kernel
        shape.append(size)
    return shape


def windows(axes):
    strides = ", ".join(str(STRIDES[axis]) for axis in axes)
    dilations = ", ".join(str(DILATIONS[axis]) for axis in axes)
    rank = len(axes)
    return f"{{dilations = dense<[{dilations}]> : tensor<{rank}xi64>, strides = dense<[{strides}]> : tensor<{rank}xi64>}}"


def convolution(name, source, filter, result, types, sizes, quantised=False):
    kernel = [KERNEL[a] if a in KERNEL else sizes[a] for a in filter]
    axes = [a for a in source if a in "hwd"]
    element, weight, out = types
    return Case(
        name,
        [(extents(source, sizes, KERNEL), element), (kernel, weight)],
        [(extents(result, sizes), out)],
        attributes=windows(axes) if name not in ("conv_1d", "conv_2d", "conv_3d") else "",
        scalars=["3 : i32", "-2 : i32"] if quantised else [],
        text="linalg." + re.sub("__.*", "", name),
    )


CONVOLUTIONS = [
    ("conv_1d_ncw_fcw", "ncw", "fcw", "nfw"), ("conv_1d_nwc_wcf", "nwc", "wcf", "nwf"),
    ("conv_2d_nchw_fchw", "nchw", "fchw", "nfhw"), ("conv_2d_nchw_fchw_q", "nchw", "fchw", "nfhw"),
    ("conv_2d_ngchw_fgchw", "ngchw", "fgchw", "ngfhw"),
    ("conv_2d_ngchw_gfchw", "ngchw", "gfchw", "ngfhw"), ("conv_2d_ngchw_gfchw_q", "ngchw", "gfchw", "ngfhw"),
    ("conv_2d_nhwc_fhwc", "nhwc", "fhwc", "nhwf"), ("conv_2d_nhwc_fhwc_q", "nhwc", "fhwc", "nhwf"),
    ("conv_2d_nhwc_hwcf", "nhwc", "hwcf", "nhwf"), ("conv_2d_nhwc_hwcf_q", "nhwc", "hwcf", "nhwf"),
    ("conv_2d_nhwgc_gfhwc", "nhwgc", "gfhwc", "nhwgf"), ("conv_2d_nhwgc_gfhwc_q", "nhwgc", "gfhwc", "nhwgf"),
    ("conv_3d_ncdhw_fcdhw", "ncdhw", "fcdhw", "nfdhw"), ("conv_3d_ndhwc_dhwcf", "ndhwc", "dhwcf", "ndhwf"),
    ("conv_3d_ndhwc_dhwcf_q", "ndhwc", "dhwcf", "ndhwf"),
    ("depthwise_conv_1d_ncw_cw", "ncw", "cw", "ncw"), ("depthwise_conv_1d_nwc_wc", "nwc", "wc", "nwc"),
    ("depthwise_conv_1d_nwc_wcm", "nwc", "wcm", "nwcm"), ("depthwise_conv_2d_nchw_chw", "nchw", "chw", "nchw"),
    ("depthwise_conv_2d_nhwc_hwc", "nhwc", "hwc", "nhwc"), ("depthwise_conv_2d_nhwc_hwc_q", "nhwc", "hwc", "nhwc"),
    ("depthwise_conv_2d_nhwc_hwcm", "nhwc", "hwcm", "nhwcm"),
    ("depthwise_conv_2d_nhwc_hwcm_q", "nhwc", "hwcm", "nhwcm"),
    ("depthwise_conv_3d_ncdhw_cdhw", "ncdhw", "cdhw", "ncdhw"),
    ("depthwise_conv_3d_ndhwc_dhwc", "ndhwc", "dhwc", "ndhwc"),
    ("depthwise_conv_3d_ndhwc_dhwcm", "ndhwc", "dhwcm", "ndhwcm"),
]
POOLINGS = """nchw_max nchw_sum ncw_max ncw_sum ndhwc_max ndhwc_min ndhwc_sum nhwc_max nhwc_max_unsigned
    nhwc_min nhwc_min_unsigned nhwc_sum nwc_max nwc_max_unsigned nwc_min nwc_min_unsigned nwc_sum""".split()


def convolutions(sizes):
    for rank, axes in (("1d", "w"), ("2d", "hw"), ("3d", "dhw")):
        name = f"conv_{rank}"
        kernel = [KERNEL[a] for a in axes]
        source = [sizes[a] + KERNEL[a] - 1 for a in axes]
        yield Case(name, [(source, "f32"), (kernel, "f32")], [([sizes[a] for a in axes], "f32")])
    for name, source, filter, result in CONVOLUTIONS:
        is_q = name.endswith("_q")
        types = ("i8", "i8", "i32") if is_q else ("f32", "f32", "f32")
        yield convolution(name, source, filter, result, types, sizes, is_q)
        if not is_q:
            yield convolution(name + "__i8", source, filter, result, ("i8", "i8", "i32"), sizes)
            if sizes is SIZES:
                yield convolution(name + "__f16", source, filter, result, ("f16", "f16", "f32"), sizes)
    for name in POOLINGS:
        layout = name.split("_")[0]
        axes = [a for a in layout if a in "hwd"]
        types = [("f32", "f32"), ("i8", "i32"), *[("i1", "i1")] * (name == "nhwc_max" and sizes is SIZES)]
        for element, out in types:
            if "unsigned" in name and element == "f32":
                element = out = "i32"
            suffix = "" if out == "f32" or element == "i32" else f"__{element}"
            yield Case(
                f"pooling_{name}{suffix}",
                [(extents(layout, sizes, KERNEL), element), ([KERNEL[a] for a in axes], element)],
                [(extents(layout, sizes), out)],
                attributes=windows(axes),
                text=f"linalg.pooling_{name}",
            )


def elementwise(a, b):
    shape = [a, b]
    unary = "abs ceil erf exp floor log negf reciprocal round rsqrt sqrt square tanh".split()
    binary = "add sub mul div max min powf".split()
    ints = "add sub mul div div_unsigned max min".split()
    positive = ["0.5..1.5"]
    for name in unary:
        yield Case(name, [(shape, "f32")], [(shape, "f32")], ranges=positive)
        yield Case(f"elementwise__{name}", [(shape, "f32")], [(shape, "f32")], ranges=positive,
                   text="linalg.elementwise", attributes=f"kind=#linalg.elementwise_kind<{name}>")
    for name in binary:
        yield Case(name, [(shape, "f32")] * 2, [(shape, "f32")], ranges=positive)
    for name in ints:
        yield Case(f"{name}__i32", [(shape, "i32")] * 2, [(shape, "i32")], text=f"linalg.{name}", ranges=["1..100"])
    kinds = "add sub mul div max_signed min_signed powf".split()
    for name in kinds:
        yield Case(f"elementwise__{name}", [(shape, "f32")] * 2, [(shape, "f32")], ranges=positive,
                   text="linalg.elementwise", attributes=f"kind=#linalg.elementwise_kind<{name}>")
    for name in "add sub mul div div_unsigned max_signed min_signed max_unsigned min_unsigned".split():
        yield Case(f"elementwise__{name}__i32", [(shape, "i32")] * 2, [(shape, "i32")], ranges=["1..100"],
                   text="linalg.elementwise", attributes=f"kind=#linalg.elementwise_kind<{name}>")
    for name in "add mul max min".split():
        yield Case(f"{name}__i1", [(shape, "i1")] * 2, [(shape, "i1")], text=f"linalg.{name}")
    for name in ("add", "mul"):
        yield Case(f"elementwise__{name}__i1", [(shape, "i1")] * 2, [(shape, "i1")],
                   text="linalg.elementwise", attributes=f"kind=#linalg.elementwise_kind<{name}>")
    maps = "[affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>]"
    yield Case("elementwise__maps", [([b, a], "f32"), ([a], "f32")], [(shape, "f32")],
               text="linalg.elementwise", attributes=f"kind=#linalg.elementwise_kind<mul> indexing_maps = {maps}")
    yield Case("select", [(shape, "i1"), (shape, "f32"), (shape, "f32")], [(shape, "f32")])
    yield Case("elementwise__select", [(shape, "i1"), (shape, "f32"), (shape, "f32")], [(shape, "f32")],
               text="linalg.elementwise", attributes="kind=#linalg.elementwise_kind<select>")
    yield Case("copy", [(shape, "f32")], [(shape, "f32")])
    yield Case("copy__cast", [(shape, "i8")], [(shape, "f32")], text="linalg.copy")
    yield Case("copy__unsigned", [(shape, "i8")], [(shape, "f32")], text="linalg.copy",
               attributes="{cast = #linalg.type_fn<cast_unsigned>}")
    yield Case("copy__narrow", [(shape, "f32")], [(shape, "f16")], text="linalg.copy")
    yield Case("add__bf16", [(shape, "bf16")] * 2, [(shape, "bf16")], text="linalg.add")
    yield Case("fill", [], [(shape, "f32")], body=lambda form, ins, it, outs, ot:
               f"linalg.fill ins(%z0 : f32) outs({outs[0]} : {ot[0]})" + ("" if form == "memref" else f" -> {ot[0]}"),
               scalars=["7.0 : f32"])
    yield Case("fill_rng_2d", [], [(shape, "f32")], scalars=["-1.0 : f64", "1.0 : f64", "5 : i32"])


def products(m, n, k):
    s = [m, k], [k, n], [m, n]
    mixed = [("f32",) * 3, ("f16", "f16", "f32"), ("bf16", "bf16", "f32"), ("i8", "i8", "i32"), ("i32",) * 3,
             ("f64",) * 3, ("f32", "f16", "f32"), ("i8", "i32", "i32")]
    for types in mixed:
        tag = "" if types == ("f32",) * 3 else "__" + "_".join(types)
        ins = [(s[0], types[0]), (s[1], types[1])]
        yield Case(f"matmul{tag}", ins, [(s[2], types[2])], text="linalg.matmul")
    yield Case("matmul__unsigned", [(s[0], "i8"), (s[1], "i8")], [(s[2], "i32")], text="linalg.matmul",
               attributes="{cast = #linalg.type_fn<cast_unsigned>}")
    def mapped(name, op, dims, a, b, c, shapes, types=("f32",) * 3):
        maps = ", ".join(f"affine_map<({dims}) -> ({x})>" for x in (a, b, c))
        ins = [(shapes[0], types[0]), (shapes[1], types[1])]
        return Case(name, ins, [(shapes[2], types[2])], text=f"linalg.{op}", attributes=f"indexing_maps = [{maps}]")
    d3, d4 = "d0, d1, d2", "d0, d1, d2, d3"
    yield mapped("matmul__ta", "matmul", d3, "d2, d0", "d2, d1", "d0, d1", ([k, m], [k, n], [m, n]))
    yield mapped("matmul__tb", "matmul", d3, "d0, d2", "d1, d2", "d0, d1", ([m, k], [n, k], [m, n]))
    yield mapped("matmul__bcast", "matmul", d3, "d2", "d2, d1", "d0, d1", ([k], [k, n], [m, n]))
    yield mapped("batch_matmul__tb", "batch_matmul", d4, "d0, d1, d3", "d0, d2, d3", "d0, d1, d2",
                 ([3, m, k], [3, n, k], [3, m, n]))
    yield mapped("batch_matmul__bcast", "batch_matmul", d4, "d1, d3", "d0, d3, d2", "d0, d1, d2",
                 ([m, k], [3, k, n], [3, m, n]))
    yield mapped("batch_reduce_matmul__tb", "batch_reduce_matmul", d4, "d0, d1, d3", "d0, d2, d3", "d1, d2",
                 ([3, m, k], [3, n, k], [m, n]))
    yield mapped("contract", "contract", d3, "d0, d2", "d2, d1", "d0, d1", s)
    yield mapped("contract__ccsdt", "contract", "a, b, c, d, e", "a, e, c", "d, e, b", "a, b, c, d",
                 ([m, 3, 2], [2, 3, n], [m, n, 2, 2]))
    yield mapped("contract__i8", "contract", d3, "d0, d2", "d2, d1", "d1, d0", ([m, k], [k, n], [n, m]), ("i8", "i8", "i32"))
    yield Case("batch_matmul", [([3, m, k], "f32"), ([3, k, n], "f32")], [([3, m, n], "f32")])
    yield Case("batch_matmul__i8", [([3, m, k], "i8"), ([3, k, n], "i8")], [([3, m, n], "i32")], text="linalg.batch_matmul")
    yield Case("batch_reduce_matmul", [([3, m, k], "f32"), ([3, k, n], "f32")], [([m, n], "f32")])
    yield Case("batch_matvec", [([3, m, k], "f32"), ([3, k], "f32")], [([3, m], "f32")])
    yield Case("batch_vecmat", [([3, k], "f32"), ([3, k, n], "f32")], [([3, n], "f32")])
    yield Case("matvec", [([m, k], "f32"), ([k], "f32")], [([m], "f32")])
    yield Case("matvec__i8", [([m, k], "i8"), ([k], "i8")], [([m], "i32")], text="linalg.matvec")
    yield Case("vecmat", [([k], "f32"), ([k, n], "f32")], [([n], "f32")])
    yield Case("dot", [([k], "f32"), ([k], "f32")], [([], "f32")])
    yield Case("dot__f16", [([k], "f16"), ([k], "f16")], [([], "f32")], text="linalg.dot")
    yield Case("mmt4d", [([m, k, 2, 3], "f32"), ([n, k, 4, 3], "f32")], [([m, n, 2, 4], "f32")])
    yield Case("mmt4d__i8", [([m, k, 2, 3], "i8"), ([n, k, 4, 3], "i8")], [([m, n, 2, 4], "i32")], text="linalg.mmt4d")
    yield Case("batch_mmt4d", [([2, m, k, 2, 3], "f32"), ([2, n, k, 4, 3], "f32")], [([2, m, n, 2, 4], "f32")])
    zero = ["3 : i32", "-2 : i32"]
    yield Case("quantized_matmul", [(s[0], "i8"), (s[1], "i8")], [(s[2], "i32")], scalars=zero)
    yield Case("quantized_batch_matmul", [([3, m, k], "i8"), ([3, k, n], "i8")], [([3, m, n], "i32")], scalars=zero)


def others(a, b, c):
    shape = [a, b, c]
    body = "(%x: f32, %y: f32) {{ %v = {} %x, %y : f32 linalg.yield %v : f32 }}"
    for op in "addf mulf maximumf minimumf maxnumf minnumf".split():
        yield Case(f"reduce__{op}", [(shape, "f32")], [([a, c], "f32")], text="linalg.reduce",
                   attributes="dimensions = [1]", body=body.format(f"arith.{op}"), ranges=["0.5..1.5"])
    for op in "addi muli maxsi minsi maxui minui andi ori xori".split():
        yield Case(f"reduce__{op}", [(shape, "i32")], [([b], "i32")], text="linalg.reduce",
                   attributes="dimensions = [0, 2]", body=body.format(f"arith.{op}").replace("f32", "i32"))
    for op in "andi ori xori".split():
        yield Case(f"reduce__{op}__i1", [(shape, "i1")], [([b], "i1")], text="linalg.reduce",
                   attributes="dimensions = [0, 2]", body=body.format(f"arith.{op}").replace("f32", "i1"))
    yield Case("reduce", [(shape, "f32"), (shape, "i32")], [([a, b], "f32"), ([a, b], "i32")],
               attributes="dimensions = [2]",
               body="(%x: f32, %y: i32, %o: f32, %p: i32) { %v = arith.addf %x, %o : f32 "
                    "%w = arith.maxsi %y, %p : i32 linalg.yield %v, %w : f32, i32 }")
    yield Case("map", [(shape, "f32"), (shape, "f32")], [(shape, "f32")],
               body="(%x: f32, %y: f32, %o: f32) { %v = arith.mulf %x, %y : f32 linalg.yield %v : f32 }")
    yield Case("broadcast", [([a, c], "f32")], [(shape, "f32")],
               body=lambda form, ins, it, outs, ot: f"linalg.broadcast ins({ins[0]} : {it[0]}) outs({outs[0]} : {ot[0]}) dimensions = [1]")
    yield Case("transpose", [(shape, "f32")], [([c, a, b], "f32")],
               body=lambda form, ins, it, outs, ot: f"linalg.transpose ins({ins[0]} : {it[0]}) outs({outs[0]} : {ot[0]}) permutation = [2, 0, 1]")
    yield Case("softmax", [(shape, "f32")], [(shape, "f32")], attributes="dimension(2)")
    yield Case("softmax__middle", [(shape, "f32")], [(shape, "f32")], attributes="dimension(1)", text="linalg.softmax")
    def pack(extra, value=""):
        def text(form, ins, it, outs, ot):
            arrow = "" if form == "memref" else f" -> {ot[0]}"
            return f"linalg.{extra[0]} {ins[0]} {value}{extra[1]} into {outs[0]} : {it[0]} -> {ot[0]}" if form != "memref" else \
                f"linalg.{extra[0]} {ins[0]} {value}{extra[1]} into {outs[0]} : {it[0]} -> {ot[0]}"
        return text
    tiles = "inner_dims_pos = [0, 1] inner_tiles = [2, 3]"
    tensors = ("static",)
    # What is packed grows with the other shapes.
    k = max(a // 4, 1)
    whole, cut = [8 * k, 9 * k], [8 * k - 1, 9 * k - 1]
    packed, transposed = [4 * k, 3 * k, 2, 3], [3 * k, 4 * k, 2, 3]
    yield Case("pack", [(whole, "f32")], [(packed, "f32")], body=pack(("pack", tiles)), forms=tensors)
    yield Case("pack__padded", [(cut, "f32")], [(packed, "f32")], forms=tensors, scalars=["0.5 : f32"],
               body=lambda f, ins, it, outs, ot: f"linalg.pack {ins[0]} padding_value(%z0 : f32) {tiles} into {outs[0]} : {it[0]} -> {ot[0]}")
    yield Case("pack__outer", [(whole, "f32")], [(transposed, "f32")], forms=tensors,
               body=pack(("pack", "outer_dims_perm = [1, 0] " + tiles)))
    yield Case("unpack", [(packed, "f32")], [(whole, "f32")], body=pack(("unpack", tiles)), forms=tensors)
    yield Case("unpack__partial", [(transposed, "f32")], [(cut, "f32")], forms=tensors,
               body=pack(("unpack", "outer_dims_perm = [1, 0] " + tiles)))
    yield Case("winograd_filter_transform", [([2, 3, 3, 5], "f32")], [([6, 6, 5, 2], "f32")], forms=tensors,
               attributes="fmr(F_4_3)")
    yield Case("winograd_input_transform", [([2, 10, 10, 5], "f32")], [([6, 6, 2, 2, 2, 5], "f32")], forms=tensors,
               attributes="fmr(F_4_3)")
    yield Case("winograd_output_transform", [([6, 6, 2, 2, 2, 5], "f32")], [([2, 8, 8, 5], "f32")], forms=tensors,
               attributes="fmr(F_4_3)")
    yield Case("generic", [([a, b], "f32")], [([a], "f32"), ([a], "i32")], text="linalg.generic",
               attributes="{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>], "
                          'iterator_types = ["parallel", "reduction"]}',
               body="{ ^bb0(%x: f32, %o: f32, %p: i32): %j = linalg.index 1 : index "
                    "%q = arith.index_cast %j : index to i32 %m = arith.cmpf ogt, %x, %o : f32 "
                    "%v = arith.select %m, %x, %o : f32 %w = arith.select %m, %q, %p : i32 "
                    "linalg.yield %v, %w : f32, i32 }")


def cases():
    yield from convolutions(SIZES)
    yield from elementwise(7, 5)
    yield from products(5, 7, 3)
    yield from others(4, 5, 3)


def large():
    yield from convolutions(LARGE)
    yield from elementwise(2000, 2000)
    yield from products(384, 384, 384)
    yield from others(128, 128, 128)


def run(mdh, case, options, forms=None):
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
        file.write(case.function(forms))
        file.flush()
        command = [mdh, "run", file.name, "--entry", case.name, "--json", *options]
        for text in case.ranges:
            command += [f"--range={name}={text}" for name in case.names(forms)]
        done = subprocess.run(command, capture_output=True, text=True)
    return done


def state(mdh, case, *options):
    """(equal to the definition, number of operations that were raised, what was said)"""
    done = run(mdh, case, ["--check=all", *options])
    found = re.search(r"note: (\d+) operations? of linalg raised", done.stderr)
    try:
        report = json.loads(done.stdout)
        passed = report["check"]["passed"]
    except (ValueError, KeyError, TypeError):
        passed = False
    return passed and done.returncode == 0, int(found[1]) if found else 0, done.stderr.strip()


def checked(mdh, case):
    is_equal, raised, said = state(mdh, case)
    expected = len(case.forms)
    problems = []
    if not is_equal:
        problems.append("not equal to the definition")
    if raised != expected:
        problems.append(f"{raised} of {expected} operations raised")
    return case, is_equal, raised, problems, said


def main():
    mdh, mode, *names = sys.argv[1:]
    wanted = [case for case in cases() if not names or case.name in names]
    workers = os.cpu_count() or 1
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        results = list(pool.map(lambda case: checked(mdh, case), wanted))
    failed = [result for result in results if result[3]]
    for case, _, _, problems, said in failed:
        print(f"{case.name}: {'; '.join(problems)}\n  " + "\n  ".join(said.splitlines()[-8:]))
    raised = sum(result[2] > 0 for result in results)
    named = {re.sub("__.*", "", case.name) for case in wanted}
    print(f"{len(wanted)} functions for {len(named)} named operations: {raised} raised, {len(failed)} not as expected")
    if mode == "table":
        table(mdh, results, {case.name: case for case in large()})
    sys.exit(bool(failed))


def milliseconds(mdh, case, *options):
    done = run(mdh, case, ["--repeat", "5", *options], forms=["static"])
    try:
        return json.loads(done.stdout)["time_ms"]["min"]
    except (ValueError, KeyError, TypeError):
        return None


def table(mdh, results, big):
    print("| operation | raised | equal to the definition | upstream's equal | ms | upstream's ms |")
    print("|---|---|---|---|---|---|")
    for case, is_equal, raised, _, _ in results:
        upstream = state(mdh, case, "--no-raise")[0]
        own, other = big.get(case.name), [None, None]
        if own:
            other = [milliseconds(mdh, own), milliseconds(mdh, own, "--no-raise")]
        own, other = ("-" if ms is None else f"{ms:.3f}" for ms in other)
        print(f"| {case.name} | {raised} of {len(case.forms)} | {is_equal} | {upstream} | {own} | {other} |", flush=True)


if __name__ == "__main__":
    main()
