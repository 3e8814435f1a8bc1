//! Simplification by cost: which of all equal forms takes the least work?
//!
//! Whether to expand a product or to keep it, to divide twice or by a product, to use a remainder
//! or to subtract, no rule can say: it depends on what is left afterwards and on what is needed
//! anyway. So nothing is replaced. The expression, and its normal form written in three ways
//! ([`super::normal`], which knows what is proved of symbols), go into one e-graph; rules
//! (`rules`) add equal forms there, and the cheapest is taken out (Willsey et al.,
//! *egg: Fast and Extensible Equality Saturation*, POPL 2021).
//!
//! The result is never dearer than what was given, where operations that occur several times count
//! once. It has the same value wherever the given expression has one, as integers: whether its
//! intermediate results stay within 64 bits is asked by who prints it ([`super::emit`]).

use egg::{
    Analysis, CostFunction, DidMerge, EGraph, Extractor, FromOp, Id, Language, Pattern, RecExpr,
    Rewrite, Runner, Subst, Var,
};
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::OnceLock;

use super::normal::Normalizer;
use super::poly::Poly;
use super::rules::{Condition, RULES, Rule};
use super::write::SumForm;
use super::{Expr, Facts, IndexProgram, Interval, Node, Op};

/// The e-graph holds no more nodes than that, and rules are applied so many times.
const NODES: usize = 1500;
const ROUNDS: usize = 6;
/// Larger programs are not saturated: the normal form is what they get.
const LARGE: usize = 400;

/// The cheapest of what is found equal to these expressions.
pub fn simplify(facts: &Facts, exprs: &[Expr]) -> Vec<Expr> {
    let given = IndexProgram::new(exprs);
    let mut normalizer = Normalizer::new(facts);
    let polys = normalizer.each(&given);
    let forms: Vec<&Poly> = given.roots().iter().map(|r| &polys[*r]).collect();
    let written = |form: SumForm| -> Vec<Expr> {
        let pairs = forms.iter().zip(exprs);
        let written = pairs.map(|(p, e)| normalizer.to_expr(p, form).unwrap_or_else(|| e.clone()));
        written.collect()
    };
    let mut candidates = vec![
        exprs.to_vec(),
        written(SumForm::Factored),
        written(SumForm::Expanded),
        numbered(&given, &polys),
    ];
    let program = IndexProgram::new(&candidates.concat());
    if program.nodes().len() <= LARGE {
        candidates.push(saturated(facts, &program, exprs.len()));
    }
    let cost = |exprs: &[Expr]| cost(facts, &IndexProgram::new(exprs));
    let best_of = |n: usize| {
        let mine = candidates.iter().map(|exprs| &exprs[n]);
        mine.min_by_key(|e| cost(std::slice::from_ref(e)))
    };
    let cheapest_each: Vec<Expr> = (0..exprs.len()).filter_map(best_of).cloned().collect();
    candidates.push(cheapest_each);
    let cheapest = candidates.into_iter().min_by_key(|exprs| cost(exprs));
    cheapest.unwrap_or_default()
}

/// As given, but each operation that is proved equal to an earlier one, or to a constant, is that
/// one (value numbering by normal forms).
fn numbered(program: &IndexProgram, polys: &[Poly]) -> Vec<Expr> {
    let mut first: HashMap<&Poly, Expr> = HashMap::new();
    let mut built: Vec<Expr> = Vec::with_capacity(polys.len());
    for (node, poly) in program.nodes().iter().zip(polys) {
        let constant = poly.as_constant().and_then(|c| i64::try_from(c).ok());
        let new = || match constant {
            Some(constant) => Expr::constant(constant),
            None => Expr::new(node.map(|c| built[*c].clone())),
        };
        let same = first.entry(poly).or_insert_with(new).clone();
        built.push(same);
    }
    program.roots().iter().map(|r| built[*r].clone()).collect()
}

/// The cheapest forms that rules find; the program has the expressions several times over, in
/// equal forms.
fn saturated(facts: &Facts, program: &IndexProgram, count: usize) -> Vec<Expr> {
    let known = Known {
        facts: facts.clone(),
    };
    let mut graph = EGraph::new(known);
    let mut ids = Vec::with_capacity(program.nodes().len());
    for node in program.nodes() {
        ids.push(graph.add(node.map(|c| ids[*c])));
    }
    let roots: Vec<Id> = program.roots().iter().map(|r| ids[*r]).collect();
    for (n, root) in roots.iter().enumerate().skip(count) {
        graph.union(roots[n % count], *root);
    }
    graph.rebuild();
    let runner = Runner::default()
        .with_egraph(graph)
        .with_node_limit(NODES)
        .with_iter_limit(ROUNDS)
        // Steps are limited, not time: the same expression always gets the same result.
        .with_time_limit(std::time::Duration::from_secs(3600))
        .run(rewrites());
    let graph = runner.egraph;
    let extractor = Extractor::new(&graph, Dear { graph: &graph });
    let best = |root: &Id| to_expr(&extractor.find_best(*root).1);
    roots[..count].iter().map(best).collect()
}

