//! Parts of a triple as computations of their own, so that each operation of it is held against
//! the same rules as the whole.

use mdh_algebra::computation::{Combine, Computation, Dimension};
use mdh_algebra::scalar::ScalarType;
use melior::ir::operation::OperationLike;
use melior::ir::{Type, ValueLike};

use crate::ir::{self, Errors, Op};
use crate::parts::{Bound, Dim, Parts};
use crate::read;
use crate::translate::{self, Depth, computation, opaque};
use crate::triple::{self, Triple};
use crate::types;

/// Returns whether a dimension is combined point-wise.
pub fn is_pw(dim: &Dimension) -> bool {
    matches!(dim.combine, Combine::Pw(_))
}

/// The inputs of a view: a computation that reads and combines nothing.
pub fn of_inputs(parts: &Parts) -> Result<Computation, Errors> {
    let mut inputs = Vec::new();
    for buffer in &parts.inputs {
        let element = types::buffer_type(buffer.value.r#type()).map(|t| t.element);
        inputs.extend(buffer.accesses.iter().filter_map(|_| element));
    }
    let combines = vec![Combine::Cc; parts.dims.len()];
    computation(parts, opaque(inputs, Vec::new()), combines, Vec::new())
}

/// A hom over a domain of unknown bounds, its tuple coming from nowhere.
pub fn of_hom(op: Op, depth: Depth) -> Result<Computation, Errors> {
    let source = op
        .operand(0)
        .map_err(|_| vec!["has no MDA as its operand".to_owned()])?;
    let (shape, types) = ir::mda(ir::value(source).r#type()).unwrap_or_default();
    let names = names(op);
    let name = |d: usize| names.get(d).cloned().unwrap_or_else(|| format!("d{d}"));
    let dims = (0..shape.len()).map(|d| dense(name(d), 1)).collect();
    let parts = Parts {
        dims,
        ..Parts::default()
    };
    let mut computation = with_hom(op, &parts, &types, depth)?;
    for dimension in &mut computation.dimensions {
        dimension.upper = None;
    }
    Ok(computation)
}

/// The names of the dimensions in the view that an MDA comes from.
fn names(hom: Op) -> Vec<String> {
    let chain = triple::chain(hom);
    chain.map_or(Vec::new(), |(view, _)| ir::strings(view, "dims"))
}

fn dense<'c>(name: String, size: i64) -> Dim<'c> {
    let [lower, upper, step, width] = [0, size, 1, 1].map(Bound::Static);
    Dim {
        name,
        lower,
        upper,
        step,
        width,
    }
}

fn with_hom(op: Op, parts: &Parts, tuple: &[Type], depth: Depth) -> Result<Computation, Errors> {
    let scalar = match depth {
        Depth::Signatures => crate::code::signature(ir::region(op, 0), "the scalar function")?,
        Depth::Code => crate::code::code(ir::region(op, 0), "the scalar function")?,
    };
    let expected: Vec<Option<ScalarType>> = tuple.iter().map(|t| types::scalar_type(*t)).collect();
    let actual: Vec<Option<ScalarType>> = scalar.inputs.iter().copied().map(Some).collect();
    if parts.inputs.is_empty() && expected != actual {
        let text = |types: &[Option<ScalarType>]| {
            types
                .iter()
                .map(|t| t.map_or("?", |t| t.name()))
                .collect::<Vec<_>>()
                .join(", ")
        };
        return Err(vec![format!(
            "has a scalar function of ({}), but the MDA's tuple is ({})",
            text(&actual),
            text(&expected)
        )]);
    }
    let scalar = if parts.inputs.is_empty() {
        opaque(Vec::new(), scalar.results)
    } else {
        scalar
    };
    let attributes = ir::array(op, "combine");
    let (combines, operators) = translate::combine_operators(&attributes, |operators| {
        translate::hom_operator(op, operators, depth)
    })?;
    computation(parts, scalar, combines, operators)
}

/// The domain of a chain's last hom: the view's, with what earlier homs combined point-wise
/// shrunk to `{0}`.
pub fn domain<'c>(chain: &Triple<'c>, before: usize) -> Result<Vec<Dim<'c>>, Errors> {
    let mut dims = read::inp_view(chain.inp_view)?.dims;
    for hom in &chain.homs[..before] {
        for (dim, attribute) in dims.iter_mut().zip(ir::array(*hom, "combine")) {
            if ir::is_pw(attribute) {
                let name = std::mem::take(&mut dim.name);
                *dim = dense(name, 1);
            }
        }
    }
    Ok(dims)
}

/// The last hom of a chain and its outputs; without inputs, which their view has checked.
pub fn of_outputs(chain: &Triple, depth: Depth) -> Result<Computation, Errors> {
    let (names, mut parts) = read::out_view(chain.out_view)?;
    parts.dims = domain(chain, chain.homs.len().saturating_sub(1))?;
    for (dim, name) in parts.dims.iter_mut().zip(names) {
        dim.name = name;
    }
    let source = chain.homs.last().copied().unwrap_or(chain.inp_view);
    if chain.homs.is_empty() {
        let results = tuple_of(chain.out_view);
        let types = results
            .iter()
            .filter_map(|t| types::scalar_type(*t))
            .collect();
        let combines = vec![Combine::Cc; parts.dims.len()];
        return computation(&parts, opaque(Vec::new(), types), combines, Vec::new());
    }
    with_hom(source, &parts, &tuple_of(source), depth)
}

/// The types of the tuple that an operation takes.
fn tuple_of<'c>(op: Op<'c>) -> Vec<Type<'c>> {
    let mda = op
        .operand(0)
        .ok()
        .and_then(|v| ir::mda(ir::value(v).r#type()));
    mda.map_or(Vec::new(), |(_, types)| types)
}
