//! Shapes of expressions (thesis, section 2.2 and figure 3), with everything that is wrong as data.
//!
//! | expression           | shape                                                              |
//! |----------------------|--------------------------------------------------------------------|
//! | a variable           | as declared                                                        |
//! | a constant           | `[]`                                                               |
//! | `(e)`, `exp(e)`      | that of `e`                                                        |
//! | `e # f`              | that of `e`, then that of `f`                                      |
//! | `e . [m n]`          | that of `e` without dimensions `m` and `n`, which are of one size  |
//! | `e ^ [m n]`          | that of `e` with dimensions `m` and `n` exchanged                  |
//! | `e + f`, `e - f`     | that of both                                                       |
//! | `e * f`              | that of both, or of one if the other is a scalar                   |
//! | `e / f`              | that of both, or of `e` if `f` is a scalar                         |

use std::fmt;

use super::expression::{Expression, Id, Node, Operator, Pair};
use super::print::list;
use super::statement::{Context, Statement};

/// Limit on an expression's dimensions: loops and index functions of more are of no use, and
/// without a limit `x # x # ..` would need memory with the square of its length.
pub const MOST_DIMENSIONS: usize = 64;

/// The sizes of a tensor's dimensions, in elements; none for a scalar.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Shape(pub Vec<u64>);

impl Shape {
    /// The shape of these sizes.
    pub fn new(sizes: &[u64]) -> Shape {
        Shape(sizes.to_vec())
    }

    /// The number of dimensions.
    pub fn rank(&self) -> usize {
        self.0.len()
    }

    /// Returns whether it has no dimensions.
    pub fn is_scalar(&self) -> bool {
        self.0.is_empty()
    }

    /// The number of elements, if that fits 64 bits with a sign.
    pub fn elements(&self) -> Option<u64> {
        if self.0.contains(&0) {
            return Some(0);
        }
        let product = self.0.iter().try_fold(1u64, |n, size| n.checked_mul(*size));
        product.filter(|n| i64::try_from(*n).is_ok())
    }
}

/// As it is declared: `[300 400]`.
impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&list(&self.0))
    }
}

/// A violated condition of a node of an expression, or of an assignment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Violation {
    /// A contraction or transposition names a dimension that there is not.
    NoSuchDimension {
        /// As written, from 1.
        dimension: u64,
        /// The shape of the operand.
        shape: Shape,
    },
    /// A contraction or transposition names a dimension twice.
    Repeated {
        /// As written, from 1.
        dimension: u64,
    },
    /// A contraction of dimensions of different sizes.
    UnequalSizes {
        /// The two dimensions, from 1.
        pair: Pair,
        /// Their sizes.
        sizes: [u64; 2],
        /// The shape that is contracted.
        shape: Shape,
    },
    /// Operands of different shapes.
    UnequalShapes {
        /// The operator.
        operator: Operator,
        /// The left operand's shape.
        left: Shape,
        /// The right operand's shape.
        right: Shape,
    },
    /// A scalar divided by a tensor.
    ScalarByTensor {
        /// The divisor's shape.
        right: Shape,
    },
    /// More than [`MOST_DIMENSIONS`].
    TooManyDimensions {
        /// So many.
        rank: usize,
    },
    /// A value of another shape than the variable that it is assigned to.
    Assignment {
        /// The variable's shape.
        declared: Shape,
        /// The value's shape.
        found: Shape,
    },
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Violation::NoSuchDimension { dimension, shape } => match shape.rank() {
                0 => write!(f, "there is no dimension {dimension}: a scalar has none"),
                1 => write!(f, "there is no dimension {dimension}: {shape} has only 1"),
                rank => write!(
                    f,
                    "there is no dimension {dimension}: {shape} has 1 to {rank}"
                ),
            },
            Violation::Repeated { dimension } => {
                write!(f, "dimension {dimension} is named twice")
            }
            Violation::UnequalSizes {
                pair: [m, n],
                sizes,
                shape,
            } => write!(
                f,
                "dimensions {m} and {n} of {shape} are contracted, and have the sizes {} and {}: expected \
                 equal ones",
                sizes[0], sizes[1]
            ),
            Violation::UnequalShapes {
                operator,
                left,
                right,
            } => write!(
                f,
                "the operands of '{}' have the shapes {left} and {right}: expected equal ones{}",
                operator.symbol(),
                match operator {
                    Operator::Multiply => ", or a scalar",
                    Operator::Divide => ", or a scalar on the right",
                    Operator::Add | Operator::Subtract => "",
                }
            ),
            Violation::ScalarByTensor { right } => {
                write!(
                    f,
                    "a scalar, of shape [], is divided by a tensor of shape {right}"
                )
            }
            Violation::TooManyDimensions { rank } => {
                write!(
                    f,
                    "has {rank} dimensions: expected at most {MOST_DIMENSIONS}"
                )
            }
            Violation::Assignment { declared, found } => {
                write!(
                    f,
                    "a value of shape {found} is assigned to a variable of shape {declared}"
                )
            }
        }
    }
}

/// The shape of every node, or everything that is wrong, at the node where it is. What an operand
/// that is wrong makes of other nodes is not reported.
pub fn shapes(context: &Context, value: &Expression) -> Result<Vec<Shape>, Vec<(Id, Violation)>> {
    let (shapes, violations) = examine(context, value);
    match violations.is_empty() {
        true => Ok(shapes.into_iter().flatten().collect()),
        false => Err(violations),
    }
}

