//! The scalar function at one point: its results, and the effects of its arguments' errors and its
//! math functions on them.

use super::element::{Element, Errors, distance, moved};
use super::failure::{Failure, point_text};
use crate::code::{Code, Instruction, Register};
use crate::computation::Computation;
use crate::machine::{EvalError, Machine, Noise};
use crate::op::Op;
use crate::operator::{Builtin, Operator};
use crate::random::{hash, sign};
use crate::scalar::{Scalar, ScalarType};

/// Runs with random deviations of math functions, besides one up and one down.
const NOISY_RUNS: u64 = 4;
/// Of so many uncertain arguments, all combinations of the ends of what they may be are tried; of more, as many
/// combinations at random.
const CORNERS: usize = 4;

pub(super) struct ScalarFunction<'a> {
    code: &'a Code,
    names: Vec<&'a str>,
    errors: Errors,
    approximate: bool,
    /// Components that are products which a sum follows.
    fused: Vec<bool>,
    machine: Machine,
    values: Vec<Scalar>,
    results: Vec<Scalar>,
    moved: Vec<Scalar>,
}

impl<'a> ScalarFunction<'a> {
    pub(super) fn new(computation: &'a Computation, errors: Errors) -> Self {
        let code = &computation.scalar;
        let operators = match computation.operator() {
            Some(Operator::Builtin(operators)) => &operators[..],
            _ => &[],
        };
        let fused = fused(code, operators);
        let results = zeros(&computation.components);
        ScalarFunction::of_code(code, fused, computation.names(), results, errors)
    }

    /// The code of a nest, whose results these operators combine.
    pub(super) fn of_nest(code: &'a Code, operators: &[Builtin], errors: Errors) -> Self {
        let fused = fused(code, operators);
        ScalarFunction::of_code(code, fused, Vec::new(), zeros(&code.results), errors)
    }

    fn of_code(
        code: &'a Code,
        fused: Vec<bool>,
        names: Vec<&'a str>,
        results: Vec<Scalar>,
        errors: Errors,
    ) -> Self {
        ScalarFunction {
            code,
            names,
            errors,
            approximate: code.is_approximate(),
            fused,
            machine: Machine::new(),
            values: Vec::new(),
            moved: results.clone(),
            results,
        }
    }

    /// Evaluates it and stores the tuple, with bounds if they are asked for.
    pub(super) fn run(
        &mut self,
        arguments: &[Element],
        point: &[i64],
        tuple: &mut [Element],
    ) -> Result<(), Failure> {
        self.run_exactly(arguments, point, tuple)?;
        if self.errors == Errors::Ignored {
            return Ok(());
        }
        // A fused multiply-add rounds once: a product that is too large alone need not be then.
        let is_finite = |a: &Element| !a.value.ty.is_float() || a.value.as_f64().is_finite();
        for (element, fused) in tuple.iter_mut().zip(&self.fused) {
            if *fused && element.value.as_f64().is_infinite() && arguments.iter().all(is_finite) {
                element.error = f64::INFINITY;
            }
        }
        for (n, argument) in arguments.iter().enumerate() {
            if argument.error > 0.0 {
                self.move_argument(n, *argument, point, tuple);
            }
        }
        self.move_together(arguments, point, tuple);
        if self.approximate {
            self.move_functions(point, tuple);
        }
        Ok(())
    }

    /// As [`Self::run`], but instead of bounds it gives the tuple in each of `count` worlds, end
    /// to end; nothing if it is the same in all. In a world every argument (known by its key)
    /// is at one end of what it may be or between, and math functions are those of one library.
    pub(super) fn run_in_worlds(
        &mut self,
        arguments: &[Element],
        keys: &[u64],
        point: &[i64],
        tuple: &mut [Element],
        (count, worlds): (usize, &mut Vec<Scalar>),
    ) -> Result<(), Failure> {
        self.run_exactly(arguments, point, tuple)?;
        worlds.clear();
        let exact = arguments.iter().all(|a| a.error == 0.0);
        if exact && !self.approximate {
            return Ok(());
        }
        let mut certain = !arguments.iter().any(Element::is_arbitrary);
        for world in 0..count as u64 {
            for ((value, argument), key) in self.values.iter_mut().zip(arguments).zip(keys) {
                *value = moved(*argument, *key, world);
            }
            self.machine.set_noise(Some(Noise::Library(world)));
            let run = self
                .machine
                .run(self.code, &self.values, point, &mut self.moved);
            certain &= run.is_ok();
            worlds.extend_from_slice(&self.moved);
        }
        self.machine.set_noise(None);
        if !certain {
            tuple.iter_mut().for_each(|e| e.error = f64::INFINITY);
        }
        Ok(())
    }

