//! Assignments, and the variables that are declared for them.

use super::expression::Expression;
use super::shape::Shape;

/// A declared variable: its name and its shape.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// The sizes of its dimensions.
    pub shape: Shape,
}

/// The variables that are declared, `Γ`: an expression names them by their positions.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Context {
    /// In the order of their declarations.
    pub variables: Vec<Variable>,
}

impl Context {
    /// Variables of these names and shapes.
    pub fn new<'a>(variables: impl IntoIterator<Item = (&'a str, Shape)>) -> Context {
        let variables = variables.into_iter().map(|(name, shape)| Variable {
            name: name.to_string(),
            shape,
        });
        Context {
            variables: variables.collect(),
        }
    }

    /// The shape of a variable.
    pub fn shape(&self, variable: usize) -> &Shape {
        &self.variables[variable].shape
    }

    /// The name of a variable.
    pub fn name(&self, variable: usize) -> &str {
        &self.variables[variable].name
    }
}

/// An assignment, `x = e`.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    /// The variable `x`, by its position in the [`Context`].
    pub target: usize,
    /// The expression `e`.
    pub value: Expression,
}
