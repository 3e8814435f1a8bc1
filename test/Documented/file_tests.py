"""Tests of lit that are files: the passes' sources whose comments have blocks of MLIR, and pages.

`lit test/Documented --filter fuse.rs` runs that of one file.
"""

import os

import lit.formats
import lit.Test

import documented
import pages


class Files(lit.formats.TestFormat):
    """A test for each of some files below a folder, named by these; `check` says what is executed, what
    is not, and what is wrong."""

    def __init__(self, folder, name):
        self.folder, self.name = folder, name

    def files(self):
        """The files, by their paths in the folder."""
        raise NotImplementedError

    def check(self, path, environment):
        raise NotImplementedError

    def getTestsInDirectory(self, testSuite, path_in_suite, litConfig, localConfig):
        for path in sorted(self.files()):
            yield lit.Test.Test(testSuite, (*path_in_suite, *path.split(os.sep)), localConfig)

    def execute(self, test, litConfig):
        at = test.path_in_suite.index(self.name) + 1
        executed, skipped, failures = self.check(
            os.path.join(self.folder, *test.path_in_suite[at:]), test.config.environment)
        said = "\n".join([*failures, *skipped, f"{executed} blocks are executed, {len(skipped)} are not"])
        return (lit.Test.FAIL if failures else lit.Test.PASS), said


class Headers(Files):
    """The source files of passes."""

    def __init__(self, root, release):
        super().__init__(os.path.join(root, "passes", "src"), "Headers")
        self.mdh_opt = os.path.join(release, "mdh-opt")

    def files(self):
        for folder, _, names in os.walk(self.folder):
            for path in (os.path.join(folder, name) for name in names if name.endswith(".rs")):
                if documented.blocks(pages.read(path)):
                    yield os.path.relpath(path, self.folder)

    def check(self, path, environment):
        return documented.check(self.mdh_opt, path)


class Pages(Files):
    """README.md, and the pages of docs/ but the reference of the language."""

    def __init__(self, root, release):
        super().__init__(root, "Pages")
        self.release = release

    def files(self):
        docs = (name for name in os.listdir(os.path.join(self.folder, "docs")) if name.endswith(".md") and name != "langref.md")
        return ["README.md", *(os.path.join("docs", name) for name in docs)]

    def check(self, path, environment):
        return pages.check(self.release, path, environment)
