//! CuTe's `shape:stride` layouts, read and written.
//!
//! A mode of a shape is a size or a tuple of modes; the index of a tuple counts its first mode
//! fastest (CuTe's colexicographic order), so `(2,3):(3,1)` has two dimensions and
//! `((2,3),4):((1,8),2)` has two as well, the first of size 6. A layout has such a form if the
//! offset is a sum of its indices' digits times strides. One read in is a bijection if each stride
//! is the product of the sizes of all smaller strides; a larger one leaves room, which is padding:
//! `(4,6):(8,1)` is `GroupBy([4,8]).Within([4,6])`. Sizes and strides may have symbols,
//! `(n,m):(m,1)`.

use std::fmt;

use crate::index::lex::{Cursor, SyntaxError, Token};
use crate::index::parse::{Scope, expr};
use crate::index::simplify::simplify;
use crate::index::{Expr, Facts, IndexProgram, Name, normal};

use super::{Layout, OrderBy, Perm};

/// A shape and its strides: for each dimension its digits, fastest first.
#[derive(Clone, Debug, PartialEq)]
pub struct Cute {
    /// `(size, stride)` of each digit of each dimension.
    pub modes: Vec<Vec<(Expr, Expr)>>,
}

/// So many indices are compared at most before a form is given.
const COMPARED: i64 = 1 << 20;

/// `(size, stride)` of each digit of each dimension, in numbers.
type Numbers = Vec<Vec<(i64, i64)>>;

/// A digit on its way to a layout.
struct Digit {
    /// Its size, and the room it has.
    size: Expr,
    room: Expr,
    stride: Expr,
    /// True if it is its dimension's last, the only one whose room is the dimension's, too.
    last: bool,
}

impl Cute {
    /// The same with values for some symbols.
    pub(super) fn bound(&self, value: &dyn Fn(&str) -> Option<Expr>) -> Cute {
        let digit = |(n, s): &(Expr, Expr)| (n.substitute(value), s.substitute(value));
        let modes = self
            .modes
            .iter()
            .map(|mode| mode.iter().map(digit).collect());
        Cute {
            modes: modes.collect(),
        }
    }

    /// The layout with these strides.
    ///
    /// # Errors
    /// If there is none, with the first stride that does not fit.
    pub fn to_layout(&self, facts: &Facts) -> Result<Layout, String> {
        let mut facts = facts.clone();
        let amounts = self.modes.iter().flatten().flat_map(|(n, s)| [n, s]);
        for symbol in amounts.flat_map(Expr::symbols) {
            facts.size(&symbol);
        }
        // Row-major digits have the slowest first.
        let mut digits: Vec<Digit> = Vec::new();
        for mode in &self.modes {
            let slowest_first = mode.iter().rev().enumerate();
            digits.extend(slowest_first.map(|(n, (size, stride))| Digit {
                size: size.clone(),
                room: size.clone(),
                stride: stride.clone(),
                last: n == 0,
            }));
        }
        let mut order = self.by_stride(&mut digits, &facts)?;
        let ones = |k: &usize| digits[*k].size.as_constant() == Some(1);
        order.extend((0..digits.len()).filter(ones));
        let (mut view, mut within, mut at) = (Vec::new(), Vec::new(), 0);
        for mode in &self.modes {
            let mine = &digits[at..at + mode.len()];
            view.push(Expr::product(mine.iter().map(|digit| &digit.room)));
            within.push(Expr::product(mine.iter().map(|digit| &digit.size)));
            at += mode.len();
        }
        let perm = Perm::Reg {
            sizes: digits.iter().map(|digit| digit.room.clone()).collect(),
            sigma: order.iter().rev().map(|k| k + 1).collect(),
        };
        let within = (within != view).then_some(within);
        let chain = vec![OrderBy::one(perm)];
        Layout::new(vec![view], within, chain, &facts).map_err(|e| e.message)
    }

    /// The digits of more than one element, the smallest stride first; those below a stride that is
    /// too large get room.
    fn by_stride(&self, digits: &mut [Digit], facts: &Facts) -> Result<Vec<usize>, String> {
        let more = |k: &usize| digits[*k].size.as_constant() != Some(1);
        let mut left: Vec<usize> = (0..digits.len()).rev().filter(more).collect();
        // Those with symbols stand last, in their order.
        left.sort_by_key(|k| digits[*k].stride.as_constant().unwrap_or(i64::MAX));
        let (mut order, mut expected): (Vec<usize>, _) = (Vec::new(), Expr::constant(1));
        while !left.is_empty() {
            let fits = |k: &usize| normal::equal(facts, &digits[*k].stride, &expected);
            let next = match left.iter().position(fits) {
                Some(next) => next,
                None => {
                    let Digit { size, stride, .. } = &digits[left[0]];
                    let room = order
                        .last()
                        .and_then(|k| digits[*k].room_below(stride, facts));
                    let Some(room) = room else {
                        return Err(format!(
                            "'{self}' is no bijection: found the stride {stride} of a mode of size \
                             {size}, expected {expected}, the product of the sizes of smaller \
                             strides"
                        ));
                    };
                    if let Some(k) = order.last() {
                        digits[*k].room = room;
                    }
                    0
                }
            };
            let digit = &digits[left[next]];
            expected = &digit.stride * &digit.size;
            order.push(left.remove(next));
        }
        Ok(order)
    }
}

