//! Nests of loops, evaluated as their loops run.
//!
//! What combines by a built-in operator has the bound of a sum or product in any order, as a
//! computation's `pw` dimensions have. What goes in order is exact, but for math functions and for
//! the errors of what is read: it runs in several worlds side by side, in each of which every element
//! that is read is at one end or the other of what it may be, and the bound is four times what the
//! worlds are apart.

mod in_order;

use in_order::InOrder;

use super::partial::Partial;
use super::scalar_function::ScalarFunction;
use super::{Element, Errors, Failure, moved, point_text};
use crate::affine::{Ends, Expr, Linear};
use crate::domain::{Grid, Odometer, total_elements};
use crate::machine::{Machine, Noise};
use crate::nest::{Accumulation, Nest};
use crate::operator::Builtin;
use crate::random::hash;
use crate::scalar::Scalar;

/// A nest with all sizes known.
#[derive(Clone, Debug)]
pub(crate) struct BoundNest {
    pub(crate) nest: Nest,
    /// Says how often each loop runs.
    pub(crate) extents: Vec<i64>,
    accumulation: Accumulation,
    used: Vec<bool>,
    /// As [`Nest::kept`] says.
    kept: Option<Vec<usize>>,
    /// Of the inputs, then of the outputs.
    shapes: Vec<Vec<i64>>,
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

/// Describes what a nest reads.
pub(crate) trait Elements {
    /// An element of an operand (inputs, then outputs) by its number in row-major order.
    fn read(&mut self, operand: usize, flat: usize) -> Result<Element, Failure>;

    /// A number that is the same for operands that are the same tensor.
    fn tensor(&self, operand: usize) -> u64;
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

