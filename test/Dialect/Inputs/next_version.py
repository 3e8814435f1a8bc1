"""next_version.py FILE NEWER: copies bytecode, as the next version of the mdh dialect writes it."""

import sys
from pathlib import Path

# The section of a dialect's version: its number, its length, then the version. Numbers of less
# than 7 bits are followed by a one bit.
VERSION_SECTION, LENGTH, VERSION = 7, 1, 1
before = bytes([VERSION_SECTION, LENGTH << 1 | 1, VERSION << 1 | 1])
after = bytes([VERSION_SECTION, LENGTH << 1 | 1, (VERSION + 1) << 1 | 1])

source, target = sys.argv[1:]
content = Path(source).read_bytes()
if content.count(before) != 1:
    sys.exit(f"{source}: found {content.count(before)} versions, expected that of one dialect")
Path(target).write_bytes(content.replace(before, after))
