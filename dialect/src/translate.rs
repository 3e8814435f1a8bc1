//! Operations into the algebra's [`Computation`]: the only place where the two meet.

use crate::ops;
use mdh_algebra::code::{Block, Code};
use mdh_algebra::computation::{Access, Buffer, Carry, Combine, Computation, Dimension, Extent};
use mdh_algebra::operator::{Builtin, Operator, UserOperator};
use mdh_algebra::scalar::{Scalar, ScalarType};
use melior::ir::{RegionRef, ValueLike};

use crate::code;
use crate::ir::{self, Errors, Op};
use crate::parts::{
    Bound, BufferPart, CombinePart, Dim, Fold, Laws, Operators, Parts, combine_part,
};
use crate::read;
use crate::types;

/// Depth of a region's translation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// Types of arguments and results: enough for every rule, and possible for any code.
    Signatures,
    /// The code too, for the oracle.
    Code,
}

impl Depth {
    fn code(self, region: RegionRef, what: &str) -> Result<Code, Errors> {
        match self {
            Depth::Signatures => code::signature(region, what),
            Depth::Code => code::code(region, what),
        }
    }
}

/// An `mdh.compute` as a computation.
pub fn compute(op: Op, depth: Depth) -> Result<Computation, Errors> {
    Ok(both(op, depth)?.1)
}

/// Reads an `mdh.compute` once, both as parts and as a computation.
pub fn both<'c>(op: Op<'c>, depth: Depth) -> Result<(Parts<'c>, Computation), Errors> {
    let parts = read::compute(op)?;
    let scalar = depth.code(ir::region(op, 0), "the scalar function")?;
    let (combines, operators) = combine_operators(&parts.combine, |operators| {
        compute_operator(op, &parts.laws, operators, depth)
    })?;
    let computation = computation(&parts, scalar, combines, operators)?;
    Ok((parts, computation))
}

/// Puts a computation together from parts whose operators have been resolved.
pub fn computation(
    parts: &Parts,
    scalar: Code,
    combines: Vec<Combine>,
    operators: Vec<Operator>,
) -> Result<Computation, Errors> {
    let mut errors = Errors::new();
    let mut buffers = |list: &[BufferPart]| {
        let mut next = 0;
        let mut translated = Vec::new();
        for part in list {
            match buffer(part, &mut next) {
                Ok(buffer) => translated.push(buffer),
                Err(error) => errors.push(error),
            }
        }
        translated
    };
    let inputs = buffers(&parts.inputs);
    let outputs = buffers(&parts.outputs);
    let carries = parts
        .carries
        .iter()
        .map(|carry| Carry {
            dimension: carry.dim,
            incoming: buffers(&carry.incoming),
            has_valid_bit: carry.valid.is_some(),
            outgoing: buffers(&carry.outgoing),
        })
        .collect();
    if !errors.is_empty() {
        return Err(errors);
    }
    let dimensions = parts
        .dims
        .iter()
        .zip(combines)
        .map(|(dim, combine)| dimension(dim, combine))
        .collect();
    let components = scalar.results.clone();
    Ok(Computation {
        dimensions,
        inputs,
        scalar,
        components,
        operators,
        carries,
        outputs,
    })
}

/// A dimension of the domain.
pub fn dimension(dim: &Dim, combine: Combine) -> Dimension {
    Dimension {
        name: dim.name.clone(),
        lower: dim.lower.known(),
        upper: dim.upper.known(),
        step: dim.step.known(),
        width: dim.width.known(),
        combine,
    }
}

/// A buffer; accesses without a component of their own take the next one.
fn buffer(part: &BufferPart, next: &mut usize) -> Result<Buffer, String> {
    let ty = part.value.r#type();
    let Some(found) = types::buffer_type(ty) else {
        return Err(format!(
            "buffer '{}' has type {ty}: expected a ranked tensor or memref, or a scalar, of i1, \
             i8, i16, i32, i64, index, f16, bf16, f32 or f64",
            part.name
        ));
    };
    let pad = match part.pad {
        None => None,
        Some(attribute) => Some(pad_value(part, attribute, found.element)?),
    };
    let accesses = part.accesses.iter().enumerate().map(|(a, map)| {
        let component = part.components.get(a).copied().unwrap_or(*next);
        *next = component + 1;
        Access {
            map: map.clone(),
            component,
        }
    });
    Ok(Buffer {
        name: part.name.clone(),
        element: found.element,
        shape: found.shape,
        accesses: accesses.collect(),
        origin: part
            .origin
            .iter()
            .map(|o| o.known())
            .collect::<Vec<Extent>>(),
        pad,
    })
}

fn pad_value(
    part: &BufferPart,
    attribute: melior::ir::Attribute,
    element: ScalarType,
) -> Result<Scalar, String> {
    types::scalar(attribute).ok_or_else(|| {
        format!(
            "buffer '{}' has {attribute} as its padding: expected a number of type {}",
            part.name,
            element.name()
        )
    })
}

