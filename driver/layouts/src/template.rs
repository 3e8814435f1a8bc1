//! `mdh template`: kernels whose index expressions come from layouts (LEGO paper, section 4.1).
//!
//! A template is C, CUDA or Python with `{{ A.apply(i, j) }}` where an offset belongs; another
//! file says which layout `A` is. The engine is minijinja, so that its loops, macros and conditions
//! can be used too. It never sees what stands between the parentheses (`placeholders`).
//!
//! An offset is what the layout says for every index of its view. For an index beyond, in a tile
//! that is not full, it is some number, and `A.mask(i, j)` is the condition to ask.

mod arguments;
mod calls;
mod layouts;
mod placeholders;
mod text;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use mdh_algebra::index::emit;
use minijinja::syntax::SyntaxConfig;
use minijinja::{AutoEscape, Environment, ErrorKind, UndefinedBehavior, Value};

use crate::cli::TemplateArguments;
use calls::Job;
use mdh_compiler::error::{Error, Result};
use mdh_compiler::source::Source;
use text::{Finding, expected, report};

/// Mark for text that is only known when all calls are done. No text has null bytes.
const PRELUDE: &str = "\0prelude\0";

/// Runs the command.
pub fn run(arguments: &TemplateArguments) -> Result<()> {
    let layouts = layouts::read(&text::read(&arguments.layouts)?)?;
    let source = text::read(&arguments.file)?;
    let filled = fill(&source, layouts)?;
    arguments.out.write(filled)
}

/// The template with everything in its place.
fn fill(source: &Source, layouts: layouts::Layouts) -> Result<String> {
    let placeholders = match placeholders::scan(source.text()) {
        Ok(placeholders) => placeholders,
        Err(finding) => {
            report(source, vec![finding])?;
            return Err(Error::bug("a finding that was not shown"));
        }
    };
    let job = Arc::new(Job {
        layouts,
        placeholders,
        left: Mutex::default(),
    });
    let values = values(&job);
    let rendered = render(&job.placeholders.text, &values);
    let mut findings = std::mem::take(&mut job.left().findings);
    let rendered = rendered.map_err(|error| {
        findings.push(finding(source, &job, &values, &error));
    });
    report(source, findings)?;
    let rendered = rendered.map_err(|()| Error::bug("a template that failed without a finding"))?;
    Ok(with_prelude(&job, rendered))
}

/// Returns the variables of the engine: layouts, sizes, and the place for definitions.
fn values(job: &Arc<Job>) -> BTreeMap<String, Value> {
    let mut values: BTreeMap<String, Value> = calls::objects(job).into_iter().collect();
    let numbers = job.layouts.values.iter();
    values.extend(numbers.map(|(name, n)| (name.to_string(), Value::from(*n))));
    let symbols = job.layouts.symbols.iter().chain(&job.layouts.indices);
    values.extend(symbols.map(|name| (name.to_string(), Value::from(&**name))));
    values.insert("prelude".into(), Value::from(PRELUDE));
    values
}

fn render(
    text: &str,
    values: &BTreeMap<String, Value>,
) -> std::result::Result<String, minijinja::Error> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    let mut syntax = SyntaxConfig::builder();
    syntax.keep_trailing_newline(true);
    syntax.trim_blocks(true).lstrip_blocks(true);
    environment.set_syntax(syntax.build()?);
    environment.set_debug(true);
    environment.template_from_str(text)?.render(values)
}

/// The engine's error at its place in the file.
fn finding(
    source: &Source,
    job: &Job,
    values: &BTreeMap<String, Value>,
    error: &minijinja::Error,
) -> Finding {
    let place = error.range().unwrap_or(0..0);
    let mut span = job.placeholders.in_file(place);
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let before = source.text().get(..span.start).unwrap_or_default();
    // What is called on something begins at its dot.
    if source.text()[before.len()..].starts_with('.') {
        span.start = before.trim_end_matches(is_word).len();
    }
    let text = source.text().get(span.clone()).unwrap_or_default();
    let name = &text[..text.find(|c| !is_word(c)).unwrap_or(text.len())];
    let known = values.keys().map(String::as_str);
    let is_unknown = !name.is_empty() && !values.contains_key(name);
    let message = match error.kind() {
        ErrorKind::UndefinedError | ErrorKind::UnknownMethod if is_unknown => {
            format!("unknown name '{name}', {}", expected(name, known))
        }
        ErrorKind::UndefinedError => {
            let member = text[name.len()..].trim_start_matches('.');
            arguments::unknown_method(member.trim())
        }
        kind => match error.detail() {
            Some(detail) => detail.to_string(),
            None => kind.to_string(),
        },
    };
    Finding::new(span, message)
}

/// Definitions at their place, or in front of everything.
fn with_prelude(job: &Job, rendered: String) -> String {
    let mut helpers = job.left().helpers.clone();
    let uses_integers = ["int32_t", "int64_t"]
        .iter()
        .any(|ty| rendered.contains(ty));
    let has_them = ["stdint.h", "cstdint"]
        .iter()
        .any(|header| rendered.contains(header));
    if helpers.is_empty()
        && job.layouts.host.target == emit::Target::C
        && uses_integers
        && !has_them
    {
        helpers.push("#include <stdint.h>\n".to_string());
    }
    let text = helpers.concat();
    match rendered.contains(PRELUDE) {
        true => rendered.replace(PRELUDE, text.trim_end()),
        false => text + &rendered,
    }
}
