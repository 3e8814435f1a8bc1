//! Index functions: affine expressions over the domain's indices.
//!
//! Arithmetic is checked: what leaves the 64-bit range is `None`, never a wrong index.

use std::collections::BTreeSet;
use std::fmt;
use std::ops;

use crate::domain::Grid;

/// An expression over the dimensions of a domain, as in MLIR's affine maps.
/// `/` and `mod` are floor division and its remainder; their right-hand sides are positive.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Expr {
    /// The index of a dimension.
    Dim(usize),
    /// A constant.
    Const(i64),
    /// Sum.
    Add(Box<Expr>, Box<Expr>),
    /// Product (one side is constant).
    Mul(Box<Expr>, Box<Expr>),
    /// Floor division.
    FloorDiv(Box<Expr>, Box<Expr>),
    /// Ceiling division.
    CeilDiv(Box<Expr>, Box<Expr>),
    /// Remainder of floor division: between 0 and the right-hand side.
    Mod(Box<Expr>, Box<Expr>),
}

/// `sum coefficients[d] * index[d] + constant`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Linear {
    /// One for each dimension of the domain.
    pub coefficients: Vec<i64>,
    /// The constant term.
    pub constant: i64,
}

impl Linear {
    /// Its value at a point; `None` if it overflows.
    #[inline]
    pub fn eval(&self, point: &[i64]) -> Option<i64> {
        let mut sum = self.constant;
        for (&c, &i) in self.coefficients.iter().zip(point) {
            if c != 0 {
                sum = sum.checked_add(c.checked_mul(i)?)?;
            }
        }
        Some(sum)
    }

    /// The dimensions that it moves with, and how far.
    pub fn terms(&self) -> impl Iterator<Item = (usize, i64)> + '_ {
        moved(&self.coefficients)
    }

    /// The same as an expression.
    pub fn to_expr(&self) -> Expr {
        let terms = self.terms().map(|(d, c)| Expr::Dim(d) * c);
        match terms.reduce(|sum, term| sum + term) {
            None => Expr::Const(self.constant),
            Some(sum) => sum + self.constant,
        }
    }
}

/// The coefficients that are not 0, with their dimensions.
pub fn moved(coefficients: &[i64]) -> impl Iterator<Item = (usize, i64)> + '_ {
    let all = coefficients.iter().copied().enumerate();
    all.filter(|(_, c)| *c != 0)
}

/// The values an expression takes: all of them lie in `min..=max`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// No value is below.
    pub min: i64,
    /// No value is above.
    pub max: i64,
    /// Tightness of the ends.
    pub ends: Ends,
}

/// Tightness of the ends of a [`Range`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ends {
    /// Both are values of the expression.
    Attained,
    /// Bounds of the values, which may not occur.
    Sound,
}

impl Ends {
    fn and(self, other: Ends) -> Ends {
        if self == Ends::Attained { other } else { self }
    }
}

impl Expr {
    /// The index of dimension `d`.
    pub fn dim(d: usize) -> Expr {
        Expr::Dim(d)
    }

    /// A constant.
    pub fn constant(value: i64) -> Expr {
        Expr::Const(value)
    }

    /// `self floordiv divisor`.
    pub fn floor_div(self, divisor: i64) -> Expr {
        Expr::FloorDiv(Box::new(self), Box::new(Expr::Const(divisor)))
    }

    /// `self ceildiv divisor`.
    pub fn ceil_div(self, divisor: i64) -> Expr {
        Expr::CeilDiv(Box::new(self), Box::new(Expr::Const(divisor)))
    }

    /// `self mod divisor`.
    pub fn modulo(self, divisor: i64) -> Expr {
        Expr::Mod(Box::new(self), Box::new(Expr::Const(divisor)))
    }

    /// Its value at a point. `None` if it overflows, divides by something not positive or uses a
    /// dimension that the point has not.
    pub fn eval(&self, point: &[i64]) -> Option<i64> {
        match self {
            Expr::Dim(d) => point.get(*d).copied(),
            Expr::Const(c) => Some(*c),
            Expr::Add(a, b) => a.eval(point)?.checked_add(b.eval(point)?),
            Expr::Mul(a, b) => a.eval(point)?.checked_mul(b.eval(point)?),
            Expr::FloorDiv(a, b) => Some(a.eval(point)?.div_euclid(positive(b.eval(point)?)?)),
            Expr::CeilDiv(a, b) => ceil_div(a.eval(point)?, positive(b.eval(point)?)?),
            Expr::Mod(a, b) => Some(a.eval(point)?.rem_euclid(positive(b.eval(point)?)?)),
        }
    }

