"""Every rule of scripts/tidy finds what it is there to find, and nothing in a tidy tree."""

import os
import shutil
import subprocess
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

TIDY_TREE = {
    "src/lib.rs": "//! Says what it is.\n\n#[allow(dead_code, reason = \"an example\")]\nfn f() {}\n",
    "README.md": "# Title\n\nSee [the examples](examples/README.md#all-of-them).\n",
    "examples/README.md": "# All of them\n\n- [`a.mlir`](a.mlir)\n",
    "docs/SUMMARY.md": "- [Glossary](glossary.md)\n",
    "docs/glossary.md": "# Glossary\n",
    "examples/a.mlir": "// An example.\n",
    "test/Run/a.mlir": "// RUN: mdh run %examples/a.mlir --check\n",
}


class Tidy(unittest.TestCase):
    def tidy(self, changes):
        """The output of scripts/tidy in a tidy tree in which some files have another text."""
        with tempfile.TemporaryDirectory() as tree:
            for path, text in {**TIDY_TREE, **changes}.items():
                os.makedirs(os.path.join(tree, os.path.dirname(path)), exist_ok=True)
                with open(os.path.join(tree, path), "w", encoding="utf-8") as file:
                    file.write(text)
            os.makedirs(os.path.join(tree, "scripts"), exist_ok=True)
            shutil.copy(os.path.join(ROOT, "scripts", "tidy"), os.path.join(tree, "scripts"))
            subprocess.run(["git", "init", "-q", tree], check=True)
            done = subprocess.run(
                [os.path.join(tree, "scripts", "tidy")], capture_output=True, text=True)
            self.assertEqual(done.stderr, "")
            return done.stdout

    def finds(self, path, text, message):
        """One rule is broken, by this file, and the finding says this."""
        output = self.tidy({path: text})
        self.assertRegex(output, r"(?m)^tidy: \d+ rules kept, 1 broken$")
        self.assertIn(message, output)

    def test_pass_headers(self):
        row = "pub const PASS: Pass = Pass {\n    argument: \"mdh-a\",\n};\n"
        block = "//!\n//! ```mlir\n//! a\n//! ```\n"
        for header, message in [
            ("//! Does it.\n" + block, "passes/src/a.rs:1: expected a comment that opens with `mdh-a`"),
            ("//! `mdh-a`: does it.\n", "passes/src/a.rs:1: found no block"),
            ("//! `mdh-a`: does it.\n" + block + row, "passes/src/a.rs:1: found the passes mdh-a, mdh-a"),
        ]:
            self.assertIn(message, self.tidy({"passes/src/a.rs": header + row}))
        self.assertNotIn("a.rs:1: found no block", self.tidy({"passes/src/a.rs": "//! `mdh-a`: does it.\n" + block + row}))

    def test_nothing_in_a_tidy_tree(self):
        self.assertRegex(self.tidy({}), r"(?m)^tidy: \d+ rules kept, 0 broken$")

    def test_module_docs(self):
        self.finds("src/a.rs", "fn f() {}\n", "src/a.rs:1: found 'fn f() {}'")

    def test_ignored(self):
        self.finds("src/a.rs", "//! A.\n\n#[test]\n#[ignore]\nfn f() {}\n", "src/a.rs:4: an ignored test")

    def test_allow(self):
        self.finds("src/a.rs", "//! A.\n#![allow(dead_code)]\n", "src/a.rs:2: an allow")

    def test_allow_in_a_string_is_no_allow(self):
        text = "//! #[allow(x)]\nconst A: &str = \"#[allow(x)] // #[ignore]\";\nconst B: char = '\"';\n"
        self.assertIn(" 0 broken", self.tidy({"src/a.rs": text}))

    def test_registry(self):
        self.finds("a.md", "see py" "pi.org\n", "a.md:1: a registry")

    def test_foreign_path(self):
        self.finds("a.md", "see /home" "/me/a.txt\n", "a.md:1: a path")

    def test_whitespace(self):
        self.finds("a.txt", "a \nb\n", "a.txt:1: blanks")
        self.finds("a.txt", "a", "a.txt:0: the file does not end")

    def test_links(self):
        self.finds("a.md", "[a](b.md)\n", "a.md:1: a link to b.md")
        self.finds("a.md", "\n[a](README.md#no)\n", "a.md:2: a link to README.md#no")
        self.assertIn(" 0 broken", self.tidy({"a.md": "`[a](b.md)`\n```\n[a](b.md)\n```\n"}))

    def test_book(self):
        self.finds("docs/layouts.md", "# Layouts\n", "docs/SUMMARY.md:1: layouts.md is not listed")
        listed = {"docs/layouts.md": "# Layouts\n", "docs/SUMMARY.md": "- [Glossary](glossary.md)\n- [Layouts](layouts.md)\n"}
        self.assertIn(" 0 broken", self.tidy(listed))

    def test_circles(self):
        names = "abcdef"
        files = {f"bench/src/{name}.rs": f"//! {name}.\nuse crate::{after}::f;\n"
                 for name, after in zip(names, names[1:] + names[:1])}
        self.assertIn("a circle of 6 files: a, b, c, d, e, f", self.tidy(files))
        elsewhere = {path.replace("bench", "test/a"): text for path, text in files.items()}
        self.assertIn("test/a/src/a.rs:1: a circle of 6 files", self.tidy(elsewhere))
        files["bench/src/f.rs"] = "//! f.\n"
        self.assertIn(" 0 broken", self.tidy(files))

    def test_crates_know(self):
        table = {"ARCHITECTURE.md": "# Crates\n\n| `src/` | all | LLVM, MLIR |\n"}
        manifest = "[dependencies]\n{}.workspace = true\n\n[dev-dependencies]\nmelior.workspace = true\n"
        self.assertIn("src/Cargo.toml:2: depends on mdh-passes, and ARCHITECTURE.md says it must not know MLIR",
                      self.tidy({**table, "src/Cargo.toml": manifest.format("mdh-passes")}))
        self.assertIn(" 0 broken", self.tidy({**table, "src/Cargo.toml": manifest.format("mdh-algebra")}))

    def test_operation_names(self):
        names = {"dialect/src/ops.rs": "//! Names.\n// ADDI = \"arith.addi\"\n"}
        code = '//! A.\nfn f() { g("arith.addi"); }\n'
        self.assertIn('passes/src/support/a.rs:2: found "arith.addi"', self.tidy({**names, "passes/src/support/a.rs": code}))
        other = '//! A.\nfn f() { g("an arith.addi"); } // "arith.addi"\n'
        self.assertIn(" 0 broken", self.tidy({**names, "passes/src/support/a.rs": other}))

    def test_combine_classes(self):
        classes = {"dialect/src/ir.rs": '//! Classes.\npub const CC: &str = "mdh.cc";\n'}
        self.assertIn(" 0 broken", self.tidy(classes))
        code = '//! A.\nfn f() { g("mdh.cc"); }\n'
        self.assertIn('passes/src/support/a.rs:2: found "mdh.cc"', self.tidy({**classes, "passes/src/support/a.rs": code}))
        self.assertIn(" 0 broken", self.tidy({**classes, "passes/src/support/a.rs": '//! A.\nfn f() { g("mdh.pq"); }\n'}))

    def test_words(self):
        words = {"scripts/words.txt": "# Words.\nbrought (before|ahead)  prefetched\n"}
        self.assertIn("a.md:1: expected words like 'prefetched': brought ahead",
                      self.tidy({**words, "a.md": "It is brought ahead.\n"}))
        self.assertIn(" 0 broken", self.tidy({**words, "a.md": "It is prefetched.\n"}))
        for name, content in [("a.toml", "# Brought\n# ahead\n"), ("a.h", "// brought\n// ahead\n"),
                              ("a.txt", "BROUGHT_AHEAD\n"), ("b.txt", "brought \\\n  ahead\n")]:
            self.assertIn(f"{name}:1: expected words like", self.tidy({**words, name: content}))

    def test_names_of_types(self):
        names = {"docs/glossary.md": "# Words\n\n## Names in the sources\n\n| name | meaning |\n| --- | --- |\n"
                 "| `Form` | one |\n| axis | named: `LineAxis` |\n",
                 "src/b.rs": "//! B.\nstruct Form;\nstruct LineAxis;\nimpl T for X {\n    type Form = u8;\n}\n"}
        self.assertIn(" 0 broken", self.tidy(names))
        code = "//! A.\npub enum Form {}\npub(crate) type Axis = u8;\nstruct LineAxis;\n"
        output = self.tidy({**names, "src/c.rs": code})
        for found in ("src/c.rs:2: a type Form", "src/c.rs:3: a type Axis", "src/c.rs:4: another type LineAxis"):
            self.assertIn(found, output)
        del names["src/b.rs"]
        self.assertIn("docs/glossary.md:1: there is no type LineAxis", self.tidy(names))

    def test_openings(self):
        self.finds("src/a.rs", "//! A.\n\n/// Whether it is.\nfn f() {}\n", "src/a.rs:3: /// Whether it is.")
        self.assertIn(" 0 broken", self.tidy({"src/a.rs": "//! A.\n\n/// Says\n/// whether\n/// What.\nfn f() {}\n"}))
        self.finds("src/a.rs", "//! A.\n\n// Where it is.\nfn f() {}\n", "src/a.rs:3: // Where it is.")
        self.finds("src/a.h", "// A.\n\n// Which one.\nint f();\n", "src/a.h:3: // Which one.")
        self.finds("src/a.cpp", "// How it goes.\nint f() {}\n", "src/a.cpp:1: // How it goes.")
        self.finds("src/a.td", "def A {\n  let summary = \"what it is\";\n}\n", "src/a.td:2: summary")
        self.finds("a.py", "def f():\n    \"\"\"What it does.\"\"\"\n", "a.py:2: What it does.")
        self.finds("a", "#!/usr/bin/env python3\n\"\"\"How.\"\"\"\n", "a:2: How.")
        code = {"src/a.cpp": "int f() {\n  // What is left.\n  g();\n}\n", "src/a.rs": "//! A.\nfn f() {\n    // When.\n    g();\n}\n"}
        self.assertIn(" 0 broken", self.tidy(code))

    def test_examples(self):
        output = self.tidy({"examples/b.mlir": "// B.\n"})
        self.assertIn("examples/README.md:1: b.mlir is not listed", output)
        self.assertIn("no test in test/Run runs %examples/b.mlir", output)

    def test_passes_by_name(self):
        named = '//! `mdh-a`: A.\nPass {\n    argument: "mdh-a",\n'
        self.assertIn("passes/src/tile/b.rs:1: found ['a'], expected", self.tidy({"passes/src/tile/b.rs": named}))
        self.finds("passes/src/b.rs", "//! B.\n", "passes/src/b.rs:1: expected a folder's file")
        self.finds("passes/src/tile/b/c.rs", "//! C.\n", "passes/src/tile/b/c.rs:1: found the folder tile/b of no pass")

    def test_counts(self):
        self.finds("src/a.rs", "//! A.\nfn f() {\n    let own = 1;\n}\n", "found 1 names that say nothing")

    def test_passes(self):
        path, run = "test/Passes/a.mlir", "// RUN: mdh-opt %s --mdh-a | FileCheck %s\n\n"
        files = {"passes/src/tile/a.rs": '//! `mdh-a`: A.\n//! ```mlir\n//! a\n//! ```\nPass {\n    argument: "mdh-a",\n',
                 "passes/src/table.rs": "//! Table.\nPASSES: &[Pass] = &[\n    a::PASS,\n];\n"}
        does, silent = "// CHECK: a\n", "// Silent: none was asked for.\n// CHECK-NOT: a\n"
        says, refuses, nothing = "// expected-remark {{no}}\n", "// expected-error {{no}}\n", "// Refuses nothing: all fits.\n"
        for kept in (does + says + refuses, does + "\n" + silent + "\n" + nothing):
            self.assertIn(" 0 broken", self.tidy({**files, path: run + kept}))
        for broken, found in [("", "has no test"), (says + refuses, "found no CHECK"),
                              (does + refuses, "found no remark"), (does + says, "found no error"),
                              (does + "\n// Silent: none was.\n\n" + nothing, "found no remark")]:
            self.assertIn(found, self.tidy({**files, path: run + broken} if broken else files))

    def test_example_that_is_not_there(self):
        self.finds("examples/README.md", "# All of them\na.mlir, b.mlir\n", "b.mlir is listed, but")

    def test_architecture(self):
        self.finds("ARCHITECTURE.md", "a\n" * 201, "found 201 lines, expected at most 200")

    def test_shell(self):
        self.finds("a.sh", "if\n", "a.sh: line")

    def test_long_functions_are_noted_but_for_the_exceptions(self):
        text = "//! A.\n\nfn f() {\n" + "    // }\n" * 70 + "}\n"
        self.assertIn("note: src/a.rs:3: src/a.rs::f has 72 lines", self.tidy({"src/a.rs": text}))
        listed = "scripts/tidy-exceptions.txt"
        self.assertNotIn("note: src", self.tidy({"src/a.rs": text, listed: "src/a.rs::f one match\n"}))
        self.finds(listed, "src/a.rs::f one match\n", "is not that long")

    def test_brackets_of_a_signature_are_no_body(self):
        body = "{\n" + "    // }\n" * 70 + "}\n"
        for head in ("f([a, b]: [A; 2])", "f(a: [A; { 1 + 1 }]) -> [A; 2]", "f<T>(a: A)\nwhere\n    [T; 2]: B,\n"):
            text = f"//! A.\n\nfn {head} {body}"
            self.assertIn("note: src/a.rs:3: src/a.rs::f has", self.tidy({"src/a.rs": text}))
        text = "//! A.\n\ntrait A {\n    fn f(a: [A; 2]);\n" + "    // }\n" * 70 + "}\n"
        self.assertNotIn("note: src", self.tidy({"src/a.rs": text}))


if __name__ == "__main__":
    unittest.main()
