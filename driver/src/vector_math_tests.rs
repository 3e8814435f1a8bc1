//! Functions of math on vectors as machine code, against their definition: how far results are
//! off, at special values and at thousands of others.

use std::fmt::Write;

use mdh_algebra::op::Op;
use mdh_algebra::random::Random;
use mdh_algebra::scalar::{Scalar, ScalarType};
use mdh_dialect::context;
use mdh_passes::{pipelines, table, vector_math};
use mdh_runtime::descriptor::Descriptor;
use mdh_runtime::{Arguments, Jit, Level};
use melior::ir::Module;

use crate::compile;

const TYPES: [ScalarType; 4] = [
    ScalarType::F16,
    ScalarType::BF16,
    ScalarType::F32,
    ScalarType::F64,
];
const LANES: usize = 8;
const COUNT: usize = 1024 * LANES;

/// `@FUNCTION_TYPE(x, y, result)` for each function: of `x`, or of both.
fn source(functions: &[(Op, [f64; 2])]) -> String {
    let mut text = String::new();
    for (op, _) in functions {
        for ty in TYPES {
            let (memref, vector) = (format!("memref<{COUNT}x{ty}>"), format!("vector<8x{ty}>"));
            let operands = ["%a", "%b"][..op.arity()].join(", ");
            let name = op.name().replace("math.", "");
            let _ = write!(
                text,
                "func.func @{name}_{ty}(%x: {memref}, %y: {memref}, %z: {memref})
                     attributes {{llvm.emit_c_interface}} {{
                   %from = arith.constant 0 : index
                   %to = arith.constant {COUNT} : index
                   %step = arith.constant {LANES} : index
                   scf.for %i = %from to %to step %step {{
                     %a = vector.load %x[%i] : {memref}, {vector}
                     %b = vector.load %y[%i] : {memref}, {vector}
                     %c = {} {operands} : {vector}
                     vector.store %c, %z[%i] : {memref}, {vector}
                   }}
                   return
                 }}\n",
                op.name()
            );
        }
    }
    text
}

fn compiled(functions: &[(Op, [f64; 2])]) -> Jit {
    table::register_all();
    let context = context::program_context();
    let text = source(functions);
    let mut module = Module::parse(&context, &text).expect("the functions parse");
    compile::run(&context, &mut module, &pipelines::LLVM).expect("they are lowered");
    let mut llvm = compile::to_llvm(&module).expect("they are translated");
    for (op, _) in functions {
        for ty in TYPES {
            let name = format!("{}_{ty}", op.name().replace("math.", ""));
            llvm.add_entry(&name).expect("they have C interfaces");
        }
    }
    let optimised = llvm.optimise(Level::Full).expect("they are compiled");
    optimised.load().expect("they are linked")
}

/// Special values in all pairs, then any bits, then numbers of usual sizes.
fn operands(ty: ScalarType) -> (Vec<Scalar>, Vec<Scalar>) {
    let largest = (2.0 - ty.epsilon()) / (ty.min_denormal() / ty.epsilon()) * 2.0;
    let infinity = f64::INFINITY;
    let mut special = vec![
        0.0, 1.0, 0.5, 2.0, 3.0, 1.5, 20.0, 88.7, 89.0, 89.4, 103.9, 104.1,
    ];
    special.extend([
        infinity,
        largest,
        ty.min_denormal(),
        7.0 * ty.min_denormal(),
    ]);
    special.extend([
        709.7,
        710.3,
        745.1,
        745.2,
        16_777_217.0,
        1e6,
        1e9,
        1e300,
        1.0 - ty.epsilon(),
    ]);
    let negative: Vec<f64> = special.iter().map(|x| -x).collect();
    special.extend(negative);
    special.push(f64::NAN);
    let special = special.iter().map(|x| Scalar::from_f64(ty, *x));
    let special: Vec<Scalar> = special.collect();
    let mut random = Random::new(u64::from(ty.bit_width()));
    let mut pairs: Vec<(Scalar, Scalar)> = Vec::new();
    pairs.extend(
        special
            .iter()
            .flat_map(|x| special.iter().map(|y| (*x, *y))),
    );
    while pairs.len() < COUNT {
        let mut any = || match random.below(3) {
            0 => Scalar::from_bits(ty, random.bits()),
            1 => Scalar::from_f64(ty, random.signed_unit() * 2.0),
            _ => Scalar::from_f64(ty, random.signed_unit() * 50.0),
        };
        pairs.push((any(), any()));
    }
    pairs.truncate(COUNT);
    pairs.into_iter().unzip()
}

