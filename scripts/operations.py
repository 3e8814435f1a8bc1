"""Operations of index expressions before and after, ours and SymPy's: see scripts/operations.

Both are counted in the same way: binary operations and functions, equal ones once. SymPy is told
what it can be told of symbols: integers, indices of 0 or more, sizes of 1 or more.
"""

import ast
import re
import signal
import sys

import sympy

SECONDS = 60
CALLS = {"select": lambda c, a, b: sympy.Piecewise((a, condition(c)), (b, True)),
         "min": sympy.Min, "max": sympy.Max, "isqrt": lambda a: sympy.floor(sympy.sqrt(a))}
INDICES = re.compile(r"i\d*|j|k|l|x")


def condition(c):
    """A comparison, or a number that is not 0 where it holds."""
    return c if isinstance(c, sympy.logic.boolalg.Boolean) else sympy.Ne(c, 0)


class Rewrite(ast.NodeTransformer):
    """Our division is SymPy's floor, and a comparison is a number unless it is asked for."""

    def visit_BinOp(self, node):
        self.generic_visit(node)
        if isinstance(node.op, ast.Div):
            node.op = ast.FloorDiv()
        return node

    def visit_Call(self, node):
        first = node.args[0]
        if node.func.id == "select" and isinstance(first, ast.Compare):
            node.args = [self.generic_visit(first), *map(self.visit, node.args[1:])]
            return node
        return self.generic_visit(node)

    def visit_Compare(self, node):
        self.generic_visit(node)
        numbers = [ast.Constant(1), ast.Constant(0)]
        return ast.Call(ast.Name("select", ast.Load()), [node, *numbers], [])


def evaluated(text, names):
    tree = ast.fix_missing_locations(Rewrite().visit(ast.parse(text, mode="eval")))
    return sympy.sympify(eval(compile(tree, "expression", "eval"), {"__builtins__": {}}, names))


def to_sympy(text):
    """An expression with `let NAME = VALUE in` before it."""
    names = dict(CALLS)
    for name in re.findall(r"[A-Za-z_]\w*", text):
        if name not in names and name not in ("let", "in"):
            sign = {"nonnegative": True} if INDICES.fullmatch(name) else {"positive": True}
            names[name] = sympy.Symbol(name, integer=True, **sign)
    while match := re.match(r"let (\w+) = (.*?) in ", text):
        names[match[1]] = evaluated(match[2], names)
        text = text[match.end():]
    return evaluated(text, names)


def own(e):
    """Counts the operations that a node of SymPy's is, without its operands."""
    if e.is_Atom or isinstance(e, (sympy.Tuple, sympy.functions.elementary.piecewise.ExprCondPair)):
        return 0
    if isinstance(e, sympy.floor):
        return 0 if isinstance(e.args[0], sympy.Pow) or is_quotient(e.args[0]) else 1
    if isinstance(e, sympy.Mul):
        count = len(e.args) - 1
        return count - (1 if e.args[0] == -1 else 0)  # the sum that it is part of subtracts
    if isinstance(e, (sympy.Add, sympy.And, sympy.Or, sympy.Min, sympy.Max, sympy.Piecewise)):
        return len(e.args) - 1
    if isinstance(e, sympy.Pow):
        if e.exp.is_Integer and e.exp > 0:
            return int(e.exp) - 1
        return 0 if e.exp == -1 else 1  # a factor 1/d is the division that its product counts
    return 1


def is_quotient(e):
    numbers = [a for a in e.args if a.is_Rational and not a.is_Integer]
    return isinstance(e, sympy.Mul) and (
        bool(numbers) or any(isinstance(a, sympy.Pow) and a.exp == -1 for a in e.args))


def operations(exprs):
    nodes = {node for e in exprs for node in sympy.preorder_traversal(e)}
    return sum(own(node) for node in nodes)


def stop(*_):
    raise TimeoutError


def compared(texts):
    """SymPy's operations, or why there are none."""
    signal.signal(signal.SIGALRM, stop)
    signal.alarm(SECONDS)
    try:
        exprs = [to_sympy(text) for text in texts]
        return str(operations([sympy.simplify(e) for e in exprs]))
    except TypeError:
        return "no ^"
    except sympy.core.evalf.PrecisionExhausted:
        return "fails: PrecisionExhausted"
    except TimeoutError:
        return f"over {SECONDS} s"
    finally:
        signal.alarm(0)


def main():
    print("| index expression | as given | simplified | SymPy's `simplify` |")
    print("|---|---|---|---|")
    for line in sys.stdin:
        name, what, before, after, *texts = line.rstrip("\n").split("\t")
        print(f"| {name}: {what} | {before} | {after} | {compared(texts)} |", flush=True)


if __name__ == "__main__":
    main()
