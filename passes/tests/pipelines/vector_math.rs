//! Functions of math on vectors as machine code, against their definition: how far results are
//! off, at special values and at thousands of others. Results in `f64` are compared with numbers of
//! more digits.

use std::fmt::Write;

use astro_float::{BigFloat, Consts, RoundingMode};
use mdh_algebra::machine::MATH_ULPS;
use mdh_algebra::op::Op;
use mdh_algebra::random::Random;
use mdh_algebra::scalar::{Scalar, ScalarType};
use mdh_dialect::context;
use mdh_jit::descriptor::Descriptor;
use mdh_jit::{Arguments, Jit, Level};
use mdh_passes::pipelines;
use mdh_passes::vector::expand_vector_math;
use melior::ir::Module;

use mdh_compiler::compile;

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
    mdh_passes::register_all();
    let context = context::program_context();
    let text = source(functions);
    let mut module = Module::parse(&context, &text).expect("the functions parse");
    compile::run(
        &mdh_machine::this().unwrap(),
        &context,
        &mut module,
        &pipelines::LLVM,
    )
    .expect("they are lowered");
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
    // Nearer to a multiple of pi/2 than all other floats of 64 and 32 bits; next to 1.
    special.extend([
        6_381_956_970_095_103.0 * 2f64.powi(797),
        16_367_173.0 * 2f64.powi(72),
        1.0 + ty.epsilon(),
        std::f64::consts::FRAC_PI_2,
        2f64.powi(60),
        largest / 3.0,
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
        let mut any = || match random.below(5) {
            0 | 1 => Scalar::from_bits(ty, random.bits()),
            2 => Scalar::from_f64(ty, random.signed_unit() * 2.0),
            3 => {
                let distance = 2f64.powi(-(random.below(53) as i32));
                Scalar::from_f64(ty, 1.0 + random.signed_unit() * distance)
            }
            _ => Scalar::from_f64(ty, random.signed_unit() * 50.0),
        };
        pairs.push((any(), any()));
    }
    pairs.truncate(COUNT);
    pairs.into_iter().unzip()
}

fn bytes(values: &[Scalar]) -> Vec<u8> {
    let width = |v: &Scalar| v.ty.byte_width();
    let bytes = values
        .iter()
        .flat_map(|v| v.bits.to_le_bytes()[..width(v)].to_vec());
    bytes.collect()
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
    let results_of_lanes = z.chunks(ty.byte_width()).map(|bytes| {
        let mut bits = [0; 8];
        bits[..bytes.len()].copy_from_slice(bytes);
        Scalar::from_bits(ty, u64::from_le_bytes(bits))
    });
    results_of_lanes.collect()
}

/// Bits of the numbers that results in `f64` are compared with.
const DIGITS: usize = 256;
/// The same for functions of angles, whose quadrant takes as many bits as the largest float has before
/// its point.
const ANGLE_DIGITS: usize = 1408;
const ROUNDING: RoundingMode = RoundingMode::ToEven;

/// A number with more digits. That of a denormal float is made from a normal one: the library's
/// conversion halves it.
fn exactly(x: f64) -> BigFloat {
    let factor = BigFloat::from_f64(2f64.powi(-100), DIGITS);
    match x.is_normal() {
        true => BigFloat::from_f64(x, DIGITS),
        false => BigFloat::from_f64(x * 2f64.powi(100), DIGITS).mul(&factor, DIGITS, ROUNDING),
    }
}

/// `x^y = e^(y log x)`, with digits for what the product loses. The library's own does not end where the
/// result is a float.
fn power(x: &BigFloat, y: &BigFloat, constants: &mut Consts) -> BigFloat {
    let logarithm = x.ln(2 * DIGITS, ROUNDING, constants);
    let product = y.mul(&logarithm, 2 * DIGITS, ROUNDING);
    product.exp(DIGITS, ROUNDING, constants)
}

