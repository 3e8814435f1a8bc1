//! Index functions: affine expressions over the domain's indices.
//!
//! Arithmetic is checked: what leaves the 64-bit range is `None`, never a wrong index.

use std::collections::BTreeSet;
use std::fmt;
use std::ops;

use crate::domain::Grid;
use crate::integer::{Form, Integer, Interval};

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

/// An index function without divisions: a form over the dimensions of the domain, with a
/// coefficient for each.
pub type Linear = Form<i64>;

/// Gives quotients of forms that are no forms variables of their own.
type Quotient<'a, N> = &'a mut dyn FnMut(&Form<N>, N) -> Option<Form<N>>;

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

impl Range {
    fn new(values: Interval, ends: Ends) -> Option<Range> {
        let (min, max) = (values.min.try_into().ok()?, values.max.try_into().ok()?);
        Some(Range { min, max, ends })
    }

    fn values(self) -> Interval {
        Interval::new(self.min.into(), self.max.into())
    }
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
        let dim = |d| (d < rank).then(|| Form::variable(d));
        let mut form = self.form(&dim, &mut |_, _| None)?;
        form.coefficients.resize(rank, 0);
        Some(form)
    }

    /// The form that it is of other variables: those of dimensions, and of quotients that are no
    /// forms, `quotient(x, d)`, which is `q` with `0 <= x - d * q < d`. Deep expressions were
    /// refused where they were read.
    pub fn form<N: Integer>(
        &self,
        dim: &dyn Fn(usize) -> Option<Form<N>>,
        quotient: Quotient<N>,
    ) -> Option<Form<N>> {
        let (a, b) = match self {
            Expr::Dim(d) => return dim(*d),
            Expr::Const(c) => return Some(Form::constant((*c).into())),
            Expr::Add(a, b)
            | Expr::Mul(a, b)
            | Expr::FloorDiv(a, b)
            | Expr::CeilDiv(a, b)
            | Expr::Mod(a, b) => (a.form(dim, quotient)?, b.form(dim, quotient)?),
        };
        match self {
            Expr::Add(..) => return a.add(1.into(), &b),
            Expr::Mul(..) => {
                return match (a.as_constant(), b.as_constant()) {
                    (_, Some(factor)) => a.times(factor),
                    (Some(factor), _) => b.times(factor),
                    _ => None,
                };
            }
            _ => {}
        }
        let divisor = b.as_constant().filter(|d| *d > N::default())?;
        let mut divide = |x: Form<N>| match x.divided(divisor) {
            Some((whole, rest)) => Some((whole, Form::constant(rest))),
            None => {
                let whole = quotient(&x, divisor)?;
                let rest = x.add(-divisor, &whole)?;
                Some((whole, rest))
            }
        };
        match self {
            Expr::FloorDiv(..) => Some(divide(a)?.0),
            // The quotient of -a, rounded down, is minus that of a, rounded up.
            Expr::CeilDiv(..) => divide(a.times((-1).into())?)?.0.times((-1).into()),
            _ => Some(divide(a)?.1),
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
        let range_of = |e: &Expr| e.range(domain).map(|x| (x.values(), x.ends));
        let by = |e: &Expr| e.positive_constant().map(Interval::exactly);
        let (values, ends) = match self {
            Expr::Dim(_) | Expr::Const(_) => return None,
            Expr::Add(a, b) => {
                let ((x, first), (y, other)) = (range_of(a)?, range_of(b)?);
                let is_apart = a.dims().is_disjoint(&b.dims());
                let ends = if is_apart {
                    first.and(other)
                } else {
                    Ends::Sound
                };
                (x.plus(y), ends)
            }
            Expr::Mul(a, b) => {
                let (a, factor) = match (&**a, &**b) {
                    (a, Expr::Const(factor)) | (Expr::Const(factor), a) => (a, *factor),
                    _ => return None,
                };
                let (x, ends) = range_of(a)?;
                (x.times(Interval::exactly(factor)), ends)
            }
            Expr::FloorDiv(a, b) => {
                let ((x, ends), b) = (range_of(a)?, by(b)?);
                (x.divided(b), ends)
            }
            Expr::CeilDiv(a, b) => {
                let ((x, ends), b) = (range_of(a)?, by(b)?);
                let minus = Interval::exactly(-1);
                (x.times(minus).divided(b).times(minus), ends)
            }
            Expr::Mod(a, b) => {
                let ((x, ends), b) = (range_of(a)?, by(b)?);
                // In order as long as the quotient is the same.
                let is_in_order = x.divided(b).constant().is_some();
                (x.modulo(b), if is_in_order { ends } else { Ends::Sound })
            }
        };
        Range::new(values, ends)
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
        let mut is_used = false;
        self.visit(&mut |e| is_used |= *e == Expr::Dim(d));
        is_used
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
        let mut are_positive = true;
        self.visit(&mut |e| {
            if let Expr::FloorDiv(_, b) | Expr::CeilDiv(_, b) | Expr::Mod(_, b) = e {
                are_positive &= b.positive_constant().is_some();
            }
        });
        are_positive
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
    /// The same as an expression.
    pub fn to_expr(&self) -> Expr {
        let terms = self.terms().map(|(d, c)| Expr::Dim(d) * c);
        match terms.reduce(|sum, term| sum + term) {
            None => Expr::Const(self.constant),
            Some(sum) => sum + self.constant,
        }
    }

    /// Its values, where each index has those of an interval; `None` if one that it depends on has none.
    pub fn values(&self, of: impl Fn(usize) -> Option<Interval>) -> Option<Interval> {
        let mut terms = self.terms();
        terms.try_fold(Interval::exactly(self.constant), |sum, (d, c)| {
            Some(sum.plus(of(d)?.times(Interval::exactly(c))))
        })
    }

    fn range(&self, domain: &[Option<Grid>]) -> Option<Range> {
        let index = |d: usize| {
            let grid = domain[d]?;
            Some(Interval::new(grid.lower.into(), grid.last()?.into()))
        };
        Range::new(self.values(index)?, Ends::Attained)
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
