//! CuTe's `shape:stride` layouts, read and written.
//!
//! A mode of a shape is a size or a tuple of modes; the index of a tuple counts its first mode
//! fastest (CuTe's colexicographic order), so `(2,3):(3,1)` has two dimensions and
//! `((2,3),4):((1,8),2)` has two as well, the first of size 6. A layout has such a form if the
//! offset is a sum of its indices' digits times strides; one read in must be a bijection, which is
//! when each stride is the product of the sizes of all smaller strides.

use std::fmt;

use crate::index::lex::{Cursor, SyntaxError, Token};
use crate::index::{Expr, Facts};

use super::{Layout, OrderBy, Perm};

/// A shape and its strides: for each dimension its digits, fastest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cute {
    /// `(size, stride)` of each digit of each dimension.
    pub modes: Vec<Vec<(i64, i64)>>,
}

/// So many indices are compared at most before a form is given.
const COMPARED: i64 = 1 << 20;

impl Cute {
    /// The layout with these strides.
    pub fn to_layout(&self) -> Result<Layout, String> {
        let mut digits: Vec<(i64, i64)> = Vec::new();
        for mode in &self.modes {
            // Row-major digits have the slowest first.
            digits.extend(mode.iter().rev());
        }
        let mut order: Vec<usize> = (0..digits.len()).collect();
        order.sort_by_key(|k| std::cmp::Reverse(digits[*k].1));
        let mut expected = 1_i64;
        for k in order.iter().rev().filter(|k| digits[**k].0 != 1) {
            let (size, stride) = digits[*k];
            if stride != expected {
                return Err(format!(
                    "'{self}' is no bijection: found the stride {stride} of a mode of size {size}, \
                     expected {expected}, the product of the sizes of smaller strides"
                ));
            }
            expected = expected
                .checked_mul(size)
                .ok_or_else(|| format!("the size of '{self}' is more than {}", i64::MAX))?;
        }
        let view = self.modes.iter().map(|mode| {
            let sizes: Vec<Expr> = mode.iter().map(|(size, _)| (*size).into()).collect();
            Expr::product(&sizes)
        });
        let perm = Perm::Reg {
            sizes: digits
                .iter()
                .map(|(size, _)| Expr::constant(*size))
                .collect(),
            sigma: order.iter().map(|k| k + 1).collect(),
        };
        let chain = vec![OrderBy::one(perm)];
        Layout::new(vec![view.collect()], None, chain, &Facts::new()).map_err(|e| e.message)
    }

    fn offset(&self, index: &[i64]) -> i64 {
        let of_mode = |(mode, i): (&Vec<(i64, i64)>, &i64)| {
            let digits = mode.iter().scan(*i, |rest, (size, stride)| {
                let digit = *rest % size;
                *rest /= size;
                Some(digit * stride)
            });
            digits.sum::<i64>()
        };
        self.modes.iter().zip(index).map(of_mode).sum()
    }
}

impl Layout {
    /// Its `shape:stride` form.
    ///
    /// # Errors
    /// If it has none, with an index whose offset is no such sum; if a size is a symbol; or if
    /// there are too many indices to compare all.
    pub fn to_cute(&self) -> Result<Cute, String> {
        let sizes = self.numbers().ok_or_else(|| self.needs_numbers())?;
        let total: i64 = sizes.iter().product();
        if total > COMPARED {
            return Err(format!(
                "the layout has {total} elements, and only {COMPARED} are compared"
            ));
        }
        let names = self.index_names();
        let index: Vec<Expr> = names.iter().map(|n| Expr::symbol(n)).collect();
        let program = crate::index::Program::with_inputs(&names, &[self.apply(&index)]);
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
        let cute = Cute { modes };
        let mut index = vec![0; sizes.len()];
        for _ in 0..total {
            let (found, sum) = (offset(&index)?, cute.offset(&index));
            if found != sum {
                let index = super::print::list(&index);
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
        Ok(cute)
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
    Leaf(i64),
    Tuple(Vec<Tree>),
}

fn tree(cursor: &mut Cursor) -> Result<Tree, SyntaxError> {
    match *cursor.peek() {
        Token::Number(number) => {
            cursor.bump();
            Ok(Tree::Leaf(number))
        }
        Token::Mark("(") => {
            let all = cursor.nested(|cursor| cursor.list(["(", ")"], tree))?;
            Ok(Tree::Tuple(all))
        }
        _ => Err(cursor.unexpected("a number or '('")),
    }
}

fn pair(shape: &Tree, stride: &Tree, mode: &mut Vec<(i64, i64)>) -> Option<()> {
    match (shape, stride) {
        (Tree::Leaf(size), Tree::Leaf(stride)) => mode.push((*size, *stride)),
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
        let side = |part: fn(&(i64, i64)) -> i64| {
            let modes = self.modes.iter();
            let mode = |mode: &Vec<(i64, i64)>| {
                tuple(mode.iter().map(|digit| part(digit).to_string()).collect())
            };
            tuple(modes.map(mode).collect())
        };
        write!(f, "{}:{}", side(|d| d.0), side(|d| d.1))
    }
}
