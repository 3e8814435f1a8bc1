//! The schedules that the MDH paper and the project name, as data.

use super::*;
use crate::asm::{Asm, CpuFacts, CudaFacts};
use mdh_algebra::code::{Code, Op};
use mdh_algebra::computation::{Combine, Computation, Place};
use mdh_algebra::examples::{Builder, d, matvec};
use mdh_algebra::operator::{Builtin, Operator};
use mdh_algebra::scalar::ScalarType::{self, F32};

/// `C[i,j] = sum_k A[i,k] * B[k,j]`.
pub(super) fn matmul(ty: ScalarType, i: i64, j: i64, k: i64) -> Computation {
    let (mul, add) = match ty.is_float() {
        true => (Op::Mulf, Builtin::Addf),
        false => (Op::Muli, Builtin::Addi),
    };
    let combines = [Combine::Cc, Combine::Cc, Combine::Pw(0)];
    let mut c = Builder::new(&[i, j, k], &combines, vec![Operator::Builtin(vec![add])])
        .input(ty, &[i, k], &[d(0), d(2)])
        .input(ty, &[k, j], &[d(2), d(1)])
        .scalar(Code::single(mul, ty))
        .output(ty, &[i, j], &[d(0), d(1)])
        .0;
    name(&mut c, &["i", "j", "k"], &["A", "B"], &["C"]);
    c
}

pub(super) fn name(c: &mut Computation, dimensions: &[&str], inputs: &[&str], outputs: &[&str]) {
    for (dimension, name) in c.dimensions.iter_mut().zip(dimensions) {
        dimension.name = (*name).into();
    }
    for (buffer, name) in c.inputs.iter_mut().zip(inputs) {
        buffer.name = (*name).into();
    }
    for (buffer, name) in c.outputs.iter_mut().zip(outputs) {
        buffer.name = (*name).into();
    }
}

/// The code block of that language and number on the page.
pub(super) fn block(language: &str, number: usize) -> String {
    let page = include_str!("../../docs/schedule.md");
    let blocks = page.split("```").skip(1).step_by(2);
    let mut blocks = blocks.filter_map(|b| b.strip_prefix(language)?.strip_prefix('\n'));
    blocks.nth(number).unwrap().to_string()
}

fn count(resolved: &Resolved, level: &str) -> Count {
    let (layer, dimension) = level.split_once('.').unwrap();
    resolved.count(Level {
        layer: resolved.layers.iter().position(|l| l == layer).unwrap(),
        dimension: resolved
            .dimensions
            .iter()
            .position(|d| d == dimension)
            .unwrap(),
    })
}

/// All that a schedule keeps: the buffer, the region, the tile's shape, and bytes.
pub(super) fn copies(resolved: &Resolved, c: &Computation) -> Vec<(String, String, Vec<i64>, i64)> {
    let allocated = allocations(resolved, c, &resolved.tiles(&[]).unwrap()).unwrap();
    let row = |a: Allocation| {
        let region = resolved.asm.layers[a.region].name().to_string();
        (
            c.buffer(a.place).unwrap().name.clone(),
            region,
            a.shape,
            a.bytes,
        )
    };
    allocated.into_iter().map(row).collect()
}

fn row(name: &str, region: &str, shape: &[i64], bytes: i64) -> (String, String, Vec<i64>, i64) {
    (name.into(), region.into(), shape.to_vec(), bytes)
}

