//! Programs are instantiated: scalars and shapes are run, statement after statement, and computations bound.

use std::collections::HashMap;

use super::instance::{
    Argument, Bound, Instance, InstanceValue, OPEN, Source, TOO_LARGE, Work, fits,
};
use super::plain;
use super::slices::Memory;
use super::statement::{Compute, Statement, ValueId};
use super::{ArgumentType, Program, ProgramError};
use crate::bind::Binding;
use crate::computation::{Computation, Place};
use crate::domain::total_elements;
use crate::op::Op;
use crate::oracle::Element;
use crate::rules;
use crate::scalar::{Scalar, ScalarType};

/// The number of iterations from which on loops are taken for ones that never end.
const ITERATIONS: usize = 1 << 33;

impl Program {
    /// Runs the scalars and shapes, and checks every computation.
    ///
    /// Broken rules are [`Instance::findings`]; an error is what keeps shapes from being known:
    /// a wrong argument, an undefined scalar operation, a negative extent.
    pub fn instantiate<'a>(
        &self,
        arguments: &[Argument<'a>],
    ) -> Result<Instance<'a>, ProgramError> {
        self.instantiate_within(arguments, ITERATIONS)
    }

    /// The same, if all loops together have no more than so many iterations.
    pub fn instantiate_within<'a>(
        &self,
        arguments: &[Argument<'a>],
        limit: usize,
    ) -> Result<Instance<'a>, ProgramError> {
        let mut instance = Instance {
            nodes: Vec::new(),
            computes: Vec::new(),
            returns: Vec::new(),
            arguments: Vec::new(),
            values: HashMap::new(),
            aliases: HashMap::new(),
            findings: Vec::new(),
            iterations: 0,
            limit,
            names: 0,
            memos: Vec::new(),
        };
        let outside = |message: String| ProgramError {
            statement: None,
            is_open: message.contains(OPEN),
            is_too_large: message.contains(TOO_LARGE),
            message,
            is_too_long: false,
        };
        if arguments.len() != self.arguments.len() {
            return Err(outside(format!(
                "{} arguments were given: expected {}",
                arguments.len(),
                self.arguments.len()
            )));
        }
        for (n, (argument, ty)) in arguments.iter().zip(&self.arguments).enumerate() {
            let value = instance.argument(argument, ty);
            let value = value.map_err(|m| outside(format!("argument {n} {m}")))?;
            instance.values.insert(n, value);
        }
        let run = instance.run_all(&self.statements, 0);
        run.map_err(|(number, message)| ProgramError {
            statement: Some(number),
            is_open: message.contains(OPEN),
            is_too_large: message.contains(TOO_LARGE),
            message,
            is_too_long: instance.iterations > limit,
        })?;
        for value in &self.returns {
            let value = instance.value(*value).map_err(outside)?;
            instance.returns.push(value);
        }
        for n in 0..self.arguments.len() {
            let value = instance.value(n).map_err(outside)?;
            instance.arguments.push(value);
        }
        Ok(instance)
    }
}

impl<'a> Instance<'a> {
    fn argument(
        &mut self,
        argument: &Argument<'a>,
        ty: &ArgumentType,
    ) -> Result<InstanceValue, String> {
        let (element, expected) = match (argument, ty) {
            (Argument::Scalar(scalar), ArgumentType::Scalar(ty)) if scalar.ty == *ty => {
                return Ok(InstanceValue::Scalar(Element::exact(*scalar)));
            }
            (Argument::Scalar(scalar), ArgumentType::Scalar(ty)) => {
                return Err(format!("has type {}: expected {ty}", scalar.ty));
            }
            (Argument::Scalar(_), _) => return Err("is a scalar: expected a tensor".into()),
            (_, ArgumentType::Scalar(_)) => return Err("is a tensor: expected a scalar".into()),
            (_, ArgumentType::Tensor { element, shape }) => (*element, shape),
        };
        let (shape, source) = match argument {
            Argument::Data { shape, bytes } => (shape, Source::Data(bytes)),
            Argument::Shape(shape) => (shape, Source::Undefined),
            Argument::Scalar(_) => return Err("is a scalar".into()),
        };
        fits(shape, expected)?;
        let node = self.add(element, shape.clone(), source)?;
        if let Argument::Data { bytes, shape } = argument {
            let count = total_elements(shape).unwrap_or(0);
            let (found, wanted) = (bytes.len(), count as usize * element.byte_width());
            if found != wanted {
                return Err(format!("has {found} bytes: expected {wanted}"));
            }
        }
        Ok(InstanceValue::Tensor(node))
    }