impl Digit {
    /// The room it has if this is the next stride, unless it is too small.
    fn room_below(&self, stride: &Expr, facts: &Facts) -> Option<Expr> {
        let room = match (stride.as_constant(), self.stride.as_constant()?) {
            (Some(stride), own) => (stride % own == 0).then(|| Expr::constant(stride / own))?,
            (None, 1) => stride.clone(),
            (None, _) => return None,
        };
        let refuted = normal::at_most(facts, &(&room + 1), &self.size);
        (self.last && !refuted).then_some(room)
    }
}

/// The offset of an index.
fn offset_of(modes: &Numbers, index: &[i64]) -> i64 {
    let of_mode = |(mode, i): (&Vec<(i64, i64)>, &i64)| {
        let digits = mode.iter().scan(*i, |rest, (size, stride)| {
            let digit = *rest % size;
            *rest /= size;
            Some(digit * stride)
        });
        digits.sum::<i64>()
    };
    modes.iter().zip(index).map(of_mode).sum()
}

impl Layout {
    /// Its `shape:stride` form, of what is meant if there is padding.
    ///
    /// # Errors
    /// If it has none, with an index whose offset is no such sum; if none is proved, which with
    /// symbols has one stride for each size; or if there are too many indices to compare all.
    pub fn to_cute(&self) -> Result<Cute, String> {
        let meant = match &self.within {
            Some(within) if self.view.len() == 1 => within.clone(),
            _ => self.dims(),
        };
        let sizes: Option<Vec<i64>> = meant.iter().map(Expr::as_constant).collect();
        let Some(sizes) = sizes.filter(|_| self.numbers().is_some()) else {
            return self.to_strides(&meant);
        };
        let total: i64 = sizes.iter().product();
        if total > COMPARED {
            return Err(format!(
                "the layout has {total} elements, and only {COMPARED} are compared"
            ));
        }
        let names = self.index_names();
        let index: Vec<Expr> = names.iter().map(|n| Expr::symbol(n)).collect();
        let program = IndexProgram::with_inputs(&names, &[self.apply(&index)]);
        let offset = |index: &[i64]| match program.run(index) {
            Ok(values) => Ok(values[0]),
            Err(error) => Err(error.to_string()),
        };
        let mut modes = Vec::new();
        for (d, n) in sizes.iter().enumerate() {
            let mut along = Vec::new();
            for i in 0..*n {
                let mut index = vec![0; sizes.len()];
                index[d] = i;
                along.push(offset(&index)?);
            }
            modes.push(digits(&along));
        }
        let mut index = vec![0; sizes.len()];
        for _ in 0..total {
            let (found, sum) = (offset(&index)?, offset_of(&modes, &index));
            if found != sum {
                let index = super::indices::list(&index);
                return Err(format!(
                    "this layout has no shape:stride form: {index} is at {found}, but its \
                     components alone would put it at {sum}"
                ));
            }
            for (i, n) in index.iter_mut().zip(&sizes).rev() {
                *i = (*i + 1) % n;
                if *i != 0 {
                    break;
                }
            }
        }
        let exprs = |mode: &Vec<(i64, i64)>| {
            let digits = mode
                .iter()
                .map(|(n, s)| (Expr::constant(*n), Expr::constant(*s)));
            digits.collect()
        };
        Ok(Cute {
            modes: modes.iter().map(exprs).collect(),
        })
    }

