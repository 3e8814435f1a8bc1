//! Tests of reading and writing `.npy` files. The bytes are what NumPy writes.

use super::*;
use std::fs;

/// A file as numpy.save writes it, version 1 of the format.
fn npy(descr: &str, fortran: bool, shape: &str, data: &[u8]) -> Vec<u8> {
    let order = if fortran { "True" } else { "False" };
    let mut dict = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}");
    while (dict.len() + 11) % 64 != 0 {
        dict.push(' ');
    }
    dict.push('\n');
    let length = (dict.len() as u16).to_le_bytes();
    [b"\x93NUMPY\x01\x00", &length[..], dict.as_bytes(), data].concat()
}

/// Reads these bytes as an array, through a file called `a.npy`.
fn load(bytes: &[u8], element: ScalarType, shape: &[Option<i64>]) -> Result<Tensor> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.npy");
    fs::write(&path, bytes).unwrap();
    let expected = Expected {
        argument: "M",
        element,
        shape,
    };
    read(&path, &expected)
}

/// Returns the error of reading, with the directory left out.
fn complaint(bytes: &[u8], element: ScalarType, shape: &[Option<i64>]) -> String {
    let text = load(bytes, element, shape).err().unwrap().to_string();
    let (before, rest) = text.split_once('\'').unwrap();
    format!("{before}'{}", &rest[rest.find("a.npy").unwrap()..])
}

fn values(tensor: &Tensor) -> Vec<f64> {
    (0..tensor.len()).map(|i| tensor.get(i).as_f64()).collect()
}

#[test]
fn every_type_comes_back() {
    let directory = tempfile::tempdir().unwrap();
    for element in ScalarType::ALL {
        let path = directory.path().join(format!("{element}.npy"));
        for shape in [&[3i64, 4, 5][..], &[7], &[], &[0, 3]] {
            let tensor = Tensor::random(element, shape, 1, 2).unwrap();
            write(&path, &tensor).unwrap();
            let any = vec![None; shape.len()];
            let expected = Expected {
                argument: "x",
                element,
                shape: &any,
            };
            let back = read(&path, &expected).unwrap();
            assert_eq!(
                (back.shape(), back.bytes()),
                (shape, tensor.bytes()),
                "{element}"
            );
        }
    }
}

#[test]
fn headers_are_numpys() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.npy");
    write(&path, &Tensor::zeroed(ScalarType::BF16, &[2, 3]).unwrap()).unwrap();
    let bytes = fs::read(&path).unwrap();
    assert!(bytes.starts_with(b"\x93NUMPY\x01\x00"));
    let header = String::from_utf8_lossy(&bytes[10..]).into_owned();
    let dict = "{'descr': '<u2', 'fortran_order': False, 'shape': (2, 3, ), }";
    assert!(header.starts_with(dict), "{header}");
    assert_eq!((bytes.len() - 12) % 16, 0);
}

#[test]
fn both_memory_orders_are_the_same_array() {
    // a[i, j, k] = 100 i + 10 j + k
    let mut c_order = Vec::new();
    let mut fortran = Vec::new();
    let value = |i: i16, j: i16, k: i16| (100 * i + 10 * j + k).to_le_bytes();
    for i in 0..2 {
        for j in 0..3 {
            for k in 0..4 {
                c_order.extend(value(i, j, k));
            }
        }
    }
    for k in 0..4 {
        for j in 0..3 {
            for i in 0..2 {
                fortran.extend(value(i, j, k));
            }
        }
    }
    let shape = [Some(2), Some(3), Some(4)];
    let read = |fortran_order, data| {
        load(
            &npy("<i2", fortran_order, "(2, 3, 4)", data),
            ScalarType::I16,
            &shape,
        )
        .unwrap()
    };
    assert_eq!(read(true, &fortran).bytes(), c_order);
    assert_eq!(read(false, &c_order).bytes(), c_order);
}

#[test]
fn large_and_thin_arrays_are_reordered() {
    for (rows, columns) in [(100usize, 67usize), (1, 50), (50, 1), (33, 32)] {
        let element = |i: usize, j: usize| (i * columns + j) as f64;
        let data: Vec<u8> = (0..columns)
            .flat_map(|j| (0..rows).flat_map(move |i| element(i, j).to_le_bytes()))
            .collect();
        let bytes = npy("<f8", true, &format!("({rows}, {columns})"), &data);
        let tensor = load(&bytes, ScalarType::F64, &[None, None]).unwrap();
        let expected: Vec<f64> = (0..rows * columns).map(|x| x as f64).collect();
        assert_eq!(values(&tensor), expected, "{rows} x {columns}");
    }
}

