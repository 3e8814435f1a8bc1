//! Every pass of ours: one row each.

use std::sync::{LazyLock, Once};

use mdh_dialect::pass::{self, Pass, PipelineText};

use crate::{
    canonicalize, checks, choose, deallocate, divisions, expand_math, fence_stores, form_compute,
    fuse, histograms, hoist_buffers, keep_loops, kernels, layouts, locate, loop_buffers, lower,
    narrow_indices, outline, pipelines, prefetch, prefix, save_overwritten, separate_empties,
    separate_results, separate_scans, share, simulate, split_functions, split_masks, tile, tiling,
    to_triple, turn_dimensions, vector_math, vectorize, warn,
};

/// The passes.
pub static PASSES: &[Pass] = &[
    checks::PASS,
    choose::PASS,
    deallocate::PASS,
    divisions::PASS,
    expand_math::PASS,
    fence_stores::PASS,
    form_compute::PASS,
    fuse::PASS,
    histograms::PASS,
    hoist_buffers::PASS,
    keep_loops::PASS,
    kernels::PASS,
    kernels::align::PASS,
    kernels::asynchronous::PASS,
    kernels::align::MEMORY,
    kernels::launches::PASS,
    kernels::math::PASS,
    kernels::math::NATIVE,
    kernels::place::PASS,
    kernels::remainder::PASS,
    layouts::PASS,
    locate::PASS,
    loop_buffers::PASS,
    lower::PASS,
    narrow_indices::PASS,
    outline::PASS,
    prefetch::PASS,
    prefix::PASS,
    save_overwritten::PASS,
    separate_empties::PASS,
    separate_results::PASS,
    separate_scans::PASS,
    share::PASS,
    simulate::PASS,
    simulate::watch::PASS,
    split_functions::PASS,
    split_masks::PASS,
    tile::phases::PASS,
    tile::PASS,
    to_triple::PASS,
    turn_dimensions::PASS,
    vector_math::PASS,
    vectorize::PASS,
    warn::PASS,
];

/// The pipelines, as MLIR is told of them.
static PIPELINES: LazyLock<Vec<PipelineText>> = LazyLock::new(|| {
    let described = pipelines::ALL.into_iter().map(|pipeline| PipelineText {
        name: pipeline.name,
        description: pipeline.description,
        options: pipeline.options(),
        passes: Box::new(move |asm| pipeline.text(asm)),
    });
    described.collect()
});

/// Makes upstream's passes known too, for a process that runs pipelines by itself.
pub fn register_all() {
    static ONCE: Once = Once::new();
    ONCE.call_once(melior::utility::register_all_passes);
    register();
}

/// Makes passes, pipelines and canonicalisations known to MLIR; does nothing the second time.
pub fn register() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        pass::register(PASSES);
        register_hooks();
        pass::register_pipelines(&PIPELINES);
    });
}

/// Makes known what the dialect needs before it is loaded: its canonicalisations, and how its
/// computations are tiled by upstream.
pub fn register_hooks() {
    mdh_dialect::hooks::set_canonicalizations(canonicalize::PATTERNS);
    mdh_dialect::tiling::set(&tiling::TILING);
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::PASSES;
    use crate::pipelines;

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
        let registered: Vec<&str> = pipelines::ALL.iter().map(|p| p.name).collect();
        assert_eq!(documented("pipeline"), registered);
    }
}
