//! `--parts all`: programs whose spaces have all parts of dimensions.

use std::sync::Arc;

use melior::Context;
use sha2::{Digest, Sha256};

use mdh_algebra::asm::Asm;
use mdh_algebra::schedule::{MIN_GRAIN, SearchedParts};
use mdh_compiler::compile;
use mdh_compiler::error::{Error, Result};
use mdh_compiler::formed::Formed;
use mdh_compiler::select::function;
use mdh_compiler::source::Source;
use mdh_dialect::ir::{self, Op};
use mdh_dialect::ops;
use mdh_passes::choose;

use crate::program::Program;

/// Reads a program as [`Program::read`] does, with these parts of dimensions in its spaces.
pub fn read(
    context: &Context,
    source: &Source,
    entry: Option<&str>,
    asm: &Asm,
    parts: SearchedParts,
) -> Result<Program> {
    if parts == SearchedParts::Model {
        return Program::read(context, source, entry, asm);
    }
    let formed = Formed::of(context, source, entry)?;
    let function = function(compile::operation(&formed.module), &formed.function)?;
    let computations = ir::find_all(function, &[ops::mdh::COMPUTE]);
    Program::of(&computations, asm)?
        .widened(&computations, asm)?
        .with_chains(&computations, asm)
}

impl Program {
    /// The same program with all parts in its spaces. What is measured so is kept apart: spaces without
    /// them could not say which schedules are meant.
    fn widened(mut self, computations: &[Op], asm: &Asm) -> Result<Program> {
        let failed = |errors: Vec<String>| Error::bug(errors.join("; "));
        for one in &mut self.searched {
            let op = computations[one.position];
            let space = choose::space_with(op, asm, MIN_GRAIN, SearchedParts::All);
            if let Some(space) = space.map_err(failed)? {
                one.space = Arc::from(space);
            }
        }
        self.parts = SearchedParts::All;
        let text = format!("{}\nall parts", self.digest);
        self.digest = format!("{:x}", Sha256::digest(text));
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use mdh_algebra::schedule::gpu::Gpu;
    use mdh_dialect::context;
    use mdh_passes::register;
    use rand::SeedableRng;
    use rand_pcg::Pcg64Mcg;

    use super::*;

    /// Checks: on processors and GPUs there are more configurations, most of which keep all rules; and what is kept of
    /// them is kept apart.
    #[test]
    fn all_parts_are_more_configurations() {
        register::all();
        let context = context::program_context();
        let text = include_str!("../../examples/matmul.mlir");
        let source = Source::from_text("matmul.mlir", text);
        for asm in [
            Asm::builtin("cpu").unwrap(),
            Gpu::named("h100").unwrap().asm(),
        ] {
            let of = |parts| read(&context, &source, None, &asm, parts).unwrap();
            let (few, all) = (of(SearchedParts::Model), of(SearchedParts::All));
            assert_ne!(few.digest, all.digest);
            let (few, all) = (few.space(&[]).unwrap(), all.space(&[]).unwrap());
            assert!(
                all.size() > 4.0 * few.size(),
                "{} {}",
                all.size(),
                few.size()
            );
            let mut random = Pcg64Mcg::seed_from_u64(1);
            let share = all.rejection_share(300, &mut random).unwrap();
            assert!(share < 0.2, "{share} of {} is rejected", asm.name);
        }
    }
}
