//! A normal form: polynomials over what is no sum, difference or product.
//!
//! Two expressions with the same normal form are equal, and what a layout makes of sizes that are
//! symbols is decided here. Quotients and remainders are taken apart where that is proved to be
//! sound (with `/` and `%` of floor division, and `d >= 1` wherever there is a value):
//!
//! ```text
//! (d * q + r) / d        ->  q + r / d           (d * q + r) % d        ->  r % d
//! r / d                  ->  0                   r % d                  ->  r             0 <= r < d
//! (g * a + b) / (g * c)  ->  a / c               (g * a + b) % (g * c)  ->  g * (a % c) + b
//!                                                                                         0 <= b < g
//! (x / a) / b            ->  x / (a * b)
//! (x % (a * b)) / a      ->  (x / a) % b         (x % (a * b)) % a      ->  x % a
//! d * (x / d) + x % d    ->  x
//! min(a, b)              ->  a                                                            a <= b
//! a < b                  ->  1                                                            a < b
//! select(c, a, b)        ->  a                                                            c != 0
//! x & (2^k - 1)          ->  x % 2^k
//! ```
//!
//! The first four are those of the LEGO paper's table 1 with its fifth below them; the paper asks
//! an SMT solver for the conditions, here `super::prove` proves them.

use std::collections::HashMap;

use super::poly::{Atom, Poly, common};
use super::write::SumForm;
use super::{Expr, Facts, IndexProgram, Interval, Node, Op};

/// Brings expressions to their normal form under what is known of their symbols.
pub(super) struct Normalizer<'f> {
    facts: &'f Facts,
    pub(super) atoms: Vec<Known>,
    numbers: HashMap<Node<Poly>, Atom>,
    /// Steps left for proofs: an expression that is not proved in time stays as it is.
    pub(super) fuel: u32,
}

/// An atom and what is known of it.
pub(super) struct Known {
    pub(super) node: Node<Poly>,
    pub(super) interval: Interval,
    /// Sums that it is never below and never above.
    pub(super) lower: Option<Poly>,
    pub(super) upper: Option<Poly>,
    /// Larger than the ranks of all that its bounds are made of; 0 if it has none but constants.
    pub(super) rank: usize,
    /// Of a remainder `x % d`: `x`, `d * (x / d)`.
    parts: Option<(Poly, Poly)>,
}

/// Steps of proofs for one expression.
const FUEL: u32 = 20_000;

