//! Settings of a test, from the environment.

/// The first of these variables that is set to a number, else `fallback`.
pub fn number(variables: &[&str], fallback: u64) -> u64 {
    let value = |name: &&str| std::env::var(name).ok()?.parse().ok();
    variables.iter().find_map(value).unwrap_or(fallback)
}

/// Returns the number of children that work at a time.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
