//! A block's copies in flight (`cp.async`), by the memory they read and write.
//!
//! Until its thread has waited for it, a copy may read its source and write its target at any
//! time: nobody may write the one, or read or write the other, not even the thread itself.

use std::collections::BTreeMap;

use crate::block::{Block, Use};
use crate::copies::Copy;
use crate::counters::Space;
use crate::report::FindingKind;
use crate::shadow::Shadow;
use crate::site::Site;
use crate::thread::Thread;

/// The most bytes of one copy.
pub const MOST_BYTES: usize = 16;

/// A copy under way: its thread and its location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flight {
    /// The thread's number in its block.
    pub thread: u32,
    /// The place in the program.
    pub site: Site,
    bytes: usize,
}

/// All copies of a block that nobody has waited for yet.
#[derive(Debug, Default)]
pub struct Flights {
    /// By the first byte that is written.
    targets: BTreeMap<usize, Flight>,
    /// By the first bytes that are read and written.
    sources: BTreeMap<(usize, usize), Flight>,
}

impl Flights {
    /// A thread begins one.
    pub fn begin(&mut self, thread: u32, copy: &Copy) {
        let flight = |bytes| Flight {
            thread,
            site: copy.site,
            bytes,
        };
        self.targets.insert(copy.target, flight(copy.bytes));
        if copy.read > 0 {
            let from = (copy.source, copy.target);
            self.sources.insert(from, flight(copy.read));
        }
    }

    /// It has arrived.
    pub fn end(&mut self, thread: u32, copy: &Copy) {
        let is_of_thread =
            |flight: Option<&Flight>| flight.is_some_and(|flight| flight.thread == thread);
        if is_of_thread(self.targets.get(&copy.target)) {
            self.targets.remove(&copy.target);
        }
        let from = (copy.source, copy.target);
        if is_of_thread(self.sources.get(&from)) {
            self.sources.remove(&from);
        }
    }

    /// The copy that an access meets and must not: of what it writes, or, if the access writes, of
    /// what it reads.
    pub fn conflict(
        &self,
        how: Use,
        space: Space,
        (address, bytes): (usize, usize),
        shadow: &Shadow,
    ) -> Option<Flight> {
        if self.targets.is_empty() {
            return None;
        }
        match (space, how) {
            (Space::Shared, Use::Read) if shadow.has(address, bytes) => None,
            (Space::Shared, _) => self.writes(address, bytes),
            (Space::Device, Use::Read) => None,
            (Space::Device, _) => self.reads(address, bytes),
        }
    }

    /// A copy that writes one of these bytes.
    pub fn writes(&self, address: usize, bytes: usize) -> Option<Flight> {
        let near = address.saturating_sub(MOST_BYTES)..address + bytes;
        let mut targets = self.targets.range(near);
        let hit = targets.find(|(target, flight)| **target + flight.bytes > address);
        hit.map(|(_, flight)| *flight)
    }

    /// A copy that reads one of these bytes.
    pub fn reads(&self, address: usize, bytes: usize) -> Option<Flight> {
        let near = (address.saturating_sub(MOST_BYTES), 0)..(address + bytes, 0);
        let mut sources = self.sources.range(near);
        let hit = sources.find(|((source, _), flight)| source + flight.bytes > address);
        hit.map(|(_, flight)| *flight)
    }
}

impl Block<'_> {
    /// An access to what a copy in flight reads or writes.
    pub(crate) fn meets(
        &mut self,
        thread: &Thread,
        (how, space, bytes): (Use, Space, usize),
        site: Site,
        flight: Flight,
    ) {
        let kind = match how {
            Use::Read => FindingKind::Unwritten,
            _ => FindingKind::Race,
        };
        let what = match space {
            Space::Shared => "shared memory, which a copy has not written yet",
            Space::Device => "device memory, which a copy may still read",
        };
        self.report.add(kind, (site, Some(flight.site)), || {
            let (name, verb) = (thread.name(), how.verb());
            let by = flight.thread;
            format!("{name} {verb} {bytes} bytes of {what}: thread {by} has to wait for it first")
        });
    }

    /// A thread begins a copy: it may read and write from now on, and what it writes is not there.
    pub fn begin_copy(&mut self, thread: &Thread, copy: &Copy) {
        let (source, target) = (copy.source, copy.target);
        if !target.is_multiple_of(copy.bytes) || !source.is_multiple_of(copy.bytes) {
            self.report
                .add(FindingKind::Alignment, (copy.site, None), || {
                    let (name, bytes) = (thread.name(), copy.bytes);
                    format!(
                        "{name} copies {bytes} bytes: expected addresses that are multiples of that"
                    )
                });
        }
        if copy.read > 0 {
            self.access(thread, Use::Read, (source, copy.read), copy.site);
        }
        self.access(thread, Use::Write, (target, copy.bytes), copy.site);
        if self.is_shared(target, copy.bytes) {
            self.shadow.clear(target, copy.bytes);
        }
        self.flights.begin(thread.number, copy);
    }

    /// A copy has been waited for: its last read and write are over now. Who came between is found
    /// at that access.
    pub fn end_copy(&mut self, thread: &Thread, copy: &Copy) {
        self.flights.end(thread.number, copy);
        if copy.read > 0
            && let Some(buffer) = self.buffer(copy.source)
        {
            let read = self.now(thread, Use::Read);
            let _ = buffer.shadow.read(copy.source, copy.read, read);
        }
        if self.is_shared(copy.target, copy.bytes) {
            let write = self.now(thread, Use::Write);
            let _ = self.shadow.write(copy.target, copy.bytes, write);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn copy(target: usize, source: usize, read: usize) -> Copy {
        Copy {
            target,
            source,
            bytes: 16,
            read,
            site: Site(std::ptr::null()),
        }
    }

    #[test]
    fn zeros_are_read_nowhere() {
        let mut flights = Flights::default();
        flights.begin(1, &copy(1600, 3200, 0));
        assert_eq!(flights.reads(3196, 8), None);
        assert!(flights.writes(1596, 8).is_some());
    }

    #[test]
    fn copies_are_found_by_each_of_their_bytes() {
        let mut flights = Flights::default();
        flights.begin(1, &copy(1600, 3200, 8));
        let thread = |found: Option<Flight>| found.map(|flight| flight.thread);
        for byte in 0..40 {
            let (target, source) = (1590 + byte, 3190 + byte);
            let is_target = (1600..1616).contains(&target);
            let is_source = (3200..3208).contains(&source);
            assert_eq!(thread(flights.writes(target, 1)), is_target.then_some(1));
            assert_eq!(thread(flights.reads(source, 1)), is_source.then_some(1));
        }
        assert_eq!(thread(flights.writes(1596, 8)), Some(1));
        flights.end(2, &copy(1600, 3200, 8));
        assert_eq!(thread(flights.writes(1600, 4)), Some(1));
        flights.end(1, &copy(1600, 3200, 8));
        assert_eq!(thread(flights.writes(1600, 4)), None);
        assert_eq!(thread(flights.reads(3200, 4)), None);
    }
}
