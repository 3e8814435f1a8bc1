# shellcheck shell=bash
# shellcheck disable=SC2034  # what is set here is used by those who source it
# Sourced by every script here: where things are, and how to say something.

set -euo pipefail

root=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
llvm=${MDH_LLVM_PREFIX:-/usr/lib/llvm-22}
venv=$root/.venv

# rustup's default place, which a shell that is no login shell does not search.
if ! command -v cargo >/dev/null && [ -x "${HOME:-/root}/.cargo/bin/cargo" ]; then
    PATH=${HOME:-/root}/.cargo/bin:$PATH
fi

# Cargo resolves a relative target directory from where it runs; these scripts run it in
# the root, where .cargo/config.toml is found, whatever the caller's directory is.
case ${CARGO_TARGET_DIR:-} in
'') target=$root/target ;;
/*) target=$CARGO_TARGET_DIR ;;
*) target=$PWD/$CARGO_TARGET_DIR ;;
esac
export CARGO_TARGET_DIR=$target
bin=$target/release

# Nothing here leaves __pycache__ folders in the sources.
export PYTHONDONTWRITEBYTECODE=1

say() { printf '%s\n' "$*" >&2; }
die() {
    say "error: $*"
    exit 1
}

# For what leaves this repository: installed, as a package, as a wheel.

# The workspace's version.
mdh_version() { sed -n 's/^version *= *"\(.*\)"/\1/p' "$root/Cargo.toml"; }

# The oldest Linux that has what our files ask of its C library, by auditwheel's name. LLVM and MLIR
# are this system's, and so they may ask for all that its C library has.
oldest_linux() {
    "$venv/bin/python" -c 'import platform
print("manylinux_" + platform.libc_ver()[1].replace(".", "_") + "_" + platform.machine())'
}

# static_runtime FILE: the run-time library that object files are linked with, without lines for a
# debugger.
static_runtime() {
    [ -e "$bin/deps/libmdhrt.a" ] || die "$bin/deps/libmdhrt.a is not there: run scripts/build first"
    "$llvm/bin/llvm-strip" --strip-debug -o "$1" "$bin/deps/libmdhrt.a"
}
