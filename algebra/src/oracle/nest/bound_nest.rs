//! Nests with all sizes known: how often each loop runs, and which elements a point accesses.

use super::super::failure::Failure;
use crate::affine::{Ends, Expr, Linear, Range};
use crate::domain::Grid;
use crate::nest::{Accumulation, Chain, Nest};
use crate::operator::Builtin;

/// A nest with all sizes known.
#[derive(Clone, Debug)]
pub(crate) struct BoundNest {
    pub(crate) nest: Nest,
    /// Says how often each loop runs.
    pub(crate) extents: Vec<i64>,
    pub(super) accumulation: Accumulation,
    pub(super) used: Vec<bool>,
    /// As [`Nest::kept`] says.
    pub(super) kept: Option<Vec<usize>>,
    /// Of the inputs, then of the outputs.
    pub(super) shapes: Vec<Vec<i64>>,
    addresses: Vec<Address>,
}

/// Describes where a point accesses an operand.
#[derive(Clone, Debug)]
enum Address {
    /// At a place that is known to be inside.
    Flat(Linear),
    /// To be asked at each point.
    Axes,
}

impl BoundNest {
    /// The nest on operands of these shapes, or why there is none.
    pub(crate) fn new(nest: Nest, shapes: Vec<Vec<i64>>) -> Result<BoundNest, String> {
        let extents = extents(&nest, &shapes)?;
        let mut bound = BoundNest {
            accumulation: nest.accumulation(),
            used: nest.used(),
            kept: nest.kept(),
            addresses: Vec::new(),
            nest,
            extents,
            shapes,
        };
        for operand in 0..bound.shapes.len() {
            let address = bound.address(operand)?;
            bound.addresses.push(address);
        }
        Ok(bound)
    }

    /// Says how many points it has.
    pub(crate) fn points(&self) -> f64 {
        self.extents.iter().map(|n| *n as f64).product()
    }

    /// Says how many elements an operand has.
    pub(crate) fn elements(&self, operand: usize) -> f64 {
        self.shapes[operand].iter().map(|n| *n as f64).product()
    }

    /// Returns whether single elements of its outputs can be evaluated.
    pub(crate) fn has_single_elements(&self) -> bool {
        self.kept.is_some()
    }

    /// Returns whether an operand's elements are looked at.
    pub(crate) fn uses(&self, operand: usize) -> bool {
        self.used[operand]
    }

    /// Returns whether what rounds may be reordered in it.
    pub(crate) fn may_reorder(&self) -> bool {
        let rounds = |chain: &Chain| matches!(chain.operator, Builtin::Addf | Builtin::Mulf);
        match &self.accumulation {
            Accumulation::Combined(chains, _) => chains.iter().flatten().any(rounds),
            Accumulation::Licensed(..) => true,
            Accumulation::Last | Accumulation::InOrder => false,
        }
    }

    fn map(&self, operand: usize) -> &[Expr] {
        let inputs = self.nest.inputs.len();
        match operand < inputs {
            true => &self.nest.inputs[operand].map,
            false => &self.nest.outputs[operand - inputs].map,
        }
    }

    fn may_be_outside(&self, operand: usize) -> bool {
        let input = self.nest.inputs.get(operand);
        input.is_some_and(|input| input.may_be_outside)
    }

    /// `input 0`, `output 1`.
    fn name(&self, operand: usize) -> String {
        let inputs = self.nest.inputs.len();
        match operand < inputs {
            true => format!("input {operand}"),
            false => format!("output {}", operand - inputs),
        }
    }

