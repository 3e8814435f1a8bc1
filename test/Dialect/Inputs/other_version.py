"""other_version.py FILE OTHER FROM TO: copies bytecode of version FROM of the mdh dialect as one of version TO."""

import sys
from pathlib import Path


def section(version):
    """The section of a dialect's version: its number, its length, then the version.

    Numbers of less than 7 bits are followed by a one bit.
    """
    return bytes([7, 1 << 1 | 1, version << 1 | 1])


source, target = map(Path, sys.argv[1:3])
before, after = (section(int(version)) for version in sys.argv[3:])
content = source.read_bytes()
if content.count(before) != 1:
    sys.exit(f"{source}: found {content.count(before)} versions {sys.argv[3]}, expected that of one dialect")
target.write_bytes(content.replace(before, after))
