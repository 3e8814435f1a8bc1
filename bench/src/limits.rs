//! Limits of the machine, measured with code of our own, and their consequences for a workload: no
//! run is faster than its operations at the rate of fused multiply-adds, nor than its bytes at the
//! bandwidth of the smallest memory that holds them all.

use std::collections::BTreeMap;

use mdh_machine::Caches;
use mdh_schedule::asm::Asm;
use serde::{Deserialize, Serialize};

use super::kernels::{self, Kernel};
use super::workloads::Bound;
use mdh_compiler::error::Result;

/// Rates of the whole machine, all cores at work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// Cores.
    pub cores: u64,
    /// Products and sums, by the type of what is multiplied.
    pub products: BTreeMap<String, Peak>,
    /// Memories, smallest first; the last one holds everything.
    pub memories: Vec<Memory>,
}

/// The rate of an instruction that multiplies and adds, or of two.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Peak {
    /// The instruction.
    pub name: String,
    /// Operations in a second; a product and a sum are two.
    pub rate: f64,
}

/// The bandwidths of a memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Memory {
    /// Its name.
    pub name: String,
    /// Bytes that it holds, of all cores together; `None` is enough for everything.
    pub holds: Option<u64>,
    /// Bytes read in a second.
    pub read: f64,
    /// Bytes read and written in a second, one for each other.
    pub copy: f64,
}

/// Bound of a workload.
#[derive(Clone, Debug, PartialEq)]
pub struct Limit {
    /// The limiting unit (`FMA`, `VNNI`), or memory.
    pub kind: String,
    /// No run takes less.
    pub ms: f64,
}

/// The work of one run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Work {
    /// Operations.
    pub flops: f64,
    /// Bytes of the inputs.
    pub read: f64,
    /// Bytes of the results.
    pub written: f64,
    /// Bytes of what is both, in one memory.
    pub updated: f64,
}

impl Limits {
    /// One line for people.
    pub fn text(&self) -> String {
        let flops = self.products.iter().map(|(ty, Peak { name, rate })| {
            let rate = rate / 1e9;
            match name.as_str() {
                "FMA" => format!("{ty} {rate:.0} GFLOP/s"),
                _ => format!("{ty} {rate:.0} Gop/s by {name}"),
            }
        });
        let memories = self.memories.iter().map(|memory| {
            let (read, copy) = (memory.read / 1e9, memory.copy / 1e9);
            let part = match memory.holds {
                Some(bytes) if memory.name == "L3" => format!(" ({} MiB)", bytes >> 20),
                _ => String::new(),
            };
            let name = &memory.name;
            format!("{name}{part} {read:.0} GB/s read, {copy:.0} copied")
        });
        let texts: Vec<String> = flops.chain(memories).collect();
        format!("limits of {} cores: {}", self.cores, texts.join("; "))
    }

    /// Returns the bound of a run on elements of that type: each buffer is read or written once.
    pub fn bound(&self, work: Work, dtype: &str, bound: Bound) -> Option<Limit> {
        let peak = self.peak(dtype).filter(|_| bound == Bound::Any);
        let compute = peak.map(|peak| Limit {
            kind: peak.name.clone(),
            ms: work.flops / peak.rate * 1e3,
        });
        let memory = self.memory(work);
        let largest = [compute, memory].into_iter().flatten();
        largest.max_by(|a, b| a.ms.total_cmp(&b.ms))
    }

    /// Returns the bound of a program that is no workload, with inputs of these types, of which a run takes so many
    /// milliseconds: by the type that the machine is the fastest with. Whoever is faster than the definition's
    /// operations allow does with fewer: then only the arrays count.
    pub fn bound_of_program<'t>(
        &self,
        work: Work,
        types: impl Iterator<Item = &'t str> + Clone,
        ms: f64,
    ) -> Option<Limit> {
        let least = |bound: Bound| {
            let types = types.clone();
            let bounds = types.filter_map(|ty| self.bound(work, ty, bound));
            bounds.min_by(|a, b| a.ms.total_cmp(&b.ms))
        };
        let any = least(Bound::Any)?;
        match any.ms > ms {
            true => least(Bound::Bytes),
            false => Some(any),
        }
    }

    /// The peak for a type: that of a wider one where the machine has nothing of its own for it.
    fn peak(&self, dtype: &str) -> Option<&Peak> {
        let wider = match dtype {
            "index" => "i64",
            other if other.starts_with('i') => "i32",
            _ => "f32",
        };
        let exact = self.products.get(dtype);
        exact.or_else(|| self.products.get(wider))
    }

    fn memory(&self, work: Work) -> Option<Limit> {
        let bytes = work.read + work.written - work.updated;
        let memory = self
            .memories
            .iter()
            .find(|m| m.holds.is_none_or(|holds| bytes <= holds as f64))?;
        // Bytes that are written go by the rate of a copy, with as many of those that are read.
        let paired = work.read.min(work.written);
        let seconds = (2.0 * paired + (work.written - paired)) / memory.copy
            + (work.read - paired) / memory.read;
        Some(Limit {
            kind: memory.name.clone(),
            ms: seconds * 1e3,
        })
    }
}

/// Bytes of a memory behind all caches that a bandwidth is measured on, at least: a result that
/// counts lines which are still in a cache would be too good.
const LARGE: u64 = 256 << 20;

