//! Registration with MLIR: passes, pipelines, canonicalisations, tiling of computations.

use std::sync::{LazyLock, Once};

use mdh_dialect::pass::{self, PipelineText};

use crate::table::PASSES;
use crate::{canonicalize, partial_results, pipelines, tiling_interface};

/// The pipelines, as MLIR is told of them.
static PIPELINES: LazyLock<Vec<PipelineText>> = LazyLock::new(|| {
    let described = pipelines::ALL.into_iter().map(|pipeline| PipelineText {
        name: pipeline.name,
        description: pipeline.description,
        options: pipeline.options(),
        passes: Box::new(move |values| pipeline.text(values.first().copied().unwrap_or_default())),
    });
    let lower = PipelineText {
        name: "mdh-lower",
        description: "a program to a stage of a target: what mdh compile --emit prints",
        options: &pipelines::LOWER_OPTIONS,
        passes: Box::new(pipelines::lower),
    };
    described.chain([lower]).collect()
});

/// Makes upstream's passes known too, for a process that runs pipelines by itself.
pub fn all() {
    static ONCE: Once = Once::new();
    ONCE.call_once(melior::utility::register_all_passes);
    passes();
}

/// Makes passes, pipelines and canonicalisations known to MLIR; does nothing the second time.
pub fn passes() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        pass::register(PASSES);
        hooks();
        pass::register_pipelines(&PIPELINES);
    });
}

/// Registers the hooks that the dialect needs before it is loaded: its canonicalisations, and
/// upstream's tiling of its computations.
pub fn hooks() {
    mdh_dialect::hooks::set_canonicalizations(canonicalize::PATTERNS);
    mdh_dialect::tiling::set(&tiling_interface::TILING);
    mdh_dialect::partial::set(&partial_results::PARTIAL);
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::PASSES;

    const REFERENCE: &str = include_str!("../../docs/langref.md");

    /// The names in the first column of the reference's table with this heading, in order.
    fn documented(heading: &str) -> Vec<&'static str> {
        let start = format!("| {heading} | what it does |");
        let rows = REFERENCE.lines().skip_while(|line| **line != start);
        let rows = rows.skip(2).take_while(|line| line.starts_with('|'));
        let name = |row: &'static str| row.split('`').nth(1)?.strip_prefix("--");
        rows.filter_map(name).collect()
    }

    #[test]
    fn the_reference_lists_every_pass() {
        let registered: BTreeSet<&str> = PASSES.iter().map(|pass| pass.argument).collect();
        assert_eq!(registered.len(), PASSES.len(), "a pass is listed twice");
        let documented = documented("pass");
        let set: BTreeSet<&str> = documented.iter().copied().collect();
        assert_eq!(set, registered);
        assert_eq!(documented.len(), PASSES.len(), "a row is there twice");
    }

    #[test]
    fn the_reference_lists_every_pipeline_in_order() {
        let registered: Vec<&str> = super::PIPELINES.iter().map(|p| p.name).collect();
        assert_eq!(documented("pipeline"), registered);
    }
}
