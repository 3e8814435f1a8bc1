//! Contents of the innermost loops of all workloads of the evaluation, at their sizes: machine code
//! for a few kinds of processors, whatever this one is. A time is no test's condition; loads that
//! became single bytes, or sums that left their registers, are seen here.

use std::collections::BTreeMap;
use std::fmt::{self, Write};

use mdh_dialect::context;
use mdh_jit::{Emit, Level, Processor};
use mdh_machine::Caches;
use mdh_passes::pipelines::Target;
use mdh_schedule::asm::{Asm, CpuFacts};

use mdh_bench::workloads::{self, Case, Devices, Scale};
use mdh_compiler::compile::{line, operation, run_all, to_llvm};
use mdh_compiler::diagnostics;
use mdh_compiler::source::Source;

/// The instructions of a loop, by kind.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Loop {
    /// Multiply-adds of vectors, and dot products of their lanes' groups.
    multiply_adds: usize,
    /// Other operations on vectors.
    vectors: usize,
    /// Vector instructions that have an operand in memory, other than of one element for all lanes.
    loads: usize,
    /// Those with such an element.
    broadcasts: usize,
    /// Vectors that are stored.
    stores: usize,
    /// Lanes that change places, are put in or taken out.
    shuffles: usize,
    /// Vectors whose lanes are accessed one by one.
    gathers: usize,
    /// Floating-point operations on single numbers.
    scalars: usize,
    /// Accesses to the stack.
    spills: usize,
    /// Everything else: indices, jumps, integers.
    others: usize,
}

/// An instruction on vectors, in AT&T syntax.
struct VectorInstruction<'l> {
    name: &'l str,
    operands: String,
}

impl VectorInstruction<'_> {
    fn starts(&self, with: &[&str]) -> bool {
        with.iter().any(|with| self.name.starts_with(with))
    }

    /// Returns whether an operand is in memory.
    fn is_in_memory(&self) -> bool {
        self.operands.contains('(')
    }

    /// Returns whether memory is written: what is written comes last.
    fn is_stored(&self) -> bool {
        let written = self.operands.rsplit(", ").next().unwrap_or_default();
        self.operands.ends_with(')') || self.operands.ends_with('}') && written.contains('(')
    }

    /// Returns whether one element in memory is that of all lanes.
    fn is_broadcast(&self) -> bool {
        self.operands.contains("{1to") || self.starts(&["vbroadcast", "vpbroadcast"])
    }

    /// Returns whether it is on single numbers.
    fn is_single(&self) -> bool {
        let is_scalar = self.name.ends_with("ss") || self.name.ends_with("sd");
        is_scalar && !self.starts(&["vpdp"])
    }
}

impl Loop {
    fn new(lines: &[&str], has_frame: bool) -> Loop {
        let mut innermost_loop = Loop::default();
        for line in lines {
            innermost_loop.add(line, has_frame);
        }
        innermost_loop
    }

    fn add(&mut self, line: &str, has_frame: bool) {
        let (code, remark) = line.split_once('#').unwrap_or((line, ""));
        let mut words = code.split_whitespace();
        let (Some(name), operands) = (words.next(), words.collect::<Vec<_>>().join(" ")) else {
            return;
        };
        if name.ends_with(':') || name.starts_with('.') {
            return;
        }
        let on_stack = operands.contains("(%rsp") || has_frame && operands.contains("(%rbp");
        let is_spill = on_stack || ["Spill", "Reload"].iter().any(|what| remark.contains(what));
        self.spills += usize::from(is_spill);
        let is_vector = ["%xmm", "%ymm", "%zmm"]
            .iter()
            .any(|of| operands.contains(of));
        match is_vector {
            true => self.add_vector(&VectorInstruction { name, operands }),
            false => self.others += 1,
        }
    }

    fn add_vector(&mut self, instruction: &VectorInstruction) {
        let starts = |with: &[&str]| instruction.starts(with);
        let is_stored = instruction.is_stored();
        let (is_broadcast, is_single) = (instruction.is_broadcast(), instruction.is_single());
        let kind = if starts(&["vgather", "vpgather", "vscatter", "vpscatter"]) {
            &mut self.gathers
        } else if starts(&["vpinsr", "vpextr"]) {
            &mut self.shuffles
        } else if starts(&MULTIPLY_ADDS) && !is_single {
            &mut self.multiply_adds
        } else if is_single && !starts(&["vbroadcast"]) {
            &mut self.scalars
        } else if starts(&SHUFFLES) {
            &mut self.shuffles
        } else if starts(&["vmov", "vpmov", "vbroadcast", "vpbroadcast", "vlddqu"]) {
            // Counted by their operand in memory.
            if is_stored {
                self.stores += 1;
            } else if is_broadcast {
                self.broadcasts += 1;
            } else if instruction.is_in_memory() {
                self.loads += 1;
            } else {
                self.vectors += 1;
            }
            return;
        } else {
            &mut self.vectors
        };
        *kind += 1;
        if instruction.is_in_memory() && !is_stored {
            match is_broadcast {
                true => self.broadcasts += 1,
                false => self.loads += 1,
            }
        }
    }

