//! "May this output alias that input?", for views: from the elements that are read at each point,
//! and those that are written with each result.
//!
//! The inputs of a point `p` are read together, points in any order; a result `r` is written when
//! all points that it combines have been read, at any time after that. It combines the points that
//! agree with it in `cc` dimensions, are not behind it in `ps` dimensions, and all of `pw` ones. So
//! an order in which `p` reads what `r` has written exists exactly if
//!
//! - both are of the domain,
//! - the element that `p` reads is the one that `r` writes: `A(p) = B(r)`, and
//! - `r` does not combine `p`: `p_d != r_d` for a `cc` dimension `d`, or `p_d > r_d` for a `ps` one.
//!
//! Points of strided dimensions are `lower + step * q + w`, floor division and `mod` by constants
//! are variables with bounds. So each of the finitely many cases of the last line is a system
//! over the integers: none has a solution, or one is a counter-example. That an access is injective
//! is the same of results and this access alone, `A(p) = A(r)` with `p != r` ([`repeats`]).
//!
//! ```
//! use mdh_algebra::affine::Expr;
//! use mdh_algebra::reuse::alias::{Amount, DomainAxis, Role, Sharing, View, sharing};
//!
//! // x[i] = x[i - 1] + x[i + 1] for every other i: what is read is not written.
//! let i = Expr::dim(0);
//! let reads = [vec![i.clone() + -1], vec![i.clone() + 1]];
//! let writes = [vec![i]];
//! let view = |accesses| View { accesses, origin: &[Amount::Known(0)] };
//! let [mut axis] = [DomainAxis::dense("i", 8, Role::Cc)];
//! axis.lower = Amount::Known(1);
//! let Sharing::Conflict(conflict) = sharing(&[axis.clone()], &view(&reads), &view(&writes)) else {
//!     panic!("the next point reads what this one has written");
//! };
//! assert_eq!((conflict.element, conflict.read.1, conflict.written.1), (vec![1], vec![2], vec![1]));
//! axis.step = Amount::Known(2);
//! assert_eq!(sharing(&[axis], &view(&reads), &view(&writes)), Sharing::Disjoint);
//! ```

#[cfg(test)]
mod tests;

use crate::affine::Expr;
use crate::computation::{Combine, Dimension, Extent};
use crate::integer::{Answer, Form, System};

/// A bound or an origin: unknown ones are equal if their numbers are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// Known.
    Known(i64),
    /// Known at run time.
    Symbol(usize),
}

impl Amount {
    fn known(self) -> Extent {
        match self {
            Amount::Known(number) => Some(number),
            Amount::Symbol(_) => None,
        }
    }
}

/// The points of a dimension that a result combines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The one of its own index.
    Cc,
    /// Those up to its own index.
    Ps,
    /// All; results have no index there.
    Pw,
    /// None: the reading view's results have no index there either.
    Absent,
}

/// A dimension of the domain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DomainAxis {
    /// Its name.
    pub name: String,
    /// First index.
    pub lower: Amount,
    /// One past the last candidate index.
    pub upper: Amount,
    /// Period.
    pub step: Amount,
    /// Points at the start of each period.
    pub width: Amount,
    /// Its combine operator.
    pub role: Role,
}

impl DomainAxis {
    /// `name = 0..count`.
    pub fn dense(name: &str, count: i64, role: Role) -> DomainAxis {
        let [zero, one] = [0, 1].map(Amount::Known);
        DomainAxis {
            name: name.into(),
            lower: zero,
            upper: Amount::Known(count),
            step: one,
            width: one,
            role,
        }
    }
}

impl Role {
    /// The role of a dimension with this combine operator.
    pub fn from_combine(combine: Combine) -> Role {
        match combine {
            Combine::Cc => Role::Cc,
            Combine::Ps(_) => Role::Ps,
            Combine::Pw(_) => Role::Pw,
        }
    }
}

/// The axes of a computation's domain, of which unknown amounts are all different.
pub fn axes(dimensions: &[Dimension]) -> Vec<DomainAxis> {
    let mut symbols = 0..;
    let mut amount = |extent: Extent| match extent {
        Some(number) => Amount::Known(number),
        None => Amount::Symbol(symbols.next().unwrap_or_default()),
    };
    let axes = dimensions.iter().map(|d| DomainAxis {
        name: d.name.clone(),
        lower: amount(d.lower),
        upper: amount(d.upper),
        step: amount(d.step),
        width: amount(d.width),
        role: Role::from_combine(d.combine),
    });
    axes.collect()
}

