//! Every workload of the evaluation has kernels, at its sizes, and NVIDIA's assembler takes them.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use mdh_dialect::context;
use mdh_ptx::{parse, uniformity};

use mdh_bench::workloads::{self, Devices, Scale};
use mdh_compiler::cli::{CompileArguments, Stage};
use mdh_compiler::compile;
use mdh_compiler::diagnostics;
use mdh_compiler::ptx::{emit, undefined};
use mdh_compiler::source::Source;
use mdh_ptx::driver;
use mdh_schedule::asm::facts;
use mdh_simulator::{counters, launch, warp};

/// Checks: what runs kernels on a CPU is the machine that they are made for.
#[test]
fn the_simulator_and_the_interpreter_have_the_facts_of_the_machine() {
    assert_eq!(mdh_ptx::machine::LANES as i64, facts::WARP);
    assert_eq!(warp::LANES as i64, facts::WARP);
    assert_eq!(launch::MOST_THREADS, facts::BLOCK);
    assert_eq!(launch::MOST_SHARED as u64, facts::MOST_SHARED);
    assert_eq!(driver::MOST_THREADS, facts::BLOCK);
    assert_eq!(driver::SHARED, facts::SHARED);
    assert_eq!(driver::MOST_SHARED, facts::MOST_SHARED);
    let banks = [counters::BANKS, counters::WORD, counters::SECTOR];
    assert_eq!(
        banks.map(|n| n as i64),
        [facts::BANKS, facts::WORD, facts::SECTOR]
    );
}

/// The assembler: that of `MDH_PTXAS`, or the one that scripts/setup installs.
fn ptxas() -> PathBuf {
    if let Some(path) = std::env::var_os("MDH_PTXAS") {
        return path.into();
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../.venv/lib");
    let versions = std::fs::read_dir(&root).into_iter().flatten().flatten();
    let places = versions.map(|python| python.path().join("site-packages/nvidia/cu13/bin/ptxas"));
    let mut compiler = places.filter(|path| path.exists());
    compiler
        .next()
        .expect("ptxas is not there: 'scripts/setup test' installs it")
}

/// The names and the PTX of all workloads.
fn workloads(chip: &str) -> impl Iterator<Item = (String, String)> {
    let mut cases = workloads::all(Scale::Full).unwrap();
    cases.retain(|case| case.on != Devices::Cpus);
    let cases = cases.into_iter();
    cases.map(move |case| {
        let name = case.name();
        let text = text_of(chip, &name, &case.program().unwrap(), None);
        (name, text)
    })
}

/// The PTX of a program, or of one of its functions.
fn text_of(chip: &str, name: &str, program: &str, entry: Option<&str>) -> String {
    mdh_passes::register_all();
    let arguments = CompileArguments {
        chip: Some(chip.to_string()),
        ..CompileArguments::new("f.mlir".as_ref(), Stage::Ptx)
    };
    let source = Source::from_text(name, program);
    let context = context::program_context();
    diagnostics::show(&context, &source);
    let mut module = source.parse(&context).unwrap();
    if let Some(entry) = entry {
        compile::keep_only(&context, &module, entry);
    }
    compile::form(&context, &mut module).unwrap();
    let asm = mdh_machine::this().unwrap();
    let text = emit(&asm, &context, &mut module, &arguments);
    let text = String::from_utf8(text.unwrap_or_else(|e| panic!("{name}: {e}"))).unwrap();
    check_uniform(name, &text);
    text
}

/// Threads do together only what all of them come to, and the interpreter knows all instructions.
fn check_uniform(name: &str, text: &str) {
    let kernels = parse::parse(text).unwrap_or_else(|e| panic!("{name}: {e}\n{text}"));
    // Else it would not be known which threads are of one warp.
    let mut texts = kernels.kernels.values();
    assert!(texts.all(|kernel| kernel.shape.is_some()), "{name}: {text}");
    uniformity::check_module(&kernels).unwrap_or_else(|e| panic!("{name}: {e}\n{text}"));
}

/// Returns the assembler's account of each kernel: registers of a thread, bytes of shared memory of
/// a block. No thread has more memory of its own than this, where registers go for which there is
/// no room.
fn assembled(chip: &str, most: u64, texts: impl Iterator<Item = (String, String)>) -> String {
    let (ptxas, folder) = (ptxas(), tempfile::tempdir().unwrap());
    let (input, output) = (folder.path().join("k.ptx"), folder.path().join("k.cubin"));
    let mut table = String::new();
    for (name, text) in texts {
        std::fs::write(&input, &text).unwrap();
        let run = Command::new(&ptxas)
            .args(["-v", "-arch", chip, "-o"])
            .args([&output, &input])
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&run.stderr);
        assert!(run.status.success(), "{name}: {said}");
        let number = |line: &str, after: &str| -> Option<u64> {
            let (before, _) = line.split_once(after)?;
            before
                .rsplit(|c: char| !c.is_ascii_digit())
                .next()?
                .parse()
                .ok()
        };
        let lines = || said.lines();
        for what in [" bytes stack frame", " bytes spill stores"] {
            let numbers: Vec<u64> = lines().filter_map(|line| number(line, what)).collect();
            assert!(!numbers.is_empty(), "{name}: {said}");
            assert!(numbers.iter().all(|bytes| *bytes <= most), "{name}: {said}");
        }
        let used = lines().filter(|line| line.contains(" registers"));
        let used = used.map(|line| {
            let registers = number(line, " registers").unwrap_or(0);
            format!("{registers}/{}", number(line, " bytes smem").unwrap_or(0))
        });
        writeln!(table, "{name}: {}", used.collect::<Vec<_>>().join(" ")).unwrap();
    }
    table
}

