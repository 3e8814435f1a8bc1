//! Every pass of ours: one row each.

use mdh_dialect::pass::{self, Pass};

use crate::{deallocate, form_compute, lower, pipelines};

/// The passes.
pub static PASSES: &[Pass] = &[deallocate::PASS, form_compute::PASS, lower::PASS];

/// Makes upstream's passes known too, for a process that runs pipelines by itself.
pub fn register_all() {
    melior::utility::register_all_passes();
    register();
}

/// Makes passes, pipelines and canonicalisations known to MLIR. Called once for each process.
pub fn register() {
    pass::register(PASSES);
    for pipeline in pipelines::ALL {
        pass::register_pipeline(pipeline.name, pipeline.description, &pipeline.text());
    }
}
