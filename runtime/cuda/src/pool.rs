//! Memory of a device, kept for the next allocation.

use std::collections::BTreeMap;

/// A device's allocator of memory.
pub trait Source {
    /// Reason for which there is none.
    type Error;

    /// The address of new memory.
    fn take(&mut self, bytes: usize) -> Result<u64, Self::Error>;

    /// Gives memory back.
    fn give(&mut self, address: u64);

    /// Returns whether there was not enough memory.
    fn is_short(error: &Self::Error) -> bool;
}

/// Sizes are multiples of this.
const GRAIN: usize = 512;

/// Memory that is in use, and memory that was.
#[derive(Debug, Default)]
pub struct Pool {
    /// Address to bytes.
    used: BTreeMap<u64, usize>,
    /// Bytes to addresses, the one freed last at the end.
    free: BTreeMap<usize, Vec<u64>>,
}

impl Pool {
    /// Memory of at least so many bytes: what was freed, if it is at most twice as large, else new.
    /// If there is no new one, all that is unused is freed first.
    pub fn allocate<S: Source>(&mut self, source: &mut S, bytes: usize) -> Result<u64, S::Error> {
        let size = bytes.max(1).next_multiple_of(GRAIN);
        let fitting = self.free.range(size..=2 * size).next();
        if let Some(size) = fitting.map(|(size, _)| *size)
            && let Some(all) = self.free.get_mut(&size)
            && let Some(address) = all.pop()
        {
            if all.is_empty() {
                self.free.remove(&size);
            }
            self.used.insert(address, size);
            return Ok(address);
        }
        let address = match source.take(size) {
            Err(error) if S::is_short(&error) && !self.free.is_empty() => {
                self.trim(source);
                source.take(size)?
            }
            other => other?,
        };
        self.used.insert(address, size);
        Ok(address)
    }

    /// Keeps memory for later; whether it was in use.
    pub fn release(&mut self, address: u64) -> bool {
        match self.used.remove(&address) {
            None => false,
            Some(size) => {
                self.free.entry(size).or_default().push(address);
                true
            }
        }
    }

    /// Returns the number of bytes from an address on, if it is in memory that is in use.
    pub fn after(&self, address: u64) -> Option<usize> {
        let (base, size) = self.used.range(..=address).next_back()?;
        let offset = (address - base) as usize;
        (offset < *size).then(|| size - offset)
    }

    /// Returns the number of bytes in use.
    pub fn in_use(&self) -> usize {
        self.used.values().sum()
    }

    /// Frees what is not in use.
    pub fn trim<S: Source>(&mut self, source: &mut S) {
        let free = std::mem::take(&mut self.free);
        free.into_values().flatten().for_each(|a| source.give(a));
    }

    /// Gives everything back.
    pub fn clear<S: Source>(&mut self, source: &mut S) {
        self.trim(source);
        let used = std::mem::take(&mut self.used);
        used.into_keys().for_each(|address| source.give(address));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A device of so many bytes.
    struct Memory {
        left: usize,
        given: BTreeMap<u64, usize>,
        next: u64,
    }

    impl Source for Memory {
        type Error = ();

        fn take(&mut self, bytes: usize) -> Result<u64, ()> {
            self.left = self.left.checked_sub(bytes).ok_or(())?;
            self.next += 1 << 20;
            self.given.insert(self.next, bytes);
            Ok(self.next)
        }

        fn give(&mut self, address: u64) {
            self.left += self.given.remove(&address).expect("it was taken");
        }

        fn is_short((): &()) -> bool {
            true
        }
    }

    fn memory(left: usize) -> Memory {
        let given = BTreeMap::new();
        Memory {
            left,
            given,
            next: 0,
        }
    }

    #[test]
    fn what_was_freed_is_used_again() {
        let (mut pool, mut memory) = (Pool::default(), memory(1 << 20));
        let first = pool.allocate(&mut memory, 1000).unwrap();
        assert!(pool.release(first) && !pool.release(first));
        assert_eq!(pool.allocate(&mut memory, 600), Ok(first));
        assert_ne!(pool.allocate(&mut memory, 600), Ok(first));
        let large = pool.allocate(&mut memory, 1 << 16).unwrap();
        assert!(pool.release(large));
        assert_ne!(pool.allocate(&mut memory, 1000), Ok(large));
    }

    #[test]
    fn what_is_unused_is_freed_when_memory_is_short() {
        let (mut pool, mut memory) = (Pool::default(), memory(4096));
        let addresses: Vec<u64> = (0..4)
            .map(|_| pool.allocate(&mut memory, 1024).unwrap())
            .collect();
        assert_eq!(pool.allocate(&mut memory, 1), Err(()));
        addresses[..3].iter().for_each(|address| {
            pool.release(*address);
        });
        assert!(pool.allocate(&mut memory, 3072).is_ok());
        assert_eq!(pool.allocate(&mut memory, 1), Err(()));
        pool.clear(&mut memory);
        assert_eq!((memory.left, pool.in_use()), (4096, 0));
    }

    #[test]
    fn addresses_in_the_midst_are_known() {
        let (mut pool, mut memory) = (Pool::default(), memory(4096));
        let base = pool.allocate(&mut memory, 1000).unwrap();
        assert_eq!(pool.after(base + 24), Some(1000));
        assert_eq!(
            (pool.after(base - 1), pool.after(base + 1024)),
            (None, None)
        );
    }
}
