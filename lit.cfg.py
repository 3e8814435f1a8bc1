"""lit's configuration: `scripts/test lit`, or `lit test/Dialect/hom.mlir` after a build.

A test's RUN lines find `mdh` and `mdh-opt` of the release build, and LLVM's own tools
(the stock `mlir-opt`, `FileCheck`, `not`, ...). `%mdh_plugin` is the plugin library,
`%examples` the folder of examples, `%python` the Python of .venv, which has numpy,
`%release` the folder of the release build, `%llvm` that of LLVM, `%clangxx` its compiler of
C++, `%install` scripts/install for this build. A command behind `%interpreted` finds a GPU,
which is an interpreter of PTX.

lit executes this file with `config` and `lit_config` defined.
"""

import os
import shutil

import lit.formats

root = os.path.dirname(os.path.abspath(__file__))
llvm = os.environ.get("MDH_LLVM_PREFIX", "/usr/lib/llvm-22")
target = os.path.join(root, os.environ.get("CARGO_TARGET_DIR", "target"))
release = os.path.join(target, "release")
python = os.path.join(root, ".venv", "bin", "python")

config.name = "mdh"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs", "python"]
config.test_source_root = root
config.test_exec_root = os.path.join(target, "lit")

for tool in ["mdh", "mdh-opt", "mdh-lsp-server", "mdh-exec", "libmdhrt.a", "libmdhrt.so", "libmdh_ptx.so"]:
    if not os.path.exists(os.path.join(release, tool)):
        lit_config.fatal(f"{release}/{tool} is not there: run scripts/build first")
if not os.path.exists(os.path.join(llvm, "bin", "FileCheck")):
    lit_config.fatal(f"{llvm}/bin/FileCheck is not there: run scripts/setup test first")

search = [release, os.path.join(llvm, "bin"), config.environment.get("PATH", "")]
config.environment["PATH"] = os.pathsep.join(search)
config.environment["NO_COLOR"] = "1"
# No line of a test that takes long under load.
config.environment["MDH_PROGRESS"] = "off"
# A machine that stands for this one: no test of IR may depend on it.
if "MDH_ASM" in os.environ:
    config.environment["MDH_ASM"] = os.path.abspath(os.environ["MDH_ASM"])
# The breakage that scripts/mutants has switched on.
if "MDH_MUTANT" in os.environ:
    config.environment["MDH_MUTANT"] = os.environ["MDH_MUTANT"]

interpreter = os.path.join(config.test_exec_root, "interpreter")
os.makedirs(interpreter, exist_ok=True)
driver = os.path.join(interpreter, "libcuda.so.1")
if not os.path.islink(driver):
    os.symlink(os.path.join(release, "libmdh_ptx.so"), driver)

config.substitutions += [
    ("%interpreted", f"env LD_LIBRARY_PATH={interpreter}"),
    ("%mdh_plugin", os.path.join(release, "libmdh.so")),
    ("%examples", os.path.join(root, "examples")),
    ("%python", python),
    ("%llvm", llvm),
    ("%clangxx", os.path.join(llvm, "bin", "clang++")),
    ("%release", release),
    ("%install", f"env MDH_LLVM_PREFIX={llvm} CARGO_TARGET_DIR={target} {root}/scripts/install"),
]

# What a test may ask for in a REQUIRES line.
if os.path.exists(os.path.join(root, ".venv", "installed-test.txt")):
    config.available_features.add("numpy")
if all(map(shutil.which, ("cmake", "make"))) and os.path.exists(f"{llvm}/lib/cmake/mlir/MLIRConfig.cmake"):
    config.available_features.add("mlir-cmake")
try:
    with open("/proc/cpuinfo") as cpuinfo:
        flags = cpuinfo.read().split()
    config.available_features |= {flag for flag in ("avx2", "avx512f") if flag in flags}
except OSError:
    pass

# A test that hangs fails; the slowest takes 100 s where nothing runs beside it. lit needs psutil for that, which .venv has.
if lit_config.maxIndividualTestTimeIsSupported[0] and not lit_config.maxIndividualTestTime:
    lit_config.maxIndividualTestTime = 900
