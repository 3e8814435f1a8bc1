//! The type system that decides whether a statement is compatible (thesis, figures 6 and 7, with
//! the rules that lemma 1 puts in), as a search for a derivation and as a check of one.
//!
//! A judgement `x; i |- e : (t, k)` reads: where `x` is assigned at index `i`, `e` may be evaluated
//! at index `k`, and has the shape `t`. With `Γ` left out, which is the same everywhere:
//!
//! ```text
//! tc-var-xy     y is not x                                      x; i |- y : (Γ(y), k) for any k
//! tc-var-xx                                                     x; i |- x : (Γ(x), i)
//! tc-const                                                      x; i |- c : ((), ())
//! tc-paren      e : (t, k)                                      (e) : (t, k)
//! tc-fun        e : (t, k)                                      exp(e) : (t, k)
//! tc-prod       e : (t, k), f : (u, l)                          e # f : (t u, k l)
//! tc-trans      e : (t, k)                                      e ^ [m n] : (t, k) with m and n exchanged
//! tc-contr      e : (t, k), t_m = t_n, k_m = k_n is fresh       e . [m n] : (t, k) without m and n
//! tc-group      the same for all pairs, each with an index of its own
//! tc-elem       e : (t, k), f : (t, k)                          e + f : (t, k), likewise - * /
//! tc-smul'      e : ((), ()), f : (t, k), t is not ()           e * f : (t, k)
//! tc-smul-r'    e : (t, k), f : ((), ()), t is not ()           e * f : (t, k)
//! tc-sdiv'      e : (t, k), f : ((), ()), t is not ()           e / f : (t, k)
//! ok-c-stmt     x; i |- e : (Γ(x), i)                           x = e ok
//! ```
//!
//! `tc-const`, `tc-fun`, `tc-group` and `tc-smul-r'` are not the thesis's: `tc-fun` is what its outlook
//! proposes, the others follow the same pattern. Exactly one rule fits a node, and its conclusion
//! determines its premises but for the names of fresh indices; so the search goes from the statement
//! to the leaves and never back, and fails only at a leaf `x`. Since what it asks of a leaf is where
//! [`super::evaluate`] reads it, a statement that is compatible by definition has a derivation, which
//! the thesis leaves as conjecture 1; `optimality_tests.rs` tries all small expressions.

use std::collections::BTreeSet;
use std::fmt;

use super::evaluate::{Index, assigned, tuple};
use super::expression::{Expression, Id, Node, Operator};
use super::shape::{self, Shape, Violation, kept, place};
use super::statement::{Context, Statement};

/// A rule of the type system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rule {
    /// A variable that is not assigned.
    VarXy,
    /// The variable that is assigned.
    VarXx,
    /// A constant.
    Const,
    /// Parentheses.
    Paren,
    /// An element-wise function.
    Fun,
    /// A tensor product.
    Prod,
    /// A transposition.
    Trans,
    /// A contraction.
    Contr,
    /// A group of several contractions.
    Group,
    /// An element-wise operator.
    Elem,
    /// A scalar times a tensor.
    Smul,
    /// A tensor times a scalar.
    SmulRight,
    /// A tensor divided by a scalar.
    Sdiv,
}

impl Rule {
    /// The thesis's name, or one like it.
    pub fn name(self) -> &'static str {
        match self {
            Rule::VarXy => "tc-var-xy",
            Rule::VarXx => "tc-var-xx",
            Rule::Const => "tc-const",
            Rule::Paren => "tc-paren",
            Rule::Fun => "tc-fun",
            Rule::Prod => "tc-prod",
            Rule::Trans => "tc-trans",
            Rule::Contr => "tc-contr",
            Rule::Group => "tc-group",
            Rule::Elem => "tc-elem",
            Rule::Smul => "tc-smul'",
            Rule::SmulRight => "tc-smul-r'",
            Rule::Sdiv => "tc-sdiv'",
        }
    }
}

/// `x; i |- e : (t, k)` for a node `e`.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
    /// The rule that concludes it; none if none does.
    pub rule: Option<Rule>,
    /// `t`
    pub shape: Shape,
    /// `k`
    pub index: Vec<Index>,
}

/// A derivation of `x = e ok`, or the attempt at one: a judgement for each node of `e`.
#[derive(Clone, Debug, PartialEq)]
pub struct Derivation {
    /// The judgements, in the order of the nodes.
    pub judgements: Vec<Judgement>,
}

/// Searches for a derivation; an error lists the mistakes of the statement's shapes, if it has
/// none.
pub fn compatible(
    context: &Context,
    statement: &Statement,
) -> Result<Derivation, Vec<(Id, Violation)>> {
    let shapes = shape::statement(context, statement)?;
    Ok(Derivation::search(statement, &shapes))
}

