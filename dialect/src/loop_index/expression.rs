//! Values of a body as index functions of its loops: sums, constant factors, quotients and remainders.
//!
//! Divisions of arith agree with those of affine maps where what they divide is not negative: `divsi`
//! rounds to zero, and to `divui` a negative number is a huge one. Bounds are quotients where they cut off
//! one index at an end: with `m` for `high - low` and all of `x` in `low - 1 .. high + 1`,
//!
//! ```text
//! max(low, min(x, high)) = low + (m * (x - low) + m) floordiv (m + 1)
//! ```
//!
//! since `m * y + m` is `(m + 1) * y + (m - y)`, and the quotient of `m - y` is 1 for `y = -1`, -1 for
//! `y = m + 1`, and 0 between. What is computed of one loop in any other way is tabulated.

use std::collections::HashMap;

use mdh_algebra::affine::{Expr, Linear, Range};
use mdh_algebra::domain::Grid;
use mdh_algebra::scalar::ScalarType;
use melior::ir::ValueLike;

use super::table;
use crate::ir::{self, Op, Val};
use crate::{ops, types};

/// More iterations than any loop makes whose extent is not known: there is no memory of so many bytes.
const ENDLESS: i64 = 1 << 47;

/// The index that a value in a body is, if it is computed from `linalg.index` and constants, and none of what
/// it is computed from leaves its type.
pub fn index(value: Val, extents: &[Option<i64>]) -> Option<Expr> {
    Reading::new(extents).value(value)
}

/// The same, if it is one without divisions.
pub fn linear(value: Val, extents: &[Option<i64>]) -> Option<Linear> {
    let mut reading = Reading {
        extents,
        other: |_, _| None,
        known: HashMap::new(),
    };
    reading.value(value)?.linear(extents.len())
}

/// The values of a body that have been read.
pub(super) struct Reading<'a> {
    extents: &'a [Option<i64>],
    /// Reads what is made by other operations.
    other: fn(Val, &[Option<i64>]) -> Option<Expr>,
    known: HashMap<usize, Option<Expr>>,
}

