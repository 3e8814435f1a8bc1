//! Layouts as the template engine's objects, whose calls become code of the target.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard};

use mdh_algebra::index::emit::{self, Function, Host, Placed, Sharing, Target, Term};
use mdh_algebra::index::simplify::simplify;
use mdh_algebra::index::{Expr, Node, Op};
use mdh_algebra::layout::Layout;
use minijinja::value::{Enumerator, Object, ObjectRepr, Value};
use minijinja::{Error, ErrorKind, State};

use super::arguments::{Given, Role, check_count, unknown_method};
use super::layouts::Layouts;
use super::placeholders::{CallPosition, Placeholders, Site};
use super::text::Finding;
use crate::layout_wrapper;

/// State that all calls of a template share.
#[derive(Debug)]
pub struct Job {
    /// The file of layouts.
    pub layouts: Layouts,
    /// The template.
    pub placeholders: Placeholders,
    /// Traces of calls.
    pub left: Mutex<Left>,
}

/// Traces of calls, for the end of the file.
#[derive(Debug, Default)]
pub struct Left {
    /// Mistakes.
    pub findings: Vec<Finding>,
    /// Definitions that stand once before everything, in C.
    pub helpers: Vec<String>,
    /// Names that statements have taken.
    names: Vec<String>,
}

impl Job {
    /// Returns the traces of the calls so far.
    pub fn left(&self) -> MutexGuard<'_, Left> {
        self.left
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// A layout by its name.
#[derive(Debug)]
pub struct Named {
    name: String,
    job: Arc<Job>,
}

/// All layouts of a file as the engine's values.
pub fn objects(job: &Arc<Job>) -> Vec<(String, Value)> {
    let names = job.layouts.layouts.keys();
    let object = |name: &String| {
        let (name, job) = (name.clone(), job.clone());
        (name.clone(), Value::from_object(Named { name, job }))
    };
    names.map(object).collect()
}

/// Several expressions: written with commas between, or one by one.
#[derive(Debug)]
struct List(Vec<String>);

impl Object for List {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Seq
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        self.0.get(key.as_usize()?).map(Value::from)
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Seq(self.0.len())
    }

    fn render(self: &Arc<Self>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join(", "))
    }
}

impl Object for Named {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Plain
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        match key.as_str()? {
            "dims" => Some(Value::from_object(List(self.sizes(&self.layout().dims())))),
            "size" => self.sizes(&[self.layout().size()]).pop().map(Value::from),
            _ => None,
        }
    }

    fn call_method(
        self: &Arc<Self>,
        _: &mut State<'_, '_>,
        method: &str,
        arguments: &[Value],
    ) -> Result<Value, Error> {
        let wrong = |message: String| Error::new(ErrorKind::InvalidOperation, message);
        let text = || {
            arguments
                .first()
                .and_then(Value::as_str)
                .filter(|_| arguments.len() == 1)
        };
        match method {
            "apply" | "inv" | "mask" => {
                let number = arguments.first().and_then(Value::as_usize);
                let site = number.and_then(|n| self.job.placeholders.sites.get(n));
                let site =
                    site.ok_or_else(|| wrong(format!("expected indices of '{}'", self.name)))?;
                // A mistake here does not hide others.
                let result = self.at(site, method, &arguments[1..]);
                Ok(result.unwrap_or_else(|finding| {
                    self.job.left().findings.push(finding);
                    Value::from_object(List(vec![String::new(); 16]))
                }))
            }
            "dims" | "size" if arguments.is_empty() => {
                Ok(self.get_value(&Value::from(method)).unwrap_or_default())
            }
            "functions" | "wrapper" => {
                let Some(name) = text() else {
                    return Err(wrong(format!(
                        "expected a name: {}.{method}(\"name\")",
                        self.name
                    )));
                };
                self.definitions(method, name)
                    .map(Value::from)
                    .map_err(wrong)
            }
            _ => Err(wrong(unknown_method(method))),
        }
    }

    fn render(self: &Arc<Self>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.layout())
    }
}

