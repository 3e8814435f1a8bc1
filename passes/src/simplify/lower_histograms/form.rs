//! Recognition of histograms.
//!
//! The law: if `e` is neutral for `f`, then combining `b == g(x) ? v(x) : e` over all `x` is
//! combining the `v(x)` with `g(x) = b`, in the same order; so each `x` concerns the one bin
//! `g(x)`, or none.

use mdh_dialect::ops;
use std::collections::HashSet;

use mdh_algebra::computation::{Combine, Computation};
use mdh_algebra::operator::{Builtin, Operator};
use mdh_algebra::scalar::{Scalar, ScalarType};
use mdh_dialect::code::arguments;
use mdh_dialect::ir::{self, Op, Val};
use mdh_dialect::parts::{BufferPart, Parts};
use mdh_dialect::schedule;
use mdh_dialect::translate::{self, Depth};
use mdh_dialect::types::{self, BufferKind};
use melior::ir::attribute::IntegerAttribute;
use melior::ir::operation::OperationLike;
use melior::ir::{BlockRef, ValueLike};

use crate::support::inline::key;
use crate::support::region;

/// Amount that a value adds to its bin, for one component of the tuple.
#[derive(Clone, Copy)]
pub enum Amount<'c> {
    /// A value of the scalar function.
    Value(Val<'c>),
    /// A number.
    Number(Scalar),
    /// The yield of the branch of an `scf.if` that is taken there.
    Branch {
        /// The `scf.if`.
        of: Op<'c>,
        /// The number of its region.
        region: usize,
        /// The number of its result.
        result: usize,
    },
}

/// A computation that is a histogram.
pub struct Histogram<'c> {
    /// The computation.
    pub op: Op<'c>,
    /// Taken apart.
    pub parts: Parts<'c>,
    /// As data.
    pub computation: Computation,
    /// The dimension of the bins.
    pub bins: usize,
    /// The bin of a value, and how it becomes an index if it is not one.
    pub bin: (Val<'c>, Option<&'static str>),
    /// Further conditions that must be true.
    pub conditions: Vec<Val<'c>>,
    /// One for each component.
    pub amounts: Vec<Amount<'c>>,
}

/// Reads a computation as a histogram; else says why one that compares bins with values is none.
/// `Err(None)` is for all others.
pub fn recognise<'c>(op: Op<'c>) -> Result<Histogram<'c>, Option<String>> {
    let (parts, computation) = translate::both(op, Depth::Signatures).map_err(|_| None)?;
    let block = ir::only_block(ir::region(op, 0)).ok_or(None)?;
    let sums = computation.dimensions.iter().any(|d| d.combine.is_pw());
    if !sums || parts.buffers().any(is_tensor) {
        return Err(None);
    }
    let yields = region::yields(block);
    let mut terms = yields.iter().map(|value| Term::read(*value));
    let first = terms.next().flatten().ok_or(None)?;
    let cases = first.cases.iter().enumerate();
    let tests =
        cases.filter_map(|(n, case)| Some((n, BinTest::new(case.condition, &computation)?)));
    let (case, place) = tests.into_iter().next().ok_or(None)?;
    // From here on it looks like one.
    if schedule::has_schedule(op) {
        return Err(Some(
            "it has a schedule, which goes by all of its points".into(),
        ));
    }
    let rest: Option<Vec<Term>> = terms.collect();
    let rest = rest.ok_or_else(|| Some("a component of its tuple has no such form".into()))?;
    let all_terms: Vec<Term> = [first].into_iter().chain(rest).collect();
    let amounts = amounts(&all_terms, case, &computation)?;
    let histogram = Histogram {
        op,
        bins: place.dimension,
        bin: place.bin(&computation)?,
        conditions: place.others,
        amounts,
        parts,
        computation,
    };
    histogram.check(block).map_err(Some)?;
    Ok(histogram)
}

