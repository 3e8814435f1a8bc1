"""Spoils candidates of a package for mdh-exec --tune, each in another way: spoil.py IN OUT

Candidate 1 has kernels that are none, 2 stores nothing, 3 does not end, and the code of 4 is no
library. Their sums are those of what they are now, so that the package is whole.
"""

import hashlib
import io
import re
import sys
import tarfile


def without_stores(text):
    return re.sub(r"\tst\.global[^\n]*\n", "\n", text)


def endless(text):
    return re.sub(r"\n\tld\.param", "\n$HERE:\n\tbra.uni \t$HERE;\n\tld.param", text, count=1)


archive = tarfile.open(sys.argv[1])
files = {member.name: archive.extractfile(member).read() for member in archive}
texts = {name: content.decode() for name, content in files.items() if name.endswith(".ptx")}
files["1.ptx"] = b"not PTX\n"
files["2.ptx"] = without_stores(texts["2.ptx"]).encode()
files["3.ptx"] = endless(texts["3.ptx"]).encode()
files["4.so"] = b"no library"
assert files["2.ptx"].decode() != texts["2.ptx"] and files["3.ptx"].decode() != texts["3.ptx"]
sums = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
lines = (f"{sums[name]}  {name}\n" for name in files if name != "digest")
files["digest"] = "".join(lines).encode()
with tarfile.open(sys.argv[2], "w") as output:
    for name, content in files.items():
        member = tarfile.TarInfo(name)
        member.size = len(content)
        output.addfile(member, io.BytesIO(content))
