//! Settings of a test, from the environment, and those of its children.

use std::path::{Path, PathBuf};

/// Compute capabilities of which code differs.
const CHIPS: [u8; 4] = [80, 86, 89, 90];

/// One of them by number, each in turn.
pub fn chip(number: u64) -> u8 {
    CHIPS[number as usize % CHIPS.len()]
}

/// The first of these variables that is set to a number, else `fallback`.
pub fn number(variables: &[&str], fallback: u64) -> u64 {
    let value = |name: &&str| std::env::var(name).ok()?.parse().ok();
    variables.iter().find_map(value).unwrap_or(fallback)
}

/// Returns whether a test ends with its first failure, and makes no smaller ones of it
/// (`MDH_FIRST_FAILURE`): for whoever asks only whether there is one.
pub fn ends_at_first_failure() -> bool {
    std::env::var_os("MDH_FIRST_FAILURE").is_some()
}

/// Returns the number of children that work at a time.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// The environment in which the interpreter of PTX is a GPU of some compute capability, by way of a link
/// in a folder.
pub fn interpreter(folder: &Path, chip: u8) -> Vec<(&'static str, String)> {
    let program = std::env::current_exe().expect("a test knows its program");
    let library = program.with_file_name("libmdh_ptx.so");
    let folder = folder.join("interpreter");
    std::fs::create_dir_all(&folder).expect("a folder can be made");
    // Another test may have made it.
    let _ = std::os::unix::fs::symlink(library, folder.join("libcuda.so.1"));
    let path = folder.display().to_string();
    vec![
        ("LD_LIBRARY_PATH", path),
        ("MDH_PTX_CHIP", chip.to_string()),
    ]
}

/// The command, which is built beside the tests.
///
/// # Panics
/// If it is not there.
pub fn mdh() -> PathBuf {
    let program = std::env::current_exe().expect("a test knows its program");
    let built = program.ancestors().nth(2).map(|folder| folder.join("mdh"));
    let built = built.filter(|path| path.is_file());
    built.expect("the command is not there: cargo build --release --bin mdh")
}