#[test]
fn kernels_for_hopper() {
    // Registers of a thread / bytes of shared memory of a block, for each kernel.
    insta::assert_snapshot!(assembled("sm_90a", 0, workloads("sm_90a")));
}

#[test]
fn kernels_for_ampere() {
    assembled("sm_80", 0, workloads("sm_80"));
}

#[test]
fn kernels_for_blackwell() {
    // The assembler keeps one register of mcc's kernel in memory, though there are more.
    assembled("sm_100", 8, workloads("sm_100"));
}

#[test]
fn kernels_for_plain_hopper() {
    assembled("sm_90", 0, workloads("sm_90"));
}

/// Only half of a warp has rows of the result, but all of it computes the product.
#[test]
fn products_are_no_part_of_branches() {
    let program = include_str!("../../../test/Kernels/mma_partial.mlir");
    for chip in ["sm_80", "sm_90a", "sm_100"] {
        let text = text_of(chip, "partial", program, Some("partial"));
        assert!(text.contains("mma.sync"), "{text}");
    }
}

/// Three tiles of 32 x 20 and of 16 x 32 numbers, in registers as many results as without.
#[test]
fn tiles_are_copied_asynchronously() {
    let program = include_str!("../../../test/Kernels/stages.mlir");
    for chip in ["sm_80", "sm_90", "sm_100"] {
        let text = text_of(chip, "stages", program, Some("whole"));
        assert!(text.contains("cp.async.cg.shared.global"), "{text}");
        let table = assembled(chip, 0, [("whole".to_string(), text)].into_iter());
        assert!(
            table.ends_with(&format!("/{}\n", 3 * 4 * (32 * 20 + 16 * 32))),
            "{table}"
        );
    }
}

#[test]
fn functions_without_code_are_found() {
    let text = ".visible .entry f_0(\n.extern .func  (.param .b32 func_retval0) __nv_atan2f\n(";
    assert_eq!(undefined(text), Some("__nv_atan2f"));
    assert_eq!(undefined(".visible .func (.param .b32 r) g\n"), None);
}
