//! Arguments of a layout's call, as expressions.

use std::ops::Range;

use mdh_algebra::index::emit::Argument;
use mdh_algebra::index::parse::{Scope, expression};
use mdh_algebra::index::{Expr, Facts, IndexProgram, Interval, Name, Node, Op};
use minijinja::Value;
use minijinja::value::ValueKind;

use super::layouts::Layouts;
use super::placeholders::{Placeholders, Site};
use super::text::{Finding, expected};

/// Arguments of one call.
#[derive(Debug)]
pub struct Given<'a> {
    /// The file of layouts.
    pub layouts: &'a Layouts,
    /// The template.
    pub placeholders: &'a Placeholders,
    /// The call.
    pub site: &'a Site,
    /// The engine's values of the call's names.
    pub values: &'a [Value],
    /// Facts about the expressions' symbols.
    pub facts: Facts,
    /// Symbols that other text stands for, and that text.
    pub inputs: Vec<(Name, Argument)>,
}

impl Given<'_> {
    /// One argument: an index below `size`, or, in a mask, one that is compared with it.
    pub fn component(&mut self, n: usize, size: &Expr, role: Role) -> Result<Expr, Finding> {
        let (text, span) = self.site.arguments[n].clone();
        let quoted = [('"', '"'), ('\'', '\'')].iter().find_map(|(open, close)| {
            let inner = text.strip_prefix(*open)?.strip_suffix(*close)?;
            (!inner.contains(*close)).then_some(inner)
        });
        let text = quoted.unwrap_or(&text);
        if let Some(end) = text.strip_prefix(':') {
            return self.slice(n, end.trim(), size, role, span);
        }
        if let Some(e) = self.transparent(text, &span)? {
            self.bounded(&e, size, role);
            return Ok(e);
        }
        if text.is_empty() {
            return Err(Finding::new(span, "found nothing, expected an index"));
        }
        let text = self.replaced(text);
        let name = Name::from(text.as_str());
        self.inputs.push((name.clone(), Argument::Text(text)));
        let e = Expr::symbol(&name);
        self.bounded(&e, size, role);
        Ok(e)
    }

    /// `:` or `:n`.
    fn slice(
        &mut self,
        n: usize,
        end: &str,
        size: &Expr,
        role: Role,
        span: Range<usize>,
    ) -> Result<Expr, Finding> {
        let end = match end {
            "" => size.clone(),
            end => match self.transparent(end, &span)? {
                Some(end) => end,
                None => {
                    let message = format!("found ':{end}', expected ':' or ':n' for a size n");
                    return Err(Finding::new(span, message));
                }
            },
        };
        if let Some(n) = end.as_constant()
            && (n < 1 || n.count_ones() != 1)
        {
            let message =
                format!("found ':' for {n} elements, expected a power of two, as tl.arange has it");
            return Err(Finding::new(span, message));
        }
        let name = Name::from(format!(":{n}"));
        self.facts.index(&name, &end);
        self.inputs.push((name.clone(), Argument::Slice(end)));
        let e = Expr::symbol(&name);
        self.bounded(&e, size, role);
        Ok(e)
    }

    /// An expression of the algebra's; `None` if it is the target's alone.
    fn transparent(&mut self, text: &str, span: &Range<usize>) -> Result<Option<Expr>, Finding> {
        let Ok(e) = expression(text, &Scope::default()) else {
            return Ok(None);
        };
        let e = self.layouts.bind(&e);
        let loads = |node: &Node<usize>| matches!(node, Node::Load(..));
        if IndexProgram::new(std::slice::from_ref(&e))
            .nodes()
            .iter()
            .any(loads)
        {
            return Ok(None);
        }
        let mut known: Vec<(Name, Expr)> = vec![];
        for name in e.symbols() {
            if let Some(value) = self.value(&name, span)? {
                known.push((name, value));
            } else if !self.layouts.knows(&name) && !self.placeholders.words.contains(&*name) {
                let words = self.placeholders.words.iter().map(String::as_str);
                let near = mdh_algebra::index::lex::nearest(&name, words);
                let mean = near.first().map(|near| format!("; did you mean '{near}'?"));
                let message = format!(
                    "unknown name '{name}', expected a size, one of [indices], or a name that the \
                     template has elsewhere{}",
                    mean.unwrap_or_default()
                );
                return Err(Finding::new(span.clone(), message));
            }
        }
        let e = e.substitute(&|name| {
            let (_, value) = known.iter().find(|(n, _)| &**n == name)?;
            Some(value.clone())
        });
        self.check_divisors(&e, span)?;
        Ok(Some(e))
    }

    /// Returns the engine's value of a name: a number, or text of the target's.
    fn value(&mut self, name: &Name, span: &Range<usize>) -> Result<Option<Expr>, Finding> {
        let at = self.site.names.iter().position(|n| **n == **name);
        let value = at.and_then(|at| self.values.get(at));
        let Some(value) = value.filter(|value| !value.is_undefined()) else {
            return Ok(None);
        };
        if let Ok(number) = i64::try_from(value.clone()) {
            return Ok(Some(Expr::constant(number)));
        }
        match value.as_str() {
            Some(text) if text == &**name => Ok(None),
            Some(text) => {
                let stands_for = Name::from(text);
                self.inputs
                    .push((stands_for.clone(), Argument::Text(text.to_string())));
                Ok(Some(Expr::symbol(&stands_for)))
            }
            None => {
                let kind = match value.kind() {
                    ValueKind::Plain => "layout".to_string(),
                    kind => kind.to_string(),
                };
                let message = format!("found the {kind} '{name}', expected an index");
                Err(Finding::new(span.clone(), message))
            }
        }
    }

    /// The target's text, with the engine's values for names that are all of it.
    fn replaced(&self, text: &str) -> String {
        let at = self.site.names.iter().position(|n| n == text);
        let value = at.and_then(|at| self.values.get(at));
        let value = value.and_then(|value| value.as_str());
        value.unwrap_or(text).to_string()
    }

    /// An index of a layout is below the size, whatever else is known of it.
    fn bounded(&mut self, e: &Expr, size: &Expr, role: Role) {
        if let Node::Symbol(name) = e.node() {
            match role {
                Role::Inside => self.facts.index(name, size),
                Role::Compared => self.facts.within(name, Interval::from(0)),
            };
        }
    }

    fn check_divisors(&self, e: &Expr, span: &Range<usize>) -> Result<(), Finding> {
        let program = IndexProgram::new(std::slice::from_ref(e));
        let ranges = self.facts.ranges(&program);
        for node in program.nodes() {
            if let Node::Binary(op @ (Op::Div | Op::Mod), [_, divisor]) = node
                && ranges[*divisor].min < 1
            {
                let what = match &program.nodes()[*divisor] {
                    Node::Symbol(name) => format!("'{name}'"),
                    Node::Const(c) => c.to_string(),
                    _ => "what stands there".to_string(),
                };
                let message = format!(
                    "'{}' divides by {what}, which may be 0 or less, expected [sizes] to bound it \
                     from below",
                    op.symbol()
                );
                return Err(Finding::new(span.clone(), message));
            }
        }
        Ok(())
    }
}

/// Role of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// An index of the layout.
    Inside,
    /// Numbers that are compared with the layout's bounds.
    Compared,
}

/// A call has one argument for each of these.
pub fn check_count(site: &Site, method: &str, sizes: &[Expr]) -> Result<(), Finding> {
    let count = site.arguments.len();
    if count == sizes.len() {
        return Ok(());
    }
    let plural = if count == 1 { "argument" } else { "arguments" };
    let sizes: Vec<String> = sizes.iter().map(Expr::to_string).collect();
    let message = format!(
        "'{method}' has {count} {plural}, expected {}, one for each of [{}]",
        sizes.len(),
        sizes.join(", ")
    );
    Err(Finding::new(site.span.clone(), message))
}

/// A method that there is not.
pub fn unknown_method(name: &str) -> String {
    let known = [
        "apply",
        "inv",
        "mask",
        "dims",
        "size",
        "functions",
        "wrapper",
    ];
    format!("a layout has no '{name}', {}", expected(name, known))
}
