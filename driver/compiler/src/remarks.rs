//! Remarks of passes: what a pass has left alone, and why.
//!
//! A pass emits them as diagnostics, which do not say whose they are. What runs it takes them, and emits them with its
//! name; commands show those that are asked for (`--remarks`), and no others.

use std::str::FromStr;
use std::sync::{Mutex, PoisonError};

use melior::Context;
use melior::diagnostic::DiagnosticSeverity;
use melior::ir::Location;
use regex_lite::Regex;

use mdh_dialect::ir;

/// Passes whose remarks are asked for: those in whose names a regular expression occurs.
#[derive(Clone, Debug)]
pub struct Filter(Regex);

impl Filter {
    /// Returns whether a remark is asked for; one of no pass is where all are.
    pub fn lets_through(&self, message: &str) -> bool {
        self.0.is_match(pass_of(message))
    }
}

impl FromStr for Filter {
    type Err = String;

    fn from_str(text: &str) -> Result<Filter, String> {
        let parsed = Regex::new(text).map(Filter);
        parsed.map_err(|why| {
            format!("{why}; expected a regular expression for names of passes, such as mdh-(tile|vectorize)")
        })
    }
}

/// Runs a pass, whose remarks are emitted with its name when it is done.
pub fn of_pass<T>(context: &Context, pass: &str, run: impl FnOnce() -> T) -> T {
    let (done, remarks) = taken(context, run);
    for (location, message) in remarks {
        ir::remark_in(location, &format!("[{}] {message}", name(pass)));
    }
    done
}

/// Does something, and takes the remarks that are emitted meanwhile.
pub fn taken<'c, T>(
    context: &'c Context,
    action: impl FnOnce() -> T,
) -> (T, Vec<(Location<'c>, String)>) {
    let remarks: Mutex<Vec<(Location, String)>> = Mutex::default();
    let handler = context.attach_diagnostic_handler(|diagnostic| {
        let is_remark = matches!(diagnostic.severity(), DiagnosticSeverity::Remark);
        if is_remark && let Ok(mut remarks) = remarks.lock() {
            // SAFETY: locations live as long as the context.
            let location = unsafe { Location::from_raw(diagnostic.location().to_raw()) };
            remarks.push((location, diagnostic.to_string()));
        }
        is_remark
    });
    let done = action();
    context.detach_diagnostic_handler(handler);
    let remarks = remarks.into_inner().unwrap_or_else(PoisonError::into_inner);
    (done, remarks)
}

/// The name of a pass, without its options.
pub fn name(pass: &str) -> &str {
    pass.split('{').next().unwrap_or_default()
}

/// The name of the pass that a remark is of; empty if it is of none.
fn pass_of(message: &str) -> &str {
    let rest = message.strip_prefix('[');
    let parts = rest.and_then(|rest| rest.split_once("] "));
    parts.map_or("", |(pass, _)| pass)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_are_regular_expressions_for_names_of_passes() {
        let lets_through = |filter: &str, message: &str| {
            let filter: Filter = filter.parse().unwrap();
            filter.lets_through(message)
        };
        let remark = "[mdh-vectorize] stays scalar: of [mdh-tile] nothing is left";
        assert!(lets_through(".*", remark) && lets_through("", remark));
        assert!(lets_through("vector", remark) && lets_through("^mdh-(tile|vectorize)$", remark));
        assert!(!lets_through("mdh-tile", remark) && !lets_through("scalar", remark));
        assert!(lets_through(".*", "of nobody") && !lets_through("mdh", "of nobody"));
        let why = "mdh-(".parse::<Filter>().unwrap_err();
        assert!(why.contains("expected a regular expression"), "{why}");
    }

    #[test]
    fn remarks_have_the_name_of_their_pass() {
        let context = Context::new();
        let location = Location::unknown(&context);
        let run = || {
            of_pass(&context, "mdh-tile{a=1}", || {
                ir::remark_in(location, "stays");
                ir::remark_in(location, "goes");
                3
            })
        };
        let (done, remarks) = taken(&context, run);
        let messages: Vec<&str> = remarks
            .iter()
            .map(|(_, message)| message.as_str())
            .collect();
        assert_eq!(done, 3);
        assert_eq!(messages, ["[mdh-tile] stays", "[mdh-tile] goes"]);
    }
}
