//! Every pass of ours: one row each.

use mdh_dialect::pass::{self, Pass};

use crate::{lower, pipelines};

/// The passes.
pub static PASSES: [Pass; 1] = [lower::PASS];

/// Makes passes, pipelines and canonicalisations known to MLIR. Called once for each process.
pub fn register() {
    pass::register(&PASSES);
    for pipeline in pipelines::ALL {
        pass::register_pipeline(pipeline.name, pipeline.description, &pipeline.text());
    }
}
