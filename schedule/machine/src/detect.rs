//! Facts of the machine that this process runs on, from the processor and from Linux.

use std::path::Path;

use mdh_schedule::asm::{Asm, AsmLayer, CpuFacts, LANES};

/// Folder in which Linux describes the caches of the first core.
const CACHES: &str = "/sys/devices/system/cpu/cpu0/cache";

/// The ASM `cpu` with the facts of this processor. What it does not tell is left out, and then not
/// checked; without a word of an L3 cache there is none. It has as many cores as parallel loops have threads
/// (`MDH_THREADS`).
pub fn detect() -> Asm {
    let cores = mdhrt::pool::thread_count() as u64;
    let caches = caches();
    let (vector, registers) = vectors();
    let mut asm = cpu(cores, &caches, vector, registers);
    for layer in &mut asm.layers {
        if let AsmLayer::Core(simd) = layer
            && simd.name == LANES
        {
            simd.features = features();
        }
    }
    asm
}

/// A machine of which no more is known than that code of packages runs on it.
pub fn baseline() -> Asm {
    let (vector, registers) = match cfg!(target_arch = "x86_64") {
        true => (32, 16),
        false => (16, 32),
    };
    cpu(1, &Caches::default(), vector, registers)
}

/// The caches of this machine.
pub fn caches() -> Caches {
    Caches::read(Path::new(CACHES))
}

/// Bytes of a vector register.
pub fn vector_bytes() -> u64 {
    vectors().0
}

fn cpu(cores: u64, caches: &Caches, vector: u64, registers: u64) -> Asm {
    let mut asm = Asm::cpu(&CpuFacts {
        main: None,
        l3: caches.l3,
        l2: caches.l2.unwrap_or(0),
        l1: caches.l1.unwrap_or(0),
        cores,
        registers,
        vector,
        features: vec![],
    });
    for layer in &mut asm.layers {
        if let AsmLayer::Memory(memory) = layer {
            memory.capacity = memory.capacity.filter(|bytes| *bytes > 0);
        }
    }
    asm
}

/// Bytes of the caches for data, each as its cores see it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Caches {
    /// The first level.
    pub l1: Option<u64>,
    /// The second one.
    pub l2: Option<u64>,
    /// The third one, which cores share.
    pub l3: Option<u64>,
}

impl Caches {
    /// Reads the description of a core's caches: a folder `index0`, `index1`, .. for each, with
    /// the files `level`, `type` and `size`. What is not there or not understood is unknown.
    fn read(folder: &Path) -> Caches {
        let mut caches = Caches::default();
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        for cache in entries {
            let line = |name: &str| std::fs::read_to_string(cache.path().join(name)).ok();
            let (Some(level), Some(kind), Some(size)) = (line("level"), line("type"), line("size"))
            else {
                continue;
            };
            if kind.trim() == "Instruction" {
                continue;
            }
            let slot = match level.trim() {
                "1" => &mut caches.l1,
                "2" => &mut caches.l2,
                "3" => &mut caches.l3,
                _ => continue,
            };
            *slot = bytes(size.trim()).filter(|bytes| *bytes > 0);
        }
        caches
    }
}

