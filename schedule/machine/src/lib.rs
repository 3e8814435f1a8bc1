//! Machines as abstract system models: the one that this process runs on, and those in files.
//!
//! Owns how a description is found; what one says is `mdh_schedule::asm`. It must not know MLIR or passes. Start with
//! [`find`].
//!
//! ```text
//! the processor, /sys --detect--> Asm <--read-- a file, as `mdh asm --json` writes it
//! ```
//!
//! Passes read no files. The programs that run passes give them [`find`], so that `mdh`, `mdh-opt`
//! and a stock `mlir-opt` with the plugin schedule for the same machine.
//!
//! The environment variable `MDH_ASM` names a file with a machine that stands for this one in
//! [`this`]. It is for tests, which run on any machine and expect the code of a certain one.

mod detect;
mod file;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use mdh_schedule::asm::Asm;

pub use detect::{Caches, baseline, caches, has_dot_products, vector_bytes};
pub use file::{Mistake, parse, read};

/// The variable that names the machine which stands for this one.
const PRETENDED: &str = "MDH_ASM";

/// Returns the machine that this process runs on, or what is wrong with the one that stands for it. It has as many
/// cores as parallel loops have threads, which a program may change.
pub fn this() -> Result<Asm, String> {
    static KNOWN: Mutex<BTreeMap<usize, Result<Asm, String>>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let asm = known.entry(mdhrt::pool::thread_count());
    let detect = || match std::env::var_os(PRETENDED) {
        Some(path) => read(Path::new(&path)).map_err(|error| format!("{PRETENDED}: {error}")),
        None => Ok(detect::detect()),
    };
    asm.or_insert_with(detect).clone()
}

/// Finds a machine: one that comes with `mdh` by its name, any other in a file; the one that this
/// process runs on is `""`.
pub fn find(name: &str) -> Result<Asm, String> {
    match (name, Asm::builtin(name)) {
        ("", _) => this(),
        (_, Some(asm)) => Ok(asm),
        (path, None) => read(Path::new(path)).map_err(|error| {
            let known: Vec<String> = Asm::builtins().into_iter().map(|asm| asm.name).collect();
            let known = known.join(", ");
            format!("{error}; expected a file as `mdh asm --json` writes it, or one of {known}")
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machines_are_found_by_name_and_by_file() {
        assert_eq!(find("cuda"), Ok(Asm::builtin("cuda").unwrap()));
        let file = tempfile::NamedTempFile::new().unwrap();
        let asm = Asm::builtin("cpu").unwrap();
        std::fs::write(file.path(), asm.to_json()).unwrap();
        assert_eq!(find(file.path().to_str().unwrap()), Ok(asm));
    }

    #[test]
    fn machines_that_are_not_there_are_named() {
        let message = find("/nowhere/fast.json").unwrap_err();
        assert!(
            message.starts_with("cannot read '/nowhere/fast.json': "),
            "{message}"
        );
        assert!(message.ends_with("or one of cpu, cuda, opencl, multi_cuda, cluster_multi_cuda"));
    }
}