    pub(super) fn run(&mut self, number: usize, statement: &Statement) -> Result<(), String> {
        let (result, value) = match statement {
            Statement::Constant { result, value } => (*result, exact(*value)),
            Statement::Apply {
                result,
                op,
                operands,
                ty,
            } => {
                let value = self.apply(*op, operands, *ty)?;
                (*result, InstanceValue::Scalar(value))
            }
            Statement::Dim {
                result,
                tensor,
                axis,
            } => {
                let extent = self.extent(*tensor, *axis)?;
                (*result, exact(Scalar::from_i64(ScalarType::Index, extent)))
            }
            Statement::Load {
                result,
                tensor,
                indices,
            } => {
                let (node, indices) = (self.tensor(*tensor)?, self.integers(indices)?);
                (*result, InstanceValue::Scalar(self.load(node, &indices)?))
            }
            Statement::Alias { .. }
            | Statement::Reinterpret { .. }
            | Statement::Reshape {
                memory: Memory::Shared,
                ..
            } => return self.other_name(statement),
            Statement::Layout(placement) => return self.placement(placement),
            Statement::Compute(compute) => return self.compute(number, compute),
            Statement::Nest(nest) => return self.nest(number, nest),
            Statement::Empty { result, .. } => {
                // What had the name before may be known by another one.
                self.aliases.remove(result);
                self.tensor_statement(statement)?
            }
            tensor => self.tensor_statement(tensor)?,
        };
        self.assign(result, value)
    }

    /// The result of a scalar operation.
    fn apply(&self, op: Op, operands: &[ValueId], ty: ScalarType) -> Result<Element, String> {
        let elements = operands.iter().map(|o| self.scalar_element(*o));
        let mut elements = elements.collect::<Result<Vec<Element>, String>>()?;
        plain::settle(op, operands, &mut elements);
        let is_exact = elements.iter().all(|e| e.error == 0.0);
        let value = match is_exact {
            true => Element::of_operation(op, &elements, ty),
            false => Element::rounded(op, &elements, ty),
        };
        value.map_err(|e| e.to_string())
    }

    /// The extent of a tensor along an axis.
    fn extent(&mut self, tensor: ValueId, axis: ValueId) -> Result<i64, String> {
        let (node, axis) = (self.tensor(tensor)?, self.known_scalar(axis)?.as_i64());
        let shape = &self.nodes[node].shape;
        let extent = usize::try_from(axis).ok().and_then(|a| shape.get(a));
        let extent = extent.ok_or_else(|| {
            let rank = shape.len();
            format!("asks for axis {axis} of a tensor that has {rank}")
        })?;
        Ok(*extent)
    }

    fn compute(&mut self, number: usize, compute: &Compute) -> Result<(), String> {
        let computation = &compute.computation;
        let mut operands: Vec<ValueId> = compute.inputs.clone();
        operands.extend(&compute.outputs);
        let mut valid = Vec::new();
        for carry in &compute.carries {
            operands.extend(&carry.incoming);
            operands.extend(&carry.outgoing);
            valid.push(match carry.valid {
                Some(bit) => self.known_scalar(bit)?.is_true(),
                None => true,
            });
        }
        let places = computation.places();
        if places.len() != operands.len() || valid.len() != computation.carries.len() {
            let (found, expected) = (operands.len(), places.len());
            return Err(format!("bug: {found} operands for {expected} buffers"));
        }
        let mut nodes = HashMap::new();
        let mut shapes = Vec::new();
        for (place, operand) in places.into_iter().zip(operands) {
            let node = self.tensor(operand)?;
            let expected = computation.buffer(place).map(|b| b.element);
            if expected != Some(self.nodes[node].element) {
                let element = self.nodes[node].element;
                return Err(format!(
                    "bug: {place:?} is of {expected:?}, its operand of {element}"
                ));
            }
            shapes.push(self.nodes[node].shape.clone());
            nodes.insert(place, node);
        }
        let binding = Binding {
            bounds: self.integers(&compute.bounds)?,
            shapes,
            origins: self.integers(&compute.origins)?,
        };
        let bound = computation.bind(&binding).map_err(|e| e.message)?;
        let findings = rules::check(&bound);
        let broken = !findings.is_empty();
        let findings = findings.into_iter().map(|finding| (number, finding));
        self.findings.extend(findings);
        self.bound(number, compute, bound, nodes, valid, broken)
    }

    /// Adds a computation and its results.
    fn bound(
        &mut self,
        statement: usize,
        compute: &Compute,
        computation: Computation,
        nodes: HashMap<Place, usize>,
        valid: Vec<bool>,
        broken: bool,
    ) -> Result<(), String> {
        let number = self.computes.len();
        let written: Vec<Place> = (computation.places().into_iter())
            .filter(|p| matches!(p, Place::Output(_) | Place::Outgoing { .. }))
            .collect();
        if written.len() != compute.results.len() {
            let (found, expected) = (compute.results.len(), written.len());
            return Err(format!(
                "bug: {found} results for {expected} written buffers"
            ));
        }
        let mut results = HashMap::new();
        for (place, result) in written.into_iter().zip(&compute.results) {
            let destination = &self.nodes[nodes[&place]];
            let (element, shape) = (destination.element, destination.shape.clone());
            let compute = number;
            let node = self.add(element, shape, Source::Result { compute, place })?;
            results.insert(place, node);
            self.assign(*result, InstanceValue::Tensor(node))?;
        }
        self.computes.push(Bound {
            statement,
            work: Work::Computation(computation),
            nodes,
            operands: Vec::new(),
            results,
            valid,
            broken,
        });
        Ok(())
    }
}

fn exact(value: Scalar) -> InstanceValue {
    InstanceValue::Scalar(Element::exact(value))
}
