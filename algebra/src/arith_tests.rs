//! Every operation against its definition.

use super::*;
use ScalarType::*;

fn op(name: &str) -> Op {
    Op::from_mlir(name, None).unwrap()
}

fn int(ty: ScalarType, v: i64) -> Scalar {
    Scalar::from_i64(ty, v)
}

fn float(ty: ScalarType, v: f64) -> Scalar {
    Scalar::from_f64(ty, v)
}

fn int2(name: &str, ty: ScalarType, a: i64, b: i64) -> Result<i64, Reason> {
    let r = op(name).apply(&[int(ty, a), int(ty, b)], ty);
    r.map(Scalar::as_i64).map_err(|e| e.reason)
}

fn float2(name: &str, ty: ScalarType, a: f64, b: f64) -> f64 {
    let r = op(name).apply(&[float(ty, a), float(ty, b)], ty);
    r.unwrap().as_f64()
}

fn float1(name: &str, ty: ScalarType, a: f64) -> f64 {
    op(name).apply(&[float(ty, a)], ty).unwrap().as_f64()
}

/// Every division against its definition, over all pairs of `i8`.
#[test]
fn divisions_exhaustively() {
    for a in -128i64..128 {
        for b in -128i64..128 {
            let signed = |name| int2(name, I8, a, b);
            let unsigned = |name| int2(name, I8, a, b).map(|r| r & 0xff);
            if b == 0 {
                for name in ["arith.divsi", "arith.remsi", "arith.divui", "arith.remui"] {
                    assert_eq!(signed(name), Err(ZERO));
                }
                continue;
            }
            if a == -128 && b == -1 {
                for name in [
                    "arith.divsi",
                    "arith.remsi",
                    "arith.ceildivsi",
                    "arith.floordivsi",
                ] {
                    assert_eq!(signed(name), Err(OVERFLOW));
                }
            } else {
                let exact = a as f64 / b as f64;
                assert_eq!(signed("arith.divsi"), Ok(exact.trunc() as i64));
                assert_eq!(signed("arith.floordivsi"), Ok(exact.floor() as i64));
                assert_eq!(signed("arith.ceildivsi"), Ok(exact.ceil() as i64));
                assert_eq!(signed("arith.remsi"), Ok(a - b * exact.trunc() as i64));
            }
            let (u, v) = (a & 0xff, b & 0xff);
            assert_eq!(unsigned("arith.divui"), Ok(u / v));
            assert_eq!(unsigned("arith.ceildivui"), Ok((u + v - 1) / v));
            assert_eq!(unsigned("arith.remui"), Ok(u % v));
        }
    }
}

#[test]
fn integers_wrap() {
    assert_eq!(
        int2("arith.addi", I32, i64::from(i32::MAX), 1),
        Ok(i64::from(i32::MIN))
    );
    assert_eq!(int2("arith.muli", I64, i64::MAX, 2), Ok(-2));
    assert_eq!(int2("arith.subi", I8, -128, 1), Ok(127));
    assert_eq!(int2("arith.addi", I1, 1, 1), Ok(0));
    assert_eq!(int2("arith.maxsi", I1, 0, 1), Ok(0), "i1 true is -1");
    assert_eq!(int2("arith.maxui", I8, -1, 1), Ok(-1));
    assert_eq!(int2("arith.shli", I8, 1, 7), Ok(-128));
    assert_eq!(int2("arith.shli", I8, 1, 8), Err(SHIFT));
    assert_eq!(int2("arith.shrsi", I8, -128, 7), Ok(-1));
    assert_eq!(int2("arith.shrui", I8, -128, 7), Ok(1));
    let unary = |name, v| op(name).apply(&[int(I8, v)], I8).unwrap().as_i64();
    assert_eq!((unary("math.absi", -128), unary("math.ctlz", 0)), (-128, 8));
    assert_eq!((unary("math.cttz", 0), unary("math.ctpop", -1)), (8, 8));
}

#[test]
fn integer_powers() {
    assert_eq!(int2("math.ipowi", I32, 3, 4), Ok(81));
    assert_eq!(int2("math.ipowi", I8, 2, 8), Ok(0));
    assert_eq!(int2("math.ipowi", I32, -1, -3), Ok(-1));
    assert_eq!(int2("math.ipowi", I32, 2, -1), Ok(0));
    assert_eq!(int2("math.ipowi", I32, 0, -1), Err(ZERO));
}

