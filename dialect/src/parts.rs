//! A computation's operation taken apart: operands, names and index functions in one place.
//!
//! `mdh.compute` and the triple hold the same parts, so that forming one from the other, tiling
//! and canonicalising all read parts, change them and build an operation from them.

use mdh_algebra::affine::Expr;
use melior::ir::Attribute;

use crate::ir::{self, Errors, Val};

/// A bound, step, width or origin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound<'c> {
    /// Known now.
    Static(i64),
    /// A value of type index.
    Dynamic(Val<'c>),
}

impl Bound<'_> {
    /// The number, if it is known now.
    pub fn known(self) -> Option<i64> {
        match self {
            Bound::Static(number) => Some(number),
            Bound::Dynamic(_) => None,
        }
    }
}

/// A dimension of the domain.
#[derive(Clone, Debug, PartialEq)]
pub struct Dim<'c> {
    /// Its name.
    pub name: String,
    /// First index.
    pub lower: Bound<'c>,
    /// One past the last candidate index.
    pub upper: Bound<'c>,
    /// Period.
    pub step: Bound<'c>,
    /// Points in each period.
    pub width: Bound<'c>,
}

impl<'c> Dim<'c> {
    /// A dimension `name = 0..count`.
    pub fn dense(name: impl Into<String>, count: Bound<'c>) -> Self {
        Dim {
            name: name.into(),
            lower: Bound::Static(0),
            upper: count,
            step: Bound::Static(1),
            width: Bound::Static(1),
        }
    }
}

/// A buffer and its accesses.
#[derive(Clone, Debug, PartialEq)]
pub struct BufferPart<'c> {
    /// The tensor, memref or scalar.
    pub value: Val<'c>,
    /// Its name.
    pub name: String,
    /// The index functions of its accesses.
    pub accesses: Vec<Vec<Expr>>,
    /// For outputs, the component that each access stores.
    pub components: Vec<usize>,
    /// The global index of its first element.
    pub origin: Vec<Bound<'c>>,
    /// For inputs, the value read outside.
    pub pad: Option<Attribute<'c>>,
    /// Axes along which no access goes outside, as far as a lowering has found out: what it then
    /// asks of the others only. No operation holds it.
    pub inside: Vec<usize>,
}

impl<'c> BufferPart<'c> {
    /// A buffer with one access, which stores no component, without padding.
    pub fn accessed(
        name: impl Into<String>,
        value: Val<'c>,
        access: Vec<Expr>,
        origin: Vec<Bound<'c>>,
    ) -> Self {
        BufferPart {
            value,
            name: name.into(),
            accesses: vec![access],
            components: Vec::new(),
            origin,
            pad: None,
            inside: Vec::new(),
        }
    }
}

/// The carry of one split dimension.
#[derive(Clone, Debug, PartialEq)]
pub struct CarryPart<'c> {
    /// The dimension's position.
    pub dim: usize,
    /// One buffer for each component.
    pub incoming: Vec<BufferPart<'c>>,
    /// Condition that there is a carry, if that is decided at run time.
    pub valid: Option<Val<'c>>,
    /// Empty, or one buffer for each component.
    pub outgoing: Vec<BufferPart<'c>>,
}

/// The declared laws of a combine operator given by a region.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Laws<'c> {
    /// Declared commutative.
    pub commutative: bool,
    /// Declared associative.
    pub associative: bool,
    /// One value for each component.
    pub neutral: Option<Vec<Attribute<'c>>>,
}

/// The work of a GPU's threads, where it is not one point each: the part of a schedule's lowering
/// that is left to later passes. Dimensions are named, so that it holds for what rewrites make of
/// the computation.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Threads {
    /// All threads of a block do it, wherever it stands.
    pub cooperative: bool,
    /// The copy is asynchronous: it is waited for later.
    pub asynchronous: bool,
    /// A warp computes it at once: the dimension of its rows, which is cut over eight threads, and
    /// that of its columns, over four.
    pub matrix: Option<[String; 2]>,
    /// A dimension whose points are threads of a warp, and the level of these: `thread.x`.
    pub lanes: Option<[String; 2]>,
}

impl Threads {
    /// The dimensions that it names: a computation needs them also where they have one point.
    pub fn dimensions(&self) -> Vec<&str> {
        let matrix = self.matrix.iter().flatten();
        let lanes = self.lanes.iter().map(|[dimension, _]| dimension);
        matrix.chain(lanes).map(String::as_str).collect()
    }
}

