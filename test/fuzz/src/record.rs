//! Record of a test on a range of seeds, as a line of JSON in the file that `MDH_SOAK_RESULTS`
//! names; `scripts/soak` adds such lines up.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::ops::Range;

/// Adds a line: what was tried, of which commit (`MDH_SOAK_COMMIT`), its seeds, counts by outcome,
/// and the seeds that failed.
pub fn record<'a>(
    what: &str,
    seeds: &Range<u64>,
    counts: &[(&str, u64)],
    failed: impl Iterator<Item = &'a u64>,
) {
    let Some(file) = std::env::var_os("MDH_SOAK_RESULTS") else {
        return;
    };
    let commit = std::env::var("MDH_SOAK_COMMIT").unwrap_or_default();
    let counts = counts
        .iter()
        .map(|(name, count)| format!("\"{name}\": {count}, "));
    let counts: String = counts.collect();
    let failed: Vec<String> = failed.map(u64::to_string).collect();
    let line = format!(
        "{{\"what\": \"{what}\", \"commit\": \"{commit}\", \"from\": {}, \"to\": {}, {counts}\
         \"seeds\": [{}]}}\n",
        seeds.start,
        seeds.end,
        failed.join(", ")
    );
    let file = OpenOptions::new().create(true).append(true).open(file);
    let added = file.and_then(|mut file| file.write_all(line.as_bytes()));
    added.expect("the file of results can be written");
}