fn to_expr(best: &RecExpr<Node<Id>>) -> Expr {
    let mut built: Vec<Expr> = Vec::new();
    for node in best.as_ref() {
        built.push(Expr::new(node.map(|c| built[usize::from(*c)].clone())));
    }
    built.pop().unwrap_or(Expr::constant(0))
}

/// Returns the cost of an operation, about in cycles: quotients by powers of two are shifts and
/// masks, by other constants products, by anything else divisions.
fn price<C>(node: &Node<C>, of: impl Fn(&C) -> Interval) -> u64 {
    let power = |c: &C| {
        of(c)
            .constant()
            .is_some_and(|c| c > 0 && c.count_ones() == 1)
    };
    match node {
        Node::Const(_) | Node::Symbol(_) => 0,
        Node::Binary(Op::Mul, [a, b]) if power(a) || power(b) => 1,
        Node::Binary(Op::Mul, _) => 2,
        Node::Binary(Op::Div | Op::Mod, [_, d]) if power(d) => 1,
        Node::Binary(Op::Div, [_, d]) if of(d).constant().is_some() => 5,
        Node::Binary(Op::Mod, [_, d]) if of(d).constant().is_some() => 6,
        Node::Binary(Op::Div | Op::Mod, _) => 20,
        Node::Binary(..) | Node::Select(_) => 1,
        Node::Sqrt(_) => 20,
        Node::Load(..) => 8,
    }
}

/// Returns the cost of a program: every operation once.
pub fn cost(facts: &Facts, program: &IndexProgram) -> u64 {
    let ranges = facts.ranges(program);
    let nodes = program.nodes().iter();
    nodes.map(|node| 16 * price(node, |c| ranges[*c]) + 1).sum()
}

/// Number of occurrences of each operation in a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Operations(BTreeMap<&'static str, usize>);

impl Operations {
    /// Of these expressions; what occurs several times counts once.
    pub fn new(exprs: &[Expr]) -> Operations {
        let mut counts = BTreeMap::new();
        for node in IndexProgram::new(exprs).nodes() {
            let name = match node {
                Node::Const(_) | Node::Symbol(_) => continue,
                Node::Sqrt(_) => "isqrt",
                Node::Binary(op, _) => op.symbol(),
                Node::Select(_) => "select",
                Node::Load(..) => "load",
            };
            *counts.entry(name).or_insert(0) += 1;
        }
        Operations(counts)
    }

    /// All together.
    pub fn total(&self) -> usize {
        self.0.values().sum()
    }
}

/// `9: 4 *, 3 +, 2 /`.
impl fmt::Display for Operations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = self.0.iter().map(|(name, count)| format!("{count} {name}"));
        let counts: Vec<String> = counts.collect();
        match counts.is_empty() {
            true => f.write_str("0"),
            false => write!(f, "{}: {}", self.total(), counts.join(", ")),
        }
    }
}

struct Dear<'a> {
    graph: &'a EGraph<Node<Id>, Known>,
}

impl CostFunction<Node<Id>> for Dear<'_> {
    type Cost = u64;

    fn cost<C: FnMut(Id) -> u64>(&mut self, node: &Node<Id>, mut costs: C) -> u64 {
        let price = 16 * price(node, |c| self.graph[*c].data.values) + 1;
        let children = node.children().iter();
        children.fold(price, |sum, c| sum.saturating_add(costs(*c)))
    }
}

/// The analysis: an interval for each class.
#[derive(Default)]
struct Known {
    facts: Facts,
}

/// Facts about the values of a class.
#[derive(Clone, Copy, Debug)]
struct Bounds {
    values: Interval,
    /// Number of times they were narrowed.
    narrowed: u32,
}

/// So often the bounds of a class are narrowed at most. A class that is a part of itself, as that
/// of a sum with something that has no value anywhere, would be narrowed by one each time.
const NARROWED: u32 = 64;

impl Analysis<Node<Id>> for Known {
    type Data = Bounds;

