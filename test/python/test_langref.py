"""Every block of code in docs/langref.md does what the page says it does.

A block ```mlir is accepted by mdh-opt, prints as what it prints to once more, survives the
generic form and bytecode, and every `// run: f(arguments) == results` in it holds under `mdh
run` of what mdh-opt makes of it under the options of its `// options:` line. A block ```mlir-error
is refused with the message of its `// error:` line, under the options of its `// options:` line. Any other block
stands below a comment `<!-- not executed: REASON -->`, as on the other pages; these are counted.
"""

import os
import re
import subprocess
import tempfile
import unittest

import numpy as np

from mdh import DTYPES, RELEASE, ROOT, mdh

PAGE = os.path.join(ROOT, "docs", "langref.md")
# Grammars and formulas, not more of them.
MOST_UNEXECUTED = 11
NAMES = {"inf": np.inf, "nan": np.nan}


def blocks(kind):
    """(line, text) of each block of that kind."""
    with open(PAGE, encoding="utf-8") as file:
        page = file.read()
    for match in re.finditer(rf"(?ms)^```{kind}\n(.*?)^```$", page):
        yield page.count("\n", 0, match.start()) + 1, match[1]


def unexecuted(page):
    """(line, what is wrong or None) of each block that is not executed, and of those with a comment that are."""
    for match in re.finditer(r"(?ms)^```([^\n]*)\n.*?^```$", page):
        line = page.count("\n", 0, match.start()) + 1
        before = page[:match.start()].rpartition("\n")[0].rpartition("\n")[2]
        is_marked = re.fullmatch(r"<!-- not executed: \S.* -->", before)
        is_executed = match[1] in ("mlir", "mlir-error")
        if is_executed and before.startswith("<!--"):
            yield line, f"found a comment before a block ```{match[1]}, which is executed: expected none"
        elif not is_executed:
            wrong = f"found a block ```{match[1]}: expected ```mlir, ```mlir-error or <!-- not executed: REASON -->"
            yield line, None if is_marked else wrong


def mdh_opt(text, *options):
    """Returns what `mdh-opt OPTIONS` makes of a program given as text or bytecode."""
    text = text.encode() if isinstance(text, str) else text
    return subprocess.run([os.path.join(RELEASE, "mdh-opt"), *options], input=text, capture_output=True)


def options(block):
    """The options of mdh-opt that a block asks for."""
    return [word for words in re.findall(r"(?m)^// options: (.*)$", block) for word in words.split()]


def arguments(block, function):
    """(name, shape, element type) of each argument of a function; the shape of a scalar is None."""
    signature = re.search(rf"func\.func @{function}\((.*?)\)\s*(?:->|{{)", block, re.DOTALL)[1]
    for name, ty in re.findall(r"%(\w+): ([\w<>]+)", signature):
        array = re.fullmatch(r"\w+<((?:\d+x)*)(\w+)>", ty)
        yield (name, [int(n) for n in array[1].split("x")[:-1]], array[2]) if array else (name, None, ty)


def execute(block, folder, call):
    """The results of a call of a function of a block, as a list of arrays.

    Arguments that are only written are called by name: to `mdh run` they are no inputs.
    """
    function, values = call.split("(", 1)
    positional, named = eval(f"call({values}", {**NAMES, "call": lambda *p, **n: (p, n)})
    program = os.path.join(folder, "block.mlir")
    with open(program, "w", encoding="utf-8") as file:
        file.write(mdh_opt(block, *options(block)).stdout.decode() if options(block) else block)
    inputs = []
    for i, (name, shape, element) in enumerate(arguments(block, function)):
        value = named[name] if name in named else positional[i]
        path = os.path.join(folder, f"{name}.npy")
        if shape is not None:
            np.save(path, np.array(value, DTYPES[element]).reshape(shape))
        inputs.append((f"{name}=" if name in named else "") + str(value if shape is None else path))
    outputs = [os.path.join(folder, f"out{i}.npy") for i in range(9)]
    results = re.search(rf"func\.func @{function}\(.*?\)\s*->\s*(.*?) {{$", block, re.DOTALL | re.MULTILINE)[1]
    outputs = outputs[:len(re.findall(r"tensor<", results))]
    # What scripts make of a program may be more than the oracle evaluates.
    checks = [] if options(block) else ["--check", "--check-laws"]
    mdh("run", program, "--entry", function, *(["--in", *inputs] if inputs else []), "--out", *outputs, *checks)
    return [np.load(path) for path in outputs]


class LanguageReference(unittest.TestCase):
    def test_unexecuted(self):
        with open(PAGE, encoding="utf-8") as file:
            found = list(unexecuted(file.read()))
        self.assertEqual([f"{line}: {wrong}" for line, wrong in found if wrong], [])
        self.assertLessEqual(len(found), MOST_UNEXECUTED)

    def test_what_is_refused_unexecuted(self):
        marked = "text\n\n<!-- not executed: a grammar -->\n```\na ::= b\n```\n"
        self.assertEqual(list(unexecuted(marked)), [(4, None)])
        for text in ("\n```\na ::= b\n```\n", "<!-- not executed: -->\n```text\na\n```\n",
                     "<!-- not executed: long -->\n```mlir\n```\n", "<!-- not executed: far -->\n\n```\na\n```\n"):
            with self.subTest(text=text):
                [(_, wrong)] = unexecuted(text)
                self.assertIn("expected", wrong)

    def test_accepted(self):
        for line, block in blocks("mlir"):
            with self.subTest(line=line):
                done = mdh_opt(block)
                self.assertEqual(done.returncode, 0, done.stderr.decode())
                for form in ([], ["--mlir-print-op-generic"], ["--emit-bytecode"]):
                    again = mdh_opt(mdh_opt(block, *form).stdout)
                    self.assertEqual(again.stdout.decode(), done.stdout.decode(), form)

    def test_refused(self):
        for line, block in blocks("mlir-error"):
            with self.subTest(line=line):
                [message] = re.findall(r"(?m)^// error: (.*)$", block)
                done = mdh_opt(block, *options(block))
                self.assertEqual(done.returncode, 1)
                self.assertIn(message, done.stderr.decode())

    def test_results(self):
        count = 0
        for line, block in blocks("mlir"):
            for call, results in re.findall(r"(?m)^// run: (\w+\(.*\)) == (.*)$", block):
                count += 1
                with self.subTest(line=line, call=call), tempfile.TemporaryDirectory() as folder:
                    found = execute(block, folder, call)
                    expected = eval(results, NAMES)
                    expected = expected if isinstance(expected, tuple) else (expected,)
                    self.assertEqual(len(found), len(expected))
                    for array, value in zip(found, expected):
                        np.testing.assert_array_equal(array, np.array(value).reshape(array.shape))
        self.assertGreater(count, 0, "no line '// run:' was found")


if __name__ == "__main__":
    unittest.main()
