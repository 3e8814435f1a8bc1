//! Loops and branches around computations, run iteration by iteration.

use super::body::{For, Forall, If, While};
use super::instance::{Instance, InstanceValue};
use super::memory::View;
use super::statement::{Statement, ValueId};
use crate::domain::{Grid, points};
use crate::oracle::Element;
use crate::scalar::{Scalar, ScalarType};

/// A value that goes to other names: as it is, or as memory.
#[derive(Clone, Copy, Debug)]
pub(super) enum Handed {
    Value(InstanceValue),
    /// A name of memory: what is written by the other name is written there.
    Memory(ValueId),
}

impl Instance<'_> {
    /// Runs statements of which the first has a number.
    pub(super) fn run_all(
        &mut self,
        statements: &[Statement],
        mut number: usize,
    ) -> Result<(), (usize, String)> {
        for statement in statements {
            let is_loop = matches!(
                statement,
                Statement::For(_) | Statement::Forall(_) | Statement::While(_)
            );
            if is_loop && self.run_plain(statement, number)? {
                number += statement.size();
                continue;
            }
            match statement {
                Statement::For(of) => self.run_for(of, number)?,
                Statement::Forall(of) => self.run_forall(of, number)?,
                Statement::While(of) => self.run_while(of, number)?,
                Statement::If(of) => self.run_if(of, number)?,
                Statement::Graph(of) => self.run_graph(of, number)?,
                simple => self
                    .run(number, simple)
                    .map_err(|message| (number, message))?,
            }
            number += statement.size();
        }
        Ok(())
    }

    fn run_for(&mut self, of: &For, number: usize) -> Result<(), (usize, String)> {
        let here = |message| (number, message);
        let mut bounds = Vec::new();
        for value in [of.lower, of.upper, of.step] {
            bounds.push(self.known_scalar(value).map_err(here)?);
        }
        let ty = bounds[0].ty;
        let [lower, upper, step] = [0, 1, 2].map(|n| bounds[n].as_i64());
        if step <= 0 {
            return Err(here(format!(
                "has the step {step}: expected a positive one"
            )));
        }
        let mut carried = self.all(&of.initial).map_err(here)?;
        let mut next = Some(lower);
        while let Some(index) = next.filter(|index| *index < upper) {
            self.count_iteration().map_err(here)?;
            let scalar = InstanceValue::Scalar(Element::exact(Scalar::from_i64(ty, index)));
            self.assign(of.index, scalar).map_err(here)?;
            self.assign_all(&of.carried, &carried).map_err(here)?;
            self.run_all(&of.body.statements, number + 1)?;
            carried = self.all(&of.body.yields).map_err(here)?;
            next = index.checked_add(step);
        }
        self.assign_all(&of.results, &carried).map_err(here)
    }

    fn run_forall(&mut self, of: &Forall, number: usize) -> Result<(), (usize, String)> {
        let here = |message| (number, message);
        let lower = self.numbers(&of.lower).map_err(here)?;
        let upper = self.numbers(&of.upper).map_err(here)?;
        let steps = self.numbers(&of.steps).map_err(here)?;
        let mut grids = Vec::new();
        for ((lower, upper), step) in lower.iter().zip(&upper).zip(&steps) {
            let grid = Grid::new(*lower, *upper, *step, 1);
            grids.push(
                grid.ok_or_else(|| here(format!("has the step {step}: expected a positive one")))?,
            );
        }
        let shared = self.all(&of.shared).map_err(here)?;
        let mut whole: Vec<usize> = Vec::new();
        for value in &of.shared {
            whole.push(self.tensor(*value).map_err(here)?);
        }
        for point in points(&grids) {
            self.count_iteration().map_err(here)?;
            for (index, value) in of.indices.iter().zip(point) {
                let scalar = Scalar::from_i64(ScalarType::Index, value);
                let scalar = InstanceValue::Scalar(Element::exact(scalar));
                self.assign(*index, scalar).map_err(here)?;
            }
            self.assign_all(&of.arguments, &shared).map_err(here)?;
            self.run_all(&of.body.statements, number + 1)?;
            for insertion in &of.insertions {
                let part = self.tensor(insertion.part).map_err(here)?;
                let into = *whole
                    .get(insertion.into)
                    .ok_or_else(|| here("bug: an insertion into what is not shared".into()))?;
                let slice = self.slice(&insertion.slice, into).map_err(here)?;
                whole[insertion.into] = self.inserted(into, part, slice).map_err(here)?;
            }
        }
        let whole = whole
            .into_iter()
            .map(|node| Handed::Value(InstanceValue::Tensor(node)));
        let whole: Vec<Handed> = whole.collect();
        self.assign_all(&of.results, &whole).map_err(here)
    }

    fn run_while(&mut self, of: &While, number: usize) -> Result<(), (usize, String)> {
        let here = |message| (number, message);
        let mut carried = self.all(&of.initial).map_err(here)?;
        loop {
            self.count_iteration().map_err(here)?;
            self.assign_all(&of.before_carried, &carried)
                .map_err(here)?;
            self.run_all(&of.before.statements, number + 1)?;
            let Some((condition, handed)) = of.before.yields.split_first() else {
                return Err(here("bug: a loop without a condition".into()));
            };
            let goes_on = self.known_scalar(*condition).map_err(here)?.is_true();
            let handed = self.all(handed).map_err(here)?;
            if !goes_on {
                return self.assign_all(&of.results, &handed).map_err(here);
            }
            self.assign_all(&of.after_carried, &handed).map_err(here)?;
            self.run_all(&of.after.statements, number + 1 + of.before.size())?;
            carried = self.all(&of.after.yields).map_err(here)?;
        }
    }

    /// Fails where all loops together go on for too long.
    pub(super) fn count_iteration(&mut self) -> Result<(), String> {
        self.iterations += 1;
        match self.iterations > self.limit {
            false => Ok(()),
            true => Err(too_long(self.limit)),
        }
    }

    fn run_if(&mut self, of: &If, number: usize) -> Result<(), (usize, String)> {
        let here = |message| (number, message);
        let [yes, no] = &of.branches;
        let (branch, first) = match self.known_scalar(of.condition).map_err(here)?.is_true() {
            true => (yes, number + 1),
            false => (no, number + 1 + yes.size()),
        };
        self.run_all(&branch.statements, first)?;
        let values = self.all(&branch.yields).map_err(here)?;
        self.assign_all(&of.results, &values).map_err(here)
    }

    /// The values to be given to other names.
    pub(super) fn all(&mut self, values: &[ValueId]) -> Result<Vec<Handed>, String> {
        let handed = |value: &ValueId| match self.aliases.contains_key(value) {
            true => Ok(Handed::Memory(self.kept(*value))),
            false => self.value(*value).map(Handed::Value),
        };
        values.iter().map(handed).collect()
    }

    pub(super) fn assign_all(&mut self, to: &[ValueId], values: &[Handed]) -> Result<(), String> {
        to.iter()
            .zip(values)
            .try_for_each(|(to, value)| match value {
                Handed::Value(value) => self.assign(*to, *value),
                Handed::Memory(name) => {
                    self.aliases.insert(*to, (*name, View::Whole));
                    Ok(())
                }
            })
    }
}

/// Says that loops go on for too long.
pub(super) fn too_long(limit: usize) -> String {
    format!(
        "is one of loops with more than {limit} iterations together: expected no more, which is as \
         far as they are followed here"
    )
}
