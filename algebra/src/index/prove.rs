//! Proofs that a sum of products is never negative.
//!
//! No system over the integers ([`crate::integer`]) is asked: `i < n` bounds `i * m` by `n * m - m`, a bound
//! times a factor whose sign is proved, and to a system products are unknowns that have nothing to
//! do with each other. A normal form asks thousands of such questions, of which most have no proof,
//! so each is answered by one substitution after the other, without a search. Where all is
//! constant, intervals decide.

use super::normal::Normalizer;
use super::poly::{Atom, Poly};
use super::{Interval, Node, Op};

/// Nesting of proofs.
const DEPTH: u32 = 10;

impl Normalizer<'_> {
    /// `x / d`, if no quotient is left in it.
    pub(super) fn divide_bound(&mut self, x: &Poly, d: &Poly) -> Option<Poly> {
        let (quotient, rest) = x.split(d)?;
        [0, -1].into_iter().find_map(|whole| {
            let rest = rest.sub(&d.mul(&Poly::constant(whole))?)?;
            let exact = self.is_remainder(&rest, d);
            exact.then(|| quotient.plus(whole))?
        })
    }

    /// A sum of sizes that is never below `x`.
    pub(super) fn upper(&mut self, x: &Poly) -> Option<Poly> {
        let mut most = x.clone();
        while let Some(atom) = self.highest(&most) {
            let (factor, rest) = most.by_atom(atom);
            let bound = if self.is_nonnegative(&factor) {
                self.atoms[atom].upper.clone()?
            } else if self.is_nonnegative(&factor.negated()?) {
                self.atoms[atom].lower.clone()?
            } else {
                return None;
            };
            most = factor.mul(&bound)?.add(&rest)?;
        }
        Some(most)
    }

    /// The atom of the highest rank above 0.
    fn highest(&self, p: &Poly) -> Option<Atom> {
        let atoms = p.atoms().into_iter();
        let ranked = atoms.filter(|a| self.atoms[*a].rank > 0);
        ranked.max_by_key(|a| (self.atoms[*a].rank, *a))
    }

    /// The values of a sum, by the intervals of its atoms.
    pub(super) fn range(&self, p: &Poly) -> Interval {
        let exactly = |c: i128| Interval::new(c, c);
        p.terms().fold(exactly(0), |sum, (monomial, c)| {
            let atoms = monomial.iter().map(|atom| self.atoms[*atom].interval);
            sum.plus(atoms.fold(exactly(c), Interval::times))
        })
    }

    /// Returns whether it is proved to be 0 or more.
    ///
    /// Indices and quotients are replaced by their bounds, those with bounds of other such atoms
    /// first, then sizes by their smallest values: of `atom * factor + rest`, the lower bound if
    /// the factor is proved not to be negative, and the upper bound if it is not positive.
    pub(super) fn is_nonnegative(&mut self, p: &Poly) -> bool {
        self.nonnegative(p, DEPTH)
    }

    fn nonnegative(&mut self, p: &Poly, depth: u32) -> bool {
        if self.range(p).min >= 0 {
            return true;
        }
        if depth == 0 || self.fuel == 0 {
            return false;
        }
        self.fuel -= 1;
        let mut atoms = p.atoms();
        atoms.sort_by_key(|a| std::cmp::Reverse((self.atoms[*a].rank, *a)));
        for atom in atoms {
            let (factor, rest) = p.by_atom(atom);
            if let Some(least) = self.without_quotient(atom, &factor, &rest, depth) {
                return self.nonnegative(&least, depth - 1);
            }
            let bound = if self.nonnegative(&factor, depth - 1) {
                self.atoms[atom].lower.clone()
            } else if factor
                .negated()
                .is_some_and(|f| self.nonnegative(&f, depth - 1))
            {
                self.atoms[atom].upper.clone()
            } else {
                None
            };
            let least = bound.and_then(|bound| factor.mul(&bound)?.add(&rest));
            if let Some(least) = least {
                return self.nonnegative(&least, depth - 1);
            }
        }
        false
    }

    /// Something never above `atom * factor + rest`, if the atom is a quotient and the factor a
    /// multiple of its divisor: `x - (d - 1) <= d * (x / d) <= x`.
    fn without_quotient(
        &mut self,
        atom: Atom,
        factor: &Poly,
        rest: &Poly,
        depth: u32,
    ) -> Option<Poly> {
        let Node::Binary(Op::Div, [x, d]) = self.atoms[atom].node.clone() else {
            return None;
        };
        let (times, left) = factor.split(&d)?;
        if !left.is_zero() {
            return None;
        }
        let bound = if self.nonnegative(&times, depth - 1) {
            x.sub(&d)?.plus(1)?
        } else if self.nonnegative(&times.negated()?, depth - 1) {
            x
        } else {
            return None;
        };
        times.mul(&bound)?.add(rest)
    }
}
