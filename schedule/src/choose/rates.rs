//! Throughput of a core, per cycle. An abstract system model has sizes, not speeds: these are usual
//! ones of machines with wide vectors; `mdh bench` measures.

/// Operations on vectors that a core starts in a cycle, a fused multiply-add being one; also the
/// number of loads.
pub const OPERATIONS: f64 = 2.0;

/// Throughput of a memory, per cycle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate {
    /// The memory.
    pub memory: &'static str,
    /// Bytes.
    pub bytes: f64,
    /// Scope of the rate.
    pub whose: SharingScope,
}

/// Scope that shares a rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SharingScope {
    /// Each core, whatever the others do.
    EachCore,
    /// All cores together.
    All,
}

/// Of the memories of `cpu`, innermost first.
pub const RATES: [Rate; 4] = [
    rate("L1", 128.0, SharingScope::EachCore),
    rate("L2", 32.0, SharingScope::EachCore),
    rate("L3", 10.0, SharingScope::EachCore),
    rate("main", 8.0, SharingScope::All),
];

const fn rate(memory: &'static str, bytes: f64, whose: SharingScope) -> Rate {
    Rate {
        memory,
        bytes,
        whose,
    }
}

impl Rate {
    /// Bytes that each of so many cores gets while all are busy.
    pub fn of_a_core(&self, cores: f64) -> f64 {
        match self.whose {
            SharingScope::EachCore => self.bytes,
            SharingScope::All => self.bytes / cores,
        }
    }
}