impl Derivation {
    /// Searches for a derivation of a statement whose nodes have these shapes.
    pub fn search(statement: &Statement, shapes: &[Shape]) -> Derivation {
        let value = &statement.value;
        let goal = assigned(shapes[value.root()].rank());
        let mut wanted: Vec<Vec<Index>> = vec![Vec::new(); shapes.len()];
        let mut rules = vec![None; shapes.len()];
        wanted[value.root()] = goal.clone();
        let mut fresh = 0;
        for id in (0..shapes.len()).rev() {
            let index = wanted[id].clone();
            match value.node(id) {
                Node::Variable(v) if *v != statement.target => rules[id] = Some(Rule::VarXy),
                Node::Variable(_) => rules[id] = (index == goal).then_some(Rule::VarXx),
                Node::Constant(_) => rules[id] = Some(Rule::Const),
                Node::Parenthesis(e) => (rules[id], wanted[*e]) = (Some(Rule::Paren), index),
                Node::Apply(_, e) => (rules[id], wanted[*e]) = (Some(Rule::Fun), index),
                Node::Product(e, f) => {
                    let (left, right) = index.split_at(shapes[*e].rank());
                    (wanted[*e], wanted[*f]) = (left.to_vec(), right.to_vec());
                    rules[id] = Some(Rule::Prod);
                }
                Node::Transposition(e, [m, n]) => {
                    wanted[*e] = index;
                    wanted[*e].swap(place(*m), place(*n));
                    rules[id] = Some(Rule::Trans);
                }
                Node::Contraction(e, pairs) => {
                    let mut rest = index.into_iter();
                    let mut inner = Vec::new();
                    for n in 1..=shapes[*e].rank() as u64 {
                        let pair = pairs.iter().position(|pair| pair.contains(&n));
                        let summed = pair.map(|pair| Index::Summed(fresh + pair));
                        inner.extend(summed.or_else(|| rest.next()));
                    }
                    wanted[*e] = inner;
                    fresh += pairs.len();
                    rules[id] = Some(contraction_rule(pairs.len()));
                }
                Node::Elementwise(operator, e, f) => {
                    let rule = elementwise_rule(*operator, &shapes[*e], &shapes[*f]);
                    rules[id] = Some(rule);
                    if rule != Rule::Smul {
                        wanted[*e].clone_from(&index);
                    }
                    if !matches!(rule, Rule::SmulRight | Rule::Sdiv) {
                        wanted[*f] = index;
                    }
                }
            }
        }
        let judgements = rules.into_iter().zip(shapes).zip(wanted);
        let judgements = judgements.map(|((rule, shape), index)| Judgement {
            rule,
            shape: shape.clone(),
            index,
        });
        Derivation {
            judgements: judgements.collect(),
        }
    }

    /// Returns whether a rule concludes every judgement: the statement is compatible.
    pub fn is_complete(&self) -> bool {
        self.judgements.iter().all(|j| j.rule.is_some())
    }

    /// The places that make the statement incompatible: reads of the assigned variable elsewhere.
    pub fn breaches(&self) -> impl Iterator<Item = (Id, &Judgement)> {
        let judgements = self.judgements.iter().enumerate();
        judgements.filter(|(_, judgement)| judgement.rule.is_none())
    }

    /// Checks a derivation, whoever made it, rule by rule from the premises to the conclusions.
    /// Says where a rule does not hold, or none concludes.
    pub fn check(&self, context: &Context, statement: &Statement) -> Result<(), String> {
        let value = &statement.value;
        let goal = assigned(context.shape(statement.target).rank());
        if self.judgements.len() != value.nodes().len() {
            return Err("there is not one judgement for each node".to_string());
        }
        let root = &self.judgements[value.root()];
        if root.shape != *context.shape(statement.target) || root.index != goal {
            return Err("ok-c-stmt does not hold".to_string());
        }
        let mut summed = BTreeSet::new();
        for id in 0..self.judgements.len() {
            let holds = self.holds(context, statement, id);
            let mut is_fresh = || {
                let indices = self.contracted(value, id);
                let mut fresh = indices.iter().map(|index| summed.insert(*index));
                fresh.all(|is_new| is_new)
            };
            if !holds || !is_fresh() {
                let text = value.text(context, id);
                let rule = self.judgements[id].rule.map_or("no rule", Rule::name);
                return Err(format!("{rule} does not conclude the judgement on {text}"));
            }
        }
        Ok(())
    }