#[test]
fn extrema_propagate_nan_and_order_zeros() {
    let nan = f64::NAN;
    for ty in [F16, BF16, F32, F64] {
        assert!(float2("arith.maximumf", ty, nan, 1.0).is_nan());
        assert!(float2("arith.minimumf", ty, 1.0, nan).is_nan());
        assert_eq!(float2("arith.maxnumf", ty, nan, 1.0), 1.0);
        assert_eq!(float2("arith.minnumf", ty, 1.0, nan), 1.0);
        for (a, b) in [(0.0, -0.0), (-0.0, 0.0)] {
            assert!(float2("arith.maximumf", ty, a, b).is_sign_positive());
            assert!(float2("arith.minimumf", ty, a, b).is_sign_negative());
        }
        assert_eq!(float2("arith.maximumf", ty, 1.0, 2.0), 2.0);
    }
}

#[test]
fn floats_are_computed_in_their_own_type() {
    assert_eq!(float2("arith.addf", F16, 2048.0, 1.0), 2048.0);
    assert_eq!(float2("arith.addf", F32, 16777216.0, 1.0), 16777216.0);
    assert_eq!(float2("arith.addf", F64, 16777216.0, 1.0), 16777217.0);
    assert_eq!(float2("arith.mulf", F16, 300.0, 300.0), f64::INFINITY);
    assert_eq!(float2("arith.divf", F32, 1.0, 3.0), f64::from(1.0f32 / 3.0));
    assert_eq!(float2("arith.remf", F32, -5.5, 2.0), -1.5);
    assert_eq!(float2("math.copysign", BF16, 2.0, -0.0), -2.0);
    let third = float(F32, f64::from(1f32 / 3.0));
    let fma = op("math.fma").apply(&[third, float(F32, 3.0), float(F32, -1.0)], F32);
    assert_ne!(fma.unwrap().as_f64(), 0.0, "not rounded in between");
}

#[test]
fn comparisons() {
    let values = [f64::NAN, -1.0, 0.0, 1.0];
    for p in 0..16 {
        let cmp = Op::from_mlir("arith.cmpf", Some(p)).unwrap();
        for a in values {
            for b in values {
                let text = format!("{cmp}");
                let name = text.trim_start_matches("arith.cmpf ");
                let unordered = a.is_nan() || b.is_nan();
                let expected = match name {
                    "false" => false,
                    "true" => true,
                    "ord" => !unordered,
                    "uno" => unordered,
                    name => {
                        let relation = match &name[1..] {
                            "eq" => a == b,
                            "gt" => a > b,
                            "ge" => a >= b,
                            "lt" => a < b,
                            "le" => a <= b,
                            _ => !unordered && a != b,
                        };
                        relation || (name.starts_with('u') && unordered)
                    }
                };
                let r = cmp.apply(&[float(F32, a), float(F32, b)], I1).unwrap();
                assert_eq!(r.is_true(), expected, "{cmp} {a} {b}");
            }
        }
    }
    let slt = Op::from_mlir("arith.cmpi", Some(2)).unwrap();
    let ult = Op::from_mlir("arith.cmpi", Some(6)).unwrap();
    let (a, b) = (int(I8, -1), int(I8, 1));
    assert!(slt.apply(&[a, b], I1).unwrap().is_true());
    assert!(!ult.apply(&[a, b], I1).unwrap().is_true());
}

/// The definition, with the exact sum in integers: the products and sums of `f16` and `bf16` that
/// are tried here are multiples of 2^-60 below 2^60.
#[test]
fn fused_operations_round_once() {
    let scaled = |x: Scalar| (x.as_f64() * 2f64.powi(60)) as i128;
    for (ty, x, y) in [(F16, 3.0, 683.0), (BF16, 7.0, 37.0), (BF16, 9.0, 29.0)] {
        for bits in -30..14 {
            for sign in [-1.0, 0.0, 1.0] {
                let (x, y, z) = (
                    float(ty, x),
                    float(ty, y),
                    float(ty, sign * 2f64.powi(bits)),
                );
                let z = if ty == F16 && bits < -24 {
                    float(ty, 0.0)
                } else {
                    z
                };
                let exact = x.as_f64() as i128 * scaled(y) + scaled(z);
                let fused = Op::Fma.apply(&[x, y, z], ty).unwrap();
                let off = (scaled(fused) - exact).abs();
                for neighbour in [fused.bits - 1, fused.bits + 1] {
                    let neighbour = Scalar::from_bits(ty, neighbour);
                    let farther = (scaled(neighbour) - exact).abs();
                    let is_tie = farther == off && fused.bits & 1 == 0;
                    assert!(farther > off || is_tie, "{x} * {y} + {z} = {fused} : {ty}");
                }
            }
        }
    }
    let tiny = float(BF16, 2f64.powi(-100));
    let fma = |z| Op::Fma.apply(&[float(BF16, 9.0), float(BF16, 29.0), z], BF16);
    assert_eq!(fma(tiny).unwrap().as_f64(), 262.0, "261 is half-way");
    let inf = float(BF16, f64::INFINITY);
    assert_eq!(fma(inf).unwrap(), inf);
}

