//! Every pass of ours: one row each.

use std::sync::Once;

use mdh_dialect::pass::{self, Pass};

use crate::{
    canonicalize, checks, deallocate, divisions, expand_math, form_compute, fuse, hoist_buffers,
    locate, loop_buffers, lower, narrow_indices, pipelines, prefix, separate_results, to_triple,
};

/// The passes.
pub static PASSES: &[Pass] = &[
    checks::PASS,
    deallocate::PASS,
    divisions::PASS,
    expand_math::PASS,
    form_compute::PASS,
    fuse::PASS,
    hoist_buffers::PASS,
    locate::PASS,
    loop_buffers::PASS,
    lower::PASS,
    narrow_indices::PASS,
    prefix::PASS,
    separate_results::PASS,
    to_triple::PASS,
];

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
        register_canonicalizations();
        for pipeline in pipelines::ALL {
            pass::register_pipeline(pipeline.name, pipeline.description, &pipeline.text());
        }
    });
}

/// Makes the dialect's canonicalisations known, which it needs before it is loaded.
pub fn register_canonicalizations() {
    mdh_dialect::hooks::set_canonicalizations(canonicalize::PATTERNS);
}