#[test]
fn four_dimensions_are_reordered() {
    let shape = [2usize, 3, 4, 5];
    let row_major = |i: [usize; 4]| ((i[0] * 3 + i[1]) * 4 + i[2]) * 5 + i[3];
    let index = |flat: usize| [flat % 2, flat / 2 % 3, flat / 6 % 4, flat / 24];
    let data: Vec<u8> = (0..120).map(|flat| row_major(index(flat)) as u8).collect();
    let text = format!("{shape:?}").replace('[', "(").replace(']', ")");
    let tensor = load(&npy("|u1", true, &text, &data), ScalarType::I8, &[None; 4]).unwrap();
    assert!(
        tensor
            .bytes()
            .iter()
            .enumerate()
            .all(|(i, &byte)| byte as usize == i)
    );
}

#[test]
fn big_endian_is_converted() {
    let data: Vec<u8> = [1.5f32, -2.0]
        .iter()
        .flat_map(|x| x.to_be_bytes())
        .collect();
    let tensor = load(
        &npy(">f4", false, "(2,)", &data),
        ScalarType::F32,
        &[Some(2)],
    )
    .unwrap();
    assert_eq!(values(&tensor), [1.5, -2.0]);
}

#[test]
fn signless_integers_take_both_signs_and_bits_are_bits() {
    let tensor = load(
        &npy("<u2", false, "(1,)", &[0xff, 0xff]),
        ScalarType::I16,
        &[None],
    );
    assert_eq!(values(&tensor.unwrap()), [-1.0]);
    let tensor = load(
        &npy("|b1", false, "(3,)", &[0, 1, 7]),
        ScalarType::I1,
        &[None],
    );
    assert_eq!(tensor.unwrap().bytes(), [0, 1, 1]);
    for descr in ["<u2", "|V2", "<V2"] {
        let tensor = load(
            &npy(descr, false, "()", &[0xc0, 0x3f]),
            ScalarType::BF16,
            &[],
        );
        assert_eq!(values(&tensor.unwrap()), [1.5], "{descr}");
    }
}