/// Finds the shape of every node that has one, whatever mistakes others have.
pub fn known(context: &Context, value: &Expression) -> Vec<Option<Shape>> {
    examine(context, value).0
}

fn examine(context: &Context, value: &Expression) -> (Vec<Option<Shape>>, Vec<(Id, Violation)>) {
    let mut shapes: Vec<Option<Shape>> = Vec::with_capacity(value.nodes().len());
    let mut violations = Vec::new();
    for (id, node) in value.nodes().iter().enumerate() {
        let is_known = node.operands().all(|operand| shapes[operand].is_some());
        let shape_of = |id: Id| shapes[id].clone().unwrap_or_default();
        let shape = match is_known {
            true => shape(context, node, shape_of),
            false => Err(Vec::new()),
        };
        match shape {
            Ok(shape) => shapes.push(Some(shape)),
            Err(broken) => {
                shapes.push(None);
                violations.extend(broken.into_iter().map(|violation| (id, violation)));
            }
        }
    }
    (shapes, violations)
}

/// The shape of every node of a statement, whose value fits its variable.
pub fn statement(
    context: &Context,
    statement: &Statement,
) -> Result<Vec<Shape>, Vec<(Id, Violation)>> {
    let root = statement.value.root();
    let shapes = shapes(context, &statement.value)?;
    let (declared, found) = (context.shape(statement.target), &shapes[root]);
    if declared != found {
        let (declared, found) = (declared.clone(), found.clone());
        return Err(vec![(root, Violation::Assignment { declared, found })]);
    }
    Ok(shapes)
}

fn shape(
    context: &Context,
    node: &Node,
    of: impl Fn(Id) -> Shape,
) -> Result<Shape, Vec<Violation>> {
    match node {
        Node::Variable(variable) => Ok(context.shape(*variable).clone()),
        Node::Constant(_) => Ok(Shape::default()),
        Node::Parenthesis(e) | Node::Apply(_, e) => Ok(of(*e)),
        Node::Product(e, f) => {
            let (mut shape, right) = (of(*e), of(*f));
            shape.0.extend(right.0);
            match shape.rank() {
                rank if rank > MOST_DIMENSIONS => Err(vec![Violation::TooManyDimensions { rank }]),
                _ => Ok(shape),
            }
        }
        Node::Contraction(e, pairs) => contracted(of(*e), pairs),
        Node::Transposition(e, pair) => {
            let mut shape = of(*e);
            let violations = misnamed(&shape, pair);
            if !violations.is_empty() {
                return Err(violations);
            }
            shape.0.swap(place(pair[0]), place(pair[1]));
            Ok(shape)
        }
        Node::Elementwise(operator, e, f) => {
            elementwise(*operator, of(*e), of(*f)).map_err(|violation| vec![violation])
        }
    }
}

fn contracted(shape: Shape, pairs: &[Pair]) -> Result<Shape, Vec<Violation>> {
    let mut violations = misnamed(&shape, pairs.as_flattened());
    for pair in pairs {
        let sizes = pair.map(|n| n.checked_sub(1).and_then(|n| shape.0.get(n as usize)));
        if let [Some(&first), Some(&second)] = sizes
            && first != second
        {
            violations.push(Violation::UnequalSizes {
                pair: *pair,
                sizes: [first, second],
                shape: shape.clone(),
            });
        }
    }
    match violations.is_empty() {
        true => Ok(Shape(kept(&shape.0, pairs))),
        false => Err(violations),
    }
}

/// Finds mistakes among the named dimensions.
fn misnamed(shape: &Shape, dimensions: &[u64]) -> Vec<Violation> {
    let mut violations = Vec::new();
    for (n, &dimension) in dimensions.iter().enumerate() {
        if dimension == 0 || dimension > shape.rank() as u64 {
            let shape = shape.clone();
            violations.push(Violation::NoSuchDimension { dimension, shape });
        } else if dimensions[..n].contains(&dimension) {
            violations.push(Violation::Repeated { dimension });
        }
    }
    violations
}

fn elementwise(operator: Operator, left: Shape, right: Shape) -> Result<Shape, Violation> {
    match operator {
        _ if left == right => Ok(left),
        Operator::Multiply if left.is_scalar() => Ok(right),
        Operator::Multiply | Operator::Divide if right.is_scalar() => Ok(left),
        Operator::Divide if left.is_scalar() => Err(Violation::ScalarByTensor { right }),
        _ => Err(Violation::UnequalShapes {
            operator,
            left,
            right,
        }),
    }
}

/// The position of a dimension that is counted from 1.
pub(super) fn place(dimension: u64) -> usize {
    dimension as usize - 1
}

/// Returns the entries of the dimensions that no pair names, in order.
pub(super) fn kept<T: Clone>(items: &[T], pairs: &[Pair]) -> Vec<T> {
    let named = pairs.as_flattened();
    let items = items.iter().enumerate();
    let remaining = items.filter(|(n, _)| !named.contains(&(*n as u64 + 1)));
    remaining.map(|(_, item)| item.clone()).collect()
}
