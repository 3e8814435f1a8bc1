# Stands for the package of another MLIR, as far as MDHConfig.cmake asks it.
set(LLVM_PACKAGE_VERSION 21.1.8)