fn bytes(values: &[Scalar]) -> Vec<u8> {
    let width = |v: &Scalar| v.ty.byte_width();
    let all = values
        .iter()
        .flat_map(|v| v.bits.to_le_bytes()[..width(v)].to_vec());
    all.collect()
}

fn results(jit: &Jit, op: Op, ty: ScalarType, x: &[Scalar], y: &[Scalar]) -> Vec<Scalar> {
    let name = format!("{}_{ty}", op.name().replace("math.", ""));
    let function = jit.function(&name).expect("it is an entry");
    let (mut x, mut y) = (bytes(x), bytes(y));
    let mut z = vec![0u8; x.len()];
    let mut arguments = Arguments::new();
    for array in [&mut x, &mut y, &mut z] {
        arguments.memref(Descriptor::dense(array.as_mut_ptr(), &[COUNT as i64]));
    }
    // SAFETY: the arrays are as large as the function's types say.
    unsafe { function.call_with(&mut arguments).expect("it is called") };
    let each = z.chunks(ty.byte_width()).map(|bytes| {
        let mut bits = [0; 8];
        bits[..bytes.len()].copy_from_slice(bytes);
        Scalar::from_bits(ty, u64::from_le_bytes(bits))
    });
    each.collect()
}

/// How many units in the last place a result is off.
fn off(op: Op, operands: &[Scalar], found: Scalar) -> f64 {
    let wide = |v: &Scalar| Scalar::from_f64(ScalarType::F64, v.as_f64());
    let wide: Vec<Scalar> = operands.iter().map(wide).collect();
    let exact = op.apply(&wide, ScalarType::F64).expect("it is defined");
    let (exact, found_f64, ty) = (exact.as_f64(), found.as_f64(), found.ty);
    let rounded = Scalar::from_f64(ty, exact).as_f64();
    let is_special = exact == 0.0 || !exact.is_finite();
    if is_special {
        let same_sign = exact.is_sign_negative() == found_f64.is_sign_negative();
        let is_same = exact.is_nan() && found_f64.is_nan() || exact == found_f64 && same_sign;
        return if is_same { 0.0 } else { f64::INFINITY };
    }
    // Where the rounded result is infinite, the largest number is one unit off.
    if rounded.is_infinite() && found_f64.is_infinite() {
        return if rounded == found_f64 {
            0.0
        } else {
            f64::INFINITY
        };
    }
    (found_f64 - exact).abs() / ty.ulp(exact)
}

#[test]
fn functions_on_vectors_keep_their_bounds() {
    let functions: Vec<(Op, [f64; 2])> = vector_math::bounds()
        .map(|(name, bounds)| (Op::from_mlir(name, None).expect("it is known"), bounds))
        .collect();
    let jit = compiled(&functions);
    let mut wrong = Vec::new();
    for (op, bounds) in &functions {
        for ty in TYPES {
            // Narrow results are rounded once more; the definition in f64 is itself off.
            let bound = match ty {
                ScalarType::F64 => bounds[1] + 0.6,
                ScalarType::F32 => bounds[0],
                _ => 0.51,
            };
            let (x, y) = operands(ty);
            let found = results(&jit, *op, ty, &x, &y);
            for ((x, y), z) in x.iter().zip(&y).zip(found) {
                let operands = &[*x, *y][..op.arity()];
                let off = off(*op, operands, z);
                if off.is_nan() || off > bound {
                    wrong.push(format!("{op} of {operands:?} is {z}, {off} units off"));
                }
            }
        }
    }
    let some = &wrong[..wrong.len().min(20)];
    assert!(wrong.is_empty(), "{} wrong, such as {some:#?}", wrong.len());
}