/// The result of a function with more digits; `None` of the error functions, which the library has not.
fn exact(op: Op, operands: &[f64], constants: &mut Consts) -> Option<BigFloat> {
    let (p, rm, cc) = (DIGITS, ROUNDING, constants);
    let (x, y) = (exactly(operands[0]), operands.get(1).map(|y| exactly(*y)));
    let unit = exactly(1.0);
    // What the definition has as cases of their own: numbers that are not finite, directions along axes,
    // powers of and by 0, and what overflows within the product below.
    let is_axis = matches!(op, Op::Atan2 | Op::Powf) && operands.contains(&0.0);
    let is_beyond = op == Op::Expm1 && operands[0].abs() > 700.0;
    if is_axis || is_beyond || !operands.iter().all(|v| v.is_finite()) {
        return None;
    }
    Some(match (op, y) {
        (Op::Acos, _) => x.acos(p, rm, cc),
        (Op::Acosh, _) => x.acosh(p, rm, cc),
        (Op::Asin, _) => x.asin(p, rm, cc),
        (Op::Asinh, _) => x.asinh(p, rm, cc),
        (Op::Atan, _) => x.atan(p, rm, cc),
        (Op::Atan2, Some(y)) => {
            let angle = x.div(&y, p, rm).atan(p, rm, cc);
            match (operands[1] < 0.0, operands[0] < 0.0) {
                (false, _) => angle,
                (true, false) => angle.add(&cc.pi(p, rm), p, rm),
                (true, true) => angle.sub(&cc.pi(p, rm), p, rm),
            }
        }
        (Op::Atanh, _) => x.atanh(p, rm, cc),
        (Op::Cbrt, _) => x.cbrt(p, rm),
        (Op::Cos, _) => x.cos(ANGLE_DIGITS, rm, cc),
        (Op::Cosh, _) => x.cosh(p, rm, cc),
        (Op::Exp, _) => x.exp(p, rm, cc),
        (Op::Exp2, _) => power(&exactly(2.0), &x, cc),
        // `2 sinh (x / 2) e^(x / 2)`, which loses no digits near 0.
        (Op::Expm1, _) => {
            let half = x.mul(&exactly(0.5), p, rm);
            let sine = half.sinh(p, rm, cc).mul(&exactly(2.0), p, rm);
            sine.mul(&half.exp(p, rm, cc), p, rm)
        }
        (Op::Log, _) => x.ln(p, rm, cc),
        (Op::Log10, _) => x.log10(p, rm, cc),
        (Op::Log1p, _) => unit.add_full_prec(&x).ln(p, rm, cc),
        (Op::Log2, _) => x.log2(p, rm, cc),
        (Op::Powf, Some(y)) => {
            let power = power(&x.abs(), &y, cc);
            let is_odd = operands[0] < 0.0 && operands[1] % 2.0 != 0.0;
            if is_odd { power.neg() } else { power }
        }
        (Op::Rsqrt, _) => x.sqrt(p, rm).reciprocal(p, rm),
        (Op::Sin, _) => x.sin(ANGLE_DIGITS, rm, cc),
        (Op::Sinh, _) => x.sinh(p, rm, cc),
        (Op::Tan, _) => x.tan(ANGLE_DIGITS, rm, cc),
        (Op::Tanh, _) => x.tanh(p, rm, cc),
        _ => return None,
    })
}

/// A difference in units, as a float; 0 for what is far less than one.
fn in_units(difference: &BigFloat, unit: f64) -> f64 {
    let units = difference.div(&exactly(unit), 64, ROUNDING);
    let Some((words, _, _, exponent, _)) = units.as_raw_parts() else {
        return f64::NAN;
    };
    // The number is a fraction, of which the last word has the first bits, times a power of two.
    let fraction = words
        .last()
        .map_or(0.0, |word| *word as f64 / 2f64.powi(64));
    fraction * 2f64.powi(exponent.clamp(-200, 1000))
}