    /// Returns whether sums or products of floats may be reordered in it.
    pub(crate) fn may_reorder(&self) -> bool {
        match &self.accumulation {
            Accumulation::Combined(operators, _) => operators
                .iter()
                .any(|o| matches!(o, Builtin::Addf | Builtin::Mulf)),
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
            if let Some(range) = range.filter(|r| !is_inside && r.ends == Ends::Attained) {
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
    fn flat(&self, operand: usize, point: &[i64]) -> Result<usize, Failure> {
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

/// Runs a nest.
pub(crate) struct NestEvaluator<'a> {
    of: &'a BoundNest,
    errors: Errors,
    scalar: ScalarFunction<'a>,
    machine: Machine,
    is_approximate: bool,
    arguments: Vec<Element>,
    values: Vec<Scalar>,
    tuple: Vec<Element>,
    results: Vec<Scalar>,
}

/// Names the cells of accumulators: one for what a point of the kept loops makes, or one for
/// each element.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cells {
    One,
    All,
}

/// Holds what has come together so far, of each output in each cell.
enum Held {
    Elements(Vec<Vec<Element>>),
    Partials(Vec<Vec<Partial>>),
    InOrder(InOrder),
}

impl<'a> NestEvaluator<'a> {
    pub(crate) fn new(of: &'a BoundNest, errors: Errors) -> Self {
        let scalar = match &of.accumulation {
            Accumulation::Combined(operators, code) => {
                ScalarFunction::of_nest(code, operators, errors)
            }
            _ => ScalarFunction::of_nest(&of.nest.code, &[], errors),
        };
        let outputs = of.nest.outputs.iter().map(|o| Scalar::zero(o.element));
        let results: Vec<Scalar> = outputs.collect();
        NestEvaluator {
            of,
            errors,
            scalar,
            machine: Machine::new(),
            is_approximate: of.nest.code.is_approximate(),
            arguments: Vec::new(),
            values: Vec::new(),
            tuple: results.iter().copied().map(Element::exact).collect(),
            results,
        }
    }

    /// All elements of each output.
    pub(crate) fn all(&mut self, of: &mut dyn Elements) -> Result<Vec<Vec<Element>>, Failure> {
        let Some(kept) = &self.of.kept else {
            let mut point = vec![0; self.of.extents.len()];
            let all: Vec<usize> = (0..point.len()).collect();
            return self.run(of, &mut point, &all, Cells::All);
        };
        let outputs = self.of.nest.outputs.iter().enumerate();
        let mut all: Vec<Vec<Element>> = outputs
            .map(|(n, output)| {
                let shape = &self.of.shapes[self.of.nest.inputs.len() + n];
                let count = total_elements(shape).unwrap_or(0) as usize;
                vec![Element::undefined(output.element); count]
            })
            .collect();
        let mut point = vec![0; self.of.extents.len()];
        let counts = kept.iter().map(|d| self.of.extents[*d]).collect();
        let mut odometer = Odometer::new(counts);
        while let Some(indices) = odometer.current() {
            for (d, index) in kept.iter().zip(indices) {
                point[*d] = *index;
            }
            let elements = self.at(of, &mut point)?;
            for (n, (all, element)) in all.iter_mut().zip(elements).enumerate() {
                let flat = self.of.flat(self.of.nest.inputs.len() + n, &point)?;
                if let Some(place) = all.get_mut(flat) {
                    *place = element;
                }
            }
            odometer.advance();
        }
        Ok(all)
    }

    /// The elements of all outputs that the points write which write one of them; each with its
    /// number.
    pub(crate) fn one(
        &mut self,
        of: &mut dyn Elements,
        output: usize,
        index: &[i64],
    ) -> Result<Vec<(usize, Element)>, Failure> {
        let mut point = vec![0; self.of.extents.len()];
        for (axis, index) in self.of.nest.outputs[output].map.iter().zip(index) {
            if let Expr::Dim(d) = axis {
                point[*d] = *index;
            }
        }
        let elements = self.at(of, &mut point)?;
        let inputs = self.of.nest.inputs.len();
        let all = elements.into_iter().enumerate();
        all.map(|(n, element)| Ok((self.of.flat(inputs + n, &point)?, element)))
            .collect()
    }

    /// One element of each output, at a point of the kept loops.
    fn at(&mut self, of: &mut dyn Elements, point: &mut [i64]) -> Result<Vec<Element>, Failure> {
        let kept = self.of.kept.as_deref().unwrap_or(&[]);
        let open: Vec<usize> = (0..point.len()).filter(|d| !kept.contains(d)).collect();
        let found = self.run(of, point, &open, Cells::One)?;
        // The open loops stand at the start again, where the outputs do not see them.
        open.iter().for_each(|d| point[*d] = 0);
        Ok(found.into_iter().flatten().collect())
    }

    /// Runs the open loops around a point.
    fn run(
        &mut self,
        of: &mut dyn Elements,
        point: &mut [i64],
        open: &[usize],
        cells: Cells,
    ) -> Result<Vec<Vec<Element>>, Failure> {
        let mut held = self.start(of, point, open, cells)?;
        let mut odometer = Odometer::new(open.iter().map(|d| self.of.extents[*d]).collect());
        while let Some(indices) = odometer.current() {
            for (d, index) in open.iter().zip(indices) {
                point[*d] = *index;
            }
            self.step(of, point, cells, &mut held)?;
            odometer.advance();
        }
        Ok(self.finish(held))
    }

    /// Holds what the outputs hold before.
    fn start(
        &mut self,
        of: &mut dyn Elements,
        point: &[i64],
        open: &[usize],
        cells: Cells,
    ) -> Result<Held, Failure> {
        let inputs = self.of.nest.inputs.len();
        let is_overwritten = cells == Cells::One
            && self.of.accumulation == Accumulation::Last
            && open.iter().all(|d| self.of.extents[*d] > 0);
        let mut before = Vec::new();
        for (n, output) in self.of.nest.outputs.iter().enumerate() {
            let operand = inputs + n;
            before.push(match cells {
                _ if is_overwritten => vec![Element::undefined(output.element)],
                Cells::One => vec![of.read(operand, self.of.flat(operand, point)?)?],
                Cells::All => {
                    let count = total_elements(&self.of.shapes[operand]).unwrap_or(0);
                    let all = (0..count as usize).map(|flat| of.read(operand, flat));
                    all.collect::<Result<_, _>>()?
                }
            });
        }
        Ok(match &self.of.accumulation {
            Accumulation::Last => Held::Elements(before),
            Accumulation::Combined(operators, _) => {
                let outputs = before.iter().zip(operators);
                let leaves = outputs.map(|(cells, operator)| {
                    let leaf = |element: &Element| Partial::leaf(*operator, *element);
                    cells.iter().map(leaf).collect()
                });
                Held::Partials(leaves.collect())
            }
            Accumulation::InOrder => Held::InOrder(InOrder::new(
                &before,
                |output| of.tensor(inputs + output),
                self.is_approximate && self.errors != Errors::Ignored,
            )),
        })
    }

    fn step(
        &mut self,
        of: &mut dyn Elements,
        point: &[i64],
        cells: Cells,
        held: &mut Held,
    ) -> Result<(), Failure> {
        let nest = &self.of.nest;
        let inputs = nest.inputs.len();
        self.arguments.clear();
        let mut keys = [0; 8];
        for (n, input) in nest.inputs.iter().enumerate() {
            self.arguments.push(match self.of.used[n] {
                true => {
                    let flat = self.of.flat(n, point)?;
                    if let (Held::InOrder(_), Some(key)) = (&*held, keys.get_mut(n)) {
                        *key = hash([of.tensor(n), flat as u64]);
                    }
                    of.read(n, flat)?
                }
                // What is not looked at need not be there.
                false => Element::exact(Scalar::zero(input.element)),
            });
        }
        let cell = |output: usize| match cells {
            Cells::One => Ok(0),
            Cells::All => self.of.flat(inputs + output, point),
        };
        match held {
            Held::Elements(all) => {
                self.arguments.extend(
                    nest.outputs
                        .iter()
                        .map(|o| Element::exact(Scalar::zero(o.element))),
                );
                self.scalar.run(&self.arguments, point, &mut self.tuple)?;
                for (n, element) in self.tuple.iter().enumerate() {
                    all[n][cell(n)?] = *element;
                }
            }
            Held::Partials(all) => {
                self.arguments.extend(
                    nest.outputs
                        .iter()
                        .map(|o| Element::exact(Scalar::zero(o.element))),
                );
                self.scalar.run(&self.arguments, point, &mut self.tuple)?;
                if let Accumulation::Combined(operators, _) = &self.of.accumulation {
                    for (n, (element, operator)) in self.tuple.iter().zip(operators).enumerate() {
                        all[n][cell(n)?].combine(*operator, &Partial::leaf(*operator, *element));
                    }
                }
            }
            Held::InOrder(all) => {
                let places: Result<Vec<usize>, Failure> =
                    (0..nest.outputs.len()).map(cell).collect();
                self.step_in_order(all, &places?, point, &keys)?;
            }
        }
        Ok(())
    }

    /// `out = code(in, out)`, in the exact world and in those that differ.
    fn step_in_order(
        &mut self,
        all: &mut InOrder,
        places: &[usize],
        point: &[i64],
        keys: &[u64],
    ) -> Result<(), Failure> {
        let code = &self.of.nest.code;
        let inputs = self.arguments.len();
        let of_outputs = &self.of.used[inputs..];
        let reads_uncertain =
            (places.iter().enumerate()).any(|(n, place)| of_outputs[n] && all.uncertain[n][*place]);
        let is_uncertain = reads_uncertain || self.arguments.iter().any(Element::is_arbitrary);
        let is_exact = self.arguments.iter().all(|a| a.error == 0.0);
        if !is_exact && all.worlds.is_empty() && self.errors != Errors::Ignored {
            all.part();
        }
        // What is written takes the place of what was there: only what was read counts.
        for (n, place) in places.iter().enumerate() {
            all.uncertain[n][*place] = is_uncertain;
        }
        for world in 0..all.worlds.len() {
            let elements = self.arguments.iter().enumerate();
            self.values.clear();
            self.values.extend(elements.map(|(n, element)| {
                let key = keys.get(n).copied().unwrap_or(n as u64);
                moved(*element, key, world as u64)
            }));
            let own = &mut all.worlds[world];
            self.values
                .extend(places.iter().enumerate().map(|(n, place)| own[n][*place]));
            self.machine.set_noise(Some(Noise::Library(world as u64)));
            let run = self
                .machine
                .run(code, &self.values, point, &mut self.results);
            for (n, place) in places.iter().enumerate() {
                own[n][*place] = self.results[n];
                all.uncertain[n][*place] |= run.is_err();
            }
        }
        self.machine.set_noise(None);
        self.values.clear();
        self.values.extend(self.arguments.iter().map(|a| a.value));
        let before = places.iter().enumerate();
        self.values
            .extend(before.map(|(n, place)| all.values[n][*place]));
        let run = self
            .machine
            .run(code, &self.values, point, &mut self.results);
        run.map_err(|error| Failure::Code {
            place: point_text(&[], point),
            error,
        })?;
        for (n, place) in places.iter().enumerate() {
            all.values[n][*place] = self.results[n];
        }
        Ok(())
    }

    fn finish(&self, held: Held) -> Vec<Vec<Element>> {
        match held {
            Held::Elements(all) => all,
            Held::Partials(all) => {
                let Accumulation::Combined(operators, _) = &self.of.accumulation else {
                    return Vec::new();
                };
                // What the output holds is one more.
                let errors = match self.errors {
                    Errors::OfDepth(depth) => Errors::OfDepth(depth.saturating_add(1)),
                    other => other,
                };
                let outputs = all.iter().zip(operators).zip(&self.of.nest.outputs);
                let finished = outputs.map(|((cells, operator), output)| {
                    let finish = |p: &Partial| p.finish(*operator, output.element, errors);
                    cells.iter().map(finish).collect()
                });
                finished.collect()
            }
            Held::InOrder(all) => all.finish(),
        }
    }
}

#[cfg(test)]
#[path = "nest_tests.rs"]
mod tests;
