//! Expressions as nodes in order, each once, and their evaluation.

use std::collections::HashMap;
use std::fmt;

use super::{Expr, Fault, Name, Node, Op, Table};

/// Expressions as one list of operations: operands stand before what uses them, and equal
/// operations stand there once.
#[derive(Clone, Debug, Default)]
pub struct IndexProgram {
    inputs: Vec<Name>,
    nodes: Vec<Node<usize>>,
    /// For each node that is a symbol, its place among the inputs.
    slots: Vec<usize>,
    roots: Vec<usize>,
}

/// Reasons for which an expression has no value here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EvalError {
    /// An operation has none.
    Operation {
        /// The operation.
        op: Op,
        /// Its operands.
        operands: [i64; 2],
        /// The reason.
        fault: Fault,
    },
    /// The square root of a negative number.
    Root(i64),
    /// A position that a table has not.
    Outside {
        /// The table.
        table: Name,
        /// The position.
        index: i64,
        /// Number of its elements.
        length: usize,
    },
    /// A table whose elements are given at run time.
    Unknown(Name),
}

impl fmt::Display for EvalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EvalError::Operation {
                op,
                operands: [a, b],
                fault,
            } => {
                let op = op.symbol();
                match fault {
                    Fault::Overflow => write!(f, "{a} {op} {b} leaves the 64-bit range"),
                    Fault::Divisor => write!(f, "found {a} {op} {b}, expected a positive divisor"),
                }
            }
            EvalError::Root(a) => {
                write!(f, "found isqrt({a}), expected an argument of 0 or more")
            }
            EvalError::Outside {
                table,
                index,
                length,
            } => write!(
                f,
                "found {table}[{index}], expected a position below {length}"
            ),
            EvalError::Unknown(table) => {
                write!(f, "the elements of '{table}' are only known at run time")
            }
        }
    }
}

impl std::error::Error for EvalError {}

impl IndexProgram {
    /// These expressions; the inputs are their symbols in the order in which they occur.
    pub fn new(outputs: &[Expr]) -> IndexProgram {
        IndexProgram::with_inputs(&[], outputs)
    }

    /// These expressions. The inputs are these, then all other symbols that occur.
    pub fn with_inputs(inputs: &[Name], outputs: &[Expr]) -> IndexProgram {
        let mut builder = Builder::default();
        builder.program.inputs = inputs.to_vec();
        for output in outputs {
            let root = builder.add(output);
            builder.program.roots.push(root);
        }
        builder.program
    }

    /// The symbols, in the order in which [`IndexProgram::run`] takes values.
    pub fn inputs(&self) -> &[Name] {
        &self.inputs
    }

    /// The operations, operands before what uses them.
    pub fn nodes(&self) -> &[Node<usize>] {
        &self.nodes
    }

    /// Each operation as an expression.
    pub fn expressions(&self) -> Vec<Expr> {
        let mut expressions: Vec<Expr> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            expressions.push(Expr::new(node.map(|c| expressions[*c].clone())));
        }
        expressions
    }

    /// For each expression, the number of its operation.
    pub fn roots(&self) -> &[usize] {
        &self.roots
    }

    /// The expressions' values.
    ///
    /// # Panics
    /// If there is not one value for each input.
    pub fn run(&self, inputs: &[i64]) -> Result<Vec<i64>, EvalError> {
        assert_eq!(inputs.len(), self.inputs.len(), "one value for each input");
        let mut values: Vec<i64> = Vec::with_capacity(self.nodes.len());
        for (node, slot) in self.nodes.iter().zip(&self.slots) {
            let value = match node {
                Node::Const(c) => *c,
                Node::Symbol(_) => inputs[*slot],
                Node::Sqrt([a]) => root(values[*a])?,
                Node::Binary(op, [a, b]) => {
                    let (op, operands) = (*op, [values[*a], values[*b]]);
                    op.apply(operands[0], operands[1])
                        .map_err(|fault| EvalError::Operation {
                            op,
                            operands,
                            fault,
                        })?
                }
                Node::Select([c, a, b]) => values[if values[*c] != 0 { *a } else { *b }],
                Node::Load(table, [i]) => element(table, values[*i])?,
            };
            values.push(value);
        }
        Ok(self.roots.iter().map(|root| values[*root]).collect())
    }
}

fn root(a: i64) -> Result<i64, EvalError> {
    a.checked_isqrt().ok_or(EvalError::Root(a))
}

fn element(table: &Table, index: i64) -> Result<i64, EvalError> {
    let Some(values) = &table.values else {
        return Err(EvalError::Unknown(table.name.clone()));
    };
    let value = usize::try_from(index).ok().and_then(|i| values.get(i));
    value.copied().ok_or_else(|| EvalError::Outside {
        table: table.name.clone(),
        index,
        length: values.len(),
    })
}

#[derive(Default)]
struct Builder {
    program: IndexProgram,
    interned: HashMap<Node<usize>, usize>,
    /// Nodes by address. The expressions they belong to outlive the builder.
    seen: HashMap<*const Node<Expr>, usize>,
}

impl Builder {
    fn add(&mut self, e: &Expr) -> usize {
        let address: *const Node<Expr> = e.node();
        if let Some(number) = self.seen.get(&address) {
            return *number;
        }
        let node = e.node().map(|c| self.add(c));
        let number = match self.interned.get(&node) {
            Some(number) => *number,
            None => self.push(node),
        };
        self.seen.insert(address, number);
        number
    }

    fn push(&mut self, node: Node<usize>) -> usize {
        let program = &mut self.program;
        let slot = match &node {
            Node::Symbol(name) => {
                let known = program.inputs.iter().position(|n| n == name);
                known.unwrap_or_else(|| {
                    program.inputs.push(name.clone());
                    program.inputs.len() - 1
                })
            }
            _ => usize::MAX,
        };
        program.slots.push(slot);
        program.nodes.push(node.clone());
        self.interned.insert(node, program.nodes.len() - 1);
        program.nodes.len() - 1
    }
}