    fn make(graph: &mut EGraph<Node<Id>, Known>, node: &Node<Id>, _: Id) -> Bounds {
        let facts = &graph.analysis.facts;
        Bounds {
            values: facts.of_node(node, |c| graph[*c].data.values),
            narrowed: 0,
        }
    }

    fn merge(&mut self, a: &mut Bounds, b: Bounds) -> DidMerge {
        // Both bound the same values, so what lies in only one does not occur. Nothing lies in
        // both only if there is no value at all.
        let both = a.values.meet(b.values).unwrap_or(a.values);
        let narrowed = a.narrowed.max(b.narrowed);
        let is_narrower = a.values != both && narrowed < NARROWED;
        let values = if is_narrower { both } else { a.values };
        let changed = DidMerge(is_narrower, b.values != values);
        *a = Bounds {
            values,
            narrowed: narrowed + u32::from(is_narrower),
        };
        changed
    }

    fn modify(graph: &mut EGraph<Node<Id>, Known>, id: Id) {
        if let Some(value) = graph[id].data.values.constant() {
            let constant = graph.add(Node::Const(value));
            graph.union(id, constant);
        }
    }
}

impl Language for Node<Id> {
    type Discriminant = Node<()>;

    fn discriminant(&self) -> Node<()> {
        self.map(|_| ())
    }

    fn matches(&self, other: &Self) -> bool {
        self.discriminant() == other.discriminant()
    }

    fn children(&self) -> &[Id] {
        Node::children(self)
    }

    fn children_mut(&mut self) -> &mut [Id] {
        Node::children_mut(self)
    }
}

impl fmt::Display for Node<Id> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Node::Const(c) => write!(f, "{c}"),
            Node::Symbol(name) => f.write_str(name),
            Node::Sqrt(_) => f.write_str("isqrt"),
            Node::Binary(op, _) => f.write_str(op.symbol()),
            Node::Select(_) => f.write_str("select"),
            Node::Load(table, _) => f.write_str(&table.name),
        }
    }
}

/// For the patterns of rules: operators, `select` and constants.
impl FromOp for Node<Id> {
    type Error = String;

    fn from_op(op: &str, children: Vec<Id>) -> Result<Self, String> {
        let known = Op::ALL.into_iter().find(|known| known.symbol() == op);
        match (known, op.parse(), children.as_slice()) {
            (Some(known), _, [a, b]) => Ok(Node::Binary(known, [*a, *b])),
            (_, Ok(constant), []) => Ok(Node::Const(constant)),
            (_, _, [c, a, b]) if op == "select" => Ok(Node::Select([*c, *a, *b])),
            _ => Err(format!("found '{op}' with {} operands", children.len())),
        }
    }
}

/// The rules for who proves them: name, left side, right side, and what of the variables' values
/// each may go by, which is empty where there is no condition.
pub fn rules() -> impl Iterator<Item = [&'static str; 4]> {
    RULES.iter().map(|rule| {
        let means = rule.when.as_ref().map_or("", |condition| condition.means);
        [rule.name, rule.left, rule.right, means]
    })
}

type Side = Pattern<Node<Id>>;

fn rewrites() -> &'static [Rewrite<Node<Id>, Known>] {
    static ALL: OnceLock<Vec<Rewrite<Node<Id>, Known>>> = OnceLock::new();
    ALL.get_or_init(|| RULES.iter().map(rewrite).collect())
}

/// # Panics
/// If a side of the rule is no pattern, which the rules' tests find.
fn rewrite(rule: &'static Rule) -> Rewrite<Node<Id>, Known> {
    let side = |text: &str| -> Side { text.parse().unwrap_or_else(|e| panic!("{text}: {e}")) };
    let (left, right) = (side(rule.left), side(rule.right));
    let made = match &rule.when {
        None => Rewrite::new(rule.name, left, right),
        Some(Condition { of, holds, .. }) => {
            let variables = of.iter().map(|v| v.parse());
            let variables: Vec<Var> = variables.filter_map(Result::ok).collect();
            let is_sound = move |graph: &mut EGraph<Node<Id>, Known>, _: Id, subst: &Subst| {
                let interval = |v: &Var| graph[subst[*v]].data.values;
                let intervals: Vec<Interval> = variables.iter().map(interval).collect();
                holds(&intervals)
            };
            let right = egg::ConditionalApplier {
                condition: is_sound,
                applier: right,
            };
            Rewrite::new(rule.name, left, right)
        }
    };
    made.unwrap_or_else(|e| panic!("{}: {e}", rule.name))
}

#[cfg(test)]
#[path = "simplify_tests.rs"]
mod tests;
