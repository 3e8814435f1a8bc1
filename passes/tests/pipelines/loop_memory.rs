//! Loops allocate no memory and copy none: what schedules stage and what they combine has memory that
//! is taken before the first loop, and nothing that bufferization might leave is left.

use mdh_algebra::computation::{Buffer, Combine, Computation, Dimension};
use mdh_dialect::ir::{self, Op};
use mdh_dialect::space::Space;
use mdh_dialect::translate::{self, Depth};
use mdh_dialect::{context, schedule};
use mdh_passes::pipelines::Target;
use mdh_passes::support::parallel::Core;
use mdh_schedule::Schedule;
use mdh_schedule::asm::{Asm, CpuFacts};
use melior::Context;
use melior::ir::{Module, ValueLike};

use mdh_bench::workloads::{self, Scale};
use mdh_compiler::source::Source;
use mdh_compiler::{compile, diagnostics};

/// This machine, one that is described, and one so small that even small tiles are staged.
fn machines() -> [Asm; 3] {
    let small = CpuFacts {
        l3: Some(1 << 16),
        l2: 1 << 13,
        l1: 1 << 10,
        vector: 16,
        registers: 16,
        ..CpuFacts::default()
    };
    [
        mdh_machine::this().unwrap(),
        Asm::cpu(&CpuFacts::default()),
        Asm::cpu(&small),
    ]
}

/// The small sizes, which mostly divide nothing, and those of the evaluation: nothing is run.
fn cases() -> Vec<(String, String)> {
    let scales = [Scale::Quick, Scale::Full].map(|scale| workloads::all(scale).unwrap());
    let cases = scales.into_iter().flatten();
    cases
        .map(|case| (case.name(), case.program().unwrap()))
        .collect()
}

/// Finds mistakes in the loops of a program.
fn wrong_in(
    asm: &Asm,
    name: &str,
    program: &str,
    plan: impl Fn(&Computation) -> OwnSchedule,
) -> String {
    let source = Source::from_text(name, program);
    let context = context::program_context();
    diagnostics::show(&context, &source);
    let mut module = source.parse(&context).unwrap();
    let run = |module: &mut Module, pipeline| {
        compile::run(asm, &context, module, pipeline)
            .unwrap_or_else(|error| panic!("{name} for {}: {error}\n{program}", asm.name));
    };
    compile::form(&context, &mut module).unwrap();
    for compute in ir::find_all(compile::operation(&module), &["mdh.compute"]) {
        let computation = translate::compute(compute, Depth::Signatures).unwrap();
        if let Some(plan) = plan(&computation) {
            schedule::set(compute, Some(&plan));
        }
    }
    for pipeline in compile::line(Target::Cpu).between(compile::RAISED, "tiles") {
        run(&mut module, pipeline);
    }
    let mut mistakes = unowned(compile::operation(&module));
    for pipeline in compile::line(Target::Cpu).between("tiles", "loops") {
        run(&mut module, pipeline);
    }
    mistakes.extend(misplaced(compile::operation(&module)));
    let mistakes = mistakes.iter().map(|what| format!("{name}: {what}\n"));
    mistakes.collect()
}

/// A schedule for a computation, if the model is not to choose.
type OwnSchedule = Option<Schedule>;