/// The elements of one memory that are accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct View<'a> {
    /// The index functions.
    pub accesses: &'a [Vec<Expr>],
    /// The index of the memory's first element.
    pub origin: &'a [Amount],
}

/// Relation of two views of one memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// They have no element in common.
    Disjoint,
    /// Elements that are written are read before, in every order of points.
    InPlace,
    /// There is an order in which one is read after it is written.
    Conflict(Conflict),
    /// None of this could be shown.
    Unknown,
}

/// An element with two uses whose order is not determined, for some values of what is not known.
/// A point of a result has 0 where the result has no index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The element.
    pub element: Vec<i64>,
    /// The access and the point that read it.
    pub read: (usize, Vec<i64>),
    /// The access and the point that write it.
    pub written: (usize, Vec<i64>),
}

impl Conflict {
    /// Returns its position, in words; `uses` names both uses ("read", "written").
    pub fn text(&self, domain: &[DomainAxis], uses: [&str; 2]) -> String {
        let point = |point: &[i64], is_there: fn(Role) -> bool| {
            let axes = domain.iter().zip(point).filter(|(a, _)| is_there(a.role));
            let parts: Vec<_> = axes.map(|(a, i)| format!("{} = {i}", a.name)).collect();
            format!("({})", parts.join(", "))
        };
        let element: Vec<_> = self.element.iter().map(i64::to_string).collect();
        format!(
            "element [{}] is {} at {} and {} at {}",
            element.join(", "),
            uses[0],
            point(&self.read.1, |role| role != Role::Absent),
            uses[1],
            point(&self.written.1, has_result),
        )
    }
}

fn has_result(role: Role) -> bool {
    matches!(role, Role::Cc | Role::Ps)
}

/// Decides whether `written` may have the memory of `read`, if no two results are written to one
/// element.
pub fn sharing(domain: &[DomainAxis], read: &View, written: &View) -> Sharing {
    let is_point_by_point = domain
        .iter()
        .all(|axis| matches!(axis.role, Role::Cc | Role::Absent));
    let mut answer = Sharing::Disjoint;
    for (n, a) in read.accesses.iter().enumerate() {
        // What one result writes no other one does.
        let is_same = is_point_by_point && read.origin == written.origin;
        if is_same && written.accesses.contains(a) {
            answer = worse(answer, Sharing::InPlace);
            continue;
        }
        for (m, b) in written.accesses.iter().enumerate() {
            let pair = Pair::new(domain, (n, a, read.origin), (m, b, written.origin));
            let pairwise = pair.map_or(Sharing::Unknown, |pair| pair.sharing());
            if matches!(pairwise, Sharing::Conflict(_)) {
                return pairwise;
            }
            answer = worse(answer, pairwise);
        }
    }
    answer
}

/// Decides whether two views have an element in common, at any two points.
pub fn overlap(domain: &[DomainAxis], a: &View, b: &View) -> Sharing {
    let mut answer = Sharing::Disjoint;
    for (n, first) in a.accesses.iter().enumerate() {
        for (m, other) in b.accesses.iter().enumerate() {
            let pair = Pair::new(domain, (n, first, a.origin), (m, other, b.origin));
            let pairwise = pair.map_or(Sharing::Unknown, |pair| pair.overlap());
            if matches!(pairwise, Sharing::Conflict(_)) {
                return pairwise;
            }
            answer = worse(answer, pairwise);
        }
    }
    answer
}

/// Decides whether one access has an element in common at two points that differ in a `cc`
/// dimension: in place if it has none.
pub fn repeats(domain: &[DomainAxis], map: &[Expr]) -> Sharing {
    // Most accesses have an axis for each dimension: no system is needed for them.
    let mut told_apart = vec![false; domain.len()];
    for form in map.iter().filter_map(|e| e.linear(domain.len())) {
        let mut terms = form.terms();
        if let (Some((d, _)), None) = (terms.next(), terms.next()) {
            told_apart[d] = true;
        }
    }
    let mut axes = domain.iter().zip(told_apart);
    if axes.all(|(axis, is_apart)| is_apart || axis.role != Role::Cc) {
        return Sharing::InPlace;
    }
    let (map, origin) = (map.to_vec(), vec![Amount::Known(0); map.len()]);
    let pair = Pair::new(domain, (0, &map, &origin), (0, &map, &origin));
    pair.map_or(Sharing::Unknown, |pair| {
        pair.repeats().unwrap_or(Sharing::Unknown)
    })
}