    fn instructions(&self) -> usize {
        self.all().iter().map(|(count, _)| count).sum()
    }

    /// Returns the useful fraction of it: that of the loop which most points go through is the
    /// largest, since the rest at ends has masks, and code for each size.
    fn density(&self) -> f64 {
        let useful = 1000 * self.multiply_adds + self.vectors;
        useful as f64 / self.instructions().max(1) as f64
    }

    fn all(&self) -> [(usize, &'static str); 10] {
        [
            (self.multiply_adds, "multiply-adds"),
            (self.vectors, "other operations"),
            (self.loads, "loads"),
            (self.broadcasts, "broadcasts"),
            (self.stores, "stores"),
            (self.shuffles, "shuffles"),
            (self.gathers, "gathers"),
            (self.scalars, "on single numbers"),
            (self.spills, "on the stack"),
            (self.others, "for indices and jumps"),
        ]
    }
}

/// Multiplications whose results are added to others.
const MULTIPLY_ADDS: [&str; 6] = ["vfmadd", "vfmsub", "vfnmadd", "vfnmsub", "vpdp", "vdpbf16"];

/// Instructions that move lanes about.
const SHUFFLES: [&str; 12] = [
    "vperm", "vpunpck", "vunpck", "vshuf", "vpshuf", "vinsert", "vextract", "valign", "vpalign",
    "vmovlh", "vmovhl", "vpack",
];

impl fmt::Display for Loop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sets = self.all();
        let there = sets.iter().filter(|(count, _)| *count > 0);
        let there: Vec<String> = there
            .map(|(count, what)| format!("{count} {what}"))
            .collect();
        f.write_str(&there.join(", "))
    }
}

/// The innermost loops of assembly in AT&T syntax. A loop is the text from a label to a jump back to
/// it.
fn innermost(text: &str) -> Vec<Loop> {
    let mut innermost = Vec::new();
    let lines: Vec<&str> = text.lines().collect();
    let is_start = |line: &&str| line.ends_with(':') && !line.starts_with(['.', ' ', '\t', '#']);
    let starts: Vec<usize> = (0..lines.len())
        .filter(|n| is_start(&uncommented(lines[*n])))
        .collect();
    for (n, start) in starts.iter().enumerate() {
        let end = starts.get(n + 1).copied().unwrap_or(lines.len());
        let function = &lines[*start..end];
        let has_frame = function.iter().any(|line| {
            let mut words = line.split_whitespace();
            words.next() == Some("movq") && words.eq(["%rsp,", "%rbp"])
        });
        innermost.extend(
            loops(function)
                .into_iter()
                .map(|body| Loop::new(body, has_frame)),
        );
    }
    innermost
}

fn uncommented(line: &str) -> &str {
    line.split('#').next().unwrap_or_default().trim_end()
}