    /// Returns whether the rule of a node concludes its judgement from those of its operands.
    fn holds(&self, context: &Context, statement: &Statement, id: Id) -> bool {
        let typed = |id: Id| (&self.judgements[id].shape.0, &self.judgements[id].index);
        let ((shape, index), value) = (typed(id), &statement.value);
        let has_ranks = shape.len() == index.len();
        let Some(rule) = self.judgements[id].rule else {
            return false;
        };
        let goal = assigned(context.shape(statement.target).rank());
        has_ranks
            && match (value.node(id), rule) {
                (Node::Variable(v), Rule::VarXy) => {
                    *v != statement.target && *shape == context.shape(*v).0
                }
                (Node::Variable(v), Rule::VarXx) => {
                    *v == statement.target && *shape == context.shape(*v).0 && *index == goal
                }
                (Node::Constant(_), Rule::Const) => shape.is_empty(),
                (Node::Parenthesis(e), Rule::Paren) | (Node::Apply(_, e), Rule::Fun) => {
                    typed(*e) == typed(id)
                }
                (Node::Product(e, f), Rule::Prod) => {
                    *shape == [&typed(*e).0[..], &typed(*f).0[..]].concat()
                        && *index == [&typed(*e).1[..], &typed(*f).1[..]].concat()
                }
                (Node::Transposition(e, [m, n]), Rule::Trans) => {
                    let (mut sizes, mut indices) = (typed(*e).0.clone(), typed(*e).1.clone());
                    sizes.swap(place(*m), place(*n));
                    indices.swap(place(*m), place(*n));
                    (&sizes, &indices) == (shape, index)
                }
                (Node::Contraction(e, pairs), rule) => {
                    let (sizes, indices) = typed(*e);
                    let is_diagonal = |[m, n]: &[u64; 2]| {
                        let (m, n) = (place(*m), place(*n));
                        let is_summed = matches!(indices[m], Index::Summed(_));
                        sizes[m] == sizes[n] && indices[m] == indices[n] && is_summed
                    };
                    let is_free = |[m, _]: &[u64; 2]| !index.contains(&indices[place(*m)]);
                    rule == contraction_rule(pairs.len())
                        && pairs.iter().all(is_diagonal)
                        && pairs.iter().all(is_free)
                        && (&kept(sizes, pairs), &kept(indices, pairs)) == (shape, index)
                }
                (Node::Elementwise(_, e, f), Rule::Elem) => {
                    typed(*e) == typed(id) && typed(*f) == typed(id)
                }
                (Node::Elementwise(operator, e, f), rule) => {
                    let (tensor, scalar) = match (operator, rule) {
                        (Operator::Multiply, Rule::Smul) => (typed(*f), typed(*e)),
                        (Operator::Multiply, Rule::SmulRight) => (typed(*e), typed(*f)),
                        (Operator::Divide, Rule::Sdiv) => (typed(*e), typed(*f)),
                        _ => return false,
                    };
                    let is_scalar = scalar.0.is_empty() && scalar.1.is_empty();
                    tensor == typed(id) && !shape.is_empty() && is_scalar
                }
                _ => false,
            }
    }

    /// The indices that a node sums over.
    fn contracted(&self, value: &Expression, id: Id) -> Vec<Index> {
        let Node::Contraction(e, pairs) = value.node(id) else {
            return Vec::new();
        };
        let indices = &self.judgements[*e].index;
        let first = pairs.iter().map(|[m, _]| indices[place(*m)]);
        first.collect()
    }

    /// The derivation as text: every judgement with its rule, its premises indented below it.
    pub fn display<'a>(&'a self, context: &'a Context, statement: &'a Statement) -> Display<'a> {
        Display {
            derivation: self,
            context,
            statement,
        }
    }
}

fn contraction_rule(pairs: usize) -> Rule {
    match pairs {
        1 => Rule::Contr,
        _ => Rule::Group,
    }
}

fn elementwise_rule(operator: Operator, left: &Shape, right: &Shape) -> Rule {
    match (operator, left.is_scalar(), right.is_scalar()) {
        (Operator::Multiply, true, false) => Rule::Smul,
        (Operator::Multiply, false, true) => Rule::SmulRight,
        (Operator::Divide, false, true) => Rule::Sdiv,
        _ => Rule::Elem,
    }
}

/// A derivation as text.
pub struct Display<'a> {
    derivation: &'a Derivation,
    context: &'a Context,
    statement: &'a Statement,
}

/// Judgements are indented so far at most: the page has an end.
const DEEPEST_INDENT: usize = 30;
/// Expressions longer than so many characters are shown by their beginning.
const LONGEST_EXPRESSION: usize = 72;

impl fmt::Display for Display<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (value, context) = (&self.statement.value, self.context);
        let x = context.name(self.statement.target);
        let goal = tuple(&assigned(context.shape(self.statement.target).rank()));
        let ok = match self.derivation.is_complete() {
            true => "ok    ok-c-stmt",
            false => "ok    cannot be derived",
        };
        let e = value.excerpt(context, value.root(), LONGEST_EXPRESSION);
        writeln!(f, "|- {x} = {e} {ok}")?;
        let mut open = vec![(value.root(), 1)];
        while let Some((id, depth)) = open.pop() {
            let judgement = &self.derivation.judgements[id];
            let indent = "  ".repeat(depth.min(DEEPEST_INDENT));
            let e = value.excerpt(context, id, LONGEST_EXPRESSION);
            let (shape, index) = (&judgement.shape, tuple(&judgement.index));
            write!(f, "{indent}{x}; {goal} |- {e} : ({shape}, {index})    ")?;
            match judgement.rule {
                Some(rule) => f.write_str(rule.name())?,
                None => write!(f, "no rule: tc-var-xx allows {goal} only")?,
            }
            let fresh = self.derivation.contracted(value, id);
            let fresh: Vec<String> = fresh.iter().map(Index::to_string).collect();
            match fresh.is_empty() {
                true => writeln!(f)?,
                false => writeln!(f, ", {} fresh", fresh.join(", "))?,
            }
            let premises = value.node(id).operands().rev();
            open.extend(premises.map(|premise| (premise, depth + 1)));
        }
        Ok(())
    }
}
