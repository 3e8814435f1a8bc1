#!/bin/sh
# Builds the callers of functions.mlir and runs them: run.sh [FOLDER]
#
# FOLDER is where the results go (build, if none is named); MDH the command, PYTHON a Python with
# numpy, CC the C compiler.
set -eu

here=$(dirname -- "$0")
out=${1:-build}
mdh=${MDH:-$here/../../target/release/mdh}
# Where libmdhrt is: beside the command, or in the folder lib beside the command's folder.
lib=$(dirname -- "$mdh")
[ -e "$lib/libmdhrt.a" ] || lib=$lib/../lib

mkdir -p "$out"
"$mdh" compile "$here/functions.mlir" --emit header -o "$out/functions.h"
"$mdh" compile "$here/functions.mlir" --emit obj -o "$out/functions.o"
"$mdh" compile "$here/functions.mlir" --emit shared -o "$out/libfunctions.so"

# The run-time library in the program, and beside it.
${CC:-cc} -std=c99 -O2 -Wall -Wextra -Werror -I "$out" "$here/main.c" "$out/functions.o" \
    "$lib/libmdhrt.a" -lm -lpthread -ldl -o "$out/main"
${CC:-cc} -std=c99 -O2 -Wall -Wextra -Werror -I "$out" "$here/main.c" "$out/functions.o" \
    -L "$lib" -lmdhrt -lm -Wl,-rpath,"$lib" -o "$out/main-shared"

"$out/main"
"$out/main-shared" >/dev/null
if "${PYTHON:-python3}" -c 'import numpy' 2>/dev/null; then
    "${PYTHON:-python3}" "$here/call.py" "$out/libfunctions.so"
else
    echo "call.py is left out: ${PYTHON:-python3} has no numpy (PYTHON names another one)" >&2
fi
