//! Polynomials with integer coefficients over numbered atoms.
//!
//! A layer of its own over what [`crate::integer`] decides: sizes are symbols here, and `i * m + j` is no
//! linear form of them. Terms are products in a fixed order, since polynomials are keys, and are
//! multiplied and divided by each other, which forms are not.
//!
//! What leaves 128 bits, or grows beyond [`MAX_TERMS`], is `None`: the caller keeps the operation
//! as it is written.

use std::collections::BTreeMap;

use crate::integer::gcd;

/// A variable of a polynomial: the number of an operation that is none of `+ - *`.
pub(super) type Atom = usize;

/// A product of atoms: sorted, with repetitions.
pub(super) type Monomial = Vec<Atom>;

/// More terms than that are not worth a normal form.
const MAX_TERMS: usize = 96;

/// A sum of `coefficient * monomial`; no coefficient is 0.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Poly {
    terms: BTreeMap<Monomial, i128>,
}

impl Poly {
    pub(super) fn constant(value: i128) -> Poly {
        Poly::term(vec![], value)
    }

    pub(super) fn atom(atom: Atom) -> Poly {
        Poly::term(vec![atom], 1)
    }

    pub(super) fn term(monomial: Monomial, coefficient: i128) -> Poly {
        let mut terms = BTreeMap::new();
        if coefficient != 0 {
            terms.insert(monomial, coefficient);
        }
        Poly { terms }
    }

    pub(super) fn terms(&self) -> impl ExactSizeIterator<Item = (&Monomial, i128)> {
        self.terms.iter().map(|(m, c)| (m, *c))
    }

    pub(super) fn is_zero(&self) -> bool {
        self.terms.is_empty()
    }

    pub(super) fn as_constant(&self) -> Option<i128> {
        match self.terms.len() {
            0 => Some(0),
            1 => self.terms.get(&vec![]).copied(),
            _ => None,
        }
    }

    /// The atom, if it is nothing else.
    pub(super) fn as_atom(&self) -> Option<Atom> {
        let mut terms = self.terms();
        match (terms.next(), terms.next()) {
            (Some((monomial, 1)), None) if monomial.len() == 1 => Some(monomial[0]),
            _ => None,
        }
    }

    pub(super) fn add(&self, other: &Poly) -> Option<Poly> {
        self.add_times(other, 1)
    }

    pub(super) fn sub(&self, other: &Poly) -> Option<Poly> {
        self.add_times(other, -1)
    }

    fn add_times(&self, other: &Poly, factor: i128) -> Option<Poly> {
        let mut sum = self.clone();
        for (monomial, c) in other.terms() {
            sum.insert(monomial.clone(), c.checked_mul(factor)?)?;
        }
        (sum.terms.len() <= MAX_TERMS).then_some(sum)
    }

    fn insert(&mut self, monomial: Monomial, c: i128) -> Option<()> {
        let old = self.terms.get(&monomial).copied().unwrap_or(0);
        match old.checked_add(c)? {
            0 => self.terms.remove(&monomial),
            new => self.terms.insert(monomial, new),
        };
        Some(())
    }

    pub(super) fn mul(&self, other: &Poly) -> Option<Poly> {
        if self.terms.len() * other.terms.len() > MAX_TERMS * 4 {
            return None;
        }
        let mut product = Poly::default();
        for (m, c) in self.terms() {
            for (n, d) in other.terms() {
                product.insert(times(m, n), c.checked_mul(d)?)?;
            }
        }
        (product.terms.len() <= MAX_TERMS).then_some(product)
    }

    pub(super) fn plus(&self, constant: i128) -> Option<Poly> {
        self.add(&Poly::constant(constant))
    }

    pub(super) fn negated(&self) -> Option<Poly> {
        Poly::default().sub(self)
    }

    /// `(c, rest)` with `self = atom * c + rest`, where `rest` is free of the atom.
    pub(super) fn by_atom(&self, atom: Atom) -> (Poly, Poly) {
        let (mut factor, mut rest) = (Poly::default(), Poly::default());
        for (monomial, c) in self.terms() {
            match monomial.iter().position(|a| *a == atom) {
                Some(at) => {
                    let mut left = monomial.clone();
                    left.remove(at);
                    factor.terms.insert(left, c);
                }
                None => {
                    rest.terms.insert(monomial.clone(), c);
                }
            }
        }
        (factor, rest)
    }

    /// `(q, r)` with `self = divisor * q + r`: every multiple of the divisor's leading term is
    /// taken out. By a constant, the constant term leaves a rest from 0 on.
    pub(super) fn split(&self, divisor: &Poly) -> Option<(Poly, Poly)> {
        let (lead, lead_coefficient) = divisor.leading()?;
        let (mut quotient, mut rest) = (Poly::default(), self.clone());
        // Each step removes a multiple of the leading term; the limit is for divisors whose
        // other terms bring such multiples back.
        for _ in 0..MAX_TERMS {
            let multiple = rest.terms().find_map(|(m, c)| {
                let left = without(m, lead)?;
                (c % lead_coefficient == 0).then(|| Poly::term(left, c / lead_coefficient))
            });
            let Some(multiple) = multiple else {
                break;
            };
            rest = rest.sub(&multiple.mul(divisor)?)?;
            quotient = quotient.add(&multiple)?;
        }
        if let Some(d) = divisor.as_constant() {
            let c = rest.terms.get(&vec![]).copied().unwrap_or(0);
            let whole = Poly::constant(c.div_euclid(d));
            rest = rest.sub(&whole.mul(divisor)?)?;
            quotient = quotient.add(&whole)?;
        }
        Some((quotient, rest))
    }

    /// The term of highest degree.
    fn leading(&self) -> Option<(&Monomial, i128)> {
        self.terms().max_by_key(|(m, _)| (m.len(), *m))
    }

    /// The only term, if there is one.
    pub(super) fn as_term(&self) -> Option<(&Monomial, i128)> {
        let mut terms = self.terms();
        terms.next().filter(|_| terms.next().is_none())
    }

    /// Returns whether each of these terms occurs, with the same coefficient.
    pub(super) fn has_terms_of(&self, other: &Poly) -> bool {
        let mut terms = other.terms.iter();
        terms.all(|(m, c)| self.terms.get(m) == Some(c))
    }

    /// All atoms that occur.
    pub(super) fn atoms(&self) -> Vec<Atom> {
        let mut atoms: Vec<Atom> = self.terms.keys().flatten().copied().collect();
        atoms.sort_unstable();
        atoms.dedup();
        atoms
    }
}

/// The product of two monomials.
pub(super) fn times(a: &[Atom], b: &[Atom]) -> Monomial {
    let mut product = [a, b].concat();
    product.sort_unstable();
    product
}

/// `a / b`, if `b` divides `a`.
pub(super) fn without(a: &[Atom], b: &[Atom]) -> Option<Monomial> {
    let mut left = a.to_vec();
    for atom in b {
        let at = left.iter().position(|x| x == atom)?;
        left.remove(at);
    }
    Some(left)
}

/// The largest term that divides both.
pub(super) fn common(a: (&Monomial, i128), b: (&Monomial, i128)) -> Poly {
    let mut left = b.0.clone();
    let mut monomial = Vec::new();
    for atom in a.0 {
        if let Some(at) = left.iter().position(|x| x == atom) {
            left.remove(at);
            monomial.push(*atom);
        }
    }
    Poly::term(monomial, gcd(a.1, b.1))
}
