//! Nests of loops, evaluated as their loops run.
//!
//! What combines by a built-in operator has the bound of a sum or product in any order, as a
//! computation's `pw` dimensions have. An operator that the program says is associative has the bound
//! of a user's, and at least what its own roundings may come to (`licensed`). What goes in order is exact, but for math functions and for
//! the errors of what is read: it runs in several worlds side by side, in each of which every element
//! that is read is at an end of what it may be or between, and the bound is four times what the
//! worlds are apart.

mod bound_nest;
mod in_order;
mod licensed;

pub(crate) use bound_nest::BoundNest;
use in_order::InOrder;
use licensed::Licensed;

use super::element::{Element, Errors, moved};
use super::failure::{Failure, point_text};
use super::partial::Partial;
use super::scalar_function::ScalarFunction;
use crate::affine::Expr;
use crate::domain::{Odometer, total_elements};
use crate::machine::{Machine, Noise};
use crate::nest::{Accumulation, Chain};
use crate::operator::Builtin;
use crate::random::hash;
use crate::scalar::Scalar;

/// Describes what a nest reads.
pub(crate) trait Elements {
    /// An element of an operand (inputs, then outputs) by its number in row-major order.
    fn read(&mut self, operand: usize, flat: usize) -> Result<Element, Failure>;

    /// A number that is the same for operands that are the same tensor.
    fn tensor(&self, operand: usize) -> u64;
}

/// Runs a nest.
pub(crate) struct NestEvaluator<'a> {
    of: &'a BoundNest,
    errors: Errors,
    scalar: ScalarFunction<'a>,
    machine: Machine,
    is_approximate: bool,
    arguments: Vec<Element>,
    /// Of the arguments, where worlds differ.
    keys: Vec<u64>,
    values: Vec<Scalar>,
    tuple: Vec<Element>,
    /// The tuple in each world.
    worlds: Vec<Scalar>,
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
enum Held<'a> {
    Elements(Vec<Vec<Element>>),
    /// Those that combine, and those that go in order, if there are any.
    Partials(Vec<Vec<Partial>>, Option<InOrder>),
    Licensed(Box<Licensed<'a>>),
    InOrder(InOrder),
}

impl<'a> NestEvaluator<'a> {
    pub(crate) fn new(of: &'a BoundNest, errors: Errors) -> Self {
        let (code, operators) = match &of.accumulation {
            Accumulation::Combined(chains, code) => (code, of_terms(chains)),
            Accumulation::Licensed(own) => (&own.1, Vec::new()),
            Accumulation::Last | Accumulation::InOrder => (&of.nest.code, Vec::new()),
        };
        let outputs = of.nest.outputs.iter().map(|o| Scalar::zero(o.element));
        let tuple = code.results.iter().map(|ty| Scalar::zero(*ty));
        NestEvaluator {
            of,
            errors,
            scalar: ScalarFunction::of_nest(code, &operators, errors),
            machine: Machine::new(),
            is_approximate: of.nest.code.is_approximate(),
            arguments: Vec::new(),
            keys: Vec::new(),
            values: Vec::new(),
            tuple: tuple.map(Element::exact).collect(),
            worlds: Vec::new(),
            results: outputs.collect(),
        }
    }

