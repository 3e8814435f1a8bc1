//! Tests of scalars on the command line.

use super::*;

#[test]
fn scalars_from_the_command_line() {
    let parse = |text, ty| parse_scalar(text, ty).map(|scalar| scalar.bits).ok();
    assert_eq!(parse("-128", ScalarType::I8), Some(0x80));
    assert_eq!(parse("255", ScalarType::I8), Some(0xff));
    assert_eq!(parse("256", ScalarType::I8), None);
    assert_eq!(parse("-129", ScalarType::I8), None);
    assert_eq!(parse("0xff", ScalarType::I16), Some(0xff));
    assert_eq!(
        parse("18446744073709551615", ScalarType::I64),
        Some(u64::MAX)
    );
    assert_eq!(parse("-1", ScalarType::Index), Some(u64::MAX));
    assert_eq!(parse("true", ScalarType::I1), Some(1));
    assert_eq!(parse("2", ScalarType::I1), None);
    assert_eq!(parse("--5", ScalarType::I32), None);
    assert_eq!(parse("", ScalarType::I32), None);
    assert_eq!(parse("0x-5", ScalarType::I32), None);
    assert_eq!(parse("1.5", ScalarType::F16), Some(0x3e00));
    assert_eq!(parse("-inf", ScalarType::BF16), Some(0xff80));
    assert_eq!(
        parse("0.1", ScalarType::F32),
        Some(u64::from(0.1f32.to_bits()))
    );
    assert_eq!(parse("x", ScalarType::F64), None);
    insta::assert_snapshot!(parse_scalar("300", ScalarType::I8).unwrap_err(), @"error: wrong value '300' for a scalar of type i8, expected an integer between -128 and 255");
    insta::assert_snapshot!(parse_scalar("a.npy", ScalarType::F32).unwrap_err(), @"error: wrong value 'a.npy' for a scalar of type f32, expected a number, such as 0.5, -1e-3, inf or nan");
}
