//! All results of a computation: what each group's points have, stored in the arrays of outputs and of what carries
//! carry out.

use super::{Evaluator, component_of, stored};
use crate::computation::Place;
use crate::domain::{Grid, Odometer};
use crate::oracle::element::{Element, Environment};
use crate::oracle::failure::Failure;
use crate::oracle::fold::State;

impl Evaluator<'_> {
    /// Every element of every output and of all that carries carry out, in row-major order.
    pub fn all_results(
        &mut self,
        environment: &mut dyn Environment,
    ) -> Result<Vec<(Place, Vec<Element>)>, Failure> {
        let mut arrays = Vec::new();
        for n in 0..self.others.len() {
            let (place, view) = &self.others[n];
            let mut elements = Vec::new();
            if !matches!(place, Place::Incoming { .. }) {
                let mut odometer = Odometer::new(view.shape.clone());
                while let Some(index) = odometer.current() {
                    elements.push(environment.read(*place, index)?);
                    odometer.advance();
                }
            }
            arrays.push(elements);
        }
        // Beside an empty dimension the points of the others, which may be more than memory holds, are not listed.
        let mut kept_dims = self.cc.iter().chain(&self.ps);
        if !kept_dims.any(|d| self.grids[*d].is_empty()) {
            self.store_groups(environment, &mut arrays)?;
        }
        self.carry_out_empty(environment, &mut arrays)?;
        let places = self.others.iter().map(|(place, _)| *place);
        let written = places.zip(arrays);
        Ok(written
            .filter(|(place, _)| !matches!(place, Place::Incoming { .. }))
            .collect())
    }

    /// Evaluates the points of each group, those that share their `cc` indices, and stores what they have.
    fn store_groups(
        &mut self,
        environment: &mut dyn Environment,
        arrays: &mut [Vec<Element>],
    ) -> Result<(), Failure> {
        let targets: Vec<Vec<i64>> = (self.ps.iter())
            .map(|d| self.grids[*d].iter().collect())
            .collect();
        let cc: Vec<Grid> = self.cc.iter().map(|d| self.grids[*d]).collect();
        let mut odometer = Odometer::new(cc.iter().map(Grid::count).collect());
        let mut point = vec![0; self.grids.len()];
        while let Some(numbers) = odometer.current() {
            for ((d, grid), k) in self.cc.iter().zip(&cc).zip(numbers) {
                point[*d] = grid.point(*k);
            }
            let states = self.group(environment, &mut point, &targets)?;
            self.store_group(environment, &mut point, &targets, states, arrays)?;
            odometer.advance();
        }
        Ok(())
    }

    /// Stores the states of a group's points, carry by carry.
    fn store_group(
        &mut self,
        environment: &mut dyn Environment,
        point: &mut [i64],
        targets: &[Vec<i64>],
        states: Vec<State>,
        arrays: &mut [Vec<Element>],
    ) -> Result<(), Failure> {
        let mut odometer = Odometer::new(targets.iter().map(|t| t.len() as i64).collect());
        for mut state in states {
            for ((d, target), k) in self.ps.iter().zip(targets).zip(&odometer.numbers) {
                point[*d] = target[*k as usize];
            }
            for carry in (0..self.computation.carries.len()).rev() {
                self.carry(environment, carry, point, &mut state)?;
                let d = self.computation.carries[carry].dimension;
                let is_last = !self.ps.contains(&d) || Some(point[d]) == self.grids[d].last();
                if is_last && !self.computation.carries[carry].outgoing.is_empty() {
                    let tuple = self.finish(&state)?;
                    let is_place = |p| matches!(p, Place::Outgoing { carry: c, .. } if c == carry);
                    self.store(&is_place, point, &tuple, arrays)?;
                }
            }
            if !self.computation.outputs.is_empty() {
                let tuple = self.finish(&state)?;
                let is_place = |p| matches!(p, Place::Output(_));
                self.store(&is_place, point, &tuple, arrays)?;
            }
            odometer.advance();
        }
        Ok(())
    }

    fn store(
        &mut self,
        of: &dyn Fn(Place) -> bool,
        point: &[i64],
        tuple: &[Element],
        arrays: &mut [Vec<Element>],
    ) -> Result<(), Failure> {
        for ((place, view), array) in self.others.iter().zip(arrays) {
            if !of(*place) {
                continue;
            }
            for (n, access) in view.buffer.accesses.iter().enumerate() {
                view.locate_inside(n, point, &mut self.index)?;
                let flat = view.flat(&self.index);
                let component = component_of(*place, access.component);
                array[flat] = stored(tuple[component], view.buffer.element);
            }
        }
        Ok(())
    }

    /// An empty `ps` dimension carries out what it received.
    fn carry_out_empty(
        &mut self,
        environment: &mut dyn Environment,
        arrays: &mut [Vec<Element>],
    ) -> Result<(), Failure> {
        for carry in 0..self.computation.carries.len() {
            let dimension = self.computation.carries[carry].dimension;
            let carries_out = !self.computation.carries[carry].outgoing.is_empty();
            if !carries_out || !self.ps.contains(&dimension) || !self.grids[dimension].is_empty() {
                continue;
            }
            let mut rest = self.computation.kept();
            rest.retain(|d| *d != dimension);
            let grids: Vec<Grid> = rest.iter().map(|d| self.grids[*d]).collect();
            let mut point = vec![0; self.grids.len()];
            for indices in crate::domain::points(&grids) {
                for (d, index) in rest.iter().zip(indices) {
                    point[*d] = index;
                }
                let mut state = State::Absent;
                self.carry(environment, carry, &point, &mut state)?;
                let tuple = self.finish(&state)?;
                let is_place = |p| matches!(p, Place::Outgoing { carry: c, .. } if c == carry);
                self.store(&is_place, &point, &tuple, arrays)?;
            }
        }
        Ok(())
    }
}
