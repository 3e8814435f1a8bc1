"""Proves the rewrite rules of index expressions, which it reads: see scripts/prove-rules.

What is proved of a rule: for all integers, of any size, for which the left side has a value (all
divisors are positive) and the rule's condition holds, the right side has a value, and the same
one. `/` and `%` are the quotient and the remainder of floor division, and known by their
definition alone: x = d (x / d) + x % d and 0 <= x % d < d.

Where z3 finds no proof at once, STEPS leads there: each step is proved from those before it, so
that a wrong step proves nothing. Operations on bits are not integers'; those rules are proved for
each mask of 64-bit integers by itself, where floor division by a power of two is a shift.

The last line says how many rules are proved, which are not, and which are wrong (with values); a
rule that is only not proved fails too.
"""

import re
import sys

import z3

MILLISECONDS = 60_000
BITS = 64

# x = (a b) q + r with r = a s + t, so x = a (b q + s) + t, and s < b because r < a b.
NESTED = [
    "(< (/ (% ?x (* ?a ?b)) ?a) ?b)",
    "(<= 0 (/ (% ?x (* ?a ?b)) ?a))",
    "(== ?x (+ (* ?a (+ (* ?b (/ ?x (* ?a ?b))) (/ (% ?x (* ?a ?b)) ?a))) (% (% ?x (* ?a ?b)) ?a)))",
    "(== (/ ?x ?a) (+ (* ?b (/ ?x (* ?a ?b))) (/ (% ?x (* ?a ?b)) ?a)))",
]
STEPS = {"x % (a b) / a": NESTED, "x / a % b": NESTED}


def tree(text):
    """An S-expression as nested lists."""
    stack = [[]]
    for token in re.findall(r"[()]|[^\s()]+", text):
        if token == "(":
            stack.append([])
        elif token == ")":
            stack[-2].append(stack.pop())
        else:
            stack[-1].append(token)
    return stack[0][0]


def number(truth):
    return z3.If(truth, z3.IntVal(1), z3.IntVal(0))


PLAIN = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "min": lambda a, b: z3.If(a <= b, a, b),
    "max": lambda a, b: z3.If(a <= b, b, a),
    "select": lambda c, a, b: z3.If(c != 0, a, b),
    "<": lambda a, b: number(a < b),
    "<=": lambda a, b: number(a <= b),
    "==": lambda a, b: number(a == b),
    "!=": lambda a, b: number(a != b),
    # Of conditions, which are all that it joins outside of rules on bits.
    "&": lambda a, b: number(z3.And(a != 0, b != 0)),
}


class Integers:
    """Terms of z3's for expressions, with what defines their quotients."""

    def __init__(self):
        self.divisions = {}
        self.definitions = []
        self.divisors = []

    def term(self, node):
        if isinstance(node, str):
            return z3.Int(node[1:]) if node.startswith("?") else z3.IntVal(int(node))
        op, *operands = node
        operands = [self.term(operand) for operand in operands]
        return self.divided(op, *operands) if op in ("/", "%") else PLAIN[op](*operands)

    def divided(self, op, x, d):
        self.divisors.append(d)
        key = (x.sexpr(), d.sexpr())
        if key not in self.divisions:
            count = len(self.divisions)
            q, r = z3.Int(f"quotient{count}"), z3.Int(f"remainder{count}")
            self.divisions[key] = (q, r)
            self.definitions.append(z3.Implies(d > 0, z3.And(x == d * q + r, 0 <= r, r < d)))
        return self.divisions[key][op == "%"]


def refuted(premises, claim):
    """None if the claim follows, values for which it is wrong, or why neither is known."""
    solver = z3.Solver()
    solver.set("timeout", MILLISECONDS)
    solver.add(premises)
    solver.add(z3.Not(claim))
    answer = solver.check()
    if answer == z3.unsat:
        return None
    return f"wrong for {solver.model()}" if answer == z3.sat else solver.reason_unknown()


def of_integers(name, left, right, condition):
    terms = Integers()
    before = terms.term(tree(left))
    premises = [d > 0 for d in terms.divisors]
    if condition:
        premises.append(terms.term(tree(condition)) != 0)
    known = len(terms.divisors)
    after = terms.term(tree(right))
    claim = z3.And(before == after, *[d > 0 for d in terms.divisors[known:]])
    for step in STEPS.get(name, []):
        step_term = terms.term(tree(step)) != 0
        if why := refuted(premises + terms.definitions, step_term):
            return f"a step, {step}: {why}"
        premises.append(step_term)
    return refuted(premises + terms.definitions, claim)


def of_bits(left, right, condition):
    """For each mask m of low bits: 2^k - 1, for which m + 1 is no overflow."""
    shape = ("(& ?x ?m)", "(% ?x (+ ?m 1))", "(& (< 0 ?m) (== (& ?m (+ ?m 1)) 0))")
    if (left, right, condition) != shape:
        return "a rule on bits that is not known here"
    x = z3.BitVec("x", BITS)
    for k in range(1, BITS - 1):
        mask = z3.BitVecVal((1 << k) - 1, BITS)
        # A remainder of floor division by d: congruent, and from 0 to below d.
        rest = x - (x >> k) * (mask + 1)
        claim = z3.And(x & mask == rest, 0 <= rest, rest <= mask)
        if why := refuted([], claim):
            return why
    return None


def main():
    proved, unproved, wrong = [], [], []
    for line in sys.stdin:
        name, left, right, condition = line.rstrip("\n").split("\t")
        bits = "(& " in left
        why = of_bits(left, right, condition) if bits else of_integers(name, left, right, condition)
        where = f"for all {BITS}-bit integers" if bits else "for all integers"
        steps = f", in {len(STEPS[name])} steps" if name in STEPS else ""
        print(f"{name}: {f'proved {where}{steps}' if why is None else why}", flush=True)
        (proved if why is None else wrong if "wrong" in why else unproved).append(name)
    print(f"{len(proved)} of {len(proved) + len(unproved) + len(wrong)} rules are proved", end="")
    for what, names in ("not proved", unproved), ("wrong", wrong):
        print(f"; {what}: {', '.join(names)}" if names else "", end="")
    print()
    sys.exit(bool(unproved or wrong) or not proved)


if __name__ == "__main__":
    main()