/// Memory of cores whose type says no owner.
fn unowned(module: Op) -> Vec<String> {
    let is_owned = |op: &Op| {
        let memory = ir::result(*op, 0).and_then(|memory| Space::new(memory.r#type()));
        memory.is_some_and(|space| space.owner.is_some())
    };
    let mut allocations = ir::find_all(module, &["memref.alloca"]);
    allocations.retain(|op| !is_owned(op));
    allocations
        .into_iter()
        .map(|op| format!("{op} has no owner"))
        .collect()
}

/// Memory that is taken inside of anything, and copies of it and what is not on memory anywhere.
/// Memory of a GPU's cores is taken where their part starts.
fn misplaced(module: Op) -> Vec<String> {
    let is_wrong = |op: &Op| {
        let name = ir::name_of(*op);
        let around = ir::parent(*op).map(ir::name_of);
        match name {
            "memref.alloc" | "memref.dealloc" => around != Some("func.func"),
            "memref.alloca" => !starts_part(*op),
            "memref.realloc" | "memref.copy" => true,
            _ => ["bufferization.", "tensor.", "linalg."]
                .iter()
                .any(|dialect| name.starts_with(dialect)),
        }
    };
    let wrong = ir::all(module).into_iter().filter(is_wrong);
    wrong
        .map(|op| {
            let around = ir::parent(op).map_or("nothing", ir::name_of);
            format!("{} in {around}", ir::name_of(op))
        })
        .collect()
}

/// Returns whether an operation stands among the first ones of what a core does.
fn starts_part(op: Op) -> bool {
    let is_part = |around: &Op| Core::read(*around).is_some();
    let is_start = |op: &Op| {
        let name = ir::name_of(*op);
        name == "memref.alloca" || name.starts_with("arith.")
    };
    let is_first = |around: Op| {
        let Some(block) = ir::only_block(ir::region(around, 0)) else {
            return false;
        };
        let mut start = ir::ops_of(block).into_iter().take_while(is_start);
        start.any(|start| start == op)
    };
    ir::parent(op).filter(is_part).is_some_and(is_first)
}

#[test]
fn default_schedules() {
    mdh_passes::register_all();
    for asm in machines() {
        let cases = cases().into_iter();
        let wrong = cases.map(|(name, program)| wrong_in(&asm, &name, &program, |_| None));
        assert_eq!(wrong.collect::<String>(), "", "for {asm:?}");
    }
}

/// The polyhedral style of any computation, with all that tiles read and combine staged: what is
/// kept is parallel, the tiles have 32 points in each dimension (but what is combined beside a
/// prefix-sum is not cut into tiles).
fn polyhedral(c: &Computation) -> OwnSchedule {
    let (kept, combined): (Vec<_>, Vec<_>) =
        (c.dimensions.iter()).partition(|dimension| dimension.combine == Combine::Cc);
    let parts = |dimensions: &[&Dimension], count: &str| {
        let parts = dimensions.iter().map(|d| format!("{}: {count}", d.name));
        parts.collect::<Vec<_>>().join(", ")
    };
    let has_scan = c
        .dimensions
        .iter()
        .any(|d| matches!(d.combine, Combine::Ps(_)));
    let is_tiled = |d: &&Dimension| !(has_scan && matches!(d.combine, Combine::Pw(_)));
    let (tiled, whole): (Vec<_>, Vec<_>) = c.dimensions.iter().partition(is_tiled);
    let combined: Vec<_> = combined.into_iter().filter(is_tiled).collect();
    let first = format!("L1.{}", tiled[0].name);
    let staged = |buffers: &[Buffer], what: &str| {
        let texts = buffers
            .iter()
            .map(|b| format!("{}: {{{what}: {{{first}: L1}}}}", b.name));
        texts.collect::<Vec<_>>().join(", ")
    };
    let text = format!(
        "layers = [core {{{}}}, main {{{}}}, L1 {{{}}}, register {{{}}}], inputs = {{{}}}, outputs = {{{}}}",
        parts(&kept, "*"),
        parts(&combined, "*"),
        parts(&tiled, "32"),
        parts(&whole, "*"),
        staged(&c.inputs, "stage"),
        staged(&c.outputs, "combine")
    );
    Some(
        text.parse()
            .unwrap_or_else(|error| panic!("{text}: {error}")),
    )
}

#[test]
fn polyhedral_schedules() {
    mdh_passes::register_all();
    // Whose first cache holds what 32 points in each of seven dimensions need.
    let facts = CpuFacts {
        l1: 1 << 40,
        ..CpuFacts::default()
    };
    let asm = Asm::cpu(&facts);
    let cases = cases().into_iter();
    let wrong = cases.map(|(name, program)| wrong_in(&asm, &name, &program, polyhedral));
    assert_eq!(wrong.collect::<String>(), "");
}

/// The schedules of the page, TVM's for a GPU among them, for the product that they are for.
#[test]
fn schedules_of_the_page() {
    mdh_passes::register_all();
    let page = include_str!("../../../docs/schedule.md")
        .split("```")
        .skip(1)
        .step_by(2);
    let schedules = page.filter_map(|block| block.strip_prefix("mlir\n")?.trim().parse().ok());
    let schedules: Vec<Schedule> = schedules.collect();
    assert_eq!(schedules.len(), 6);
    let products = [
        ([1021, 1024, 1019], "f32"),
        ([16, 1000, 2048], "f32"),
        ([4, 6, 8], "f32"),
        ([10, 20, 1000], "f32"),
        ([64, 48, 100], "f16"),
        ([100, 128, 96], "f32"),
    ];
    for (schedule, (sizes, factor)) in schedules.iter().zip(products) {
        let program = product(sizes, factor);
        let plan = |_: &Computation| Some(schedule.clone());
        assert_eq!(
            wrong_in(&mdh_machine::this().unwrap(), "product", &program, plan),
            ""
        );
    }
}

/// A product of matrices of that type, whose elements are added up in `f32`.
fn product([i, j, k]: [i64; 3], factor: &str) -> String {
    let scalar = match factor {
        "f32" => "mulf".to_string(),
        _ => format!(
            "(%a: {factor}, %b: {factor}) {{
               %x = arith.extf %a : {factor} to f32
               %y = arith.extf %b : {factor} to f32
               %p = arith.mulf %x, %y : f32
               mdh.yield %p : f32
             }}"
        ),
    };
    format!(
        "func.func @product(%A: memref<{i}x{k}x{factor}>, %B: memref<{k}x{j}x{factor}>, %C: memref<{i}x{j}xf32>) {{
           mdh.compute (i = {i}, j = {j}, k = {k})
             out_view(C = %C[i, j] : memref<{i}x{j}xf32>)
             md_hom({scalar}, (cc, cc, pw(addf)))
             inp_view(A = %A[i, k] : memref<{i}x{k}x{factor}>, B = %B[k, j] : memref<{k}x{j}x{factor}>)
           return
         }}"
    )
}

#[test]
fn what_is_misplaced_is_found() {
    let context: Context = context::program_context();
    let text = "func.func @f(%n: index, %x: memref<4xf32>) {
      %a = memref.alloc() : memref<4xf32>
      %own = memref.alloca() : memref<1xf32, #mdh.memory<\"register\", thread>>
      %none = memref.alloca() : memref<1xf32, #mdh.memory<\"register\">>
      scf.for %i = %n to %n step %n {
        %b = memref.alloc() : memref<4xf32>
        memref.copy %x, %b : memref<4xf32> to memref<4xf32>
        memref.dealloc %b : memref<4xf32>
      }
      memref.dealloc %a : memref<4xf32>
      return
    }";
    let module = Source::from_text("f.mlir", text).parse(&context).unwrap();
    assert_eq!(
        misplaced(compile::operation(&module)),
        [
            "memref.alloca in func.func",
            "memref.alloca in func.func",
            "memref.alloc in scf.for",
            "memref.copy in scf.for",
            "memref.dealloc in scf.for"
        ]
    );
    assert_eq!(
        unowned(compile::operation(&module)),
        ["%alloca_0 = memref.alloca() : memref<1xf32, #mdh.memory<\"register\">> has no owner"]
    );
}