/// Returns the answer that holds of both, if neither is a conflict.
fn worse(a: Sharing, b: Sharing) -> Sharing {
    match (a, b) {
        (Sharing::Unknown, _) | (_, Sharing::Unknown) => Sharing::Unknown,
        (Sharing::Disjoint, Sharing::Disjoint) => Sharing::Disjoint,
        _ => Sharing::InPlace,
    }
}

type Access<'a> = (usize, &'a Vec<Expr>, &'a [Amount]);

/// A point and a result of which one reads what the other writes, as a system.
struct Pair<'a> {
    domain: &'a [DomainAxis],
    read: Access<'a>,
    written: Access<'a>,
    system: System,
    /// The indices of the point and of the result, where they have some.
    point: Vec<Option<Form>>,
    result: Vec<Option<Form>>,
    /// True if every solution is such a pair, as it is not if periods are unknown.
    is_exact: bool,
}

impl<'a> Pair<'a> {
    /// An axis whose index functions are not affine tells nothing; `None` if the ranks differ, or a
    /// dimension has no grid.
    fn new(domain: &'a [DomainAxis], read: Access<'a>, written: Access<'a>) -> Option<Self> {
        let mut build = Build::default();
        let point = build.point(domain, |role| role != Role::Absent)?;
        if read.1 != written.1 {
            build.counters.clear();
        }
        let result = build.point(domain, has_result)?;
        let ranks = [written.1.len(), read.2.len(), written.2.len()];
        if ranks.iter().any(|rank| *rank != read.1.len()) {
            return None;
        }
        for axis in 0..read.1.len() {
            let mut element = |(_, map, origin): Access, at: &[Option<Form>]| {
                let index = build.form(&map[axis], at)?;
                let origin = build.amount(origin[axis]);
                index.plus(-1, &origin)
            };
            let elements = element(read, &point).zip(element(written, &result));
            match elements.and_then(|(a, b)| a.plus(-1, &b)) {
                Some(distance) => build.system.zero(distance),
                None => build.is_relaxed = true,
            }
        }
        Some(Pair {
            domain,
            read,
            written,
            system: build.system,
            point,
            result,
            is_exact: !build.is_relaxed,
        })
    }

    fn overlap(&self) -> Sharing {
        match self.system.solve() {
            Answer::None => Sharing::Disjoint,
            Answer::Unknown => Sharing::Unknown,
            Answer::Solution(values) => self.conflict(&values),
        }
    }

    fn sharing(&self) -> Sharing {
        if self.system.solve() == Answer::None {
            return Sharing::Disjoint;
        }
        let mut answer = Sharing::InPlace;
        for (d, axis) in self.domain.iter().enumerate() {
            let signs: &[i128] = match axis.role {
                Role::Cc => &[1, -1],
                Role::Ps => &[1],
                Role::Pw | Role::Absent => continue,
            };
            for sign in signs {
                match self.is_behind(d, *sign) {
                    Some(Answer::None) => {}
                    Some(Answer::Solution(values)) => match self.conflict(&values) {
                        Sharing::Unknown => answer = Sharing::Unknown,
                        conflict => return conflict,
                    },
                    Some(Answer::Unknown) | None => answer = Sharing::Unknown,
                }
            }
        }
        answer
    }

    /// Dimension by dimension: that the points do not differ in one helps with the others, as digits
    /// of a number do. `None` if numbers are too large.
    fn repeats(mut self) -> Option<Sharing> {
        let is_open = |d: &usize| self.domain[*d].role == Role::Cc;
        let mut open: Vec<usize> = (0..self.domain.len()).filter(is_open).collect();
        while !open.is_empty() {
            let mut left = Vec::new();
            for d in &open {
                match self.is_behind(*d, 1)? {
                    Answer::None => {
                        let [point, result] = [&self.point, &self.result].map(|at| at[*d].as_ref());
                        self.system.zero(point?.plus(-1, result?)?);
                    }
                    Answer::Unknown => left.push(*d),
                    Answer::Solution(values) => match self.conflict(&values) {
                        Sharing::Conflict(conflict) => return Some(Sharing::Conflict(conflict)),
                        _ => left.push(*d),
                    },
                }
            }
            if left.len() == open.len() {
                return Some(Sharing::Unknown);
            }
            open = left;
        }
        Some(Sharing::InPlace)
    }

    /// Returns whether the point may be behind the result in a dimension, or before it.
    fn is_behind(&self, dimension: usize, sign: i128) -> Option<Answer> {
        let (point, result) = (&self.point[dimension], &self.result[dimension]);
        let distance = point.as_ref()?.plus(-1, result.as_ref()?)?.times(sign)?;
        let mut system = self.system.clone();
        system.not_negative(distance.plus(-1, &Form::constant(1))?);
        Some(system.solve())
    }