/// A size as Linux writes it: `48K`, `2M`.
fn bytes(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let shift = match &text[digits.len()..] {
        "" => 0,
        "K" => 10,
        "M" => 20,
        "G" => 30,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(1 << shift)
}

/// Bytes of a vector register, and how many there are.
#[cfg(target_arch = "x86_64")]
fn vectors() -> (u64, u64) {
    if std::arch::is_x86_feature_detected!("avx512f") {
        (64, 32)
    } else if std::arch::is_x86_feature_detected!("avx") {
        (32, 16)
    } else {
        (16, 16)
    }
}

/// The instructions for sums of products that this machine has.
fn features() -> Vec<String> {
    let extensions = [("i8", "avx512_vnni"), ("bf16", "avx512_bf16")];
    let there = extensions
        .into_iter()
        .filter(|(dtype, _)| has_dot_products(dtype));
    there.map(|(_, name)| name.to_string()).collect()
}

/// Returns whether the machine adds several products of that type to a sum at once, on its widest vectors,
/// and gains by it. Intel's cores begin such an instruction for bf16 every other cycle, and so do
/// less in all than with multiply-adds of f32.
#[cfg(target_arch = "x86_64")]
pub fn has_dot_products(dtype: &str) -> bool {
    let is_there = match dtype {
        "i8" => std::arch::is_x86_feature_detected!("avx512vnni"),
        "bf16" => std::arch::is_x86_feature_detected!("avx512bf16") && vendor() != *b"GenuineIntel",
        _ => false,
    };
    is_there && std::arch::is_x86_feature_detected!("avx512vl")
}

/// Vendor of the processor, as it says itself.
#[cfg(target_arch = "x86_64")]
fn vendor() -> [u8; 12] {
    let words = std::arch::x86_64::__cpuid(0);
    let bytes = [words.ebx, words.edx, words.ecx].map(u32::to_le_bytes);
    let mut name = [0; 12];
    name.copy_from_slice(bytes.as_flattened());
    name
}

/// Nothing that is known.
#[cfg(not(target_arch = "x86_64"))]
pub fn has_dot_products(_: &str) -> bool {
    false
}

/// Bytes of a vector register, and how many there are: those of Neon, which every AArch64 has,
/// and elsewhere the scalar registers of 64 bits.
#[cfg(not(target_arch = "x86_64"))]
fn vectors() -> (u64, u64) {
    match cfg!(target_arch = "aarch64") {
        true => (16, 32),
        false => (8, 32),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(caches: &[[&str; 3]]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (n, texts) in caches.iter().enumerate() {
            let cache = folder.path().join(format!("index{n}"));
            std::fs::create_dir(&cache).unwrap();
            for (name, text) in ["level", "type", "size"].iter().zip(texts) {
                std::fs::write(cache.join(name), format!("{text}\n")).unwrap();
            }
        }
        folder
    }

    #[test]
    fn caches_for_data() {
        let tree = folder(&[
            ["1", "Data", "48K"],
            ["1", "Instruction", "32K"],
            ["2", "Unified", "2M"],
            ["3", "Unified", "107520K"],
            ["4", "Unified", "1G"],
        ]);
        let expected = Caches {
            l1: Some(48 << 10),
            l2: Some(2 << 20),
            l3: Some(105 << 20),
        };
        assert_eq!(Caches::read(tree.path()), expected);
    }

    #[test]
    fn caches_that_are_not_described() {
        let odd = folder(&[
            ["1", "Data", "many"],
            ["2", "Unified", "0K"],
            ["3", "Unified", "18446744073709551615G"],
        ]);
        std::fs::remove_file(odd.path().join("index2/type")).unwrap();
        assert_eq!(Caches::read(odd.path()), Caches::default());
        let nowhere = odd.path().join("nowhere");
        assert_eq!(Caches::read(&nowhere), Caches::default());
        // No capacity is written rather than one of nothing.
        let asm = cpu(4, &Caches::default(), 32, 16);
        assert_eq!(asm.check(), [""; 0]);
        assert_eq!(asm.memory("L1").unwrap().capacity, None);
        assert_eq!(asm.memory("L3"), None);
        assert_eq!(asm.memory("register").unwrap().capacity, Some(512));
    }

    #[test]
    fn sizes() {
        let overflow = format!("{}K", u64::MAX);
        for (text, expected) in [
            ("64", Some(64)),
            ("32K", Some(32768)),
            ("1G", Some(1 << 30)),
            ("K", None),
            ("", None),
            ("3T", None),
            ("-1K", None),
            (overflow.as_str(), None),
        ] {
            assert_eq!(bytes(text), expected, "{text}");
        }
    }

    #[test]
    fn this_machine_is_well_formed() {
        assert_eq!(detect().check(), [""; 0]);
    }
}