impl<'a> Reading<'a> {
    /// For a body whose loops have these extents.
    pub(super) fn new(extents: &'a [Option<i64>]) -> Reading<'a> {
        Reading {
            extents,
            other: table::stair,
            known: HashMap::new(),
        }
    }

    /// The index that a value is.
    pub(super) fn value(&mut self, value: Val) -> Option<Expr> {
        let key = value.to_raw().ptr as usize;
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        let expression = self.read(value);
        self.known.insert(key, expression.clone());
        expression
    }

    fn read(&mut self, value: Val) -> Option<Expr> {
        let ty = types::scalar_type(value.r#type()).filter(|ty| ty.is_integer())?;
        let expression = self.computed(ir::defining_op(value)?);
        let expression =
            expression.and_then(|expression| simplified(expression, self.extents.len()));
        let expression = expression.filter(|expression| self.fits(expression, ty));
        expression.or_else(|| (self.other)(value, self.extents))
    }

    fn operand(&mut self, op: Op, n: usize) -> Option<Expr> {
        self.value(ir::operand(op, n)?)
    }

    fn computed(&mut self, op: Op) -> Option<Expr> {
        Some(match ir::name_of(op) {
            ops::arith::CONSTANT => {
                let number = types::scalar(ir::attribute(op, "value")?)?;
                Expr::constant(number.as_i64())
            }
            ops::linalg::INDEX => Expr::dim(usize::try_from(ir::integer(op, "dim")?).ok()?),
            ops::arith::INDEX_CAST | ops::arith::EXTSI | ops::arith::TRUNCI => {
                self.operand(op, 0)?
            }
            ops::arith::INDEX_CASTUI | ops::arith::EXTUI => self.counted(op, 0)?,
            ops::arith::ADDI => self.operand(op, 0)? + self.operand(op, 1)?,
            ops::arith::SUBI => self.operand(op, 0)? - self.operand(op, 1)?,
            ops::arith::MULI => match (self.operand(op, 0)?, self.operand(op, 1)?) {
                (Expr::Const(factor), e) | (e, Expr::Const(factor)) => e * factor,
                _ => return None,
            },
            ops::arith::FLOORDIVSI => self.operand(op, 0)?.floor_div(self.divisor(op)?),
            ops::arith::CEILDIVSI => self.operand(op, 0)?.ceil_div(self.divisor(op)?),
            ops::arith::DIVSI => self.truncated(op)?,
            ops::arith::DIVUI => self.dividend(op)?.floor_div(self.divisor(op)?),
            ops::arith::CEILDIVUI => self.dividend(op)?.ceil_div(self.divisor(op)?),
            ops::arith::REMSI | ops::arith::REMUI => self.dividend(op)?.modulo(self.divisor(op)?),
            ops::arith::MAXSI | ops::arith::MAXUI | ops::arith::MINSI | ops::arith::MINUI => {
                self.bounded(op)?
            }
            _ => return None,
        })
    }

    /// A quotient that is rounded to zero: with what is divided above the negative divisor, the larger one
    /// of 0 and that which is rounded down.
    fn truncated(&mut self, op: Op) -> Option<Expr> {
        let (of, divisor) = (self.operand(op, 0)?, self.divisor(op)?);
        let values = self.values(&of)?;
        let quotient = of.floor_div(divisor);
        match values.min {
            least if least >= 0 || divisor == 1 => Some(quotient),
            least if least > -divisor => {
                let m = values.max.max(0) / divisor;
                let is_small = m < i64::from(i32::MAX);
                is_small.then_some((quotient * m + m).floor_div(m + 1))
            }
            _ => None,
        }
    }

    /// The dividend, if it is nowhere negative: any number, by 1.
    fn dividend(&mut self, op: Op) -> Option<Expr> {
        match self.divisor(op)? {
            1 => self.operand(op, 0),
            _ => self.counted(op, 0),
        }
    }

    /// An operand that is nowhere negative.
    fn counted(&mut self, op: Op, n: usize) -> Option<Expr> {
        let operand = self.operand(op, n)?;
        let values = self.values(&operand)?;
        (values.min >= 0).then_some(operand)
    }

    /// A positive constant that an operation divides by.
    fn divisor(&mut self, op: Op) -> Option<i64> {
        match self.operand(op, 1)? {
            Expr::Const(divisor) if divisor > 0 => Some(divisor),
            _ => None,
        }
    }

    /// The larger or the smaller of an index and a constant, or what two such operations leave between two
    /// constants.
    fn bounded(&mut self, op: Op) -> Option<Expr> {
        let (value, bound) = self.bound(op)?;
        let inner = ir::defining_op(value).and_then(|inner| self.bound(inner));
        let (value, [low, high]) = match (bound, inner) {
            (Bound::High(high), Some((value, Bound::Low(low)))) if low <= high => {
                (value, [low, high])
            }
            (Bound::Low(low), Some((value, Bound::High(high)))) if low <= high => {
                (value, [low, high])
            }
            (Bound::Low(low), _) => (value, [low, i64::MAX]),
            (Bound::High(high), _) => (value, [i64::MIN, high]),
        };
        let expr = self.value(value)?;
        let values = self.values(&expr)?;
        if values.min >= high || values.max <= low {
            return Some(Expr::constant(low.max(values.min).min(high)));
        }
        if low <= values.min && values.max <= high {
            return Some(expr);
        }
        let (low, high) = (low.max(values.min), high.min(values.max));
        let is_near = low.checked_sub(1)? <= values.min && values.max <= high.checked_add(1)?;
        let m = high.checked_sub(low)?;
        let steps = m.checked_add(1).filter(|_| is_near)?;
        // One quotient is less to compute than two.
        let stair = (self.other)(ir::result(op, 0)?, self.extents);
        let bounded = || Some(((expr + low.checked_neg()?) * m + m).floor_div(steps) + low);
        stair.or_else(bounded)
    }

    /// The value that an operation sets a bound to.
    fn bound<'c>(&mut self, op: Op<'c>) -> Option<(Val<'c>, Bound)> {
        let sides = [ir::operand(op, 0)?, ir::operand(op, 1)?];
        let numbers = sides.map(|side| match self.value(side) {
            Some(Expr::Const(number)) => Some(number),
            _ => None,
        });
        let (of, number) = match numbers {
            [_, Some(number)] => (sides[0], number),
            [Some(number), _] => (sides[1], number),
            _ => return None,
        };
        let is_unsigned = [ops::arith::MAXUI, ops::arith::MINUI].contains(&ir::name_of(op));
        if is_unsigned {
            let values = self.value(of).and_then(|of| self.values(&of))?;
            if number < 0 || values.min < 0 {
                return None;
            }
        }
        match ir::name_of(op) {
            ops::arith::MAXSI | ops::arith::MAXUI => Some((of, Bound::Low(number))),
            ops::arith::MINSI | ops::arith::MINUI => Some((of, Bound::High(number))),
            _ => None,
        }
    }

    /// The values of an index, of loops that are not endless.
    fn values(&self, index: &Expr) -> Option<Range> {
        let grid = |extent: &Option<i64>| Some(Grid::dense(extent.unwrap_or(ENDLESS).max(1)));
        let grids: Vec<Option<Grid>> = self.extents.iter().map(grid).collect();
        index.range(&grids)
    }

    fn fits(&self, index: &Expr, ty: ScalarType) -> bool {
        let bits = match ty {
            ScalarType::Index => 64,
            _ => ty.bit_width(),
        };
        let is_known = index.dims().iter().all(|d| self.extents[*d].is_some());
        // Indices of any array do.
        if !is_known && bits == 64 && index.linear(self.extents.len()).is_some() {
            return true;
        }
        let most = i64::MAX >> (64 - bits);
        self.values(index)
            .is_some_and(|values| -most <= values.min && values.max <= most)
    }
}

/// A constant that an index does not go beyond.
enum Bound {
    /// From below.
    Low(i64),
    /// From above.
    High(i64),
}

/// Sums of all terms of a loop, where nothing is divided; `None` if a number leaves 64 bits.
fn simplified(index: Expr, rank: usize) -> Option<Expr> {
    match index.linear(rank) {
        Some(linear) => Some(linear.to_expr()),
        None => divides(&index).then_some(index),
    }
}

fn divides(index: &Expr) -> bool {
    match index {
        Expr::Dim(_) | Expr::Const(_) => false,
        Expr::FloorDiv(..) | Expr::CeilDiv(..) | Expr::Mod(..) => true,
        Expr::Add(a, b) | Expr::Mul(a, b) => divides(a) || divides(b),
    }
}
