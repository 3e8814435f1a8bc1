"""Makes packages that are damaged in several ways of a good one."""

import hashlib
import io
import json
import sys
import tarfile

good, stem = sys.argv[1:]
content = open(good, "rb").read()
files = {file.name: tarfile.open(good).extractfile(file).read() for file in tarfile.open(good)}


def write(name, files):
    """A package of these files."""
    with tarfile.open(f"{stem}-{name}.mdhpkg", "w") as archive:
        for path, data in files.items():
            info = tarfile.TarInfo(path)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))


def changed(manifest):
    """The same with another manifest, and its sum."""
    other = dict(files, **{"manifest.json": json.dumps(manifest).encode()})
    names = ["manifest.json", "kernels.ptx", "host.so"]
    sums = [f"{hashlib.sha256(other[name]).hexdigest()}  {name}\n" for name in names]
    return dict(other, digest="".join(sums).encode())


manifest = json.loads(files["manifest.json"])
with open(f"{stem}-short.mdhpkg", "wb") as file:
    file.write(content[:1000])
write("changed", dict(files, **{"kernels.ptx": files["kernels.ptx"] + b"//"}))
write("new", changed(dict(manifest, format=2)))
expected = json.loads(json.dumps(manifest["expected"]))
expected[0]["bits"][0] = 0x42280000
write("wrong", changed(dict(manifest, expected=expected)))