    /// A stride for each size, which may have symbols: what a 1 in that place alone gives, if the
    /// offset is proved to be the sum of these.
    fn to_strides(&self, meant: &[Expr]) -> Result<Cute, String> {
        let names = self.index_names();
        let facts = self.facts_of_index(&names);
        let index: Vec<Expr> = names.iter().map(|n| Expr::symbol(n)).collect();
        let offset = simplify(&facts, &[self.apply(&index)]).remove(0);
        let stride = |name: &Name| {
            let alone = offset.substitute(&|other| {
                let is_index = names.iter().any(|n| **n == *other);
                is_index.then(|| Expr::constant(i64::from(*other == **name)))
            });
            simplify(&self.facts, &[alone]).remove(0)
        };
        let strides: Vec<Expr> = names.iter().map(stride).collect();
        let terms = index.iter().zip(&strides).map(|(i, s)| i * s);
        let sum = terms.fold(Expr::constant(0), |sum, term| &sum + &term);
        if !normal::equal(&facts, &offset, &sum) {
            let numbers = self.needs_numbers();
            return Err(format!(
                "this layout has no shape:stride form that is proved, with a stride for each size; {numbers}"
            ));
        }
        let modes = meant.iter().cloned().zip(strides).map(|digit| vec![digit]);
        Ok(Cute {
            modes: modes.collect(),
        })
    }
}

/// Sizes and strides whose sums these are, if there are any: as long as all are multiples of the
/// first one, it is one digit; the rest are further digits.
fn digits(along: &[i64]) -> Vec<(i64, i64)> {
    let (mut step, mut modes) = (1, Vec::new());
    while step < along.len() {
        let rest: Vec<i64> = along.iter().step_by(step).copied().collect();
        let stride = rest[1] - rest[0];
        let regular = (1..).zip(&rest[1..]);
        let regular = regular.take_while(|(k, v)| **v == rest[0] + k * stride);
        let mut size = 1 + regular.count();
        while !rest.len().is_multiple_of(size) {
            size -= 1;
        }
        if size == 1 {
            // Two offsets always have a stride, but the sizes do not divide: one digit, which
            // the comparison of all indices refutes.
            size = rest.len();
        }
        modes.push((i64::try_from(size).unwrap_or(i64::MAX), stride));
        step *= size;
    }
    if modes.is_empty() {
        modes.push((1, 0));
    }
    modes
}

/// Reads `shape:stride`.
pub(super) fn parse(cursor: &mut Cursor) -> Result<Cute, SyntaxError> {
    let start = cursor.span().start;
    let shape = tree(cursor)?;
    cursor.expect(":")?;
    let stride = tree(cursor)?;
    let differ = |cursor: &Cursor| {
        let message = "shape and strides are nested differently, expected a stride for each size";
        SyntaxError::new(cursor.span_from(start), message)
    };
    let (shapes, strides) = match (shape, stride) {
        (Tree::Tuple(shapes), Tree::Tuple(strides)) if shapes.len() == strides.len() => {
            (shapes, strides)
        }
        (shape @ Tree::Leaf(_), stride @ Tree::Leaf(_)) => (vec![shape], vec![stride]),
        _ => return Err(differ(cursor)),
    };
    let mut modes = Vec::new();
    for (shape, stride) in shapes.iter().zip(&strides) {
        let mut mode = Vec::new();
        if pair(shape, stride, &mut mode).is_none() {
            return Err(differ(cursor));
        }
        modes.push(mode);
    }
    Ok(Cute { modes })
}

enum Tree {
    Leaf(Expr),
    Tuple(Vec<Tree>),
}

fn tree(cursor: &mut Cursor) -> Result<Tree, SyntaxError> {
    match *cursor.peek() {
        Token::Number(_) | Token::Name(_) => Ok(Tree::Leaf(expr(cursor, &Scope::default())?)),
        Token::Mark("(") => {
            let trees = cursor.nested(|cursor| cursor.list(["(", ")"], tree))?;
            Ok(Tree::Tuple(trees))
        }
        _ => Err(cursor.unexpected("a size or '('")),
    }
}

fn pair(shape: &Tree, stride: &Tree, mode: &mut Vec<(Expr, Expr)>) -> Option<()> {
    match (shape, stride) {
        (Tree::Leaf(size), Tree::Leaf(stride)) => mode.push((size.clone(), stride.clone())),
        (Tree::Tuple(shapes), Tree::Tuple(strides)) if shapes.len() == strides.len() => {
            for (shape, stride) in shapes.iter().zip(strides) {
                pair(shape, stride, mode)?;
            }
        }
        _ => return None,
    }
    Some(())
}

/// Dimensions of one digit without parentheses of their own.
impl fmt::Display for Cute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tuple = |items: Vec<String>| match items.as_slice() {
            [one] => one.clone(),
            more => format!("({})", more.join(",")),
        };
        let side = |part: fn(&(Expr, Expr)) -> &Expr| {
            let modes = self.modes.iter();
            let mode = |mode: &Vec<(Expr, Expr)>| {
                tuple(mode.iter().map(|digit| part(digit).to_string()).collect())
            };
            tuple(modes.map(mode).collect())
        };
        write!(f, "{}:{}", side(|d| &d.0), side(|d| &d.1))
    }
}
