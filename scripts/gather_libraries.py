"""Makes an installed tree stand on its own: gather_libraries.py PREFIX PLATFORM

Copies the shared libraries that the programs in PREFIX/bin and the libraries in PREFIX/lib are linked with into
PREFIX/lib, but for those that every Linux of PLATFORM has, and lets all of them look there ($ORIGIN/../lib). Which
libraries these are, auditwheel decides, as for the Python package: PLATFORM is its name of the oldest Linux. Prints the
Debian packages of the copied files.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from auditwheel.architecture import Architecture
from auditwheel.elfutils import elf_find_versioned_symbols
from auditwheel.lddtree import ldd
from auditwheel.libc import Libc
from auditwheel.policy import WheelPolicies
from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile

RUNPATH = "$ORIGIN/../lib"


def is_elf(path):
    """Tells whether a file is a program or a shared library."""
    if not path.is_file():
        return False
    try:
        with path.open("rb") as file:
            return ELFFile(file).header["e_type"] in ("ET_DYN", "ET_EXEC")
    except ELFError:
        return False


def foreign(files, prefix, platform):
    """{name: file} of the libraries outside of a tree that its files need, and that a platform does not have."""
    policies = WheelPolicies(libc=Libc.GLIBC, arch=Architecture.detect())
    policy = policies.get_policy_by_name(platform)
    needed = {}
    for file in files:
        tree = ldd(file)
        for name, library in policies.lddtree_external_references(tree, prefix)[policy.name].libs.items():
            if library is None:
                sys.exit(f"error: {file} needs {name}, which is not there")
            needed[name] = library
    return needed


def newer(files, platform):
    """"file: symbol" of versioned symbols that a platform does not have."""
    policies = WheelPolicies(libc=Libc.GLIBC, arch=Architecture.detect())
    policy = policies.get_policy_by_name(platform)
    for file in files:
        with file.open("rb") as opened:
            symbols = {symbol for _, symbol in elf_find_versioned_symbols(ELFFile(opened))}
        for symbol in sorted(symbols):
            family, _, version = symbol.partition("_")
            if version not in policy.symbol_versions.get(family, {version}):
                yield f"{file}: {symbol}"


def packages(libraries):
    """The Debian packages that files belong to; none where there is no dpkg."""
    if not shutil.which("dpkg-query"):
        return []
    names = set()
    for library in libraries:
        # Where /lib is /usr/lib, dpkg knows a file by one of two names.
        short = str(library).removeprefix("/usr")
        for name in ("/usr" + short, short):
            found = subprocess.run(["dpkg-query", "-S", name], capture_output=True, text=True)
            if found.returncode == 0:
                names.add(found.stdout.partition(":")[0])
                break
    return sorted(names)


def main():
    """Gathers what PREFIX needs."""
    prefix, platform = Path(sys.argv[1]).resolve(), sys.argv[2]
    own = [file for folder in ("bin", "lib") for file in sorted((prefix / folder).iterdir()) if is_elf(file)]
    libraries = foreign(own, prefix, platform)
    copies = []
    for name, library in libraries.items():
        copies.append(prefix / "lib" / name)
        shutil.copy(library, copies[-1])
    if beyond := list(newer(own + copies, platform)):
        sys.exit(f"error: symbols that {platform} has not:\n  " + "\n  ".join(beyond))
    for file in own + copies:
        os.chmod(file, 0o755)
        subprocess.run(["patchelf", "--set-rpath", RUNPATH, file], check=True)
    print(*packages(libraries.values()), sep="\n")


if __name__ == "__main__":
    main()
