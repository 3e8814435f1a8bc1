//! Copies that a thread has begun and not waited for (`cp.async`): data arrives when it waits, not
//! before, which is as late as the hardware may be.

use std::collections::VecDeque;

use crate::thread::Site;

/// One copy of a few bytes from device memory to shared memory.
#[derive(Clone, Copy, Debug)]
pub struct Copy {
    /// Where to.
    pub target: usize,
    /// Where from.
    pub source: usize,
    /// So many bytes are written,
    pub bytes: usize,
    /// of which so many are read, and the others are zero.
    pub read: usize,
    /// Who asked for it.
    pub site: Site,
}

/// A thread's copies in the groups that it has committed.
#[derive(Debug, Default)]
pub struct Copies {
    open: Vec<Copy>,
    groups: VecDeque<Vec<Copy>>,
}

impl Copies {
    /// Begins one.
    pub fn begin(&mut self, copy: Copy) {
        self.open.push(copy);
    }

    /// Makes a group of those that were begun since the last one.
    pub fn commit(&mut self) {
        self.groups.push_back(std::mem::take(&mut self.open));
    }

    /// The copies that have to arrive now: of all but the last `left` groups.
    pub fn wait(&mut self, left: usize) -> Vec<Copy> {
        let arrived = self.groups.len().saturating_sub(left);
        self.groups.drain(..arrived).flatten().collect()
    }

    /// Those that nobody has waited for.
    pub fn left(&self) -> usize {
        self.open.len() + self.groups.iter().map(Vec::len).sum::<usize>()
    }
}
