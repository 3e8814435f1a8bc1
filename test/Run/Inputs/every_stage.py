"""Prints a program at every stage of every target, and reads it again; the pipeline mdh-lower, of mdh-opt and of
a stock mlir-opt with the plugin, leads to the same.

    every_stage.py RELEASE LLVM FILE [SAME]...

SAME are the stages that print what another one does, since the program has nothing that they are for.
"""

import os
import re
import subprocess
import sys

RELEASE, LLVM, FILE, *SAME = sys.argv[1:]
COMMON = ["formed", "raised", "compute", "bufferized", "scheduled", "tiles", "vector", "loops", "parallel",
          "llvm-dialect"]
GPU = ["placed", "kernels", "device"]
TARGETS = {"cpu": COMMON, "sim": COMMON + GPU, "cuda": COMMON + GPU + ["nvvm"]}


def run(*command, text=None):
    """Returns what a program prints; ends the test if it fails."""
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: {done.stderr}")
    return done.stdout.strip()


def without_c(printed):
    """A program without the functions for C, which only mdh compile gives it."""
    for body in re.findall(r"(?ms)^  llvm\.func @_mlir_ciface_.*?^  }\n", printed):
        printed = printed.replace(body, "")
    return printed.replace(" attributes {llvm.emit_c_interface}", "")


def main():
    mdh, opt, plugin = (os.path.join(RELEASE, name) for name in ("mdh", "mdh-opt", "libmdh.so"))
    stock = [os.path.join(LLVM, "bin", "mlir-opt"), f"--load-dialect-plugin={plugin}", f"--load-pass-plugin={plugin}"]
    refused = subprocess.run([mdh, "compile", FILE, "--device", "cuda", "--emit", "obj"], capture_output=True, text=True)
    if not all(stage in refused.stderr for stage in TARGETS["cuda"]):
        sys.exit(f"the stages of cuda are others: {refused.stderr}")
    for target, stages in TARGETS.items():
        if run(mdh, "compile", FILE, "--device", target, "--emit", "mdh") != run(mdh, "compile", FILE, "--emit", "mdh"):
            sys.exit(f"{target}: the program is another")
        seen = set()
        for stage in stages:
            printed = run(mdh, "compile", FILE, "--device", target, "--emit", stage)
            run(opt, text=printed)
            if (printed in seen) != (stage in SAME):
                what = "the same as another stage" if printed in seen else "no other stage is the same"
                sys.exit(f"{target} {stage}: {what}")
            seen.add(printed)
            options = f"target={target} stage={stage}"
            lowered = run(opt, FILE, f"--mdh-lower={options}")
            found = without_c(printed) if stage == "llvm-dialect" else printed
            if lowered != found:
                sys.exit(f"{target} {stage}: mdh compile and mdh-lower differ:\n{found}\n{lowered}")
            loaded = run(*stock, FILE, f"--pass-pipeline=builtin.module(mdh-lower{{{options}}})")
            if loaded != lowered:
                sys.exit(f"{target} {stage}: mdh-opt and the plugin differ:\n{lowered}\n{loaded}")


main()
