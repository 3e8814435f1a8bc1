//! A random program: one function of one to three computations, every size of it known here,
//! whatever its text leaves open.

use std::sync::Arc;

use mdh_algebra::affine::Expr;
use mdh_algebra::code::Code;
use mdh_algebra::computation::Combine;
use mdh_algebra::domain::Grid;
use mdh_algebra::operator::Operator;
use mdh_algebra::scalar::{Scalar, ScalarType};
use mdh_dialect::types::BufferKind;

/// A function, and what it is called with.
#[derive(Clone, Debug, Default)]
pub struct RandomProgram {
    /// All values; arguments stand in the order of the signature.
    pub values: Vec<DefinedValue>,
    /// The body, in order.
    pub body: Vec<Statement>,
    /// The returned values.
    pub returns: Vec<ValueId>,
    /// Functions that scalar code calls: `@f0`, ...
    pub callees: Vec<Arc<Code>>,
    /// The seed of all arguments without contents.
    pub seed: u64,
    /// Upper bounds of dimensions that are given with the command.
    pub sizes: Vec<(String, i64)>,
}

/// A position in [`RandomProgram::values`].
pub type ValueId = usize;

/// A value of the function: a buffer or a scalar.
#[derive(Clone, Debug)]
pub struct DefinedValue {
    /// Its SSA name, without `%`.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// Its definition.
    pub definition: Definition,
}

/// The type of a value.
#[derive(Clone, Debug, PartialEq)]
pub struct Type {
    /// Tensor, memref or scalar.
    pub kind: BufferKind,
    /// The elements' type.
    pub element: ScalarType,
    /// Its extents, also those that the text leaves open.
    pub shape: Vec<i64>,
    /// True for the dimensions that the text leaves open.
    pub dynamic: Vec<bool>,
}

/// Definition of a value.
#[derive(Clone, Debug)]
pub enum Definition {
    /// The caller, with these elements or random ones.
    Argument(Option<Vec<Scalar>>),
    /// `arith.constant`, of buffers the same in all elements.
    Constant(Scalar),
    /// An extent of a buffer.
    Dim {
        /// The buffer.
        of: ValueId,
        /// Its axis.
        axis: usize,
    },
    /// `tensor.empty` or `memref.alloc`, with values for the open extents.
    Empty(Vec<ValueId>),
    /// `linalg.fill` of a tensor.
    Filled {
        /// All elements.
        with: Scalar,
        /// The tensor.
        into: ValueId,
    },
    /// A computation.
    Result,
}

/// A line of the body.
#[derive(Clone, Debug)]
pub enum Statement {
    /// Defines a value that is no argument and no result.
    Define(ValueId),
    /// A computation.
    Step(Box<Step>),
    /// Frees a memref.
    Free(ValueId),
}

/// A computation.
#[derive(Clone, Debug)]
pub struct Step {
    /// Its notation.
    pub form: Notation,
    /// Its domain.
    pub dims: Vec<Dim>,
    /// The views that are read.
    pub inputs: Vec<View>,
    /// Its homs, the first one on the inputs; none stores what is read.
    pub homs: Vec<Hom>,
    /// The stored views, in the order of components.
    pub outputs: Vec<View>,
    /// Carries, by which it is cut.
    pub carries: Vec<Carry>,
    /// One for each tensor that is written.
    pub results: Vec<ValueId>,
}

/// Notation of a computation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notation {
    /// As three operations.
    Triple,
    /// As one.
    Compute,
}

/// A dimension of the domain.
#[derive(Clone, Debug)]
pub struct Dim {
    /// Its name.
    pub name: String,
    /// Its points.
    pub grid: Grid,
    /// Lower and upper bound, step and width.
    pub bounds: [Bound; 4],
}

/// A number in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    /// The number.
    pub number: i64,
    /// The value that stands for it, if it is left open.
    pub value: Option<ValueId>,
}

/// A buffer in a view.
#[derive(Clone, Debug)]
pub struct View {
    /// The buffer.
    pub value: ValueId,
    /// Its name in the view.
    pub name: String,
    /// Index functions.
    pub accesses: Vec<Vec<Expr>>,
    /// For outputs, the component of the first access.
    pub component: usize,
    /// The global index of its first element.
    pub origin: Vec<Bound>,
    /// The value read outside.
    pub pad: Option<Scalar>,
}