    fn address(&self, operand: usize) -> Result<Address, String> {
        let shape = &self.shapes[operand];
        let rank = self.extents.len();
        if self.extents.contains(&0) {
            return Ok(Address::Axes);
        }
        let grids: Vec<Option<Grid>> = self.extents.iter().map(|n| Some(Grid::dense(*n))).collect();
        let mut flat = Some(Linear {
            coefficients: vec![0; rank],
            constant: 0,
        });
        for (axis, (expr, extent)) in self.map(operand).iter().zip(shape).enumerate() {
            let range = expr.range(&grids);
            let is_inside = range.is_some_and(|r| 0 <= r.min && r.max < *extent);
            let is_outside = |r: &Range| !is_inside && r.ends == Ends::Attained;
            let refuted = range.filter(|r| is_outside(r) && !self.may_be_outside(operand));
            if let Some(range) = refuted {
                return Err(format!(
                    "accesses {} at {}..{} in axis {axis}, which has the indices 0..{extent}: expected \
                     indices inside",
                    self.name(operand),
                    range.min,
                    range.max + 1,
                ));
            }
            let linear = expr.linear(rank).filter(|_| is_inside);
            flat = flat
                .zip(linear)
                .and_then(|(flat, l)| appended(flat, *extent, &l));
        }
        Ok(flat.map_or(Address::Axes, Address::Flat))
    }

    /// The number of the element that a point accesses.
    pub(super) fn flat(&self, operand: usize, point: &[i64]) -> Result<usize, Failure> {
        if let Address::Flat(linear) = &self.addresses[operand] {
            let mut flat = linear.constant;
            for (coefficient, index) in linear.coefficients.iter().zip(point) {
                flat += coefficient * index;
            }
            return Ok(flat as usize);
        }
        let shape = &self.shapes[operand];
        let index: Option<Vec<i64>> = self.map(operand).iter().map(|e| e.eval(point)).collect();
        let is_inside = |index: &Vec<i64>| index.iter().zip(shape).all(|(i, n)| 0 <= *i && i < n);
        match index {
            Some(index) if is_inside(&index) => Ok(index
                .iter()
                .zip(shape)
                .fold(0, |flat, (i, n)| flat * *n as usize + *i as usize)),
            index => Err(Failure::Outside {
                buffer: self.name(operand),
                index,
                shape: shape.clone(),
            }),
        }
    }
}

/// `flat * extent + index`, where that fits.
fn appended(mut flat: Linear, extent: i64, index: &Linear) -> Option<Linear> {
    flat.constant = flat
        .constant
        .checked_mul(extent)?
        .checked_add(index.constant)?;
    for (own, other) in flat.coefficients.iter_mut().zip(&index.coefficients) {
        *own = own.checked_mul(extent)?.checked_add(*other)?;
    }
    Some(flat)
}

/// Returns how often each loop runs: as an axis says that it alone is the index of.
fn extents(nest: &Nest, shapes: &[Vec<i64>]) -> Result<Vec<i64>, String> {
    let mut extents: Vec<Option<(i64, usize)>> = vec![None; nest.dimensions];
    let operands = nest.inputs.iter().chain(&nest.outputs);
    for (operand, (access, shape)) in operands.zip(shapes).enumerate() {
        if access.map.len() != shape.len() {
            let (found, expected) = (shape.len(), access.map.len());
            return Err(format!(
                "bug: an operand of rank {found}: expected {expected}"
            ));
        }
        for (expr, extent) in access.map.iter().zip(shape) {
            let Expr::Dim(d) = expr else { continue };
            match extents.get(*d).copied().flatten() {
                Some((known, first)) if known != *extent => {
                    return Err(format!(
                        "has operands of extents that do not fit: loop {d} runs over {known} indices \
                         for operand {first}, over {extent} for operand {operand}: expected the same"
                    ));
                }
                Some(_) => {}
                None if *d < nest.dimensions => extents[*d] = Some((*extent, operand)),
                None => return Err(format!("bug: no loop {d}")),
            }
        }
    }
    let known = extents.iter().enumerate().map(|(d, extent)| {
        let extent = extent.map(|(extent, _)| extent);
        extent.ok_or_else(|| {
            format!(
                "has a loop, of number {d}, of which no operand says how long it is: expected an axis \
                 whose index it is"
            )
        })
    });
    known.collect()
}
