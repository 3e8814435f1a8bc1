//! Cost of a warp's accesses: banks of shared memory that several of its lanes need at the same
//! time, and memory transactions.
//!
//! A bank serves one word of four bytes at a time; lanes that read the same word share it. Wide
//! accesses are served in as many rounds as they have words. A transaction moves a sector of 32
//! bytes.

use std::collections::BTreeMap;
use std::fmt;

use crate::site::Site;
use crate::warp::LANES;

/// Banks of shared memory.
pub const BANKS: usize = 32;
/// Bytes of a bank's word.
pub const WORD: usize = 4;
/// Bytes of a sector of device memory.
pub const SECTOR: usize = 32;

/// Memory of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Space {
    /// A block's own.
    Shared,
    /// The device's.
    Device,
}

/// Of one place in a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Accesses of warps to shared memory, how many rounds they took, and the fewest that could
    /// have done.
    pub shared: [u64; 3],
    /// Accesses of warps to device memory, how many sectors they moved, and the fewest that could
    /// have done.
    pub device: [u64; 3],
}

impl Counters {
    /// More of the same place.
    pub fn join(&mut self, other: &Counters) {
        let both = self.shared.iter_mut().chain(&mut self.device);
        for (own, other) in both.zip(other.shared.iter().chain(&other.device)) {
            *own += other;
        }
    }

    /// One access of a warp: the lanes' addresses, and the bytes of each.
    pub fn add(&mut self, space: Space, lanes: &[(usize, usize)]) {
        let bytes: usize = lanes.iter().map(|(_, bytes)| bytes).sum();
        let (all, units, size) = match space {
            Space::Shared => (&mut self.shared, rounds(lanes), BANKS * WORD),
            Space::Device => (&mut self.device, sectors(lanes), SECTOR),
        };
        let distinct = distinct_bytes(lanes).min(bytes);
        all[0] += 1;
        all[1] += units as u64;
        all[2] += distinct.div_ceil(size).max(1) as u64;
    }
}

/// The most words that one bank has to serve.
fn rounds(lanes: &[(usize, usize)]) -> usize {
    let mut words: Vec<usize> = lanes.iter().flat_map(|lane| units(lane, WORD)).collect();
    words.sort_unstable();
    words.dedup();
    let mut banks = [0; BANKS];
    for word in words {
        banks[word % BANKS] += 1;
    }
    banks.into_iter().max().unwrap_or(0)
}

fn sectors(lanes: &[(usize, usize)]) -> usize {
    let mut sectors: Vec<usize> = lanes.iter().flat_map(|lane| units(lane, SECTOR)).collect();
    sectors.sort_unstable();
    sectors.dedup();
    sectors.len()
}

fn units((address, bytes): &(usize, usize), size: usize) -> std::ops::Range<usize> {
    address / size..(address + bytes).div_ceil(size)
}

fn distinct_bytes(lanes: &[(usize, usize)]) -> usize {
    let mut sorted = lanes.to_vec();
    sorted.sort_unstable();
    let mut end = 0;
    let mut count = 0;
    for (address, bytes) in sorted {
        let until = address + bytes;
        count += until.saturating_sub(address.max(end));
        end = end.max(until);
    }
    count
}

impl fmt::Display for Counters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut both = Vec::new();
        let [accesses, rounds, least] = self.shared;
        if accesses > 0 {
            both.push(format!(
                "{accesses} accesses to shared memory in {rounds} rounds of banks, at best {least}"
            ));
        }
        let [accesses, sectors, least] = self.device;
        if accesses > 0 {
            both.push(format!(
                "{accesses} accesses to device memory moved {sectors} sectors, at best {least}"
            ));
        }
        write!(f, "{}", both.join("; "))
    }
}

/// Accesses of the lanes of a warp since they met last: the `n`-th access of one lane at a place
/// belongs to the `n`-th of the others there.
#[derive(Debug, Default)]
pub struct Pending {
    sites: BTreeMap<(Site, Space), Vec<Accesses>>,
}

/// Of one lane: addresses, and bytes at each.
type Accesses = Vec<(usize, usize)>;

impl Pending {
    /// One access of a lane.
    pub fn add(&mut self, lane: usize, site: Site, space: Space, at: (usize, usize)) {
        let lanes = self.sites.entry((site, space));
        lanes.or_insert_with(|| vec![Vec::new(); LANES])[lane].push(at);
    }

    /// All lanes have met: counts what they did.
    pub fn settle(&mut self, counters: &mut BTreeMap<Site, Counters>) {
        for ((site, space), lanes) in std::mem::take(&mut self.sites) {
            let most = lanes.iter().map(Vec::len).max().unwrap_or(0);
            let counters = counters.entry(site).or_default();
            for n in 0..most {
                let together = lanes.iter().filter_map(|lane| lane.get(n).copied());
                counters.add(space, &together.collect::<Vec<_>>());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lanes(address: impl Fn(usize) -> usize, bytes: usize) -> Vec<(usize, usize)> {
        (0..LANES).map(|lane| (address(lane), bytes)).collect()
    }

    #[test]
    fn neighbours_share_no_bank() {
        assert_eq!(rounds(&lanes(|n| 4 * n, 4)), 1);
        assert_eq!(rounds(&lanes(|n| 16 * n, 16)), 4);
    }

    #[test]
    fn a_column_of_32_words_needs_one_bank_32_times() {
        assert_eq!(rounds(&lanes(|n| 128 * n, 4)), 32);
        // Rows that are padded by a word do not.
        assert_eq!(rounds(&lanes(|n| 132 * n, 4)), 1);
    }

    #[test]
    fn the_same_word_is_read_once() {
        assert_eq!(rounds(&lanes(|_| 64, 4)), 1);
        assert_eq!(sectors(&lanes(|_| 64, 4)), 1);
    }

    #[test]
    fn strides_move_sectors_for_nothing() {
        let mut counters = Counters::default();
        counters.add(Space::Device, &lanes(|n| 4 * n, 4));
        assert_eq!(counters.device, [1, 4, 4]);
        counters.add(Space::Device, &lanes(|n| 64 * n, 4));
        assert_eq!(counters.device, [2, 36, 8]);
    }
}