    fn run_exactly(
        &mut self,
        arguments: &[Element],
        point: &[i64],
        tuple: &mut [Element],
    ) -> Result<(), Failure> {
        self.values.clear();
        self.values.extend(arguments.iter().map(|a| a.value));
        let run = self
            .machine
            .run(self.code, &self.values, point, &mut self.results);
        run.map_err(|error| Failure::Code {
            place: point_text(&self.names, point),
            error,
        })?;
        for (element, value) in tuple.iter_mut().zip(&self.results) {
            *element = Element::exact(*value);
        }
        Ok(())
    }

    fn move_argument(&mut self, n: usize, argument: Element, point: &[i64], tuple: &mut [Element]) {
        if argument.is_arbitrary() {
            tuple.iter_mut().for_each(|e| e.error = f64::INFINITY);
            return;
        }
        let x = argument.value.as_f64();
        let mut worst = vec![0.0; tuple.len()];
        for moved in [x + argument.error, x - argument.error] {
            self.values[n] = Scalar::from_f64(argument.value.ty, moved);
            self.run_moved(point, &mut worst);
        }
        self.values[n] = argument.value;
        add(tuple, &worst);
    }

    /// Moves all uncertain arguments at once. What each of them changes alone may be lost in the rounding of the
    /// result, and not be lost where others change it as well.
    fn move_together(&mut self, arguments: &[Element], point: &[i64], tuple: &mut [Element]) {
        let is_open = |n: &usize| arguments[*n].error > 0.0 && !arguments[*n].is_arbitrary();
        let open: Vec<usize> = (0..arguments.len()).filter(is_open).collect();
        if open.len() < 2 {
            return;
        }
        let corners = 1u64 << open.len().min(CORNERS);
        let mut worst = vec![0.0; tuple.len()];
        for corner in 0..corners {
            for (n, bit) in open.iter().zip(0..) {
                let side = match open.len() <= CORNERS {
                    true if corner >> bit & 1 == 1 => 1.0,
                    true => -1.0,
                    false => sign(hash([corner, bit])),
                };
                let argument = arguments[*n];
                let moved = argument.value.as_f64() + side * argument.error;
                self.values[*n] = Scalar::from_f64(argument.value.ty, moved);
            }
            self.run_moved(point, &mut worst);
        }
        for n in open {
            self.values[n] = arguments[n].value;
        }
        for (element, together) in tuple.iter_mut().zip(worst) {
            element.error = element.error.max(together);
        }
    }

    fn move_functions(&mut self, point: &[i64], tuple: &mut [Element]) {
        let mut worst = vec![0.0; tuple.len()];
        for run in 0..2 + NOISY_RUNS {
            let noise = match run {
                0 => Noise::Up,
                1 => Noise::Down,
                seed => Noise::Library(seed),
            };
            self.machine.set_noise(Some(noise));
            self.run_moved(point, &mut worst);
        }
        self.machine.set_noise(None);
        add(tuple, &worst);
    }

    fn run_moved(&mut self, point: &[i64], worst: &mut [f64]) {
        let run: Result<(), EvalError> =
            self.machine
                .run(self.code, &self.values, point, &mut self.moved);
        for (n, worst) in worst.iter_mut().enumerate() {
            let off = match run {
                Ok(()) => distance(self.moved[n], self.results[n]),
                Err(_) => f64::INFINITY,
            };
            *worst = off.max(*worst);
        }
    }
}

/// Finds the results that are products which their sum may take in without rounding them first.
fn fused(code: &Code, operators: &[Builtin]) -> Vec<bool> {
    let is_product = |register: &Register| {
        code.body.instructions.iter().any(|instruction| {
            matches!(instruction, Instruction::Apply { result, op, .. }
                if result == register && *op == Op::Mulf)
        })
    };
    let is_sum = |n: usize| operators.get(n) == Some(&Builtin::Addf);
    let yields = code.body.yields.iter().enumerate();
    yields
        .map(|(n, register)| is_sum(n) && is_product(register))
        .collect()
}

fn zeros(types: &[ScalarType]) -> Vec<Scalar> {
    types.iter().copied().map(Scalar::zero).collect()
}

fn add(tuple: &mut [Element], errors: &[f64]) {
    for (element, error) in tuple.iter_mut().zip(errors) {
        element.error += error;
    }
}