    /// Its linear form over `rank` dimensions, if it has one that needs no division.
    pub fn linear(&self, rank: usize) -> Option<Linear> {
        match self {
            Expr::Dim(d) => {
                let mut coefficients = vec![0; rank];
                *coefficients.get_mut(*d)? = 1;
                let constant = 0;
                Some(Linear {
                    coefficients,
                    constant,
                })
            }
            Expr::Const(c) => Some(Linear {
                coefficients: vec![0; rank],
                constant: *c,
            }),
            Expr::Add(a, b) => {
                let (mut a, b) = (a.linear(rank)?, b.linear(rank)?);
                for (x, y) in a.coefficients.iter_mut().zip(&b.coefficients) {
                    *x = x.checked_add(*y)?;
                }
                a.constant = a.constant.checked_add(b.constant)?;
                Some(a)
            }
            Expr::Mul(a, b) => {
                let (a, b) = (a.linear(rank)?, b.linear(rank)?);
                let (mut form, factor) = match (a.as_constant(), b.as_constant()) {
                    (_, Some(factor)) => (a, factor),
                    (Some(factor), _) => (b, factor),
                    _ => return None,
                };
                for x in &mut form.coefficients {
                    *x = x.checked_mul(factor)?;
                }
                form.constant = form.constant.checked_mul(factor)?;
                Some(form)
            }
            Expr::FloorDiv(a, b) | Expr::CeilDiv(a, b) => {
                // Exact divisions only: `(4 * i) floordiv 2` is `2 * i`.
                let (mut a, b) = (a.linear(rank)?, b.linear(rank)?);
                let divisor = positive(b.as_constant()?)?;
                for x in a.coefficients.iter_mut().chain([&mut a.constant]) {
                    if *x % divisor != 0 {
                        return None;
                    }
                    *x /= divisor;
                }
                Some(a)
            }
            Expr::Mod(a, b) => {
                let (mut a, b) = (a.linear(rank)?, b.linear(rank)?);
                let divisor = positive(b.as_constant()?)?;
                if a.coefficients.iter().any(|c| c % divisor != 0) {
                    return None;
                }
                a.coefficients.fill(0);
                a.constant = a.constant.rem_euclid(divisor);
                Some(a)
            }
        }
    }

    /// The values it takes over a domain without empty dimensions. `None` if it uses a dimension
    /// of unknown grid, an end overflows, or a divisor is not a positive constant.
    ///
    /// The ends of linear expressions and of divisions of them are attained; with `mod` they are
    /// sound.
    pub fn range(&self, domain: &[Option<Grid>]) -> Option<Range> {
        if let Some(linear) = self.linear(domain.len()) {
            return linear.range(domain);
        }
        match self {
            Expr::Dim(_) | Expr::Const(_) => None,
            Expr::Add(a, b) => {
                let (x, y) = (a.range(domain)?, b.range(domain)?);
                let ends = if a.dims().is_disjoint(&b.dims()) {
                    x.ends.and(y.ends)
                } else {
                    Ends::Sound
                };
                Some(Range {
                    min: x.min.checked_add(y.min)?,
                    max: x.max.checked_add(y.max)?,
                    ends,
                })
            }
            Expr::Mul(a, b) => {
                let (a, b) = match (&**a, &**b) {
                    (a, Expr::Const(b)) => (a, *b),
                    (Expr::Const(b), a) => (a, *b),
                    _ => return None,
                };
                let x = a.range(domain)?;
                let (p, q) = (x.min.checked_mul(b)?, x.max.checked_mul(b)?);
                Some(Range {
                    min: p.min(q),
                    max: p.max(q),
                    ends: x.ends,
                })
            }
            Expr::FloorDiv(a, b) | Expr::CeilDiv(a, b) => {
                let (x, b) = (a.range(domain)?, b.positive_constant()?);
                let divide = |v: i64| match self {
                    Expr::CeilDiv(..) => ceil_div(v, b),
                    _ => Some(v.div_euclid(b)),
                };
                Some(Range {
                    min: divide(x.min)?,
                    max: divide(x.max)?,
                    ends: x.ends,
                })
            }
            Expr::Mod(a, b) => Some(remainders(a.range(domain)?, b.positive_constant()?)),
        }
    }

    /// The dimensions that occur.
    pub fn dims(&self) -> BTreeSet<usize> {
        let mut dims = BTreeSet::new();
        self.visit(&mut |e| {
            if let Expr::Dim(d) = e {
                dims.insert(*d);
            }
        });
        dims
    }

    /// Returns whether dimension `d` occurs.
    pub fn uses(&self, d: usize) -> bool {
        let mut found = false;
        self.visit(&mut |e| found |= *e == Expr::Dim(d));
        found
    }