impl Named {
    fn layout(&self) -> &Layout {
        &self.job.layouts.layouts[&self.name]
    }

    /// Sizes in the target's words.
    fn sizes(&self, sizes: &[Expr]) -> Vec<String> {
        let facts = self.layout().facts();
        let function = Function {
            name: &format!("{}.dims", self.name),
            inputs: &[],
            outputs: &simplify(facts, sizes),
            facts,
        };
        let placed = emit::inline(&function, &[], self.job.layouts.host, Sharing::Repeated);
        match placed {
            Ok(placed) => placed.results.into_iter().map(operand).collect(),
            // Without bounds nobody knows whether they can be computed: they are only named.
            Err(_) => sizes.iter().map(Expr::to_string).collect(),
        }
    }

    /// Expands one call.
    fn at(&self, site: &Site, method: &str, values: &[Value]) -> Result<Value, Finding> {
        let layout = self.layout();
        let mut facts = layout.facts().clone();
        facts.and(&self.job.layouts.facts);
        let mut given = Given {
            layouts: &self.job.layouts,
            placeholders: &self.job.placeholders,
            site,
            values,
            facts,
            inputs: vec![],
        };
        let (sizes, role) = match method {
            "inv" => (vec![layout.size()], Role::Inside),
            "mask" => (layout.dims(), Role::Compared),
            _ => (layout.dims(), Role::Inside),
        };
        check_count(site, method, &sizes)?;
        let index = sizes.iter().enumerate();
        let index = index.map(|(n, size)| given.component(n, size, role));
        let index = index.collect::<Result<Vec<Expr>, Finding>>()?;
        let outputs = match method {
            "apply" => vec![layout.apply(&index)],
            "inv" => layout.inv(&index[0]),
            _ => conditions(layout, &index),
        };
        let outputs = simplify(&given.facts, &outputs);
        let placed = self.emit(site, method, &given, &outputs)?;
        let results = match method {
            "mask" => vec![self.all(placed.results)],
            _ => placed.results,
        };
        self.placed(site, placed.statements, results)
    }

    fn emit(
        &self,
        site: &Site,
        method: &str,
        given: &Given,
        outputs: &[Expr],
    ) -> Result<Placed, Finding> {
        let outputs: Vec<Expr> = match method {
            // What holds always is no condition.
            "mask" => outputs
                .iter()
                .filter(|e| e.as_constant() != Some(1))
                .cloned()
                .collect(),
            _ => outputs.to_vec(),
        };
        let (names, arguments): (Vec<_>, Vec<_>) = given.inputs.iter().cloned().unzip();
        let function = Function {
            name: &format!("{}.{method}", self.name),
            inputs: &names,
            outputs: &outputs,
            facts: &given.facts,
        };
        let host = self.job.layouts.host;
        let placed = match &site.place {
            CallPosition::Statements { targets, .. } => {
                let mut names = self.fresh(&targets[0]);
                emit::inline(&function, &arguments, host, Sharing::Named(&mut names))
            }
            _ => emit::inline(&function, &arguments, host, Sharing::Repeated),
        };
        let placed = placed.map_err(|e| Finding::new(site.span.clone(), e.to_string()))?;
        self.leave(&placed.helpers);
        Ok(placed)
    }

    /// Names for parts of what a variable gets: no words of the template.
    fn fresh(&self, target: &str) -> impl Iterator<Item = String> + use<> {
        let (job, target) = (self.job.clone(), target.to_string());
        let names = (0..).map(move |n| format!("{target}_{n}"));
        names.filter(move |name| {
            let taken = job.placeholders.words.contains(name) || job.layouts.knows(name);
            let names = &mut job.left().names;
            let free = !taken && !names.contains(name);
            if free {
                names.push(name.clone());
            }
            free
        })
    }