/// TVM's Ansor for MatMul 16x1000x2048 on a GPU (paper, section 3.5, figure 20, listing 6).
#[test]
fn tvm_matmul() {
    let c = matmul(F32, 16, 1000, 2048);
    let asm = Asm::cuda(&CudaFacts::default());
    let schedule: Schedule = block("mlir", 1).parse().unwrap();
    let resolved = check(&schedule, &c, &asm).unwrap();
    assert_eq!(resolved.nests().len(), 1, "D, S and R agree");
    assert_eq!(resolved.parts(&resolved.decompose, "block"), Some(100));
    assert_eq!(resolved.parts(&resolved.decompose, "thread"), Some(80));
    assert_eq!(count(&resolved, "device.k"), Count::Known(8));
    let expected = [
        row("A", "shared", &[8, 256], 8 * 256 * 4),
        row("B", "shared", &[256, 20], 256 * 20 * 4),
        row("C", "register", &[2, 1], 2 * 4),
    ];
    assert_eq!(copies(&resolved, &c), expected);
    let tiles = resolved.tiles(&[]).unwrap();
    assert!((0..3).all(|d| !tiles.has_tail(d)), "all parts are full");
}

/// Warps that have parts of a sum, and threads that combine in registers what they have.
#[test]
fn warps_of_a_sum() {
    let c = matmul(F32, 10, 20, 1000);
    let asm = Asm::cuda(&CudaFacts::default());
    let schedule: Schedule = block("mlir", 4).parse().unwrap();
    let resolved = check(&schedule, &c, &asm).unwrap();
    assert_eq!(resolved.parts(&resolved.decompose, "warp"), Some(4));
    assert_eq!(count(&resolved, "device.k"), Count::Known(8));
    let expected = [
        row("C", "shared", &[1, 1], 4 * 4),
        row("C", "register", &[1, 1], 4),
    ];
    assert_eq!(copies(&resolved, &c), expected);
}

/// The polyhedral style: outer dimensions parallel, 32x32x32 tiles, here over sizes that the
/// tiles do not divide.
#[test]
fn polyhedral_matmul() {
    let c = matmul(F32, 16, 1000, 2048);
    let asm = Asm::cpu(&CpuFacts::default());
    let text = "layers = [core {i: *, j: *}, main {k: *}, L1 {i: 32, j: 32, k: 32}]";
    let resolved = check(&text.parse().unwrap(), &c, &asm).unwrap();
    assert_eq!(count(&resolved, "core.i"), Count::Known(1));
    assert_eq!(count(&resolved, "core.j"), Count::Known(32));
    assert_eq!(count(&resolved, "main.k"), Count::Known(64));
    let tiles = resolved.tiles(&[]).unwrap();
    let j = Level {
        layer: 0,
        dimension: 1,
    };
    assert_eq!(resolved.name(j).to_string(), "core.j");
    assert_eq!(tiles.tail(j), Tail { whole: 31, rest: 8 });
    assert_eq!(tiles.trips(j, 1000), 32);
    assert_eq!(
        resolved.tails,
        [TailCode::Peel, TailCode::Peel, TailCode::Peel]
    );
}

/// Figure 17: MatVec 512x4096 on two memory layers and one core layer.
#[test]
fn figure_17() {
    let mut c = matvec(F32, 512, 4096);
    name(&mut c, &["i", "k"], &["M", "v"], &["w"]);
    let asm = r#"{"name": "figure17", "layers": [{"memory": {"name": "HM"}},
        {"core": {"name": "COR", "combine_in": [{"region": "HM"}]}},
        {"memory": {"name": "L1", "capacity": 4096, "kind": "cache"}}]}"#;
    let asm = Asm::from_json(asm).unwrap();
    let text = "asm = figure17,
        layers = [HM {i: 2, k: 4}, COR {i: 8, k: 16}, L1 {i: 32, k: 64}],
        decompose = {assign: {COR.i: COR.x, COR.k: COR.y}},
        inputs = {v: {stage: {L1.i: L1}}},
        outputs = {w: {combine: {L1.i: L1}}}";
    let resolved = check(&text.parse().unwrap(), &c, &asm).unwrap();
    assert_eq!(resolved.parts(&resolved.decompose, "COR"), Some(8 * 16));
    let tiles = resolved.tiles(&[]).unwrap();
    assert_eq!(tiles.sizes, [[8 * 32, 16 * 64], [32, 64], [1, 1]]);
    let expected = [row("v", "L1", &[64], 256), row("w", "L1", &[32], 128)];
    assert_eq!(copies(&resolved, &c), expected);
    // Figure 17 cuts 512 x 4096 exactly: one more point is refused.
    let larger = matvec_named(513);
    let violations = check(&text.parse().unwrap(), &larger, &asm).unwrap_err();
    assert_eq!(
        violations[0].to_string(),
        "cover: dimension 'i' has 513 points, but its parts cover 512: leave the outermost count \
         out or write '*'"
    );
}

