//! Copies from the device's memory to shared memory that a thread does not wait for
//! (`cp.async`, PTX ISA 9.7.9.25). What was at the target is gone when a copy begins, and what it
//! writes is there when the thread has waited: as early and as late as a device may be.

use std::collections::VecDeque;

use crate::arithmetic::low;
use crate::instruction::Way;

/// Contents of shared memory where a copy has not arrived.
const NOTHING: u8 = 0xcd;

/// One copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Copy {
    /// The first byte of shared memory.
    pub target: usize,
    /// The address of the first byte of the device's memory.
    pub source: usize,
    /// So many bytes are written,
    pub bytes: usize,
    /// of which so many are read, and the others are zero.
    pub read: usize,
}

impl Copy {
    /// The copy of `cp.async [target], [source], bytes, read`: of 4, 8 or 16 bytes, and past the first
    /// cache of 16 only. All of them are read if nothing is said.
    pub fn new(operands: &[u64], way: Way) -> Option<Copy> {
        let (target, source, bytes) = match operands {
            [target, source, bytes] | [target, source, bytes, _] => (*target, *source, *bytes),
            _ => return None,
        };
        let read = operands.get(3).map_or(bytes, |read| low(*read, 32));
        let is_known = match way {
            Way::AllLevels => matches!(bytes, 4 | 8 | 16),
            Way::Global => bytes == 16,
        };
        (is_known && read <= bytes).then_some(Copy {
            target: target as usize,
            source: source as usize,
            bytes: bytes as usize,
            read: read as usize,
        })
    }

    /// Rule: what the target has held is not there any more.
    pub fn begin(&self, shared: &mut [u8]) {
        shared[self.target..][..self.bytes].fill(NOTHING);
    }

    /// Rule: what is copied is there now.
    ///
    /// # Safety
    /// The device's memory has the bytes that are read.
    pub unsafe fn end(&self, shared: &mut [u8]) {
        let (read, rest) = shared[self.target..][..self.bytes].split_at_mut(self.read);
        if self.read > 0 {
            // SAFETY: the caller's promise; shared memory is none of the device's.
            let source = unsafe { std::slice::from_raw_parts(self.source as *const u8, self.read) };
            read.copy_from_slice(source);
        }
        rest.fill(0);
    }
}

/// A thread's copies, in the groups that it has committed.
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

    /// Takes the copies that have to arrive now: of all but the last `left` groups.
    pub fn wait(&mut self, left: usize) -> Vec<Copy> {
        let arrived = self.groups.len().saturating_sub(left);
        self.groups.drain(..arrived).flatten().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_have_few_sizes() {
        let read = |operands: &[u64], way| Copy::new(operands, way).map(|copy| copy.read);
        assert_eq!(read(&[0, 64, 4], Way::AllLevels), Some(4));
        assert_eq!(read(&[0, 64, 16, 0], Way::Global), Some(0));
        assert_eq!(read(&[0, 64, 8], Way::Global), None);
        assert_eq!(read(&[0, 64, 12], Way::AllLevels), None);
        assert_eq!(read(&[0, 64, 8, 9], Way::AllLevels), None);
        assert_eq!(read(&[0, 64], Way::AllLevels), None);
    }

    #[test]
    fn copies_arrive_in_groups() {
        let (source, mut shared) = ([1u8, 2, 3, 4, 5, 6, 7, 8], [9; 16]);
        let mut copies = Copies::default();
        for (target, read) in [(0, 4), (4, 3), (8, 0)] {
            let copy = Copy {
                target,
                source: source.as_ptr() as usize + target % 8,
                bytes: 4,
                read,
            };
            copy.begin(&mut shared);
            copies.begin(copy);
            copies.commit();
        }
        assert_eq!(shared[..12], [NOTHING; 12]);
        assert_eq!(shared[12..], [9; 4]);
        let mut wait = |left| {
            let arrived = copies.wait(left);
            // SAFETY: the source has eight bytes.
            arrived
                .iter()
                .for_each(|copy| unsafe { copy.end(&mut shared) });
            shared
        };
        assert_eq!(wait(2)[..8], [1, 2, 3, 4, 0xcd, 0xcd, 0xcd, 0xcd]);
        assert_eq!(wait(0)[..12], [1, 2, 3, 4, 5, 6, 7, 0, 0, 0, 0, 0]);
    }
}
