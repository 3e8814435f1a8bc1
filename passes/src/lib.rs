//! Passes over the mdh dialect, and the pipelines they make up.
//!
//! Owns what becomes of a program between its text and the llvm dialect. It must not know files, or how code is run.
//! Start with [`pipelines`], the page that shows the compiler; [`table`] lists the passes. A pass `mdh-tile` is the file
//! `tile.rs` in the folder of its subject; what several passes share is in [`support`].

pub mod bufferize;
pub mod checks;
pub mod form;
pub mod gpu;
pub mod llvm;
pub mod pipelines;
pub mod raise;
pub mod simplify;
pub mod support;
pub mod table;
pub mod tile;
pub mod vector;

use std::sync::{LazyLock, Once};

use mdh_dialect::pass::{self, PipelineText};

use crate::simplify::canonicalize;
use crate::support::machine;
use crate::table::PASSES;
use crate::tile::{partial_results, tiling_interface};

pub use raise::raise_linalg::{declares_numbers, linalg_destinations, of_loops};

/// The pipelines, as MLIR is told of them.
static PIPELINES: LazyLock<Vec<PipelineText>> = LazyLock::new(|| {
    let described = pipelines::ALL.iter().map(|pipeline| PipelineText {
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
pub fn register_all() {
    static ONCE: Once = Once::new();
    ONCE.call_once(melior::utility::register_all_passes);
    register_own();
}

/// Makes passes, pipelines and canonicalisations known to MLIR, for a program in which they have options in text only:
/// `find` finds the machines that these name.
pub fn register(find: machine::Find) {
    machine::find_by(find);
    register_own();
}

/// Makes passes, pipelines and canonicalisations known to MLIR; does nothing the second time.
fn register_own() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        pass::register(PASSES);
        register_hooks();
        pass::register_pipelines(&PIPELINES);
    });
}

/// Registers the hooks that the dialect needs before it is loaded: its canonicalisations, and
/// upstream's tiling of its computations.
pub fn register_hooks() {
    mdh_dialect::hooks::set_canonicalizations(canonicalize::PATTERNS);
    mdh_dialect::tiling::set(&tiling_interface::TILING);
    mdh_dialect::partial::set(&partial_results::PARTIAL);
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    use super::PASSES;

    const REFERENCE: &str = include_str!("../../docs/langref.md");

    /// The cells of the reference's table with this heading, row by row.
    fn documented(heading: &str) -> Vec<Vec<&'static str>> {
        let rows = REFERENCE.lines().skip_while(|line| *line != heading);
        let rows = rows.skip(2).take_while(|line| line.starts_with('|'));
        rows.map(|row| row.split('|').skip(1).map(str::trim).collect())
            .collect()
    }

    /// The name in a row's first cell.
    fn name(row: &[&'static str]) -> &'static str {
        let name = row[0].trim_matches('`');
        name.strip_prefix("--").unwrap_or(name)
    }

    #[test]
    fn the_reference_lists_every_pass_in_order_and_its_file() {
        let registered: Vec<&str> = PASSES.iter().map(|pass| pass.argument).collect();
        let ordered: Vec<&str> = BTreeSet::from_iter(&registered)
            .into_iter()
            .copied()
            .collect();
        assert_eq!(registered, ordered, "one row each, in alphabetical order");
        let rows = documented("| pass | source | what it does |");
        let documented: Vec<&str> = rows.iter().map(|row| name(row)).collect();
        assert_eq!(documented, registered);
        for row in rows {
            let file = row[1].trim_start_matches('[').split(']').next().unwrap();
            let link = format!("[{file}](../passes/src/{file})");
            assert_eq!(row[1], link, "{}", name(&row));
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(file);
            let source = fs::read_to_string(&path).unwrap_or_else(|why| panic!("{file}: {why}"));
            let argument = format!("argument: \"{}\",", name(&row));
            assert!(source.contains(&argument), "{file} has no {argument}");
        }
    }

    #[test]
    fn the_reference_lists_every_pipeline_in_order() {
        let registered: Vec<&str> = super::PIPELINES.iter().map(|p| p.name).collect();
        let rows = documented("| pipeline | what it does |");
        let documented: Vec<&str> = rows.iter().map(|row| name(row)).collect();
        assert_eq!(documented, registered);
    }
}
