//! A mapping as a launch: which dimensions of its mapped space are blocks, and which are threads.

use super::chain::Mapping;
use super::conditions::Conditions;
use super::device::{Device, axis_name};
use super::space::{SpaceKind, known};
use super::step::Back;
use crate::index::{Expr, Facts, Name};

/// A mapping to a device: the outer dimensions of its mapped space are blocks, the inner ones
/// threads, the last of each along x.
#[derive(Clone, Debug)]
pub struct Launch {
    mapping: Mapping,
    threads: usize,
    device: Device,
    conditions: Vec<Expr>,
}

/// Treatment of indices that are discarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Discard {
    /// The thread ends at the first condition that fails.
    Branching,
    /// All conditions are one predicate, which guards what the thread writes.
    Branchless,
}

/// Presence of a barrier of the threads of a block after the index is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Barrier {
    /// There is one: no thread may have left.
    Follows,
    /// There is none.
    None,
}

impl Discard {
    /// Threads that meet must all be there; all others leave as early as they can.
    pub fn with(barrier: Barrier) -> Discard {
        match barrier {
            Barrier::Follows => Discard::Branchless,
            Barrier::None => Discard::Branching,
        }
    }
}

impl Launch {
    /// With the last `threads` dimensions of the mapped space for the threads of a block.
    ///
    /// # Errors
    /// If the mapped space is not dense, or a limit of the device is broken, by the limit's name
    /// and with both numbers. What is not proved is a condition.
    pub fn new(mapping: Mapping, threads: usize, device: &Device) -> Result<Launch, String> {
        let mapped = mapping.mapped();
        if mapped.kind(mapping.facts()) != SpaceKind::Dense {
            return Err(format!(
                "found the mapped space {mapped}, expected a dense one (shift_lb, then \
                 compress_grid or prune_grid makes it one)"
            ));
        }
        let rank = mapped.rank();
        if threads > rank {
            return Err(format!(
                "found {threads} dimensions of threads, expected at most the {rank} of {mapped}"
            ));
        }
        let sizes = mapped.sizes();
        let mut conditions = Conditions {
            facts: mapping.facts(),
            open: mapping.conditions().to_vec(),
        };
        let (blocks, block) = sizes.split_at(rank - threads);
        extents("blocks", blocks, &device.grid, device, &mut conditions)?;
        extents("threads", block, &device.block, device, &mut conditions)?;
        let product = Expr::product(block);
        if !within(&product, device.threads, &mut conditions) {
            return Err(format!(
                "threads per block: found {product}, expected at most {} on '{}'",
                device.threads, device.name
            ));
        }
        let conditions = conditions.open;
        let device = device.clone();
        Ok(Launch {
            mapping,
            threads,
            device,
            conditions,
        })
    }

    /// The mapping.
    pub fn mapping(&self) -> &Mapping {
        &self.mapping
    }

    /// The device.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Returns the conditions that must hold at the launch, and are not proved.
    pub fn conditions(&self) -> &[Expr] {
        &self.conditions
    }

    fn parts(&self) -> (Vec<Expr>, Vec<Expr>) {
        let mut blocks = self.mapping.mapped().sizes();
        let threads = blocks.split_off(blocks.len() - self.threads);
        (blocks, threads)
    }

    /// Returns the numbers of blocks along x, y, .. No block at all is launched if one of them is
    /// 0.
    pub fn blocks(&self) -> Vec<Expr> {
        self.parts().0.into_iter().rev().collect()
    }

    /// Returns the numbers of a block's threads along x, y, ..
    pub fn block(&self) -> Vec<Expr> {
        self.parts().1.into_iter().rev().collect()
    }

    /// All threads.
    pub fn launched(&self) -> Expr {
        let total = Expr::product(&self.mapping.mapped().sizes());
        known(self.mapping.facts(), total)
    }

    /// The threads that are discarded.
    pub fn wasted(&self) -> Expr {
        let facts = self.mapping.facts();
        let points = self.mapping.original().count(facts);
        known(facts, self.launched() - points)
    }

    /// Names for a block's and a thread's place, in the order of the mapped space's dimensions:
    /// `block_y`, `block_x`, `thread_x`.
    pub fn names(&self) -> Vec<Name> {
        let (blocks, threads) = self.parts();
        let named_axes = |what: &'static str, n: usize| {
            let axes = (0..n).rev().map(axis_name);
            axes.map(move |axis| format!("{what}_{axis}"))
        };
        let mut names = Vec::new();
        for mut name in named_axes("block", blocks.len()).chain(named_axes("thread", threads.len()))
        {
            while self.mapping.facts().knows(&name) {
                name.push('_');
            }
            names.push(Name::from(name));
        }
        names
    }

    /// Returns the index that a thread of a block stands for, in these names.
    pub fn back(&self) -> Back {
        let index: Vec<Expr> = self.names().iter().map(|n| Expr::symbol(n)).collect();
        self.mapping.back(&index)
    }

    /// Returns the facts about these names.
    pub fn facts(&self) -> Facts {
        self.mapping.facts_of_index(&self.names())
    }
}

fn within(size: &Expr, limit: u64, conditions: &mut Conditions) -> bool {
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    conditions.hold(size.le(limit))
}

fn extents(
    what: &str,
    sizes: &[Expr],
    limits: &[u64],
    device: &Device,
    conditions: &mut Conditions,
) -> Result<(), String> {
    let name = &device.name;
    if sizes.len() > limits.len() {
        return Err(format!(
            "dimensions of {what}: found {}, expected at most {} on '{name}' (fold_last2 makes \
             one of two)",
            sizes.len(),
            limits.len()
        ));
    }
    for (n, (size, limit)) in sizes.iter().rev().zip(limits).enumerate() {
        if !within(size, *limit, conditions) {
            let axis = axis_name(n);
            return Err(format!(
                "{what} along {axis}: found {size}, expected at most {limit} on '{name}'"
            ));
        }
    }
    Ok(())
}
