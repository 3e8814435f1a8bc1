//! Tensor expressions as data (thesis, section 2.2; extended by constants, groups of contractions
//! and element-wise functions).
//!
//! An expression is a list of nodes in which operands come before what uses them. Whoever goes
//! through it from the front sees operands first, from the back last: no walk needs recursion,
//! however deep an expression is nested.

/// A node, by its position in its [`Expression`].
pub type Id = usize;

/// Two dimensions, counted from 1, as they are written: `[m n]`.
pub type Pair = [u64; 2];

/// An element-wise operator. Products and quotients also take a scalar: see [`super::shape`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operator {
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`
    Divide,
}

impl Operator {
    /// All of them.
    pub const ALL: [Operator; 4] = [
        Operator::Add,
        Operator::Subtract,
        Operator::Multiply,
        Operator::Divide,
    ];

    /// Returns its spelling.
    pub fn symbol(self) -> &'static str {
        match self {
            Operator::Add => "+",
            Operator::Subtract => "-",
            Operator::Multiply => "*",
            Operator::Divide => "/",
        }
    }

    /// Its value, in the arithmetic of `f64`.
    pub fn value(self, left: f64, right: f64) -> f64 {
        match self {
            Operator::Add => left + right,
            Operator::Subtract => left - right,
            Operator::Multiply => left * right,
            Operator::Divide => left / right,
        }
    }
}

/// A function of each element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Function {
    /// The absolute value.
    Abs,
    /// The cosine.
    Cos,
    /// The error function.
    Erf,
    /// The exponential function.
    Exp,
    /// The natural logarithm.
    Log,
    /// `max(0, x)`; NaN of NaN.
    Relu,
    /// The logistic function, `1 / (1 + exp(-x))`.
    Sigmoid,
    /// The sine.
    Sin,
    /// The square root.
    Sqrt,
    /// The hyperbolic tangent.
    Tanh,
}

impl Function {
    /// All of them, by name.
    pub const ALL: [(&'static str, Function); 10] = [
        ("abs", Function::Abs),
        ("cos", Function::Cos),
        ("erf", Function::Erf),
        ("exp", Function::Exp),
        ("log", Function::Log),
        ("relu", Function::Relu),
        ("sigmoid", Function::Sigmoid),
        ("sin", Function::Sin),
        ("sqrt", Function::Sqrt),
        ("tanh", Function::Tanh),
    ];

    /// The function of a name.
    pub fn named(name: &str) -> Option<Function> {
        let entry = Function::ALL.iter().find(|(known, _)| *known == name);
        entry.map(|(_, function)| *function)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        let entry = Function::ALL.iter().find(|(_, known)| *known == self);
        entry.map_or("", |(name, _)| name)
    }

    /// Its value.
    pub fn value(self, x: f64) -> f64 {
        match self {
            Function::Abs => x.abs(),
            Function::Cos => libm::cos(x),
            Function::Erf => libm::erf(x),
            Function::Exp => libm::exp(x),
            Function::Log => libm::log(x),
            Function::Relu if x.is_nan() => x,
            Function::Relu => x.max(0.0),
            Function::Sigmoid => 1.0 / (1.0 + libm::exp(-x)),
            Function::Sin => libm::sin(x),
            Function::Sqrt => x.sqrt(),
            Function::Tanh => libm::tanh(x),
        }
    }
}

/// One step of an expression; operands are nodes before it.
#[derive(Clone, Debug, PartialEq)]
pub enum Node {
    /// A variable, by its position in the [`super::Context`].
    Variable(usize),
    /// A scalar.
    Constant(f64),
    /// `(e)`
    Parenthesis(Id),
    /// `e # f`, the tensor product.
    Product(Id, Id),
    /// `e . [m n]`, or a group of contractions, `e . [[m n] [o p]]`, whose dimensions are all
    /// numbered before any is applied.
    Contraction(Id, Vec<Pair>),
    /// `e ^ [m n]`: two dimensions exchanged.
    Transposition(Id, Pair),
    /// `e + f` and the like.
    Elementwise(Operator, Id, Id),
    /// `exp(e)` and the like.
    Apply(Function, Id),
}

impl Node {
    /// Its operands, in order.
    pub fn operands(&self) -> impl DoubleEndedIterator<Item = Id> + use<> {
        let (first, second) = match *self {
            Node::Variable(_) | Node::Constant(_) => (None, None),
            Node::Parenthesis(e)
            | Node::Contraction(e, _)
            | Node::Transposition(e, _)
            | Node::Apply(_, e) => (Some(e), None),
            Node::Product(e, f) | Node::Elementwise(_, e, f) => (Some(e), Some(f)),
        };
        first.into_iter().chain(second)
    }
}

/// A tensor expression: the last node is the whole, and each node is the operand of at most one.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Expression {
    nodes: Vec<Node>,
}

impl Expression {
    /// No expression yet: it is built from its leaves on.
    pub fn new() -> Expression {
        Expression::default()
    }

    /// The nodes, operands first.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// A node.
    pub fn node(&self, id: Id) -> &Node {
        &self.nodes[id]
    }

    /// The whole expression's node.
    ///
    /// # Panics
    /// If nothing was built.
    pub fn root(&self) -> Id {
        self.nodes.len() - 1
    }

    /// Adds a node, whose operands are there.
    pub fn push(&mut self, node: Node) -> Id {
        debug_assert!(node.operands().all(|operand| operand < self.nodes.len()));
        self.nodes.push(node);
        self.root()
    }

    /// Adds a variable.
    pub fn variable(&mut self, variable: usize) -> Id {
        self.push(Node::Variable(variable))
    }

    /// Adds a scalar.
    pub fn constant(&mut self, value: f64) -> Id {
        self.push(Node::Constant(value))
    }

    /// Adds `(e)`.
    pub fn parenthesis(&mut self, e: Id) -> Id {
        self.push(Node::Parenthesis(e))
    }

    /// Adds `e # f`.
    pub fn product(&mut self, e: Id, f: Id) -> Id {
        self.push(Node::Product(e, f))
    }

    /// Adds `e . [[m n] ..]`.
    pub fn contraction(&mut self, e: Id, pairs: &[Pair]) -> Id {
        self.push(Node::Contraction(e, pairs.to_vec()))
    }

    /// Adds `e ^ [m n]`.
    pub fn transposition(&mut self, e: Id, pair: Pair) -> Id {
        self.push(Node::Transposition(e, pair))
    }

    /// Adds `e + f` and the like.
    pub fn elementwise(&mut self, operator: Operator, e: Id, f: Id) -> Id {
        self.push(Node::Elementwise(operator, e, f))
    }

    /// Adds `exp(e)` and the like.
    pub fn apply(&mut self, function: Function, e: Id) -> Id {
        self.push(Node::Apply(function, e))
    }

    /// Returns whether a variable occurs.
    pub fn mentions(&self, variable: usize) -> bool {
        self.nodes.contains(&Node::Variable(variable))
    }

    /// The nodes that stand under a node, itself included, in order.
    pub fn under(&self, id: Id) -> Vec<Id> {
        let mut ids = vec![id];
        let mut next = 0;
        while let Some(&id) = ids.get(next) {
            ids.extend(self.node(id).operands());
            next += 1;
        }
        ids.sort_unstable();
        ids
    }
}
