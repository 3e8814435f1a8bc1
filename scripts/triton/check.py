#!/usr/bin/env python3
"""Compiles and runs the Triton kernels that are shipped as templates: check.py MDH TEMPLATES

Triton itself compiles them for sm_90, which needs no GPU, and runs them in its interpreter, where
the results are compared with numpy's. `scripts/soak --triton` calls it, with a Python that has
triton and torch.
"""

import importlib.util
import os
import subprocess
import sys
import tempfile

import numpy as np

MATMULS = [f"matmul_{a}{b}" for a in "nt" for b in "nt"]
# Template, layouts, kernel, and the types of its arguments.
KERNELS = [
    *(("matmul.py.j2", layouts, "matmul", ("*fp16", "*fp16", "*fp16", "i32", "i32", "i32"))
      for layouts in MATMULS),
    *(("matmul.py.j2", layouts, "matmul", ("*fp8e5", "*fp8e5", "*fp16", "i32", "i32", "i32"))
      for layouts in MATMULS),
    ("grouped_gemm.py.j2", "grouped_gemm", "grouped_gemm",
     ("*i64", "*i64", "*i64", "*i32", "i32", "i32")),
    ("softmax.py.j2", "softmax", "softmax", ("*fp32", "*fp32", "i32", "i32")),
]


def filled(folder, template, layouts):
    """The module that a template becomes."""
    mdh, templates = sys.argv[1:3]
    path = os.path.join(folder, f"{layouts}.py")
    subprocess.run([mdh, "template", os.path.join(templates, template), "--layouts",
                    os.path.join(templates, layouts + ".toml"), "--out", path], check=True)
    spec = importlib.util.spec_from_file_location(layouts, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def compile_all(folder):
    """Everything to a kernel for sm_90."""
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    for template, layouts, name, types in KERNELS:
        kernel = getattr(filled(folder, template, layouts), name)
        signature = dict(zip(kernel.arg_names, types, strict=True))
        source = ASTSource(fn=kernel, signature=signature, constexprs={})
        built = triton.compile(source, target=GPUTarget("cuda", 90, 32))
        assert "wgmma" in built.asm["ptx"] or name != "matmul", "no tensor cores"
        print(f"compiled {layouts} of {types[0][1:]} for sm_90: {len(built.asm['cubin'])} bytes")


def run_all(folder):
    """Everything in the interpreter."""
    import torch

    torch.manual_seed(1)
    # The interpreter writes to the memory of the tensors of a host.
    for dtype in (torch.float16, torch.float8_e5m2):
        m, n, k = 256, 64, 64
        # Small integers, of which neither type nor any sum loses a bit.
        a, b = torch.randint(-3, 4, (m, k)).to(dtype), torch.randint(-3, 4, (k, n)).to(dtype)
        expected = a.float() @ b.float()
        for layouts in MATMULS:
            of_a, of_b = layouts[-2:]
            c = torch.zeros((m, n), dtype=torch.float16)
            memory = {"n": lambda x: x.contiguous(), "t": lambda x: x.T.contiguous()}
            filled(folder, "matmul.py.j2", layouts).run(memory[of_a](a), memory[of_b](b), c, m, n, k)
            np.testing.assert_array_equal(c.float().numpy(), expected.numpy(), layouts)
            print(f"{layouts} of {dtype} is right in the interpreter")
    grouped_gemm(folder, torch)
    softmax = filled(folder, "softmax.py.j2", "softmax")
    x = torch.randn((3, 1000))
    y = torch.zeros_like(x)
    softmax.run(x, y, *x.shape)
    np.testing.assert_allclose(y.numpy(), torch.softmax(x, 1).numpy(), rtol=1e-5)
    print("softmax is right in the interpreter")


def grouped_gemm(folder, torch):
    """Three problems, by one program and by four."""
    kernel = filled(folder, "grouped_gemm.py.j2", "grouped_gemm").grouped_gemm
    tiles = [(2, 1, 2), (1, 3, 1), (3, 2, 1)]

    def integers(rows, columns):
        return torch.randint(-3, 4, (32 * rows, 32 * columns)).half()

    a = [integers(m, k) for m, _, k in tiles]
    b = [integers(k, n) for _, n, k in tiles]
    for programs in (1, 4):
        c = [torch.zeros((32 * m, 32 * n), dtype=torch.float16) for m, n, _ in tiles]
        lists = [torch.tensor([x.data_ptr() for x in each]) for each in (a, b, c)]
        sizes = torch.tensor(tiles, dtype=torch.int32)
        kernel[(programs,)](*lists, sizes, len(tiles), programs)
        for x, y, z in zip(a, b, c):
            np.testing.assert_array_equal(z.float().numpy(), (x.float() @ y.float()).numpy())
    print("grouped_gemm is right in the interpreter")


def main():
    # What Triton warns about unless it is said.
    os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")
    if os.environ.get("TRITON_INTERPRET") != "1":
        with tempfile.TemporaryDirectory() as folder:
            compile_all(folder)
        # Triton reads this when it is imported.
        subprocess.run([sys.executable, *sys.argv], check=True,
                       env={**os.environ, "TRITON_INTERPRET": "1"})
    else:
        with tempfile.TemporaryDirectory() as folder:
            run_all(folder)


if __name__ == "__main__":
    main()