/// All that `mdh.compute` holds but its regions and its schedule.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Parts<'c> {
    /// The domain.
    pub dims: Vec<Dim<'c>>,
    /// `#mdh.cc`, `#mdh.pw<...>` or `#mdh.ps<...>` for each dimension.
    pub combine: Vec<Attribute<'c>>,
    /// `inp_view`.
    pub inputs: Vec<BufferPart<'c>>,
    /// `out_view`.
    pub outputs: Vec<BufferPart<'c>>,
    /// Carries, outermost first.
    pub carries: Vec<CarryPart<'c>>,
    /// The laws of the operator region.
    pub laws: Laws<'c>,
    /// The computation, of which this may be a tile, is proved to read each element before it replaces it,
    /// also where bounds of a tile show less. Written only where there is memory that is read and written.
    pub in_place: bool,
    /// The work of threads on it.
    pub threads: Threads,
}

/// Combine operator of a dimension, as in the attribute.
#[derive(Clone, Debug, PartialEq)]
pub enum CombinePart<'c> {
    /// Concatenation.
    Cc,
    /// Point-wise combination or prefix-sum.
    Fold(Fold, Operators<'c>),
}

/// The two combine operators that apply a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fold {
    /// Point-wise combination.
    Pw,
    /// Prefix-sum.
    Ps,
}

/// Contents of the parentheses of `pw(...)` and `ps(...)`.
#[derive(Clone, Debug, PartialEq)]
pub enum Operators<'c> {
    /// Names of built-in operators, one for each component.
    Builtin(Vec<String>),
    /// An `mdh.combine`.
    Symbol(String),
    /// The operator region of the same operation.
    Label(String),
    /// None of these: the IR is malformed.
    Unknown(Attribute<'c>),
}

/// Takes a combine attribute apart.
pub fn combine_part(attribute: Attribute) -> Result<CombinePart, Errors> {
    let (class, parameters) = ir::class_of(attribute);
    let fold = match class {
        ir::CC => return Ok(CombinePart::Cc),
        ir::PW => Fold::Pw,
        ir::PS => Fold::Ps,
        _ => {
            return Err(vec![format!(
                "has {attribute} as a combine operator: expected #mdh.cc, #mdh.pw<...> or \
                 #mdh.ps<...>"
            )]);
        }
    };
    let Some(&parameter) = parameters.first() else {
        return Err(vec![format!(
            "has a combine operator without a function: {attribute}"
        )]);
    };
    let operators = if let Some(label) = ir::text(parameter) {
        Operators::Label(label.to_owned())
    } else if let Some(symbol) = ir::symbol(parameter) {
        Operators::Symbol(symbol.to_owned())
    } else if parameter.is_array() {
        let names: Option<Vec<&str>> = ir::elements(parameter).into_iter().map(ir::text).collect();
        let names = names.map(|names| names.into_iter().map(str::to_owned).collect());
        names.map_or(Operators::Unknown(parameter), Operators::Builtin)
    } else {
        Operators::Unknown(parameter)
    };
    Ok(CombinePart::Fold(fold, operators))
}

/// The values among bounds, in order.
pub fn dynamic<'c>(bounds: impl Iterator<Item = Bound<'c>>) -> Vec<Val<'c>> {
    bounds
        .filter_map(|bound| match bound {
            Bound::Static(_) => None,
            Bound::Dynamic(value) => Some(value),
        })
        .collect()
}

impl<'c> Parts<'c> {
    /// The operands that bound the domain.
    pub fn dynamic_bounds(&self) -> Vec<Val<'c>> {
        let bounds = self
            .dims
            .iter()
            .flat_map(|d| [d.lower, d.upper, d.step, d.width]);
        dynamic(bounds)
    }

    /// The names of the dimensions.
    pub fn dim_names(&self) -> Vec<&str> {
        self.dims.iter().map(|dim| dim.name.as_str()).collect()
    }

    /// All buffers in the order of their operands: inputs, outputs, outgoing and incoming
    /// carries.
    pub fn buffers(&self) -> impl Iterator<Item = &BufferPart<'c>> {
        let outgoing = self.carries.iter().flat_map(|carry| &carry.outgoing);
        let incoming = self.carries.iter().flat_map(|carry| &carry.incoming);
        self.inputs
            .iter()
            .chain(&self.outputs)
            .chain(outgoing)
            .chain(incoming)
    }

    /// Returns whether an output is in memory that is an input too.
    pub fn reads_what_it_writes(&self) -> bool {
        let is_written = |input: &BufferPart| self.outputs.iter().any(|o| o.value == input.value);
        self.inputs.iter().any(is_written)
    }

    /// The buffers that are written: outputs, then outgoing carries.
    pub fn destinations(&self) -> impl Iterator<Item = &BufferPart<'c>> {
        self.outputs
            .iter()
            .chain(self.carries.iter().flat_map(|carry| &carry.outgoing))
    }
}

use melior::ir::AttributeLike;