#[test]
fn clamped_to_a_range() {
    let clamp = |x| Op::Clampf.apply(&[float(F32, x), float(F32, 0.0), float(F32, 1.0)], F32);
    let clamp = |x| clamp(x).unwrap().as_f64();
    assert_eq!((clamp(-3.0), clamp(0.25), clamp(7.0)), (0.0, 0.25, 1.0));
    assert_eq!((clamp(f64::INFINITY), clamp(f64::NEG_INFINITY)), (1.0, 0.0));
    assert!(clamp(f64::NAN).is_nan());
}

/// Both halves of all products of two `i8`.
#[test]
fn upper_halves() {
    for a in -128i64..128 {
        for b in -128i64..128 {
            let (u, v) = (a & 0xff, b & 0xff);
            assert_eq!(int2("arith.mulsi_extended", I8, a, b), Ok((a * b) >> 8));
            let upper = int2("arith.mului_extended", I8, a, b).unwrap() & 0xff;
            assert_eq!(upper, (u * v) >> 8);
        }
    }
    assert_eq!(
        int2("arith.mulsi_extended", I64, i64::MIN, i64::MIN),
        Ok(1 << 62)
    );
    assert_eq!(int2("arith.mului_extended", I64, -1, -1), Ok(-2));
}

#[test]
fn conversions() {
    let to = |name: &str, x: Scalar, ty| op(name).apply(&[x], ty).map_err(|e| e.reason);
    assert_eq!(to("arith.extsi", int(I1, 1), I32), Ok(int(I32, -1)));
    assert_eq!(to("arith.extui", int(I1, 1), I32), Ok(int(I32, 1)));
    assert_eq!(to("arith.trunci", int(I32, 257), I8), Ok(int(I8, 1)));
    assert_eq!(
        to("arith.index_cast", int(I32, -2), Index),
        Ok(int(Index, -2))
    );
    assert_eq!(
        to("arith.index_castui", int(I8, -2), Index),
        Ok(int(Index, 254))
    );
    assert_eq!(to("arith.sitofp", int(I1, 1), F32), Ok(float(F32, -1.0)));
    assert_eq!(to("arith.uitofp", int(I8, -1), F32), Ok(float(F32, 255.0)));
    assert_eq!(to("arith.fptosi", float(F32, -1.9), I8), Ok(int(I8, -1)));
    assert_eq!(to("arith.fptosi", float(F32, 128.0), I8), Err(RANGE));
    assert_eq!(
        to("arith.fptosi", float(F32, -128.9), I8),
        Ok(int(I8, -128))
    );
    assert_eq!(to("arith.fptoui", float(F64, f64::NAN), I64), Err(RANGE));
    assert_eq!(to("arith.fptoui", float(F64, -0.5), I64), Ok(int(I64, 0)));
    assert_eq!(
        to("arith.fptosi", float(F64, 2f64.powi(63)), I64),
        Err(RANGE)
    );
    assert_eq!(
        to("arith.truncf", float(F64, 1e30), F16),
        Ok(float(F16, f64::INFINITY))
    );
    assert_eq!(
        to("arith.bitcast", float(F32, 1.0), I32),
        Ok(int(I32, 0x3f80_0000))
    );
    assert_eq!(to("arith.extf", float(F64, 1.0), F32), Err(TYPES));
    assert_eq!(to("arith.bitcast", float(F64, 1.0), I32), Err(TYPES));
}

