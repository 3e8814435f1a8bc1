//! A pipeline as text that MLIR parses, with the options of passes that go by the machine.

use mdh_dialect::pass::{self, OptionText, Pass};

use crate::support::machine;
use crate::table;

/// A named sequence of passes on a module.
#[derive(Debug)]
pub struct Pipeline {
    /// Its name in `--pass-pipeline`.
    pub name: &'static str,
    /// One line of help.
    pub description: &'static str,
    /// The passes, in order.
    pub passes: &'static [&'static str],
}

impl Pipeline {
    /// The passes; those that depend on the machine, and have no options of their own, get the ones
    /// that `told` gives.
    pub fn passes_for(&self, told: impl Fn(&Pass) -> String) -> Vec<String> {
        self.with_options(|pass, own| own.is_none().then(|| told(pass)))
    }

    /// The passes for a machine by its name or file, also those that have one of their own.
    fn passes_on(&self, asm: &str) -> Vec<String> {
        self.with_options(|_, _| (!asm.is_empty()).then(|| format!("asm=\"{asm}\"")))
    }

    /// The passes, with other options for those that go by the machine, where there are some; these
    /// are asked for with what stands here.
    fn with_options(&self, other: impl Fn(&Pass, Option<&str>) -> Option<String>) -> Vec<String> {
        let passes = self.passes.iter().map(|text| {
            let given = text.split_once('{').map(|(_, options)| options);
            let other = goes_by_machine(text).and_then(|pass| Some((pass, other(pass, given)?)));
            match other {
                Some((pass, options)) => format!("{}{{{options}}}", pass.argument),
                None => text.to_string(),
            }
        });
        passes.collect()
    }

    /// Its options: it has that of the machine if a pass has.
    pub fn options(&self) -> &'static [OptionText] {
        match self
            .passes
            .iter()
            .any(|text| goes_by_machine(text).is_some())
        {
            true => &[machine::ASM],
            false => &[],
        }
    }

    /// The passes as MLIR parses them, for a machine by its name or file, without the enclosing
    /// `builtin.module(..)`; or why they cannot be parsed.
    pub fn text(&self, asm: &str) -> Result<String, String> {
        let passes = self.passes_on(asm);
        let passes_text = names(&passes);
        let missing: Vec<&str> = passes_text
            .into_iter()
            .filter(|name| !pass::is_known(name))
            .collect();
        match missing.is_empty() {
            true => Ok(passes.join(",")),
            false => Err(format!(
                "the pipeline '{}' needs passes that this program has not registered: {}; call \
                 mlir::registerAllPasses(), or register these, before it asks for the pipeline",
                self.name,
                missing.join(", ")
            )),
        }
    }
}

/// The pass of a pipeline's entry, if it depends on the machine.
fn goes_by_machine(entry: &str) -> Option<&'static Pass> {
    let name = entry.split('{').next().unwrap_or_default();
    let mut passes = table::PASSES.iter();
    passes.find(|pass| pass.argument == name && machine::goes_by_it(pass))
}

/// The names of the passes in entries, those for nested operations too, each once.
fn names(entries: &[String]) -> Vec<&str> {
    let mut stack = Vec::new();
    for entry in entries {
        let (mut start, mut depth) = (0, 0);
        for (at, c) in entry.char_indices().chain([(entry.len(), ',')]) {
            match c {
                '{' => depth += 1,
                '}' => depth -= 1,
                '(' if depth == 0 => start = at + 1,
                ',' | ')' if depth == 0 => {
                    let name = entry[start..at]
                        .split('{')
                        .next()
                        .unwrap_or_default()
                        .trim();
                    if !name.is_empty() && !stack.contains(&name) {
                        stack.push(name);
                    }
                    start = at + 1;
                }
                _ => {}
            }
        }
    }
    stack
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipelines::{FORM, SCHEDULE, SCHEDULE_KERNELS};

    #[test]
    fn names_are_found_in_options_and_nests() {
        let entries = ["a{b=c,d e={f}}", "gpu.module(g,h{i=j,k}, l)", "a"].map(String::from);
        assert_eq!(names(&entries), ["a", "g", "h", "l"]);
    }

    #[test]
    fn machines_stand_where_passes_go_by_them() {
        let told = |pipeline: &Pipeline| pipeline.passes_for(|_| "asm=m".to_string());
        assert_eq!(told(&SCHEDULE)[4], "mdh-schedule{asm=m}");
        assert_eq!(told(&SCHEDULE_KERNELS)[2], "mdh-schedule{asm=cuda}");
        assert_eq!(
            SCHEDULE_KERNELS.passes_on("m")[2],
            "mdh-schedule{asm=\"m\"}"
        );
        assert_eq!(SCHEDULE.passes_on("")[4], "mdh-schedule");
        assert_eq!(told(&FORM), ["mdh-form-compute"]);
        assert_eq!(SCHEDULE.options().len(), 1);
        assert_eq!(FORM.options().len(), 0);
    }
}
