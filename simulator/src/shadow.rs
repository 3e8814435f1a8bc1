//! Who accessed each word last, for finding data races and reads of what was never written.
//!
//! Two accesses of the same bytes, one of which writes, are in order if one thread makes both, if
//! all threads of a block met between them (`epoch`), or if the lanes of a warp did and one warp
//! makes both. Other blocks are never waited for. Atomic accesses do not race with each other.

use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes that have one record: bytes within it are told apart.
pub const WORD: usize = 4;

/// An access of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// The number of the block.
    pub block: u32,
    /// How often the block's threads have met.
    pub epoch: u32,
    /// How often the warp's lanes have.
    pub warp_epoch: u32,
    /// The thread's number in its block.
    pub thread: u32,
    /// Whether it is atomic.
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

    /// Whether it comes before another access for sure.
    fn is_before(self, now: Record) -> bool {
        if self.block() != now.block() {
            return false;
        }
        if self.phase() != now.phase() {
            return true;
        }
        let same_warp = self.thread() / 32 == now.thread() / 32;
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
        let same_warp = self.thread() / 32 == now.thread() / 32 && self.who() != MANY;
        let who = if same_warp { OF_WARP } else { MANY };
        Record(now.0 | bytes | who << 6)
    }
}

/// The records of some memory.
#[derive(Debug)]
pub struct Shadow {
    base: usize,
    writers: Vec<AtomicU64>,
    readers: Vec<AtomicU64>,
    /// A bit for each byte that was written.
    written: Vec<AtomicU64>,
}

/// What is wrong with an access.
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
        let words = |count: usize| (0..count).map(|_| AtomicU64::new(0)).collect();
        Shadow {
            base,
            writers: words(bytes.div_ceil(WORD)),
            readers: words(bytes.div_ceil(WORD)),
            written: words(bytes.div_ceil(64)),
        }
    }

    /// Forgets who accessed what.
    pub fn forget(&self) {
        let all = self.writers.iter().chain(&self.readers);
        all.for_each(|record| record.store(0, Ordering::Relaxed));
    }

    /// Forgets that anything was written.
    pub fn poison(&self) {
        let all = self.written.iter();
        all.for_each(|bits| bits.store(0, Ordering::Relaxed));
    }

    /// Bytes were written, by nobody who could race.
    pub fn fill(&self, address: usize, bytes: usize) {
        self.mark(address, bytes, |bits, mask| {
            bits.fetch_or(mask, Ordering::Relaxed);
        });
    }

    /// What bytes hold is not there any more, or not yet.
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

    fn unwritten(&self, address: usize, bytes: usize) -> Option<usize> {
        let first = address - self.base;
        let mut all = first..first + bytes;
        let is_written = |at: usize| {
            let bits = self.written[at / 64].load(Ordering::Relaxed);
            bits >> (at % 64) & 1 != 0
        };
        all.find(|at| !is_written(*at))
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
        let mut found = self.unwritten(address, bytes).map(Conflict::Unwritten);
        for (word, mask) in self.words(address, bytes) {
            let now = Record::new(access, mask);
            let writer = Record(self.writers[word].load(Ordering::Relaxed));
            if conflicts(writer, now) {
                found = found.or(Some(Conflict::Write(writer.block(), writer.thread())));
            }
            let reader = Record(self.readers[word].load(Ordering::Relaxed));
            let both = reader.with_reader(now);
            self.readers[word].store(both.0, Ordering::Relaxed);
        }
        found
    }

    /// A thread writes.
    pub fn write(&self, address: usize, bytes: usize, access: Access) -> Option<Conflict> {
        let mut found = None;
        for (word, mask) in self.words(address, bytes) {
            let now = Record::new(access, mask);
            let writer = Record(self.writers[word].load(Ordering::Relaxed));
            let reader = Record(self.readers[word].load(Ordering::Relaxed));
            if conflicts(writer, now) {
                found = found.or(Some(Conflict::Write(writer.block(), writer.thread())));
            }
            if conflicts(reader, now) {
                found = found.or(Some(Conflict::Read(reader.block(), reader.thread())));
            }
            self.writers[word].store(now.0, Ordering::Relaxed);
        }
        self.fill(address, bytes);
        found
    }
}

/// Whether an earlier access of the same bytes may come at the same time.
fn conflicts(earlier: Record, now: Record) -> bool {
    earlier.is_there()
        && earlier.bytes() & now.bytes() != 0
        && !(earlier.is_atomic() && now.is_atomic())
        && !earlier.is_before(now)
}