    fn leave(&self, helpers: &[String]) {
        let left = &mut self.job.left().helpers;
        for helper in helpers {
            if !left.contains(helper) {
                left.push(helper.clone());
            }
        }
    }

    /// All of these conditions.
    fn all(&self, conditions: Vec<Term>) -> Term {
        let Host { target, .. } = self.job.layouts.host;
        let text = match (target, conditions.as_slice()) {
            (Target::C, []) => "1".to_string(),
            (Target::Triton, []) => "True".to_string(),
            (_, [one]) => one.text.clone(),
            (Target::C, all) => {
                let texts: Vec<&str> = all.iter().map(|c| c.text.as_str()).collect();
                texts.join(" && ")
            }
            (Target::Triton, all) => {
                let grouped: Vec<String> = all.iter().map(|c| format!("({})", c.text)).collect();
                grouped.join(" & ")
            }
        };
        let is_operand = conditions.is_empty();
        Term { text, is_operand }
    }

    /// Returns the text that replaces a call in the file.
    fn placed(
        &self,
        site: &Site,
        statements: Vec<String>,
        results: Vec<Term>,
    ) -> Result<Value, Finding> {
        let CallPosition::Statements { targets, indent } = &site.place else {
            let text = |term: Term| match site.place {
                CallPosition::Alone => term.text,
                _ => operand(term),
            };
            return Ok(Value::from_object(List(
                results.into_iter().map(text).collect(),
            )));
        };
        if targets.len() != results.len() {
            let message = format!(
                "found {} names for {} results, expected as many",
                targets.len(),
                results.len()
            );
            return Err(Finding::new(site.span.clone(), message));
        }
        let host = self.job.layouts.host;
        let ends = targets
            .iter()
            .zip(results)
            .map(|(target, result)| match host.target {
                Target::Triton => format!("{target} = {}", result.text),
                Target::C => format!("const {} {target} = {};", integers(host), result.text),
            });
        let lines: Vec<String> = statements.into_iter().chain(ends).collect();
        Ok(Value::from(lines.join(&format!("\n{indent}"))))
    }

    /// Functions or a class.
    fn definitions(&self, what: &str, name: &str) -> Result<String, String> {
        let Host { target, width } = self.job.layouts.host;
        if target != Target::C {
            return Err(format!(
                "'{what}' is C's and CUDA's, expected 'apply' or 'inv'"
            ));
        }
        let (helpers, text) = match what {
            "functions" => layout_wrapper::functions(self.layout(), name, width),
            _ => layout_wrapper::class(self.layout(), name, width),
        }
        .map_err(|e| e.to_string())?;
        self.leave(&helpers);
        Ok(text.trim_end().to_string())
    }
}

/// The integers of C.
fn integers(host: Host) -> &'static str {
    match host.width {
        emit::Width::Bits32 => "int32_t",
        emit::Width::Bits64 => "int64_t",
    }
}

/// With parentheses, unless it needs none.
fn operand(term: Term) -> String {
    match term.is_operand {
        true => term.text,
        false => format!("({})", term.text),
    }
}

/// Returns the conditions for an index to be one of a layout's, and none of its padding.
fn conditions(layout: &Layout, index: &[Expr]) -> Vec<Expr> {
    let mut conditions: Vec<Expr> = vec![];
    let mask = layout.mask(index);
    // What is meant is less than the sizes of a view without tiles.
    if mask.is_none() || layout.view().len() > 1 {
        let sizes = layout.dims();
        conditions.extend(index.iter().zip(&sizes).map(|(i, n)| i.lt(n)));
    }
    let mut rest: Vec<Expr> = mask.into_iter().collect();
    while let Some(e) = rest.pop() {
        match e.node() {
            Node::Binary(Op::And, [a, b]) => rest.extend([b.clone(), a.clone()]),
            _ => conditions.push(e),
        }
    }
    conditions
}