/// Measures this machine.
pub fn measure(asm: &Asm) -> Result<Limits> {
    let caches = mdh_machine::caches();
    let cores = mdh_jit::pool::thread_count() as u64;
    let mut products = BTreeMap::new();
    for each in kernels::products() {
        let peak = Peak {
            name: each.name.to_string(),
            rate: kernels::flops(asm, &each, cores)?,
        };
        products.insert(each.factor.to_string(), peak);
    }
    let mut memories = Vec::new();
    for (name, holds, bytes) in sizes(&caches, cores) {
        let copy = match holds {
            Some(_) => Kernel::Copy,
            None => Kernel::Stream,
        };
        memories.push(Memory {
            name: name.to_string(),
            holds,
            read: kernels::bandwidth(asm, Kernel::Read, bytes, cores)?,
            copy: kernels::bandwidth(asm, copy, bytes, cores)?,
        });
    }
    Ok(Limits {
        cores,
        products,
        memories: at_best(memories),
    })
}

/// Memories, smallest first, each at least as fast as those that are larger: what a larger one can
/// do is possible for less, too.
fn at_best(mut memories: Vec<Memory>) -> Vec<Memory> {
    for at in (1..memories.len()).rev() {
        let (read, copy) = (memories[at].read, memories[at].copy);
        let smaller = &mut memories[at - 1];
        (smaller.read, smaller.copy) = (smaller.read.max(read), smaller.copy.max(copy));
    }
    memories
}

/// Memories: what they hold, and how many bytes are measured. A cache that all cores share is
/// measured in parts, each four times the one before: others may share it as well (a virtual
/// machine sees all of it), and the more of it one takes, the less there is.
fn sizes(caches: &Caches, cores: u64) -> Vec<(&'static str, Option<u64>, u64)> {
    let private = caches.l2.map(|bytes| bytes * cores);
    let l2 = private.map(|bytes| ("L2", Some(bytes), bytes / 2));
    let mut shared: Vec<u64> = caches.l3.into_iter().collect();
    while let (Some(least), Some(private)) = (shared.last(), private)
        && least / 4 >= 2 * private
    {
        shared.push(least / 4);
    }
    let parts = shared.iter().rev();
    let l3 = parts.map(|bytes| ("L3", Some(*bytes), bytes / 2));
    let largest = caches.l3.or(caches.l2).unwrap_or(0);
    let main = ("memory", None, LARGE.max(largest.saturating_mul(8)));
    l2.into_iter().chain(l3).chain([main]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits() -> Limits {
        let memory = |name: &str, holds, read, copy| Memory {
            name: name.to_string(),
            holds,
            read,
            copy,
        };
        let peak = |ty: &str, name: &str, rate| {
            let name = name.to_string();
            (ty.to_string(), Peak { name, rate })
        };
        Limits {
            cores: 2,
            products: BTreeMap::from([
                peak("f32", "FMA", 200e9),
                peak("f64", "FMA", 100e9),
                peak("i32", "i32 multiply-add", 50e9),
                peak("i64", "i64 multiply-add", 20e9),
                peak("i8", "VNNI", 800e9),
            ]),
            memories: vec![
                memory("L2", Some(1000), 400e9, 300e9),
                memory("memory", None, 40e9, 50e9),
            ],
        }
    }

    fn bound(flops: f64, read: f64, written: f64, dtype: &str) -> (String, f64) {
        let limit = limits()
            .bound(
                Work {
                    flops,
                    read,
                    written,
                    updated: 0.0,
                },
                dtype,
                Bound::Any,
            )
            .unwrap();
        (limit.kind, limit.ms)
    }

    #[test]
    fn the_slower_of_computing_and_moving_bounds() {
        assert_eq!(bound(2e9, 1e6, 0.0, "f32"), ("FMA".to_string(), 10.0));
        assert_eq!(bound(2e9, 1e6, 0.0, "f64"), ("FMA".to_string(), 20.0));
        assert_eq!(bound(1.0, 4e9, 0.0, "f32"), ("memory".to_string(), 100.0));
        // A copy of 1 GB, and 2 GB more that are read.
        assert_eq!(bound(1.0, 3e9, 1e9, "f32"), ("memory".to_string(), 90.0));
        assert_eq!(bound(1.0, 0.0, 1e9, "f32"), ("memory".to_string(), 20.0));
        let small = bound(1.0, 400.0, 400.0, "f32");
        assert_eq!(small.0, "L2");
        assert!((small.1 - 800.0 / 300e6).abs() < 1e-12);
    }

    #[test]
    fn each_type_has_what_multiplies_it() {
        let bound_of = |dtype| bound(2e9, 1e6, 0.0, dtype);
        assert_eq!(bound_of("i8"), ("VNNI".to_string(), 2.5));
        assert_eq!(bound_of("i32"), ("i32 multiply-add".to_string(), 40.0));
        assert_eq!(bound_of("index"), ("i64 multiply-add".to_string(), 100.0));
        // What the machine has nothing for is widened.
        assert_eq!(bound_of("i16"), ("i32 multiply-add".to_string(), 40.0));
        assert_eq!(bound_of("bf16"), ("FMA".to_string(), 10.0));
    }

    #[test]
    fn what_is_updated_is_held_once() {
        let work = |updated| Work {
            flops: 1.0,
            read: 600.0,
            written: 600.0,
            updated,
        };
        let kind = |work| limits().bound(work, "f64", Bound::Any).unwrap().kind;
        assert_eq!(kind(work(0.0)), "memory");
        assert_eq!(kind(work(600.0)), "L2");
    }

    #[test]
    fn bytes_alone_bound_what_needs_fewer_operations() {
        let work = Work {
            flops: 1e12,
            read: 4e9,
            written: 0.0,
            updated: 0.0,
        };
        let limit = limits().bound(work, "f32", Bound::Bytes).unwrap();
        assert_eq!((limit.kind.as_str(), limit.ms), ("memory", 100.0));
        assert_eq!(
            limits().bound(work, "bf16", Bound::Any).unwrap().kind,
            "FMA"
        );
    }
}
