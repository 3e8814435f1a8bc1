//! Nests of loops, bound to their operands, which are laid out for them.

use std::collections::HashMap;

use super::instance::{Bound, Instance, InstanceValue, Source, Work};
use super::reference::{Memo, Reference};
use super::statement::NestOperands;
use crate::computation::Place;
use crate::oracle::nest::BoundNest;
use crate::oracle::{Element, Failure};

/// A chain of more slices and insertions than this is laid out before all of it is read.
const CHAIN: usize = 4;

impl Instance<'_> {
    pub(super) fn nest(&mut self, statement: usize, of: &NestOperands) -> Result<(), String> {
        let (inputs, outputs) = (of.inputs.len(), of.outputs.len());
        if (inputs, outputs) != (of.nest.inputs.len(), of.nest.outputs.len())
            || of.results.len() != outputs
        {
            return Err(format!(
                "bug: {inputs} inputs, {outputs} outputs and {} results of a nest",
                of.results.len()
            ));
        }
        let operands = of.inputs.iter().chain(&of.outputs);
        let operands: Result<Vec<usize>, String> = operands.map(|o| self.tensor(*o)).collect();
        let operands = operands?;
        let shapes = operands.iter().map(|o| self.nodes[*o].shape.clone());
        let bound = BoundNest::new(of.nest.clone(), shapes.collect())?;
        let number = self.computes.len();
        let (mut nodes, mut results) = (HashMap::new(), HashMap::new());
        for (n, node) in operands.iter().enumerate() {
            let place = match n < inputs {
                true => Place::Input(n),
                false => Place::Output(n - inputs),
            };
            if bound.uses(n) || n >= inputs {
                nodes.insert(place, *node);
            }
        }
        for (n, (result, output)) in of.results.iter().zip(&of.nest.outputs).enumerate() {
            let place = Place::Output(n);
            let shape = self.nodes[operands[inputs + n]].shape.clone();
            let source = Source::Result {
                compute: number,
                place,
            };
            let node = self.add(output.element, shape, source)?;
            results.insert(place, node);
            self.assign(*result, InstanceValue::Tensor(node))?;
        }
        self.computes.push(Bound {
            statement,
            work: Work::Nest(bound),
            nodes,
            operands,
            results,
            valid: Vec::new(),
            broken: false,
        });
        Ok(())
    }
}

impl Reference<'_> {
    /// Evaluates as a whole what a nest reads through long chains of slices and insertions, if it
    /// reads most of it.
    pub(super) fn lay_out(&mut self, compute: usize) -> Result<(), Failure> {
        let instance = self.instance;
        let bound = &instance.computes[compute];
        let Work::Nest(nest) = &bound.work else {
            return Ok(());
        };
        for (n, node) in bound.operands.iter().enumerate() {
            if nest.uses(n) && nest.points() >= nest.elements(n) && self.chain(*node) > CHAIN {
                let elements = self.laid_out(*node)?;
                self.memos[*node] = Memo::All(elements);
            }
        }
        Ok(())
    }

    /// Returns how many nodes an element may have to be looked for in, up to a few more than matter.
    fn chain(&self, mut node: usize) -> usize {
        for length in 0..=CHAIN {
            match (&self.memos[node], &self.instance.nodes[node].source) {
                (Memo::All(_), _) => return length,
                (_, Source::Slice { of, .. } | Source::Reshape { of }) => node = *of,
                (_, Source::Insert { into, .. }) => node = *into,
                _ => return length,
            }
        }
        CHAIN + 1
    }

    /// Evaluates all elements of a node: of a chain of insertions from its start on.
    pub(super) fn laid_out(&mut self, node: usize) -> Result<Vec<Element>, Failure> {
        let instance = self.instance;
        self.prepare_node(node)?;
        let (mut chain, mut first) = (Vec::new(), node);
        while let (Source::Insert { into, part, slice }, false) = (
            &instance.nodes[first].source,
            matches!(self.memos[first], Memo::All(_)),
        ) {
            chain.push((*part, slice));
            first = *into;
        }
        let base = &instance.nodes[first];
        if let Source::Result { compute, .. } = base.source {
            self.evaluate_whole(compute)?;
        }
        let count = base.shape.iter().product::<i64>() as usize;
        let mut elements = Vec::with_capacity(count);
        for flat in 0..count {
            elements.push(match base.held_flat(flat) {
                Some(element) => element,
                None => self.element(first, &base.index(flat))?,
            });
        }
        for (part, slice) in chain.into_iter().rev() {
            let inserted = &instance.nodes[part];
            for flat in 0..inserted.shape.iter().product::<i64>() as usize {
                let index = inserted.index(flat);
                let element = self.element(part, &index)?;
                if let Some(place) = base.flat(&slice.source_index(&index)) {
                    elements[place] = element;
                }
            }
        }
        Ok(elements)
    }
}