    fn conflict(&self, values: &[i128]) -> Sharing {
        let at = |forms: &[Option<Form>]| -> Option<Vec<i64>> {
            let index = |form: &Option<Form>| match form {
                Some(form) => i64::try_from(form.eval(values)?).ok(),
                None => Some(0),
            };
            forms.iter().map(index).collect()
        };
        let example = || {
            let (read, written) = (at(&self.point)?, at(&self.result)?);
            let element = self.read.1.iter().zip(self.read.2).map(|(e, origin)| {
                // An unknown origin is one of the values; indices tell more than elements then.
                e.eval(&read)?.checked_sub(origin.known().unwrap_or(0))
            });
            Some(Conflict {
                element: element.collect::<Option<_>>()?,
                read: (self.read.0, read),
                written: (self.written.0, written),
            })
        };
        let exact = example().filter(|_| self.is_exact);
        exact.map_or(Sharing::Unknown, Sharing::Conflict)
    }
}

/// A system that is being written.
#[derive(Default)]
struct Build {
    system: System,
    /// The variables of the symbols that have occurred.
    symbols: Vec<(usize, Form)>,
    /// Counters of dimensions, each with its number there. A second point of the same access counts
    /// from the first one on, so that only the distance is left; else small numbers make better
    /// examples.
    counters: Vec<([usize; 2], Form)>,
    /// True if something that is asked of points is not asked of the variables.
    is_relaxed: bool,
}

impl Build {
    fn amount(&mut self, amount: Amount) -> Form {
        let symbol = match amount {
            Amount::Known(number) => return Form::constant(number.into()),
            Amount::Symbol(symbol) => symbol,
        };
        let known = self.symbols.iter().find(|(s, _)| *s == symbol);
        if let Some((_, form)) = known {
            return form.clone();
        }
        let form = self.system.variable();
        self.symbols.push((symbol, form.clone()));
        form
    }

    /// Something of at least 0, and at most `last`.
    fn counter(&mut self, of: [usize; 2], last: Option<i128>) -> Option<Form> {
        let mut counter = self.system.variable();
        match self.counters.iter().find(|(other, _)| *other == of) {
            Some((_, first)) => counter = counter.add(1, first)?,
            None => self.counters.push((of, counter.clone())),
        }
        match last {
            Some(last) => self.system.between(0, &counter, last)?,
            None => self.system.not_negative(counter.clone()),
        }
        Some(counter)
    }

    /// The indices of some point of the domain in the dimensions of these roles.
    fn point(
        &mut self,
        domain: &[DomainAxis],
        has_index: impl Fn(Role) -> bool,
    ) -> Option<Vec<Option<Form>>> {
        let mut point = Vec::new();
        for (d, axis) in domain.iter().enumerate() {
            let index = match has_index(axis.role) {
                true => Some(self.index(d, axis)?),
                false => None,
            };
            point.push(index);
        }
        Some(point)
    }

    fn index(&mut self, d: usize, axis: &DomainAxis) -> Option<Form> {
        let lower = self.amount(axis.lower);
        let upper = self.amount(axis.upper);
        let period = match (axis.step.known(), axis.width.known()) {
            (Some(step), Some(width)) => Some((i128::from(step), i128::from(width))),
            _ => None,
        };
        let index = match period {
            Some((step, width)) if step < 1 || width < 1 || width > step => return None,
            Some((step, width)) if step != width => {
                let periods = self.counter([d, 0], None)?;
                let within = match width {
                    1 => Form::constant(0),
                    width => self.counter([d, 1], Some(width - 1))?,
                };
                lower.plus(step, &periods)?.plus(1, &within)?
            }
            _ => {
                self.is_relaxed |= period.is_none();
                lower.plus(1, &self.counter([d, 0], None)?)?
            }
        };
        let rest = upper.plus(-1, &index)?.plus(-1, &Form::constant(1))?;
        self.system.not_negative(rest);
        Some(index)
    }

    /// An index function of a point.
    fn form(&mut self, e: &Expr, at: &[Option<Form>]) -> Option<Form> {
        let dim = |d: usize| at.get(d)?.clone();
        e.form(&dim, &mut |dividend, divisor| {
            let quotient = self.system.variable();
            let remainder = dividend.plus(-divisor, &quotient)?;
            self.system.between(0, &remainder, divisor - 1)?;
            Some(quotient)
        })
    }
}