/// Returns the error of a result, in units in the last place.
fn off(op: Op, operands: &[Scalar], found: Scalar, constants: &mut Consts) -> f64 {
    let wide = |v: &Scalar| Scalar::from_f64(ScalarType::F64, v.as_f64());
    let wide: Vec<Scalar> = operands.iter().map(wide).collect();
    let defined = op.apply(&wide, ScalarType::F64).expect("it is defined");
    let (defined, found_f64, ty) = (defined.as_f64(), found.as_f64(), found.ty);
    let rounded = Scalar::from_f64(ty, defined).as_f64();
    let is_special = defined == 0.0 || !defined.is_finite();
    if is_special {
        let same_sign = defined.is_sign_negative() == found_f64.is_sign_negative();
        let is_same = defined.is_nan() && found_f64.is_nan() || defined == found_f64 && same_sign;
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
    let unit = ty.ulp(defined);
    if ty == ScalarType::F64 && found_f64.is_finite() {
        let wide: Vec<f64> = wide.iter().map(|v| v.as_f64()).collect();
        if let Some(exact) = exact(op, &wide, constants) {
            let difference = exactly(found_f64).sub(&exact, DIGITS, ROUNDING);
            return in_units(&difference.abs(), unit);
        }
    }
    (found_f64 - defined).abs() / unit
}

/// A check has to let the results pass that are within the bounds: of them, and of the definition's own,
/// which are off by half a unit, or one of `f64`.
#[test]
fn checks_cover_the_bounds() {
    for (name, bounds) in expand_vector_math::bounds() {
        let op = Op::from_mlir(name, None).expect("it is known");
        assert!(op.is_approximate(), "{name}");
        assert!(bounds[0] + 0.6 <= MATH_ULPS, "{name} of f32");
        assert!(bounds[1] + 1.0 <= MATH_ULPS, "{name} of f64");
    }
}

#[test]
fn the_page_about_kernels_has_the_bounds() {
    let page = include_str!("../../../docs/kernels.md");
    for (name, [single, double]) in expand_vector_math::bounds() {
        let row = format!("| `{name}` | {single:.1} | {double:.1} |");
        assert!(page.contains(&row), "{row}");
    }
}

#[test]
fn functions_on_vectors_keep_their_bounds() {
    let functions: Vec<(Op, [f64; 2])> = expand_vector_math::bounds()
        .map(|(name, bounds)| (Op::from_mlir(name, None).expect("it is known"), bounds))
        .collect();
    let jit = compiled(&functions);
    let mut constants = Consts::new().expect("there is memory for constants");
    let (mut wrong, mut worst) = (Vec::new(), String::new());
    for (op, bounds) in &functions {
        for ty in TYPES {
            // Narrow results are rounded once more; the definition of error functions is itself off.
            let is_defined_exactly = !matches!(op, Op::Erf | Op::Erfc);
            let bound = match ty {
                ScalarType::F64 if is_defined_exactly => bounds[1],
                ScalarType::F64 => bounds[1] + 0.6,
                ScalarType::F32 => bounds[0],
                _ => 0.51,
            };
            let (x, y) = operands(ty);
            let lanes = results(&jit, *op, ty, &x, &y);
            let mut most: f64 = 0.0;
            for ((x, y), z) in x.iter().zip(&y).zip(lanes) {
                let operands = &[*x, *y][..op.arity()];
                let off = off(*op, operands, z, &mut constants);
                most = most.max(off);
                if off.is_nan() || off > bound {
                    wrong.push(format!("{op} of {operands:?} is {z}, {off} units off"));
                }
            }
            let _ = writeln!(worst, "{op} of {ty}: {most:.3}, at most {bound}");
        }
    }
    // Shown if the test fails, or is asked to show it.
    println!("{worst}");
    let some = &wrong[..wrong.len().min(20)];
    assert!(wrong.is_empty(), "{} wrong, such as {some:#?}", wrong.len());
}
