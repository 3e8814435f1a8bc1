//! Tests of arrays: ranges of numbers, streams, digests, shapes.

use super::*;

fn values(tensor: &Tensor) -> Vec<f64> {
    (0..tensor.len()).map(|i| tensor.get(i).as_f64()).collect()
}

#[test]
fn random_numbers_have_their_ranges() {
    for element in ScalarType::ALL {
        let tensor = Tensor::random(element, &[30, 40], 7, 0).unwrap();
        let (low, high) = match element {
            ScalarType::I1 => (0.0, 1.0),
            ScalarType::Index => (0.0, 7.0),
            _ if element.is_integer() => (-8.0, 7.0),
            _ => (-1.0, 1.0 - element.epsilon()),
        };
        let values = values(&tensor);
        assert!(
            values.iter().all(|value| (low..=high).contains(value)),
            "{element}"
        );
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let middle = (low + high) / 2.0;
        assert!(
            (mean - middle).abs() < (high - low) * 0.05,
            "{element}: mean {mean}"
        );
        assert!(
            values.contains(&low) || element.precision() > Some(8),
            "{element}"
        );
    }
}

#[test]
fn uniform_numbers_fill_their_range() {
    for (element, [low, high]) in [
        (ScalarType::I32, [-1.0, 4.0]),
        (ScalarType::F64, [0.5, 0.75]),
    ] {
        let tensor = Tensor::uniform(element, &[1000], [low, high], (0, 0)).unwrap();
        let values = values(&tensor);
        assert!(values.iter().all(|v| (low..high).contains(v)), "{element}");
        let mean = values.iter().sum::<f64>() / 1000.0;
        let middle = if element.is_float() { 0.625 } else { 1.0 };
        assert!(
            (mean - middle).abs() < (high - low) * 0.05,
            "{element}: {mean}"
        );
        let other = Tensor::uniform(element, &[1000], [low, high], (0, 1)).unwrap();
        assert_ne!(other.bytes(), tensor.bytes());
    }
}

#[test]
fn random_floats_use_the_whole_precision() {
    let tensor = Tensor::random(ScalarType::F32, &[100], 0, 0).unwrap();
    assert!(
        values(&tensor)
            .iter()
            .all(|v| (v * 2f64.powi(23)).fract() == 0.0)
    );
    assert!(
        values(&tensor)
            .iter()
            .any(|v| (v * 2f64.powi(22)).fract() != 0.0)
    );
}

#[test]
fn the_same_seed_gives_the_same_numbers_everywhere() {
    let digests = ScalarType::ALL.map(|element| {
        let digest = Tensor::random(element, &[5, 7], 42, 3).unwrap().digest();
        format!("{element} {digest}")
    });
    insta::assert_snapshot!(digests.join("\n"));
}

#[test]
fn seeds_and_streams_differ() {
    let digest = |seed, stream| {
        Tensor::random(ScalarType::F64, &[16], seed, stream)
            .unwrap()
            .digest()
    };
    let mut digests: Vec<String> = (0..8)
        .flat_map(|seed| (0..8).map(move |stream| digest(seed, stream)))
        .collect();
    digests.sort();
    digests.dedup();
    assert_eq!(digests.len(), 64);
}

#[test]
fn a_digest_is_xxh3_of_the_bytes() {
    let tensor = Tensor::from_bytes(ScalarType::I8, &[3], b"abc").unwrap();
    assert_eq!(tensor.digest(), "78af5f94892f3950"); // xxhash.xxh3_64_hexdigest(b"abc")
}

#[test]
fn elements_are_read_and_written() {
    for element in ScalarType::ALL {
        let mut tensor = Tensor::zeroed(element, &[2, 3]).unwrap();
        let unit = Scalar::from_i64(element, 1);
        tensor.set(4, unit);
        assert_eq!(tensor.get(4), unit);
        assert_eq!(values(&tensor), [0.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
        assert_eq!(tensor.try_clone().unwrap().bytes(), tensor.bytes());
        assert!(tensor.is_intact());
    }
}

#[test]
fn shapes() {
    let scalar = Tensor::from_scalar(Scalar::from_f64(ScalarType::BF16, 1.5)).unwrap();
    assert_eq!((scalar.len(), scalar.type_text()), (1, "bf16".to_string()));
    let empty = Tensor::random(ScalarType::F32, &[3, 0], 0, 0).unwrap();
    assert_eq!(
        (empty.is_empty(), empty.type_text()),
        (true, "3x0xf32".to_string())
    );
    let error = Tensor::zeroed(ScalarType::F64, &[1 << 40, 1 << 40])
        .err()
        .unwrap();
    assert!(matches!(error, Error::Size { .. }), "{error}");
    let error = Tensor::zeroed(ScalarType::F64, &[1 << 50]).err().unwrap();
    assert!(
        error
            .to_string()
            .contains("8.0 PiB (9007199254740992 bytes) are needed"),
        "{error}"
    );
}