fn loops<'a>(function: &'a [&'a str]) -> Vec<&'a [&'a str]> {
    let mut labels = BTreeMap::new();
    for (n, line) in function.iter().enumerate() {
        if let Some(label) = uncommented(line).strip_suffix(':') {
            labels.insert(label, n);
        }
    }
    // A loop that continues has several jumps to its label: the last one closes it.
    let mut last = BTreeMap::new();
    for (end, line) in function.iter().enumerate() {
        let mut words = uncommented(line).split_whitespace();
        let is_jump = words.next().is_some_and(|name| name.starts_with('j'));
        let start = words.next().and_then(|label| labels.get(label));
        if let Some(start) = start.filter(|start| is_jump && **start < end) {
            last.insert(*start, end);
        }
    }
    let holds_none = |(start, end): &(&usize, &usize)| {
        let mut inside = last.range(*start + 1..**end);
        !inside.any(|(_, other)| *other <= **end)
    };
    let inner = last.iter().filter(holds_none);
    inner.map(|(start, end)| &function[*start..=*end]).collect()
}

/// So many lines of loops of one computation take LLVM some tenths of a second.
const MOST_LINES: usize = 3000;

/// Number of lines of the longest nest of loops in a printed module: of what stands in a function, up to
/// what stands next.
fn longest_nest(module: &str) -> usize {
    let (mut longest, mut lines) = (0, 0);
    for line in module.lines() {
        let next = line.strip_prefix("    ");
        let is_next = next.is_some_and(|text| !text.starts_with([' ', '}']));
        lines = if is_next { 1 } else { lines + 1 };
        longest = longest.max(lines);
    }
    longest
}

/// A workload's machine code.
fn assembly(case: &Case, asm: &Asm, processor: Processor) -> String {
    let name = case.name();
    let source = Source::from_text(&name, &case.program().unwrap());
    let context = context::program_context();
    diagnostics::show(&context, &source);
    let mut module = source.parse(&context).unwrap();
    let stages = line(Target::Cpu);
    run_all(asm, &context, &mut module, &stages.to("loops").unwrap()).unwrap();
    let lines = longest_nest(&operation(&module).to_string());
    assert!(
        lines < MOST_LINES,
        "{name}: {lines} lines of loops for one computation"
    );
    run_all(asm, &context, &mut module, &stages.after("loops")).unwrap();
    let code = to_llvm(&module)
        .unwrap()
        .optimise_for(processor, Level::Full)
        .unwrap();
    String::from_utf8(code.emit(Emit::Assembly).unwrap()).unwrap()
}

/// For each workload the innermost loop that is the densest.
fn table(facts: CpuFacts, processor: Processor) -> String {
    mdh_passes::register_all();
    let asm = Asm::cpu(&facts);
    let mut table = String::new();
    let caches = Caches {
        l1: Some(facts.l1),
        l2: Some(facts.l2),
        l3: facts.l3,
    };
    let mut cases = workloads::all_for(Scale::Full, &caches).unwrap();
    cases.retain(|case| case.on != Devices::Gpus);
    for case in cases {
        let loops = innermost(&assembly(&case, &asm, processor));
        let most = loops
            .iter()
            .max_by(|a, b| a.density().total_cmp(&b.density()));
        let most = most.map_or("no loop".into(), |of| of.to_string());
        writeln!(table, "{}: {most}", case.name()).unwrap();
    }
    table
}

#[test]
fn with_avx2() {
    let processor = Processor::Named("haswell", "");
    let facts = CpuFacts {
        vector: 32,
        registers: 16,
        ..CpuFacts::default()
    };
    insta::assert_snapshot!(table(facts, processor));
}

#[test]
fn with_avx512() {
    let processor = Processor::Named("skylake-avx512", "+avx512f");
    insta::assert_snapshot!(table(CpuFacts::default(), processor));
}

#[test]
fn with_dot_products() {
    let processor = Processor::Named("znver4", "+avx512f,-avx512bf16");
    let features = ["avx512_vnni", "avx512_bf16"];
    let facts = CpuFacts {
        features: features.map(String::from).to_vec(),
        ..CpuFacts::default()
    };
    insta::assert_snapshot!(table(facts, processor));
}

#[test]
fn instructions_are_told_apart() {
    let text = "\
f:
	movq	%rsp, %rbp
.LBB0_1:
	xorl	%eax, %eax
.LBB0_2:                                # Inner Loop Header
	vmovups	(%rsi,%rax), %zmm0
	vfmadd231ps	(%rdi){1to16}, %zmm0, %zmm1
	vfmadd231ps	64(%rdi), %zmm0, %zmm2
	vmovups	%zmm1, (%rdx)
	vmovups	%zmm1, (%rdx) {%k1}
	vmovaps	%zmm3, -64(%rbp)                # 64-byte Spill
	vpinsrb	$1, (%rsi), %xmm1, %xmm1
	vgatherdps	(%rsi,%zmm1,4), %zmm2 {%k1}
	vaddss	%xmm1, %xmm2, %xmm3
	vaddps	%zmm1, %zmm2, %zmm3
	addq	$64, %rax
	jne	.LBB0_2
	jne	.LBB0_1
";
    let loops = innermost(text);
    let said = "2 multiply-adds, 1 other operations, 4 loads, 1 broadcasts, 3 stores, 1 shuffles, 1 gathers, \
                1 on single numbers, 1 on the stack, 2 for indices and jumps";
    assert_eq!(
        loops.iter().map(Loop::to_string).collect::<Vec<_>>(),
        [said]
    );
}