#[test]
fn math_functions() {
    let near = |name: &str, x: f64, expected: f64| {
        for ty in [F16, BF16, F32, F64] {
            let argument = float(ty, x).as_f64();
            let got = float1(name, ty, x);
            // The argument's own rounding moves the result, too.
            let slack = 4.0 * ty.epsilon() * (1.0 + argument.abs() * expected.abs().max(1.0));
            assert!(
                (got - expected).abs() <= slack,
                "{name}({x}) : {ty} = {got}"
            );
        }
    };
    for x in [0.25, 0.5, 1.0] {
        near("math.exp", x, x.exp());
        near("math.exp2", x, x.exp2());
        near("math.expm1", x, x.exp_m1());
        near("math.log", x, x.ln());
        near("math.log1p", x, x.ln_1p());
        near("math.rsqrt", x, 1.0 / x.sqrt());
        near("math.cbrt", x, x.cbrt());
        near("math.tanh", x, x.tanh());
        near("math.asinh", x, x.asinh());
        near("math.erf", x, 1.0 - libm::erfc(x));
    }
    assert_eq!(float1("math.erf", F64, 0.5), 0.5204998778130465);
    assert_eq!(float1("math.round", F32, 2.5), 3.0);
    assert_eq!(float1("math.roundeven", F32, 2.5), 2.0);
    assert_eq!(float1("math.floor", F16, -0.5), -1.0);
    assert_eq!(float1("math.trunc", F32, -1.5), -1.0);
    assert_eq!(float1("math.absf", F32, -1.5), 1.5);
    assert_eq!(
        float1("arith.negf", F32, 0.0).to_bits(),
        (-0.0f64).to_bits()
    );
    assert_eq!(float2("math.powf", F32, 2.0, -1.0), 0.5);
    assert_eq!(
        float2("math.atan2", F64, 1.0, 1.0),
        std::f64::consts::FRAC_PI_4
    );
    let fpowi = op("math.fpowi").apply(&[float(F32, 2.0), int(I32, -2)], F32);
    assert_eq!(fpowi.unwrap().as_f64(), 0.25);
}

#[test]
fn wrong_operands_are_errors() {
    let e = op("arith.addf")
        .apply(&[int(I32, 1), int(I32, 2)], I32)
        .unwrap_err();
    assert_eq!(e.reason, TYPES);
    assert!(op("arith.addf").apply(&[], F32).is_err());
    assert!(
        op("arith.addi")
            .apply(&[int(I32, 1), int(I64, 2)], I32)
            .is_err()
    );
    assert!(
        op("arith.addi")
            .apply(&[float(F32, 1.0), float(F32, 1.0)], F32)
            .is_err()
    );
    assert!(op("math.exp").apply(&[int(I32, 1)], I32).is_err());
    let e = op("arith.divsi")
        .apply(&[int(I32, 7), int(I32, 0)], I32)
        .unwrap_err();
    assert_eq!(
        e.to_string(),
        "arith.divsi(7 : i32, 0 : i32) has no defined result: division by zero"
    );
}

/// A function, and what is outside of its domain.
type Domain = (&'static str, fn(f64) -> bool);

/// Outside of its domain a function has no value, however far outside.
#[test]
fn domains_of_math_functions() {
    let outside: [Domain; 11] = [
        ("math.acosh", |x| x < 1.0),
        ("math.atanh", |x| x.abs() > 1.0),
        ("math.asin", |x| x.abs() > 1.0),
        ("math.acos", |x| x.abs() > 1.0),
        ("math.log", |x| x < 0.0),
        ("math.log2", |x| x < 0.0),
        ("math.log10", |x| x < 0.0),
        ("math.log1p", |x| x < -1.0),
        ("math.sqrt", |x| x < 0.0),
        ("math.rsqrt", |x| x < 0.0),
        ("math.cbrt", |_| false),
    ];
    let magnitudes = (-1000..1000)
        .map(|n| 1.31f64.powi(n))
        .chain([f64::INFINITY]);
    for x in magnitudes.flat_map(|x| [x, -x, 1.0 + x, -1.0 - x]) {
        for (name, is_outside) in outside {
            let y = float1(name, F64, x);
            assert_eq!(y.is_nan(), is_outside(x), "{name}({x}) is {y}");
        }
    }
    for name in [
        "math.acosh",
        "math.atanh",
        "math.sin",
        "math.tanh",
        "math.erf",
    ] {
        assert!(float1(name, F64, f64::NAN).is_nan(), "{name}");
    }
}
