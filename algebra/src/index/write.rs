//! Normal forms as expressions again.

use super::Expr;
use super::normal::Normalizer;
use super::poly::{Atom, Poly, common};

/// Spelling of a sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SumForm {
    /// `i * n * m + j * m + k`.
    Expanded,
    /// `(i * n + j) * m + k`.
    Factored,
}

impl Normalizer<'_> {
    /// A normal form as an expression: a plain sum of products, or with common factors taken out.
    pub(super) fn to_expr(&self, p: &Poly, form: SumForm) -> Option<Expr> {
        match form {
            SumForm::Expanded => self.expanded(p, form),
            SumForm::Factored => self.factored(p),
        }
    }

    fn expanded(&self, p: &Poly, form: SumForm) -> Option<Expr> {
        let (mut sum, mut less): (Option<Expr>, Vec<Expr>) = (None, Vec::new());
        for (monomial, c) in p.terms().collect::<Vec<_>>().into_iter().rev() {
            let factors = monomial.iter().map(|a| self.atom_expr(*a, form));
            let factors = factors.collect::<Option<Vec<Expr>>>()?;
            let magnitude = i64::try_from(c.abs()).ok()?;
            let product = Expr::product(&factors) * magnitude;
            match (c > 0, sum.take()) {
                (true, None) => sum = Some(product),
                (true, Some(before)) => sum = Some(before + product),
                (false, before) => {
                    less.push(product);
                    sum = before;
                }
            }
        }
        let sum = sum.unwrap_or(Expr::constant(0));
        Some(less.into_iter().fold(sum, |sum, product| sum - product))
    }

    /// The factor that the most terms have is taken out first.
    fn factored(&self, p: &Poly) -> Option<Expr> {
        let count = |f: &Poly| {
            let divided = p.terms().filter(|(m, c)| {
                let term = Poly::term((*m).clone(), *c);
                term.split(f).is_some_and(|(_, rest)| rest.is_zero())
            });
            divided.count()
        };
        let terms: Vec<_> = p.terms().collect();
        let pairs = terms.iter().enumerate();
        let shared = pairs.flat_map(|(n, a)| terms[n + 1..].iter().map(|b| common(*a, *b)));
        let shared = shared.filter(|f| f.as_constant() != Some(1));
        let best = shared.max_by_key(|f| {
            let (m, c) = f.as_term().map_or((0, 1), |(m, c)| (m.len(), c));
            (count(f), m, c)
        });
        let Some(best) = best.filter(|_| terms.len() > 1) else {
            return self.expanded(p, SumForm::Factored);
        };
        let (mut inside, mut rest) = (Poly::default(), Poly::default());
        for (m, c) in terms {
            let term = Poly::term(m.clone(), c);
            match term.split(&best)? {
                (q, r) if r.is_zero() => inside = inside.add(&q)?,
                _ => rest = rest.add(&term)?,
            }
        }
        let product = self.factored(&inside)? * self.expanded(&best, SumForm::Factored)?;
        match rest.is_zero() {
            true => Some(product),
            false => Some(product + self.factored(&rest)?),
        }
    }

    fn atom_expr(&self, atom: Atom, form: SumForm) -> Option<Expr> {
        let node = &self.atoms[atom].node;
        let mut children = Vec::new();
        for child in node.children() {
            children.push(self.to_expr(child, form)?);
        }
        let mut children = children.into_iter();
        let constant = || Expr::constant(0);
        Some(Expr::new(
            node.map(|_| children.next().unwrap_or_else(constant)),
        ))
    }
}