    fn visit(&self, see: &mut impl FnMut(&Expr)) {
        see(self);
        match self {
            Expr::Dim(_) | Expr::Const(_) => {}
            Expr::Add(a, b)
            | Expr::Mul(a, b)
            | Expr::FloorDiv(a, b)
            | Expr::CeilDiv(a, b)
            | Expr::Mod(a, b) => {
                a.visit(see);
                b.visit(see);
            }
        }
    }

    /// Replaces the index of each dimension `d` by `replacements[d]`; dimensions beyond stay.
    pub fn substitute(&self, replacements: &[Expr]) -> Expr {
        let sub = |a: &Expr, b: &Expr| {
            let a = Box::new(a.substitute(replacements));
            (a, Box::new(b.substitute(replacements)))
        };
        match self {
            Expr::Dim(d) => replacements.get(*d).unwrap_or(self).clone(),
            Expr::Const(_) => self.clone(),
            Expr::Add(a, b) => {
                let (a, b) = sub(a, b);
                *a + *b
            }
            Expr::Mul(a, b) => {
                let (a, b) = sub(a, b);
                match (*a, *b) {
                    (a, Expr::Const(c)) => a * c,
                    (a, b) => Expr::Mul(Box::new(a), Box::new(b)),
                }
            }
            Expr::FloorDiv(a, b) => {
                let (a, b) = sub(a, b);
                Expr::FloorDiv(a, b)
            }
            Expr::CeilDiv(a, b) => {
                let (a, b) = sub(a, b);
                Expr::CeilDiv(a, b)
            }
            Expr::Mod(a, b) => {
                let (a, b) = sub(a, b);
                Expr::Mod(a, b)
            }
        }
    }

    /// Returns whether every divisor is a positive constant, as [`Expr::range`] needs it.
    pub fn has_only_positive_divisors(&self) -> bool {
        let mut all = true;
        self.visit(&mut |e| {
            if let Expr::FloorDiv(_, b) | Expr::CeilDiv(_, b) | Expr::Mod(_, b) = e {
                all &= b.positive_constant().is_some();
            }
        });
        all
    }

    fn positive_constant(&self) -> Option<i64> {
        match self {
            Expr::Const(c) => positive(*c),
            _ => positive(self.linear(0)?.as_constant()?),
        }
    }

    /// Prints it with these names for the dimensions.
    pub fn display<'a, S: AsRef<str>>(&'a self, names: &'a [S]) -> impl fmt::Display + 'a {
        Named { expr: self, names }
    }
}

impl Linear {
    fn as_constant(&self) -> Option<i64> {
        let constant = self.coefficients.iter().all(|&c| c == 0);
        constant.then_some(self.constant)
    }

    fn range(&self, domain: &[Option<Grid>]) -> Option<Range> {
        let (mut min, mut max) = (i128::from(self.constant), i128::from(self.constant));
        for (&c, grid) in self.coefficients.iter().zip(domain) {
            if c == 0 {
                continue;
            }
            let grid = (*grid)?;
            let first = i128::from(c) * i128::from(grid.lower);
            let last = i128::from(c) * i128::from(grid.last()?);
            min = min.checked_add(first.min(last))?;
            max = max.checked_add(first.max(last))?;
        }
        Some(Range {
            min: i64::try_from(min).ok()?,
            max: i64::try_from(max).ok()?,
            ends: Ends::Attained,
        })
    }
}

/// The remainders of the values of a range: in order as long as the quotient is the same.
fn remainders(x: Range, divisor: i64) -> Range {
    if x.min.div_euclid(divisor) == x.max.div_euclid(divisor) {
        return Range {
            min: x.min.rem_euclid(divisor),
            max: x.max.rem_euclid(divisor),
            ends: x.ends,
        };
    }
    Range {
        min: 0,
        max: divisor - 1,
        ends: Ends::Sound,
    }
}

fn positive(divisor: i64) -> Option<i64> {
    (divisor > 0).then_some(divisor)
}

fn ceil_div(a: i64, b: i64) -> Option<i64> {
    a.div_euclid(b).checked_add(i64::from(a.rem_euclid(b) != 0))
}

impl ops::Add for Expr {
    type Output = Expr;
    fn add(self, other: Expr) -> Expr {
        match (self, other) {
            (Expr::Const(0), e) | (e, Expr::Const(0)) => e,
            (Expr::Const(a), Expr::Const(b)) if a.checked_add(b).is_some() => Expr::Const(a + b),
            (a, b) => Expr::Add(Box::new(a), Box::new(b)),
        }
    }
}