    /// All elements of each output.
    pub(crate) fn all(&mut self, source: &mut dyn Elements) -> Result<Vec<Vec<Element>>, Failure> {
        let Some(kept) = &self.of.kept else {
            let mut point = vec![0; self.of.extents.len()];
            let dims: Vec<usize> = (0..point.len()).collect();
            return self.run(source, &mut point, &dims, Cells::All);
        };
        let outputs = self.of.nest.outputs.iter().enumerate();
        let mut arrays: Vec<Vec<Element>> = outputs
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
            let elements = self.at(source, &mut point)?;
            for (n, (array, element)) in arrays.iter_mut().zip(elements).enumerate() {
                let flat = self.of.flat(self.of.nest.inputs.len() + n, &point)?;
                if let Some(place) = array.get_mut(flat) {
                    *place = element;
                }
            }
            odometer.advance();
        }
        Ok(arrays)
    }

    /// The elements of all outputs that the points write which write one of them; each with its
    /// number.
    pub(crate) fn one(
        &mut self,
        source: &mut dyn Elements,
        output: usize,
        index: &[i64],
    ) -> Result<Vec<(usize, Element)>, Failure> {
        let mut point = vec![0; self.of.extents.len()];
        for (axis, index) in self.of.nest.outputs[output].map.iter().zip(index) {
            if let Expr::Dim(d) = axis {
                point[*d] = *index;
            }
        }
        let elements = self.at(source, &mut point)?;
        let inputs = self.of.nest.inputs.len();
        let numbered = elements.into_iter().enumerate();
        numbered
            .map(|(n, element)| Ok((self.of.flat(inputs + n, &point)?, element)))
            .collect()
    }

    /// One element of each output, at a point of the kept loops.
    fn at(
        &mut self,
        source: &mut dyn Elements,
        point: &mut [i64],
    ) -> Result<Vec<Element>, Failure> {
        let fixed = self.of.kept.as_deref().unwrap_or(&[]);
        let open: Vec<usize> = (0..point.len()).filter(|d| !fixed.contains(d)).collect();
        let results = self.run(source, point, &open, Cells::One)?;
        // The open loops stand at the start again, where the outputs do not see them.
        open.iter().for_each(|d| point[*d] = 0);
        Ok(results.into_iter().flatten().collect())
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
        source: &mut dyn Elements,
        point: &[i64],
        open: &[usize],
        cells: Cells,
    ) -> Result<Held<'a>, Failure> {
        let inputs = self.of.nest.inputs.len();
        let is_overwritten = cells == Cells::One
            && self.of.accumulation == Accumulation::Last
            && open.iter().all(|d| self.of.extents[*d] > 0);
        let mut before = Vec::new();
        for (n, output) in self.of.nest.outputs.iter().enumerate() {
            let operand = inputs + n;
            before.push(match cells {
                _ if is_overwritten => vec![Element::undefined(output.element)],
                Cells::One => vec![source.read(operand, self.of.flat(operand, point)?)?],
                Cells::All => {
                    let count = total_elements(&self.of.shapes[operand]).unwrap_or(0);
                    let read = (0..count as usize).map(|flat| source.read(operand, flat));
                    read.collect::<Result<_, _>>()?
                }
            });
        }
        let in_order = |chains: &[Option<Chain>]| {
            InOrder::new(
                &before,
                |output| source.tensor(inputs + output),
                self.is_approximate && self.errors != Errors::Ignored,
                chains,
            )
        };
        Ok(match &self.of.accumulation {
            Accumulation::Combined(chains, _) => {
                let outputs = before.iter().zip(chains);
                let leaves = outputs.map(|(cells, chain)| {
                    let operator = chain.as_ref().map(|chain| chain.operator);
                    let leaf = |element: &Element| Some(Partial::leaf(operator?, *element));
                    cells.iter().flat_map(leaf).collect()
                });
                let beside = chains.contains(&None).then(|| in_order(chains));
                Held::Partials(leaves.collect(), beside)
            }
            Accumulation::Licensed(licensed) => {
                let (operator, code) = &**licensed;
                let before: Vec<Element> = before.into_iter().flatten().collect();
                let mut state = Licensed::new(operator, &code.results, self.errors);
                let place = |n: usize| self.of.flat(inputs + n, point);
                let keys = (0..before.len()).map(|n| {
                    let key = [source.tensor(inputs + n), place(n)? as u64];
                    Ok(hash(key))
                });
                let keys = keys.collect::<Result<Vec<u64>, Failure>>()?;
                state.carry(&before, &keys)?;
                Held::Licensed(Box::new(state))
            }
            Accumulation::InOrder => Held::InOrder(in_order(&[])),
            Accumulation::Last => Held::Elements(before),
        })
    }

    /// Reads what a point takes.
    fn take(
        &mut self,
        of: &mut dyn Elements,
        point: &[i64],
        has_worlds: bool,
    ) -> Result<(), Failure> {
        self.arguments.clear();
        self.keys.clear();
        let mut outside = Vec::new();
        for (n, input) in self.of.nest.inputs.iter().enumerate() {
            self.keys.push(n as u64);
            self.arguments.push(match self.of.used[n] {
                true => match self.of.flat(n, point) {
                    Ok(flat) => {
                        if has_worlds {
                            self.keys[n] = hash([of.tensor(n), flat as u64]);
                        }
                        of.read(n, flat)?
                    }
                    Err(failure) if input.may_be_outside => {
                        outside.push((n, failure));
                        Element::exact(Scalar::zero(input.element))
                    }
                    Err(failure) => return Err(failure),
                },
                // What is not looked at need not be there.
                false => Element::exact(Scalar::zero(input.element)),
            });
        }
        let mut used = outside.into_iter();
        used.find(|(n, _)| self.is_used_at(*n, point))
            .map_or(Ok(()), |(_, failure)| Err(failure))
    }

    /// Returns whether a point looks at an argument: another value of it makes another result.
    fn is_used_at(&mut self, argument: usize, point: &[i64]) -> bool {
        let nest = &self.of.nest;
        let outputs = nest.outputs.iter().map(|o| Scalar::zero(o.element));
        let taken = self.arguments.iter().map(|taken| taken.value);
        let mut values: Vec<Scalar> = taken.chain(outputs).collect();
        let mut made = |value: f64| {
            values[argument] = Scalar::from_f64(nest.inputs[argument].element, value);
            let run = (self.machine).run(&nest.code, &values, point, &mut self.results);
            (run.is_ok(), self.results.clone())
        };
        made(0.0) != made(1.0)
    }

    /// Stands in for what the outputs hold, which the code does not use.
    fn leave_outputs_out(&mut self) {
        let outputs = self.of.nest.outputs.iter();
        let zeros = outputs.map(|o| Element::exact(Scalar::zero(o.element)));
        self.arguments.extend(zeros);
        self.keys.resize(self.arguments.len(), 0);
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
        let has_worlds = !matches!(held, Held::Elements(_) | Held::Partials(_, None));
        self.take(of, point, has_worlds)?;
        let cell = |output: usize| match cells {
            Cells::One => Ok(0),
            Cells::All => self.of.flat(inputs + output, point),
        };
        let places: Result<Vec<usize>, Failure> = (0..nest.outputs.len()).map(cell).collect();
        let places = places?;
        match held {
            Held::Elements(all) => {
                self.leave_outputs_out();
                self.scalar.run(&self.arguments, point, &mut self.tuple)?;
                for (n, element) in self.tuple.iter().enumerate() {
                    all[n][places[n]] = *element;
                }
            }
            Held::Partials(all, beside) => {
                if let Some(beside) = beside {
                    self.step_in_order(beside, &places, point)?;
                }
                self.leave_outputs_out();
                self.scalar.run(&self.arguments, point, &mut self.tuple)?;
                if let Accumulation::Combined(chains, _) = &self.of.accumulation {
                    combine(chains, &self.tuple, (all, &places));
                }
            }
            Held::Licensed(all) => {
                self.leave_outputs_out();
                let worlds = (all.worlds(), &mut self.worlds);
                let (keys, tuple) = (&self.keys, &mut self.tuple);
                let arguments = &self.arguments;
                self.scalar
                    .run_in_worlds(arguments, keys, point, tuple, worlds)?;
                all.push(&self.tuple, &self.worlds)?;
            }
            Held::InOrder(all) => self.step_in_order(all, &places, point)?,
        }
        Ok(())
    }

    /// `out = code(in, out)`, in the exact world and in those that differ.
    fn step_in_order(
        &mut self,
        state: &mut InOrder,
        places: &[usize],
        point: &[i64],
    ) -> Result<(), Failure> {
        let code = &self.of.nest.code;
        let inputs = self.arguments.len();
        let of_outputs = &self.of.used[inputs..];
        let reads_uncertain = (places.iter().enumerate())
            .any(|(n, place)| of_outputs[n] && state.is_own[n] && state.uncertain[n][*place]);
        let is_uncertain = reads_uncertain || self.arguments.iter().any(Element::is_arbitrary);
        let is_exact = self.arguments.iter().all(|a| a.error == 0.0);
        if !is_exact && state.worlds.is_empty() && self.errors != Errors::Ignored {
            state.part();
        }
        // What is written takes the place of what was there: only what was read counts.
        for (n, place) in places.iter().enumerate() {
            state.uncertain[n][*place] = is_uncertain;
        }
        for world in 0..state.worlds.len() {
            let elements = self.arguments.iter().enumerate();
            self.values.clear();
            self.values
                .extend(elements.map(|(n, element)| moved(*element, self.keys[n], world as u64)));
            let cells = &mut state.worlds[world];
            self.values
                .extend(places.iter().enumerate().map(|(n, place)| cells[n][*place]));
            self.machine.set_noise(Some(Noise::Library(world as u64)));
            let run = self
                .machine
                .run(code, &self.values, point, &mut self.results);
            for (n, place) in places.iter().enumerate() {
                cells[n][*place] = self.results[n];
                state.uncertain[n][*place] |= run.is_err();
            }
        }
        self.machine.set_noise(None);
        self.values.clear();
        self.values.extend(self.arguments.iter().map(|a| a.value));
        let before = places.iter().enumerate();
        self.values
            .extend(before.map(|(n, place)| state.values[n][*place]));
        let run = self
            .machine
            .run(code, &self.values, point, &mut self.results);
        run.map_err(|error| Failure::Code {
            place: point_text(&[], point),
            error,
        })?;
        for (n, place) in places.iter().enumerate() {
            state.values[n][*place] = self.results[n];
        }
        Ok(())
    }

    fn finish(&self, held: Held) -> Vec<Vec<Element>> {
        match held {
            Held::Elements(all) => all,
            Held::Partials(all, beside) => {
                let Accumulation::Combined(chains, _) = &self.of.accumulation else {
                    return Vec::new();
                };
                // What the output holds is one more, and so are terms of one point.
                let of_chain = |chain: &Chain| match self.errors {
                    Errors::OfDepth(depth) => {
                        Errors::OfDepth(depth.saturating_add(chain.terms.len() as u64))
                    }
                    other => other,
                };
                let beside = beside.map_or(Vec::new(), InOrder::finish);
                let outputs = all.iter().zip(chains).zip(&self.of.nest.outputs);
                let finished = outputs.enumerate().map(|(n, ((cells, chain), output))| {
                    let Some(chain) = chain else {
                        return beside.get(n).cloned().unwrap_or_default();
                    };
                    let errors = of_chain(chain);
                    let finish = |p: &Partial| p.finish(chain.operator, output.element, errors);
                    cells.iter().map(finish).collect()
                });
                finished.collect()
            }
            Held::Licensed(all) => all.finish().into_iter().map(|e| vec![e]).collect(),
            Held::InOrder(all) => all.finish(),
        }
    }
}

/// The operator of each term.
fn of_terms(chains: &[Option<Chain>]) -> Vec<Builtin> {
    let chains = chains.iter().flatten();
    let terms = chains.flat_map(|chain| chain.terms.clone().map(|_| chain.operator));
    terms.collect()
}

/// Combines the terms of a point with what is there.
fn combine(
    chains: &[Option<Chain>],
    terms: &[Element],
    (all, places): (&mut [Vec<Partial>], &[usize]),
) {
    for (n, chain) in chains.iter().enumerate() {
        let Some(Chain {
            operator,
            terms: own,
        }) = chain
        else {
            continue;
        };
        for term in own.clone() {
            all[n][places[n]].combine(*operator, &Partial::leaf(*operator, terms[term]));
        }
    }
}

#[cfg(test)]
#[path = "nest_tests.rs"]
mod tests;