/// The combine operators of all dimensions, with equal functions shared.
pub fn combine_operators<'c>(
    attributes: &[melior::ir::Attribute<'c>],
    mut resolve: impl FnMut(&Operators<'c>) -> Result<Operator, Errors>,
) -> Result<(Vec<Combine>, Vec<Operator>), Errors> {
    let mut functions: Vec<Operators> = Vec::new();
    let (mut combines, mut operators) = (Vec::new(), Vec::new());
    for attribute in attributes {
        let CombinePart::Fold(fold, function) = combine_part(*attribute)? else {
            combines.push(Combine::Cc);
            continue;
        };
        let index = match functions.iter().position(|f| *f == function) {
            Some(index) => index,
            None => {
                operators.push(resolve(&function)?);
                functions.push(function);
                operators.len() - 1
            }
        };
        combines.push(match fold {
            Fold::Pw => Combine::Pw(index),
            Fold::Ps => Combine::Ps(index),
        });
    }
    Ok((combines, operators))
}

/// Built-in operators by name.
pub fn builtins(names: &[String]) -> Result<Operator, Errors> {
    let operators = names.iter().map(|name| {
        let whole = "one operator of its own for the whole tuple";
        Builtin::parse(name).ok_or_else(|| vec![unknown(name, whole)])
    });
    Ok(Operator::Builtin(operators.collect::<Result<_, _>>()?))
}

/// The error about a name that is none of the built-in operators, and what else could be meant.
fn unknown(name: &str, or: &str) -> String {
    let names: Vec<&str> = Builtin::all().map(|b| b.name()).collect();
    format!(
        "combines with '{name}', which is not a built-in operator: expected one of {}, or {or}",
        names.join(", ")
    )
}

/// The operator of an `mdh.compute` as it is written there.
fn region_of(name: &str) -> String {
    format!("a region `combine {name} associative (...) {{...}}` after the inputs")
}

fn compute_operator(
    op: Op,
    laws: &Laws,
    operators: &Operators,
    depth: Depth,
) -> Result<Operator, Errors> {
    match operators {
        Operators::Builtin(names) => builtins(names),
        Operators::Label(label) => match ir::combiner(op) {
            Some(region) => user_operator(region, label, laws, depth),
            None => Err(vec![unknown(label, &region_of(label))]),
        },
        Operators::Symbol(name) => Err(vec![format!(
            "combines with the symbol @{name}: an mdh.compute holds its operator itself, as {}",
            region_of(name)
        )]),
        Operators::Unknown(attribute) => Err(vec![format!(
            "combines with {attribute}: expected built-in operators or the label of its region"
        )]),
    }
}

/// An operator given by a region.
pub fn user_operator(
    region: RegionRef,
    name: &str,
    laws: &Laws,
    depth: Depth,
) -> Result<Operator, Errors> {
    let code = depth.code(region, &format!("the combine operator '{name}'"))?;
    let neutral = match &laws.neutral {
        None => None,
        Some(values) => Some(
            values
                .iter()
                .map(|value| {
                    types::scalar(*value).ok_or_else(|| {
                        vec![format!(
                            "the neutral element of '{name}' has {value}: expected a number with \
                             its type, such as 0.0 : f32"
                        )]
                    })
                })
                .collect::<Result<Vec<Scalar>, Errors>>()?,
        ),
    };
    Ok(Operator::User(UserOperator {
        name: name.to_owned(),
        code,
        neutral,
        commutative: laws.commutative,
        associative: laws.associative,
    }))
}

/// The operator that an `mdh.hom` names.
pub fn hom_operator(op: Op, operators: &Operators, depth: Depth) -> Result<Operator, Errors> {
    match operators {
        Operators::Builtin(names) => builtins(names),
        Operators::Label(name) => {
            let symbol = format!("@{name} for an operator that an mdh.combine defines");
            Err(vec![unknown(name, &symbol)])
        }
        Operators::Symbol(name) => {
            let combine = ir::lookup_symbol(op, name).ok_or_else(|| {
                vec![format!(
                    "combines with @{name}, which is not defined: expected an mdh.combine of that \
                     name in an enclosing module"
                )]
            })?;
            if ir::name_of(combine) != ops::mdh::COMBINE {
                return Err(vec![format!(
                    "combines with @{name}, which is a {}: expected an mdh.combine",
                    ir::name_of(combine)
                )]);
            }
            user_operator(ir::region(combine, 0), name, &read::laws(combine), depth)
        }
        Operators::Unknown(attribute) => Err(vec![format!(
            "combines with {attribute}: expected built-in operators or a symbol"
        )]),
    }
}

/// A scalar function that is known by its types only.
pub fn opaque(inputs: Vec<ScalarType>, results: Vec<ScalarType>) -> Code {
    Code {
        inputs,
        results,
        registers: 0,
        body: Block::default(),
    }
}

/// The number of points of a dimension as MLIR writes sizes.
pub fn point_count(dim: &Dim) -> i64 {
    let known = [dim.lower, dim.upper, dim.step, dim.width].map(Bound::known);
    let [Some(lower), Some(upper), Some(step), Some(width)] = known else {
        return types::DYNAMIC;
    };
    mdh_algebra::domain::Grid::new(lower, upper, step, width).map_or(0, |grid| grid.count())
}
