//! Report of a run of kernels.

use std::collections::BTreeMap;
use std::fmt;

use crate::counters::Counters;
use crate::site::Site;

/// Kinds of mistakes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FindingKind {
    /// Two threads access the same bytes, one of them writes, and nothing orders them.
    Race,
    /// A barrier that not all threads of a block reach, or not at the same place.
    Barrier,
    /// An operation of a warp that not all of its lanes reach, or not at the same place.
    Warp,
    /// An access outside of every buffer.
    Outside,
    /// A read of what was never written, or is still in flight.
    Unwritten,
    /// A copy that nobody waits for.
    Copy,
    /// A copy whose addresses are no multiples of its bytes.
    Alignment,
}

impl FindingKind {
    /// Returns its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            FindingKind::Race => "data race",
            FindingKind::Barrier => "divergent barrier",
            FindingKind::Warp => "divergent warp operation",
            FindingKind::Outside => "access out of bounds",
            FindingKind::Unwritten => "read of what was not written",
            FindingKind::Copy => "copy without a wait",
            FindingKind::Alignment => "copy that is not aligned",
        }
    }
}

/// Findings of one kind at one place, or between two.
#[derive(Clone, Debug)]
pub struct Finding {
    /// Number of occurrences.
    pub count: u64,
    /// The first occurrence: its threads and details.
    pub first: String,
}

/// Locations of a finding: one or two.
pub type Places = (Site, Option<Site>);

/// Findings and counts.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Mistakes, by kind and place.
    pub findings: BTreeMap<(FindingKind, Places), Finding>,
    /// Costs of warps' accesses, by place.
    pub counters: BTreeMap<Site, Counters>,
    /// Kernels that were launched.
    pub launches: u64,
    /// Blocks that ran.
    pub blocks: u64,
}

impl Report {
    /// One more finding.
    pub fn add(&mut self, kind: FindingKind, places: Places, what: impl FnOnce() -> String) {
        let places_of_kind = self.findings.entry((kind, places));
        let finding = places_of_kind.or_insert_with(|| Finding {
            count: 0,
            first: what(),
        });
        finding.count += 1;
    }

    /// Rule: what a block has found.
    pub fn join(&mut self, other: Report) {
        for (key, finding) in other.findings {
            let merged = self.findings.entry(key).or_insert_with(|| Finding {
                count: 0,
                ..finding.clone()
            });
            merged.count += finding.count;
        }
        for (site, counters) in other.counters {
            self.counters.entry(site).or_default().join(&counters);
        }
        self.launches += other.launches;
        self.blocks += other.blocks;
    }

    /// Its mistakes, a line each, by place.
    pub fn mistakes(&self) -> Vec<String> {
        let mut lines: Vec<String> = self.findings.iter().map(line).collect();
        lines.sort();
        lines
    }

    /// Returns the counts, a line for each place.
    pub fn costs(&self) -> Vec<String> {
        let lines = self.counters.iter();
        let lines = lines.map(|(site, counted)| format!("{}: {counted}", site.text()));
        let mut lines: Vec<String> = lines.collect();
        lines.sort();
        lines
    }

    /// Returns whether there is no mistake in it.
    pub fn is_clean(&self) -> bool {
        self.findings.is_empty()
    }
}

/// Mistakes, a line each, then what was counted; both by place.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} launches, {} blocks", self.launches, self.blocks)?;
        let mut lines = self.mistakes();
        if lines.is_empty() {
            lines.push("no mistakes found".into());
        }
        for line in lines.into_iter().chain(self.costs()) {
            writeln!(f, "{line}")?;
        }
        Ok(())
    }
}

fn line(((kind, (site, other)), finding): (&(FindingKind, Places), &Finding)) -> String {
    let other = other.filter(|other| other != site);
    let other = other.map_or(String::new(), |other| format!(" with {}", other.text()));
    let times = match finding.count {
        1 => String::new(),
        count => format!(" ({count} times)"),
    };
    let (site, kind, first) = (site.text(), kind.name(), &finding.first);
    format!("{site}: {kind}{other}{times}: {first}")
}