fn matvec_named(i: i64) -> Computation {
    let mut c = matvec(F32, i, 4096);
    name(&mut c, &["i", "k"], &["M", "v"], &["w"]);
    c
}

/// A matrix product for a CPU: 6x64 in registers, KC 512, MC 240, B packed in panels of 64
/// columns. The page explains it.
#[test]
fn cpu_matmul() {
    let c = matmul(F32, 1021, 1024, 1019);
    let asm = Asm::cpu(&CpuFacts::default());
    let schedule: Schedule = block("mlir", 0).parse().unwrap();
    let resolved = check(&schedule, &c, &asm).unwrap();
    assert_eq!(count(&resolved, "main.k"), Count::Known(2));
    assert_eq!(
        count(&resolved, "L3.i"),
        Count::Known(5),
        "ceil(1021 / 240)"
    );
    assert_eq!(count(&resolved, "main.j"), Count::Known(1));
    let expected = [
        row("A", "register", &[1, 1], 16 * 4),
        row("B", "L3", &[512, 512], 2 * 512 * 512 * 4),
        row("B", "register", &[1, 1], 16 * 4),
        row("C", "register", &[6, 64], 6 * 64 * 4),
    ];
    assert_eq!(copies(&resolved, &c), expected);
    let allocated = allocations(&resolved, &c, &resolved.tiles(&[]).unwrap()).unwrap();
    let packed = allocated
        .iter()
        .find(|a| a.place == Place::Input(1))
        .unwrap();
    assert_eq!(packed.layout.shape(&packed.shape), [1, 8, 512, 64]);
    // The same in JSON, and for sizes that are known at run time only.
    assert_eq!(Schedule::from_json(&block("json", 0)), Ok(schedule.clone()));
    let mut dynamic = c.clone();
    for dimension in &mut dynamic.dimensions {
        dimension.upper = None;
    }
    let resolved = check(&schedule, &dynamic, &asm).unwrap();
    assert_eq!(count(&resolved, "L3.i"), Count::Dynamic { divisor: 240 });
    let tiles = resolved.tiles(&[Some(1000), Some(1), Some(513)]).unwrap();
    assert_eq!(tiles.counts[0], [1, 1, 2]);
    assert_eq!(resolved.tiles(&[]), None);
}

/// The page's small schedule, executed: its copies and combinations are those the page counts.
#[test]
fn the_pages_small_example() {
    use mdh_algebra::oracle::arrays::Arrays;
    let c = matmul(ScalarType::I64, 4, 6, 8);
    let asm = Asm::cuda(&CudaFacts::default());
    let schedule: Schedule = block("mlir", 2).parse().unwrap();
    let resolved = check(&schedule, &c, &asm).unwrap();
    let run = execute(&c, &resolved, &mut Arrays::counting(&c)).unwrap();
    let line = format!("copied: {}; combined: {}", run.copied[0], run.combined);
    assert_eq!(block("text", 0).trim(), line);
    let visits = walk(&resolved, &resolved.tiles(&[]).unwrap());
    let lines: Vec<_> = (visits.iter().take(4))
        .map(|v| format!("point {:?} by {:?} at {:?}", v.numbers, v.core, v.step))
        .collect();
    assert_eq!(block("text", 1).trim(), lines.join("\n"));
}
