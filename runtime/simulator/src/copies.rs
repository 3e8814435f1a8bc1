//! Copies that a thread has begun and not waited for (`cp.async`): data arrives when it waits, not
//! before, which is as late as the hardware may be.

use std::collections::{BTreeMap, VecDeque};

use crate::site::Site;

/// One copy of a few bytes from device memory to shared memory.
#[derive(Clone, Copy, Debug)]
pub struct Copy {
    /// Target address.
    pub target: usize,
    /// Source address.
    pub source: usize,
    /// So many bytes are written,
    pub bytes: usize,
    /// of which so many are read, and the others are zero.
    pub read: usize,
    /// Location of the code that asked for it.
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

    /// Those that nobody has waited for, by the place that asked for them, and how many there are.
    pub fn left(&self) -> BTreeMap<Site, usize> {
        let mut left = BTreeMap::new();
        for copy in self.groups.iter().flatten().chain(&self.open) {
            *left.entry(copy.site).or_default() += 1;
        }
        left
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn copy(target: usize) -> Copy {
        Copy {
            target,
            source: 0,
            bytes: 4,
            read: 4,
            site: Site(std::ptr::null()),
        }
    }

    #[test]
    fn the_last_groups_may_stay() {
        let mut copies = Copies::default();
        for group in 0..4 {
            (0..group).for_each(|n| copies.begin(copy(10 * group + n)));
            copies.commit();
        }
        copies.begin(copy(40));
        let mut targets = |left| -> Vec<usize> {
            let arrived = copies.wait(left).into_iter();
            arrived.map(|copy| copy.target).collect()
        };
        assert_eq!(targets(4), []);
        // Group 0 has no copies, but counts.
        assert_eq!(targets(2), [10]);
        assert_eq!(targets(2), []);
        assert_eq!(targets(0), [20, 21, 30, 31, 32]);
        // No group has the last one.
        assert_eq!(copies.left().into_values().sum::<usize>(), 1);
    }
}
