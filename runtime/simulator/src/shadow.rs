//! The last accesses to each word, for finding data races and reads of what was never written.
//!
//! Two accesses of the same bytes, one of which writes, are in order if one thread makes both, if
//! all threads of a block met between them (`epoch`), or if the lanes of a warp did and one warp
//! makes both. Other blocks are never waited for. Atomic accesses do not race with each other.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::warp::LANES;

/// Bytes that have one record: accesses of a part of them have records of their own.
pub const WORD: usize = 4;

/// An access of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// The number of the block.
    pub block: u32,
    /// Number of times that the block's threads have met.
    pub epoch: u32,
    /// Number of times that the warp's lanes have met.
    pub warp_epoch: u32,
    /// The thread's number in its block.
    pub thread: u32,
    /// True if it is atomic.
    pub is_atomic: bool,
}

/// Several threads have read since the last barrier.
const MANY: u64 = 1;
/// All of them are of one warp.
const OF_WARP: u64 = 2;

/// A record: block (22 bits), epoch (14), warp's epoch (10), thread (10), who (2), atomic, bytes
/// (4), present.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Record(u64);

impl Record {
    fn new(access: Access, bytes: u64) -> Record {
        Record(
            u64::from(access.block & 0x3f_ffff) << 42
                | u64::from(access.epoch & 0x3fff) << 28
                | u64::from(access.warp_epoch & 0x3ff) << 18
                | u64::from(access.thread & 0x3ff) << 8
                | u64::from(access.is_atomic) << 5
                | bytes << 1
                | 1,
        )
    }

    fn is_there(self) -> bool {
        self.0 & 1 != 0
    }

    fn bytes(self) -> u64 {
        self.0 >> 1 & 0xf
    }

    fn is_atomic(self) -> bool {
        self.0 >> 5 & 1 != 0
    }

    fn who(self) -> u64 {
        self.0 >> 6 & 3
    }

    fn thread(self) -> u32 {
        (self.0 >> 8 & 0x3ff) as u32
    }

    fn warp(self) -> u32 {
        self.thread() / LANES as u32
    }

    /// Block and epoch.
    fn phase(self) -> u64 {
        self.0 >> 28
    }

    fn block(self) -> u32 {
        (self.0 >> 42) as u32
    }

    fn warp_epoch(self) -> u64 {
        self.0 >> 18 & 0x3ff
    }

    /// Returns whether it comes before another access for sure.
    fn is_before(self, now: Record) -> bool {
        if self.block() != now.block() {
            return false;
        }
        if self.phase() != now.phase() {
            return true;
        }
        let same_warp = self.warp() == now.warp();
        match self.who() {
            MANY => false,
            OF_WARP => same_warp && self.warp_epoch() != now.warp_epoch(),
            _ => {
                self.thread() == now.thread() || same_warp && self.warp_epoch() != now.warp_epoch()
            }
        }
    }

    /// Both readers in one record.
    fn with_reader(self, now: Record) -> Record {
        let bytes = self.bytes() << 1;
        let is_same = self.thread() == now.thread() && self.who() == 0;
        if !self.is_there() || self.phase() != now.phase() || is_same {
            return Record(now.0 | if is_same { bytes } else { 0 });
        }
        let same_warp = self.warp() == now.warp() && self.who() != MANY;
        let who = if same_warp { OF_WARP } else { MANY };
        Record(now.0 | bytes | who << 6)
    }
}

/// The records of some memory, of one kind of access.
#[derive(Debug)]
struct Records {
    /// Those of whole words.
    words: Vec<AtomicU64>,
    /// Those of parts of words, by the first byte, once there are any: threads that use parts of one
    /// word are not taken for one another.
    parts: OnceLock<Vec<AtomicU64>>,
}

fn empty(count: usize) -> Vec<AtomicU64> {
    (0..count).map(|_| AtomicU64::new(0)).collect()
}

impl Records {
    fn new(bytes: usize) -> Records {
        Records {
            words: empty(bytes.div_ceil(WORD)),
            parts: OnceLock::new(),
        }
    }

    /// Returns the slot for an access of these bytes of a word.
    fn slot(&self, word: usize, mask: u64) -> &AtomicU64 {
        if mask == (1 << WORD) - 1 {
            return &self.words[word];
        }
        let parts = self.parts.get_or_init(|| empty(self.words.len() * WORD));
        &parts[word * WORD + mask.trailing_zeros() as usize]
    }

    /// An earlier access that may come at the same time.
    fn conflict(&self, word: usize, now: Record) -> Option<Record> {
        let parts = self.parts.get();
        let parts = parts.map_or(&[][..], |parts| &parts[word * WORD..(word + 1) * WORD]);
        let mut words = std::iter::once(&self.words[word]).chain(parts);
        words.find_map(|slot| {
            let earlier = Record(slot.load(Ordering::Relaxed));
            conflicts(earlier, now).then_some(earlier)
        })
    }

    fn forget(&self) {
        let parts = self.parts.get().into_iter().flatten();
        let words = self.words.iter().chain(parts);
        words.for_each(|record| record.store(0, Ordering::Relaxed));
    }
}

/// The records of some memory.
#[derive(Debug)]
pub struct Shadow {
    base: usize,
    writers: Records,
    readers: Records,
    /// A bit for each byte that was written.
    written: Vec<AtomicU64>,
}

/// A mistake of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conflict {
    /// Another thread wrote there, and nothing orders the two: its block and number.
    Write(u32, u32),
    /// Another thread has read there.
    Read(u32, u32),
    /// It reads what was never written: the first such byte.
    Unwritten(usize),
}