#[test]
fn wrong_types_and_shapes_are_named() {
    let file = npy("<f8", false, "(2, 3)", &[0; 48]);
    insta::assert_snapshot!(complaint(&file, ScalarType::F32, &[Some(2), Some(3)]), @r"
    error: 'a.npy' holds float64, expected float32 for the argument 'M' of type f32
    help: in Python, `a.astype('float32')` converts it
    ");
    insta::assert_snapshot!(complaint(&file, ScalarType::F64, &[Some(2), Some(4)]), @"error: 'a.npy' has shape 2x3, expected 2x4 for the argument 'M'");
    insta::assert_snapshot!(complaint(&file, ScalarType::F64, &[None, Some(3), None]), @"error: 'a.npy' has shape 2x3, expected ?x3x? for the argument 'M'");
    insta::assert_snapshot!(complaint(&npy(">i8", false, "()", &[0; 8]), ScalarType::I1, &[]), @r"
    error: 'a.npy' holds big-endian int64, expected bool for the argument 'M' of type i1
    help: in Python, `a.astype('bool')` converts it
    ");
    for (descr, words) in [
        ("<c16", "holds complex128"),
        ("|O", "holds Python objects"),
        ("<U3", "holds strings"),
        ("<M8[s]", "holds times"),
        ("|V3", "holds raw data (|V3)"),
    ] {
        let text = complaint(
            &npy(descr, false, "(1,)", &[0; 16]),
            ScalarType::F32,
            &[None],
        );
        assert!(text.contains(words), "{text}");
    }
}

#[test]
fn damaged_files_are_named() {
    let whole = npy("<f4", false, "(2, 3)", &[0; 24]);
    let shape = [Some(2), Some(3)];
    let cut = |bytes: usize| complaint(&whole[..bytes], ScalarType::F32, &shape);
    insta::assert_snapshot!(cut(whole.len() - 1), @"error: 'a.npy' is truncated: found 23 bytes of data, expected 24 (2x3 of float32)");
    insta::assert_snapshot!(cut(50), @"error: cannot read 'a.npy': it is truncated: its header is incomplete");
    insta::assert_snapshot!(cut(9), @"error: cannot read 'a.npy': it is not a .npy file (numpy.save writes such files)");
    insta::assert_snapshot!(cut(0), @"error: cannot read 'a.npy': it is not a .npy file (numpy.save writes such files)");
    let huge = npy("<f4", false, "(2147483648, 2147483648)", &[0; 24]);
    let text = complaint_of_any(&huge);
    assert!(
        text.contains("truncated: found 24 bytes of data, expected 2^63 or more"),
        "{text}"
    );
    let large = npy("<f4", false, "(1048576, 1048576)", &[0; 24]);
    let text = complaint_of_any(&large);
    assert!(
        text.contains("truncated: found 24 bytes of data, expected 4398046511104"),
        "{text}"
    );
    let mut long = whole.clone();
    long[8..10].copy_from_slice(&[0xff, 0xff]);
    assert!(complaint_of_any(&long).contains("its header has 65535 bytes"));
    let deep = npy("<f4", false, &"(".repeat(9000), &[]);
    assert!(complaint_of_any(&deep).contains("cannot read"));
    for version in [0, 2, 4, 255] {
        let mut other = whole.clone();
        other[6] = version;
        assert!(complaint_of_any(&other).contains("cannot read"));
    }
    let negative = npy("<f4", false, "(-1, 3)", &[0; 24]);
    assert!(complaint_of_any(&negative).contains("dimension cannot be negative"));
}

/// Returns the error of reading as a matrix of floats.
fn complaint_of_any(bytes: &[u8]) -> String {
    load(bytes, ScalarType::F32, &[None, None])
        .err()
        .unwrap()
        .to_string()
}

#[test]
fn no_mutation_of_a_header_panics() {
    let whole = npy("<f4", true, "(2, 3)", &[0; 24]);
    let mut state = 1u64;
    for _ in 0..3000 {
        let mut bytes = whole.clone();
        for _ in 0..3 {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            let at = (state >> 33) as usize % 80;
            bytes[at] = (state >> 25) as u8;
        }
        let _ = load(&bytes, ScalarType::F32, &[None, None]);
    }
}

#[test]
fn missing_files_and_directories_are_named() {
    let expected = Expected {
        argument: "M",
        element: ScalarType::F32,
        shape: &[],
    };
    let text = read(Path::new("no/such.npy"), &expected)
        .err()
        .unwrap()
        .to_string();
    assert_eq!(
        text,
        "error: cannot read 'no/such.npy': No such file or directory (os error 2)"
    );
    let text = read(Path::new("/"), &expected).err().unwrap().to_string();
    assert!(text.contains("cannot read '/': Is a directory"), "{text}");
}

/// A file whose header is this text, and nothing else.
fn only_header(text: &str) -> Vec<u8> {
    let length = (text.len() as u16).to_le_bytes();
    [b"\x93NUMPY\x01\x00", &length[..], text.as_bytes()].concat()
}

/// The parser of headers tries what stands in a bracket again: nested deeply, for ever.
#[test]
fn headers_of_strange_text() {
    let strange = "error: cannot read 'a.npy': its header is not what numpy.save writes";
    let repeated = [
        "[", "{", "(", "('a',", "[1,", "{'a':", "{1:{2:", "]", "{()", "(),", "{1},", "{1:1},", "'",
        "\"", "\"\"\"", "\\", "'\\", "b'", "''", "'',", "-", "1+", "1_", ".1", "True", "\t",
    ];
    let before = [
        "",
        "{'descr': ",
        "['\\N{'}', '",
        "[[[[[[",
        "{{{{{{",
        "{('a',(('a',(",
        "[[[[[[1]]]]], '\\\\",
    ];
    for text in repeated {
        for before in before {
            let count = (9_999 - before.len()) / text.len();
            let bytes = only_header(&format!("{before}{}", text.repeat(count)));
            let said = complaint(&bytes, ScalarType::F32, &[]);
            assert_eq!(said, strange, "{before}{text}");
        }
    }
    let balanced = only_header(&format!("{}1{}", "[".repeat(30), "]".repeat(30)));
    assert_eq!(complaint(&balanced, ScalarType::F32, &[]), strange);
}

/// Checks: what is only a text has no bracket that counts.
#[test]
fn headers_of_records() {
    let record = "[('a', [('[[[[[[[\\\\', '<f4', (2,))])]";
    let text = format!("{{'descr': {record}, 'fortran_order': False, 'shape': (2,), }}\n");
    assert_eq!(
        complaint(&only_header(&text), ScalarType::F32, &[Some(2)]),
        "error: 'a.npy' holds a structured type, expected float32 for the argument 'M' of type f32"
    );
}