impl ops::Add<i64> for Expr {
    type Output = Expr;
    fn add(self, other: i64) -> Expr {
        self + Expr::Const(other)
    }
}

impl ops::Mul<i64> for Expr {
    type Output = Expr;
    fn mul(self, factor: i64) -> Expr {
        match self {
            e if factor == 1 => e,
            Expr::Const(c) if c.checked_mul(factor).is_some() => Expr::Const(c * factor),
            e => Expr::Mul(Box::new(e), Box::new(Expr::Const(factor))),
        }
    }
}

impl ops::Sub for Expr {
    type Output = Expr;
    fn sub(self, other: Expr) -> Expr {
        self + other * -1
    }
}

struct Named<'a, S> {
    expr: &'a Expr,
    names: &'a [S],
}

/// Prints with the names `d0`, `d1`, ...
impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_expr::<&str>(f, self, &[])
    }
}

impl<S: AsRef<str>> fmt::Display for Named<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_expr(f, self.expr, self.names)
    }
}

fn write_expr<S: AsRef<str>>(f: &mut fmt::Formatter<'_>, e: &Expr, names: &[S]) -> fmt::Result {
    match e {
        Expr::Dim(d) => match names.get(*d) {
            Some(name) => f.write_str(name.as_ref()),
            None => write!(f, "d{d}"),
        },
        Expr::Const(c) => write!(f, "{c}"),
        Expr::Add(..) => write_sum(f, e, names),
        Expr::Mul(a, b) => match (&**a, &**b) {
            (a, Expr::Const(-1)) | (Expr::Const(-1), a) => {
                f.write_str("-")?;
                write_factor(f, a, names)
            }
            (a, Expr::Const(c)) | (Expr::Const(c), a) => {
                write!(f, "{c} * ")?;
                write_factor(f, a, names)
            }
            (a, b) => write_binary(f, a, "*", b, names),
        },
        Expr::FloorDiv(a, b) => write_binary(f, a, "floordiv", b, names),
        Expr::CeilDiv(a, b) => write_binary(f, a, "ceildiv", b, names),
        Expr::Mod(a, b) => write_binary(f, a, "mod", b, names),
    }
}

fn write_binary<S: AsRef<str>>(
    f: &mut fmt::Formatter<'_>,
    a: &Expr,
    op: &str,
    b: &Expr,
    names: &[S],
) -> fmt::Result {
    write_factor(f, a, names)?;
    write!(f, " {op} ")?;
    write_factor(f, b, names)
}

fn write_factor<S: AsRef<str>>(f: &mut fmt::Formatter<'_>, e: &Expr, names: &[S]) -> fmt::Result {
    if matches!(e, Expr::Dim(_)) || matches!(e, Expr::Const(c) if *c >= 0) {
        return write_expr(f, e, names);
    }
    f.write_str("(")?;
    write_expr(f, e, names)?;
    f.write_str(")")
}

/// Positive terms first, so that `i * -1 + 7` reads `7 - i`.
fn write_sum<S: AsRef<str>>(f: &mut fmt::Formatter<'_>, e: &Expr, names: &[S]) -> fmt::Result {
    let mut terms = Vec::new();
    flatten(e, &mut terms);
    let (positive, negative): (Vec<_>, Vec<_>) =
        terms.into_iter().partition(|t| negated(t).is_none());
    for (n, term) in positive.iter().enumerate() {
        f.write_str(if n > 0 { " + " } else { "" })?;
        write_expr(f, term, names)?;
    }
    for (n, term) in negative.iter().enumerate() {
        let Some(opposite) = negated(term).filter(|_| n > 0 || !positive.is_empty()) else {
            write_expr(f, term, names)?;
            continue;
        };
        f.write_str(" - ")?;
        match opposite {
            Expr::Add(..) => write_factor(f, &opposite, names)?,
            term => write_expr(f, &term, names)?,
        }
    }
    Ok(())
}

fn flatten<'a>(e: &'a Expr, terms: &mut Vec<&'a Expr>) {
    match e {
        Expr::Add(a, b) => {
            flatten(a, terms);
            flatten(b, terms);
        }
        e => terms.push(e),
    }
}

/// `-e` if `e` is a negative constant or multiple.
fn negated(e: &Expr) -> Option<Expr> {
    match e {
        Expr::Const(c) if *c < 0 => Some(Expr::Const(c.checked_neg()?)),
        Expr::Mul(a, b) => match (&**a, &**b) {
            (a, Expr::Const(c)) | (Expr::Const(c), a) if *c < 0 => {
                Some(a.clone() * c.checked_neg()?)
            }
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
#[path = "affine_tests.rs"]
mod tests;