fn is_tensor(buffer: &BufferPart) -> bool {
    let ty = types::buffer_type(buffer.value.r#type());
    ty.is_some_and(|t| t.kind == BufferKind::Tensor)
}

/// A component of the tuple: something where a condition holds, something else elsewhere. Either
/// may be what is combined.
struct Term<'c> {
    cases: [Case<'c>; 2],
}

/// One side of it.
#[derive(Clone, Copy)]
struct Case<'c> {
    /// The condition, and whether it holds.
    condition: (Val<'c>, bool),
    here: Amount<'c>,
    elsewhere: Amount<'c>,
}

impl<'c> Term<'c> {
    fn read(value: Val<'c>) -> Option<Self> {
        let number = |n: i64| {
            let ty = types::scalar_type(value.r#type())?;
            let number = match ty.is_float() {
                true => Scalar::from_f64(ty, n as f64),
                false => Scalar::from_i64(ty, n),
            };
            Some(Amount::Number(number))
        };
        let op = ir::defining_op(value)?;
        let operand = |n: usize| ir::operand(op, n);
        let (condition, then, otherwise) = match ir::name_of(op) {
            ops::arith::SELECT => (operand(0)?, amount(operand(1)?), amount(operand(2)?)),
            // What canonicalisation makes of choices between numbers.
            ops::arith::EXTUI | ops::arith::UITOFP => (operand(0)?, number(1)?, number(0)?),
            ops::arith::EXTSI | ops::arith::SITOFP => (operand(0)?, number(-1)?, number(0)?),
            ops::scf::IF => {
                let result = ir::result_number(value)?;
                let branch = |region: usize| {
                    let block = ir::only_block(ir::region(op, region))?;
                    let yielded = region::yields(block)[result];
                    Some(constant(yielded).map_or(
                        Amount::Branch {
                            of: op,
                            region,
                            result,
                        },
                        Amount::Number,
                    ))
                };
                (operand(0)?, branch(0)?, branch(1)?)
            }
            ops::arith::CMPI | ops::arith::ANDI => (value, number(1)?, number(0)?),
            _ => return None,
        };
        let is_truth = types::scalar_type(condition.r#type()) == Some(ScalarType::I1);
        is_truth.then_some(Term {
            cases: [
                Case {
                    condition: (condition, true),
                    here: then,
                    elsewhere: otherwise,
                },
                Case {
                    condition: (condition, false),
                    here: otherwise,
                    elsewhere: then,
                },
            ],
        })
    }
}

fn constant(value: Val) -> Option<Scalar> {
    let op = ir::defining_op(value).filter(|op| ir::name_of(*op) == ops::arith::CONSTANT)?;
    ir::attribute(op, "value").and_then(types::scalar)
}

fn amount(value: Val) -> Amount {
    constant(value).map_or(Amount::Value(value), Amount::Number)
}

/// Returns the amounts of all components, which must go by the same condition and be neutral
/// elsewhere.
fn amounts<'c>(
    terms: &[Term<'c>],
    case: usize,
    computation: &Computation,
) -> Result<Vec<Amount<'c>>, Option<String>> {
    let operator = computation.operator().ok_or(None)?;
    let neutral = operator.neutral(&computation.components);
    let neutral = neutral.ok_or_else(|| {
        Some("no neutral element of its operator was given, which it has for other bins".into())
    })?;
    let mut amounts = Vec::new();
    for (n, term) in terms.iter().enumerate() {
        let Case {
            condition,
            here,
            elsewhere,
        } = term.cases[case];
        if condition.0 != terms[0].cases[case].condition.0 {
            return Err(Some(
                "the components of its tuple go by different conditions".into(),
            ));
        }
        let builtin = match operator {
            Operator::Builtin(builtins) => builtins.get(n).copied(),
            Operator::User(_) => None,
        };
        let value = match elsewhere {
            Amount::Number(number) => Some(number),
            _ => None,
        };
        if !value.is_some_and(|value| is_neutral(value, neutral[n], builtin)) {
            return Err(Some(format!(
                "for other bins component {n} is not the neutral element of its operator, {}",
                neutral[n]
            )));
        }
        amounts.push(here);
    }
    Ok(amounts)
}

/// Zeros of both signs are neutral in a sum.
fn is_neutral(found: Scalar, neutral: Scalar, builtin: Option<Builtin>) -> bool {
    let is_zero = || found.ty == neutral.ty && found.as_f64() == 0.0;
    found == neutral || (builtin == Some(Builtin::Addf) && is_zero())
}

/// A condition's meaning: a value's bin is the point's index in a dimension, and more.
struct BinTest<'c> {
    dimension: usize,
    /// The value that the index is compared with.
    bin: Val<'c>,
    /// True if the index was cut off to an integer's width.
    is_narrow: bool,
    others: Vec<Val<'c>>,
}

impl<'c> BinTest<'c> {
    fn new((condition, holds): (Val<'c>, bool), computation: &Computation) -> Option<Self> {
        let mut terms = Vec::new();
        if holds {
            conjuncts(condition, &mut terms);
        } else {
            terms.push(condition);
        }
        let predicate = if holds { 0 } else { 1 };
        let merged = terms.iter().enumerate().find_map(|(n, term)| {
            let op = ir::defining_op(*term).filter(|op| ir::name_of(*op) == ops::arith::CMPI)?;
            if integer(op, "predicate") != Some(predicate) {
                return None;
            }
            let sides = [op.operand(0).ok()?, op.operand(1).ok()?].map(ir::value);
            let index = [(0, 1), (1, 0)].into_iter().find_map(|(a, b)| {
                let (dimension, is_narrow) = index(sides[a])?;
                let is_kept = computation.dimensions[dimension].combine == Combine::Cc;
                is_kept.then_some((dimension, is_narrow, sides[b]))
            });
            Some((n, index?))
        });
        let (n, (dimension, is_narrow, bin)) = merged?;
        terms.remove(n);
        Some(BinTest {
            dimension,
            bin,
            is_narrow,
            others: terms,
        })
    }

    /// The bin, and how it becomes an index.
    fn bin(
        &self,
        computation: &Computation,
    ) -> Result<(Val<'c>, Option<&'static str>), Option<String>> {
        let ty = types::scalar_type(self.bin.r#type()).ok_or(None)?;
        if !self.is_narrow {
            let cast = (ty != ScalarType::Index).then_some(ops::arith::INDEX_CAST);
            return Ok((self.bin, cast));
        }
        let dim = &computation.dimensions[self.dimension];
        let half = 1i64 << (ty.bit_width() - 1);
        let within = |low: i64, high: i64| {
            dim.lower.is_some_and(|l| l >= low) && dim.upper.is_some_and(|u| u <= high)
        };
        if within(-half, half) {
            Ok((self.bin, Some(ops::arith::INDEX_CAST)))
        } else if within(0, 2 * half) {
            Ok((self.bin, Some(ops::arith::INDEX_CASTUI)))
        } else {
            Err(Some(format!(
                "its bins are numbers of {} bits, which may not hold all indices of '{}'",
                ty.bit_width(),
                dim.name
            )))
        }
    }
}

fn conjuncts<'c>(condition: Val<'c>, found: &mut Vec<Val<'c>>) {
    let both = ir::defining_op(condition).filter(|op| ir::name_of(*op) == ops::arith::ANDI);
    match both {
        Some(op) => op
            .operands()
            .for_each(|side| conjuncts(ir::value(side), found)),
        None => found.push(condition),
    }
}

fn integer(op: Op, name: &str) -> Option<i64> {
    let attribute = ir::attribute(op, name)?;
    Some(IntegerAttribute::try_from(attribute).ok()?.value())
}

/// The dimension whose index a value is, and whether it is cut off to fewer than 64 bits.
fn index(value: Val) -> Option<(usize, bool)> {
    let op = ir::defining_op(value)?;
    let inner = || index(ir::operand(op, 0)?);
    match ir::name_of(op) {
        ops::mdh::INDEX => Some((integer(op, "dim")? as usize, false)),
        ops::arith::INDEX_CAST | ops::arith::INDEX_CASTUI | ops::arith::TRUNCI => {
            let is_wide = types::scalar_type(value.r#type())? == ScalarType::I64;
            inner().map(|(d, is_narrow)| (d, is_narrow || !is_wide))
        }
        _ => None,
    }
}

impl<'c> Histogram<'c> {
    /// The dimensions that the values lie along, in order.
    pub fn values(&self) -> Vec<usize> {
        let dims = self.computation.dimensions.iter().enumerate();
        dims.filter(|(_, dim)| dim.combine.is_pw())
            .map(|(d, _)| d)
            .collect()
    }

    /// The other dimensions: there is a histogram for each of their points.
    pub fn others(&self) -> Vec<usize> {
        let dims = self.computation.dimensions.iter().enumerate();
        dims.filter(|(d, dim)| !dim.combine.is_pw() && *d != self.bins)
            .map(|(d, _)| d)
            .collect()
    }

    /// Refuses computations that have the form of a histogram, but cannot be lowered as one.
    fn check(&self, block: BlockRef<'c, 'c>) -> Result<(), String> {
        let (dims, bins) = (&self.computation.dimensions, &self.parts.dims[self.bins]);
        if bins.step.known().is_none() || bins.step != bins.width {
            return Err(format!("its bins '{}' have a step", bins.name));
        }
        if let Some(dim) = dims.iter().find(|d| d.combine.is_ps()) {
            return Err(format!("dimension '{}' is a prefix-sum", dim.name));
        }
        if self.parts.carries.len() > 1 {
            return Err("it has several carries".into());
        }
        let rank = dims.len();
        let mut written = self.parts.outputs.iter().chain(
            (self.parts.carries.iter())
                .flat_map(|carry| carry.incoming.iter().chain(&carry.outgoing)),
        );
        let is_linear = |b: &BufferPart| {
            let mut exprs = b.accesses.iter().flatten();
            b.accesses.len() == 1 && exprs.all(|e| e.linear(rank).is_some())
        };
        if !self.others().is_empty() && !written.all(is_linear) {
            let why = "the index functions of its outputs are not linear, or several of one buffer";
            return Err(why.into());
        }
        let moving = self.moving(block);
        let moves = |value: &Val<'c>| moving.contains(&key(*value));
        let what = |what: &str| Err(format!("{what} depends on '{}'", bins.name));
        if moves(&self.bin.0) {
            return what("the bin of a value");
        }
        if self.conditions.iter().any(moves) {
            return what("whether a value counts");
        }
        let is_moved = |amount: &Amount<'c>| match amount {
            Amount::Value(value) => moves(value),
            Amount::Number(_) => false,
            Amount::Branch { of, region, .. } => {
                let ops = region::operations_of(ir::region(*of, *region));
                ops.into_iter()
                    .any(|op| self.is_index(op) || uses(op, &moving))
            }
        };
        match self.amounts.iter().any(is_moved) {
            true => what("what a value adds"),
            false => Ok(()),
        }
    }

    fn is_index(&self, op: Op) -> bool {
        ir::name_of(op) == ops::mdh::INDEX && integer(op, "dim") == Some(self.bins as i64)
    }

    /// The values of the scalar function that depend on the point's bin.
    fn moving(&self, block: BlockRef<'c, 'c>) -> HashSet<usize> {
        let mut moving = HashSet::new();
        let accesses = self.parts.inputs.iter().flat_map(|b| &b.accesses);
        for (argument, access) in arguments(block).into_iter().zip(accesses) {
            if access.iter().any(|e| e.dims().contains(&self.bins)) {
                moving.insert(key(argument));
            }
        }
        for op in ir::ops_of(block) {
            // Inner operations come after the outer ones that they use values of.
            for inner in ir::all(op) {
                if self.is_index(inner) || uses(inner, &moving) {
                    let around = [inner, op].into_iter();
                    let results =
                        around.flat_map(|op| op.results().map(ir::value).collect::<Vec<_>>());
                    moving.extend(results.map(key));
                }
            }
        }
        moving
    }
}

fn uses(op: Op, values: &HashSet<usize>) -> bool {
    op.operands().any(|v| values.contains(&key(ir::value(v))))
}