impl Shadow {
    /// Of so many bytes from an address on.
    pub fn new(base: usize, bytes: usize) -> Shadow {
        Shadow {
            base,
            writers: Records::new(bytes),
            readers: Records::new(bytes),
            written: empty(bytes.div_ceil(64)),
        }
    }

    /// Forgets who accessed what.
    pub fn forget(&self) {
        self.writers.forget();
        self.readers.forget();
    }

    /// Forgets that anything was written.
    pub fn poison(&self) {
        let words = self.written.iter();
        words.for_each(|bits| bits.store(0, Ordering::Relaxed));
    }

    /// Bytes were written, by nobody who could race.
    pub fn fill(&self, address: usize, bytes: usize) {
        self.mark(address, bytes, |bits, mask| {
            bits.fetch_or(mask, Ordering::Relaxed);
        });
    }

    /// Rule: what bytes hold is not there any more, or not yet.
    pub fn clear(&self, address: usize, bytes: usize) {
        self.mark(address, bytes, |bits, mask| {
            bits.fetch_and(!mask, Ordering::Relaxed);
        });
    }

    fn mark(&self, address: usize, bytes: usize, change: impl Fn(&AtomicU64, u64)) {
        let (mut at, end) = (address - self.base, address - self.base + bytes);
        while at < end {
            let until = end.min((at / 64 + 1) * 64);
            let mask = u64::MAX >> (64 - (until - at)) << (at % 64);
            change(&self.written[at / 64], mask);
            at = until;
        }
    }

    /// Returns whether all of some bytes were written, and are there.
    pub fn has(&self, address: usize, bytes: usize) -> bool {
        self.unwritten(address, bytes).is_none()
    }

    fn unwritten(&self, address: usize, bytes: usize) -> Option<usize> {
        let first = address - self.base;
        let mut bytes_of_access = first..first + bytes;
        let is_written = |at: usize| {
            let bits = self.written[at / 64].load(Ordering::Relaxed);
            bits >> (at % 64) & 1 != 0
        };
        bytes_of_access.find(|at| !is_written(*at))
    }

    /// Each word of some bytes, with those that are meant of it.
    fn words(&self, address: usize, bytes: usize) -> impl Iterator<Item = (usize, u64)> + use<> {
        let (first, end) = (address - self.base, address - self.base + bytes);
        (first / WORD..end.div_ceil(WORD)).map(move |word| {
            let from = first.max(word * WORD) - word * WORD;
            let until = end.min((word + 1) * WORD) - word * WORD;
            (word, (1 << until) - (1 << from))
        })
    }

    /// A thread reads.
    pub fn read(&self, address: usize, bytes: usize, access: Access) -> Option<Conflict> {
        let mut conflict = self.unwritten(address, bytes).map(Conflict::Unwritten);
        for (word, mask) in self.words(address, bytes) {
            let now = Record::new(access, mask);
            if let Some(writer) = self.writers.conflict(word, now) {
                conflict = conflict.or(Some(Conflict::Write(writer.block(), writer.thread())));
            }
            let slot = self.readers.slot(word, mask);
            let both = Record(slot.load(Ordering::Relaxed)).with_reader(now);
            slot.store(both.0, Ordering::Relaxed);
        }
        conflict
    }

    /// A thread writes.
    pub fn write(&self, address: usize, bytes: usize, access: Access) -> Option<Conflict> {
        let mut conflict = None;
        for (word, mask) in self.words(address, bytes) {
            let now = Record::new(access, mask);
            if let Some(writer) = self.writers.conflict(word, now) {
                conflict = conflict.or(Some(Conflict::Write(writer.block(), writer.thread())));
            }
            if let Some(reader) = self.readers.conflict(word, now) {
                conflict = conflict.or(Some(Conflict::Read(reader.block(), reader.thread())));
            }
            let slot = self.writers.slot(word, mask);
            slot.store(now.0, Ordering::Relaxed);
        }
        self.fill(address, bytes);
        conflict
    }
}

/// Returns whether an earlier access of the same bytes may come at the same time.
fn conflicts(earlier: Record, now: Record) -> bool {
    earlier.is_there()
        && earlier.bytes() & now.bytes() != 0
        && !(earlier.is_atomic() && now.is_atomic())
        && !earlier.is_before(now)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thread(thread: u32) -> Access {
        Access {
            block: 0,
            epoch: 0,
            warp_epoch: 0,
            thread,
            is_atomic: false,
        }
    }

    #[test]
    fn parts_of_a_word_are_told_apart() {
        let shadow = Shadow::new(4096, 16);
        shadow.fill(4096, 16);
        for n in 0..2 {
            let half = 4096 + 2 * n as usize;
            assert_eq!(shadow.read(half, 2, thread(n)), None);
        }
        // Each writes what it alone has read.
        for n in 0..2 {
            let half = 4096 + 2 * n as usize;
            assert_eq!(shadow.write(half, 2, thread(n)), None);
        }
        assert_eq!(
            shadow.write(4098, 2, thread(0)),
            Some(Conflict::Write(0, 1))
        );
        assert_eq!(shadow.read(4096, 4, thread(3)), Some(Conflict::Write(0, 0)));
    }

    #[test]
    fn whole_words_and_parts_meet() {
        let shadow = Shadow::new(4096, 16);
        assert_eq!(shadow.write(4096, 8, thread(0)), None);
        assert_eq!(shadow.read(4101, 1, thread(1)), Some(Conflict::Write(0, 0)));
        assert_eq!(shadow.write(4100, 4, thread(0)), Some(Conflict::Read(0, 1)));
        shadow.forget();
        assert_eq!(shadow.write(4100, 4, thread(2)), None);
    }
}