impl<'f> Normalizer<'f> {
    pub(super) fn new(facts: &'f Facts) -> Normalizer<'f> {
        Normalizer {
            facts,
            atoms: Vec::new(),
            numbers: HashMap::new(),
            fuel: FUEL,
        }
    }

    /// The normal forms of a program's expressions.
    pub(super) fn normalize(&mut self, program: &IndexProgram) -> Vec<Poly> {
        let polys = self.each(program);
        program.roots().iter().map(|r| polys[*r].clone()).collect()
    }

    /// The normal forms of all operations of a program.
    pub(super) fn each(&mut self, program: &IndexProgram) -> Vec<Poly> {
        let mut polys: Vec<Poly> = Vec::with_capacity(program.nodes().len());
        for node in program.nodes() {
            polys.push(self.node(&node.map(|c| polys[*c].clone())));
        }
        polys
    }

    fn node(&mut self, node: &Node<Poly>) -> Poly {
        let simpler = match node {
            Node::Const(c) => Some(Poly::constant((*c).into())),
            Node::Symbol(_) => None,
            Node::Sqrt([a]) => constant(a)
                .and_then(|a| a.checked_isqrt())
                .map(|root| Poly::constant(root.into())),
            Node::Binary(op, [a, b]) => self.binary(*op, a, b),
            Node::Select([c, a, b]) => match self.range(c) {
                _ if a == b => Some(a.clone()),
                c if c.constant() == Some(0) => Some(b.clone()),
                c if !c.contains(0) => Some(a.clone()),
                _ => None,
            },
            Node::Load(table, [i]) => {
                let index = constant(i).and_then(|i| usize::try_from(i).ok());
                let values = table.values.as_ref();
                let value = index.and_then(|i| values?.get(i).copied());
                value.map(|v| Poly::constant(v.into()))
            }
        };
        simpler.unwrap_or_else(|| Poly::atom(self.atom(node, None)))
    }

    fn binary(&mut self, op: Op, a: &Poly, b: &Poly) -> Option<Poly> {
        if let (Some(a), Some(b)) = (constant(a), constant(b)) {
            return op.apply(a, b).ok().map(|v| Poly::constant(v.into()));
        }
        let truth = |yes: bool| Some(Poly::constant(yes.into()));
        match op {
            Op::Add => Some(self.recombine(a.add(b)?)),
            Op::Sub => Some(self.recombine(a.sub(b)?)),
            Op::Mul => Some(self.recombine(a.mul(b)?)),
            Op::Div => Some(self.divide(a, b)?.0),
            Op::Mod => Some(self.divide(a, b)?.1),
            Op::Min | Op::Max => match self.compare(a, b)? {
                Order::NotAbove | Order::Below => Some([a, b][usize::from(op == Op::Max)].clone()),
                Order::NotBelow | Order::Above => Some([b, a][usize::from(op == Op::Max)].clone()),
                Order::Unknown => None,
            },
            Op::Lt | Op::Le => match (self.compare(a, b)?, op) {
                (Order::Below, _) | (Order::NotAbove, Op::Le) => truth(true),
                (Order::Above, _) | (Order::NotBelow, Op::Lt) => truth(false),
                // Equal ones are both not above and not below; the order found first is kept.
                _ if a == b => truth(op == Op::Le),
                _ => None,
            },
            Op::Eq | Op::Ne => match self.compare(a, b)? {
                _ if a == b => truth(op == Op::Eq),
                Order::Below | Order::Above => truth(op == Op::Ne),
                _ => None,
            },
            Op::And => match (a, b) {
                (a, b) if a == b => Some(a.clone()),
                (a, mask) | (mask, a) if constant(mask).is_some_and(is_low_bits) => {
                    let size = mask.plus(1)?;
                    Some(self.divide(a, &size)?.1)
                }
                _ => None,
            },
            Op::Or if a == b => Some(a.clone()),
            Op::Xor if a == b => Some(Poly::default()),
            Op::Or | Op::Xor => match (constant(a), constant(b)) {
                (Some(0), _) => Some(b.clone()),
                (_, Some(0)) => Some(a.clone()),
                _ => None,
            },
        }
    }

    fn compare(&mut self, a: &Poly, b: &Poly) -> Option<Order> {
        let (up, down) = (b.sub(a)?, a.sub(b)?);
        Some(if self.is_nonnegative(&up.plus(-1)?) {
            Order::Below
        } else if self.is_nonnegative(&down.plus(-1)?) {
            Order::Above
        } else if self.is_nonnegative(&up) {
            Order::NotAbove
        } else if self.is_nonnegative(&down) {
            Order::NotBelow
        } else {
            Order::Unknown
        })
    }

    /// The quotient and the remainder, of which the divisor is positive.
    fn divide(&mut self, x: &Poly, d: &Poly) -> Option<(Poly, Poly)> {
        if constant(d).is_some_and(|d| d <= 0) {
            return None;
        }
        let (quotient, rest) = x.split(d)?;
        let (q, r) = self.divide_rest(&rest, d)?;
        Some((quotient.add(&q)?, r))
    }

    /// The same of what holds no multiple of the divisor's leading term.
    fn divide_rest(&mut self, x: &Poly, d: &Poly) -> Option<(Poly, Poly)> {
        for whole in [0, -1, 1] {
            let rest = x.sub(&d.mul(&Poly::constant(whole))?)?;
            if self.is_remainder(&rest, d) {
                return Some((Poly::constant(whole), rest));
            }
        }
        if let Some(term) = d.as_term() {
            for divisor in x.terms().map(|t| common(t, term)).collect::<Vec<_>>() {
                if divisor.as_constant() == Some(1) {
                    continue;
                }
                let (a, b) = x.split(&divisor)?;
                if !a.is_zero() && self.is_remainder(&b, &divisor) {
                    let (smaller, _) = d.split(&divisor)?;
                    let (q, r) = self.divide(&a, &smaller)?;
                    return Some((q, divisor.mul(&r)?.add(&b)?));
                }
            }
        }
        let inner = x.as_atom().map(|atom| self.atoms[atom].node.clone());
        match inner {
            Some(Node::Binary(Op::Div, [y, a])) => {
                let quotient = self.divide(&y, &a.mul(d)?)?.0;
                let rest = self.remainder(x, d, &quotient);
                Some((quotient, rest))
            }
            Some(Node::Binary(Op::Mod, [y, m])) => match m.split(d)? {
                (b, rest) if rest.is_zero() => {
                    let (quotient, remainder) = self.divide(&y, d)?;
                    Some((self.divide(&quotient, &b)?.1, remainder))
                }
                _ => Some(self.undivided(x, d)),
            },
            _ => Some(self.undivided(x, d)),
        }
    }

    fn undivided(&mut self, x: &Poly, d: &Poly) -> (Poly, Poly) {
        let node = Node::Binary(Op::Div, [x.clone(), d.clone()]);
        let quotient = Poly::atom(self.atom(&node, None));
        let rest = self.remainder(x, d, &quotient);
        (quotient, rest)
    }

    /// `x % d`, whose quotient is that.
    fn remainder(&mut self, x: &Poly, d: &Poly, quotient: &Poly) -> Poly {
        let node = Node::Binary(Op::Mod, [x.clone(), d.clone()]);
        let parts = quotient.mul(d).map(|multiple| (x.clone(), multiple));
        Poly::atom(self.atom(&node, parts))
    }

    /// Returns whether `0 <= x < d`.
    pub(super) fn is_remainder(&mut self, x: &Poly, d: &Poly) -> bool {
        let above = d.sub(x).and_then(|rest| rest.plus(-1));
        self.is_nonnegative(x) && above.is_some_and(|above| self.is_nonnegative(&above))
    }

    /// `d * (x / d) + x % d -> x`, also of multiples.
    fn recombine(&self, mut sum: Poly) -> Poly {
        loop {
            let rewritten = sum.terms().find_map(|(monomial, c)| {
                monomial.iter().enumerate().find_map(|(at, atom)| {
                    let (whole, multiple) = self.atoms[*atom].parts.as_ref()?;
                    let mut left = monomial.clone();
                    left.remove(at);
                    let factor = Poly::term(left, c);
                    let multiple = multiple.mul(&factor)?;
                    let term = Poly::term(monomial.clone(), c);
                    let replaced = sum.has_terms_of(&multiple) && !multiple.is_zero();
                    let rest = replaced.then(|| sum.sub(&multiple)?.sub(&term))??;
                    rest.add(&whole.mul(&factor)?)
                })
            });
            match rewritten {
                Some(simpler) => sum = simpler,
                None => return sum,
            }
        }
    }

    /// The atom that an operation is; of a remainder, with what it and its quotient add up to.
    fn atom(&mut self, node: &Node<Poly>, parts: Option<(Poly, Poly)>) -> Atom {
        if let Some(atom) = self.numbers.get(node) {
            return *atom;
        }
        let mut known = self.known(node);
        known.parts = parts;
        // Finding the bounds may have made other atoms, but not this one: they are smaller.
        self.atoms.push(known);
        self.numbers.insert(node.clone(), self.atoms.len() - 1);
        self.atoms.len() - 1
    }

    fn known(&mut self, node: &Node<Poly>) -> Known {
        let interval = self.facts.of_node(node, |c| self.range(c));
        let (mut lower, mut upper) = (None, None);
        match node {
            Node::Symbol(name) => {
                if let Some(bound) = self.facts.below(name) {
                    let bound = self.normalize(&IndexProgram::new(std::slice::from_ref(bound)));
                    upper = bound[0].plus(-1);
                }
            }
            Node::Binary(Op::Mod, [_, d]) => upper = d.plus(-1),
            Node::Binary(Op::Div, [x, d]) => {
                if self.is_nonnegative(x) {
                    lower = Some(Poly::default());
                }
                let most = self.upper(x);
                upper = most.and_then(|most| self.divide_bound(&most, d));
            }
            _ => {}
        }
        let made_of = lower.iter().chain(&upper).flat_map(Poly::atoms);
        let rank = made_of.map(|a| self.atoms[a].rank + 1).max().unwrap_or(0);
        let end = |v: i128| (v.abs() < super::interval::INFINITE).then(|| Poly::constant(v));
        Known {
            node: node.clone(),
            interval,
            lower: lower.or(end(interval.min)),
            upper: upper.or(end(interval.max)),
            rank,
            parts: None,
        }
    }
}

#[derive(Clone, Copy)]
enum Order {
    Below,
    NotAbove,
    Above,
    NotBelow,
    Unknown,
}

fn constant(p: &Poly) -> Option<i64> {
    i64::try_from(p.as_constant()?).ok()
}

fn is_low_bits(mask: i64) -> bool {
    mask > 0
        && mask
            .checked_add(1)
            .is_some_and(|size| size.count_ones() == 1)
}

/// Returns whether two expressions are proved to be equal wherever both have a value.
pub fn equal(facts: &Facts, a: &Expr, b: &Expr) -> bool {
    let mut normalizer = Normalizer::new(facts);
    let forms = normalizer.normalize(&IndexProgram::new(&[a.clone(), b.clone()]));
    forms[0] == forms[1]
}

/// Returns whether `a <= b` is proved wherever both have a value.
pub fn at_most(facts: &Facts, a: &Expr, b: &Expr) -> bool {
    let mut normalizer = Normalizer::new(facts);
    let forms = normalizer.normalize(&IndexProgram::new(&[a.clone(), b.clone()]));
    let rest = forms[1].sub(&forms[0]);
    rest.is_some_and(|rest| normalizer.is_nonnegative(&rest))
}

/// Simplifies by the normal form alone: the shortest of the expression, its normal form as a sum
/// of products, and that with common factors taken out.
pub fn normal(facts: &Facts, e: &Expr) -> Expr {
    let mut normalizer = Normalizer::new(facts);
    let form = normalizer.normalize(&IndexProgram::new(std::slice::from_ref(e)));
    let written = [SumForm::Factored, SumForm::Expanded].map(|f| normalizer.to_expr(&form[0], f));
    let forms = written.into_iter().flatten().chain([e.clone()]);
    let operations = |e: &Expr| IndexProgram::new(std::slice::from_ref(e)).nodes().len();
    forms.min_by_key(operations).unwrap_or_else(|| e.clone())
}

#[cfg(test)]
#[path = "normal_tests.rs"]
mod tests;