/// A homomorphism.
#[derive(Clone, Debug)]
pub struct Hom {
    /// The scalar function; its last inputs are the captured values.
    pub scalar: Code,
    /// Scalars from outside that the function uses.
    pub captured: Vec<ValueId>,
    /// Combine operator of each dimension.
    pub combine: Vec<Combine>,
    /// The one operator, if there are combined dimensions.
    pub operator: Option<Operator>,
}

/// The carry of one dimension.
#[derive(Clone, Debug)]
pub struct Carry {
    /// The dimension.
    pub dim: usize,
    /// The views received, one for each component.
    pub incoming: Vec<View>,
    /// Condition that there is one, if that is said.
    pub valid: Option<ValueId>,
    /// The views carried out: none, or one for each component.
    pub outgoing: Vec<View>,
}

impl Bound {
    /// A number that stands in the text.
    pub fn fixed(number: i64) -> Bound {
        Bound {
            number,
            value: None,
        }
    }
}

impl Type {
    /// A scalar.
    pub fn scalar(element: ScalarType) -> Type {
        Type::buffer(BufferKind::Scalar, element, &[])
    }

    /// A buffer of known extents.
    pub fn buffer(kind: BufferKind, element: ScalarType, shape: &[i64]) -> Type {
        Type {
            kind,
            element,
            shape: shape.to_vec(),
            dynamic: vec![false; shape.len()],
        }
    }

    /// Returns the number of its elements.
    pub fn count(&self) -> i64 {
        self.shape.iter().product()
    }
}

impl Dim {
    /// `name = 0..count`, all in the text.
    pub fn dense(name: &str, count: i64) -> Dim {
        Dim::new(name, Grid::dense(count))
    }

    /// The points of a grid, all in the text.
    pub fn new(name: &str, grid: Grid) -> Dim {
        Dim {
            name: name.to_string(),
            grid,
            bounds: [grid.lower, grid.upper, grid.step, grid.width].map(Bound::fixed),
        }
    }

    /// Returns whether its points are known from the text.
    pub fn is_fixed(&self) -> bool {
        self.bounds.iter().all(|bound| bound.value.is_none())
    }
}

impl Hom {
    /// The types of the tuple that it leaves.
    pub fn components(&self) -> &[ScalarType] {
        &self.scalar.results
    }
}

impl Step {
    /// The domain of hom number `n`, or behind the last one: what earlier ones combined
    /// point-wise is the one index 0.
    pub fn domain(&self, n: usize) -> Vec<Dim> {
        let mut dims = self.dims.clone();
        for hom in &self.homs[..n] {
            for (dim, combine) in dims.iter_mut().zip(&hom.combine) {
                if combine.is_pw() {
                    *dim = Dim::dense(&dim.name.clone(), 1);
                }
            }
        }
        dims
    }

    /// The types of the tuple before hom number `n`, or behind the last one.
    pub fn tuple(&self, n: usize, values: &[DefinedValue]) -> Vec<ScalarType> {
        if n > 0 {
            return self.homs[n - 1].components().to_vec();
        }
        let accesses = self.inputs.iter().flat_map(|view| {
            let element = values[view.value].ty.element;
            view.accesses.iter().map(move |_| element)
        });
        accesses.collect()
    }
}

impl RandomProgram {
    /// Adds a value.
    pub fn value(&mut self, name: String, ty: Type, definition: Definition) -> ValueId {
        self.values.push(DefinedValue {
            name,
            ty,
            definition,
        });
        self.values.len() - 1
    }

    /// Adds a value that the body defines next.
    pub fn define(&mut self, name: String, ty: Type, definition: Definition) -> ValueId {
        let value = self.value(name, ty, definition);
        self.body.push(Statement::Define(value));
        value
    }

    /// The arguments in order.
    pub fn arguments(&self) -> impl Iterator<Item = &DefinedValue> {
        let is_argument = |v: &&DefinedValue| matches!(v.definition, Definition::Argument(_));
        self.values.iter().filter(is_argument)
    }
}
