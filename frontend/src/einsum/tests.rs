//! Texts, sizes, operators and orders of einsums, and that whatever is wrong is said where it is.

use insta::assert_snapshot;
use mdh_algebra::random::Random;
use proptest::prelude::*;

use super::*;

fn operands(element: Element, shapes: &[&[u64]]) -> Vec<Operand> {
    let operands = shapes.iter().map(|shape| Operand::new(shape, element));
    operands.collect()
}

fn request(spec: &str, shapes: &[&[u64]]) -> Request {
    Request::new(spec, operands(Element::F32, shapes))
}

fn einsum(spec: &str, shapes: &[&[u64]]) -> Translated {
    match translate(&request(spec, shapes)) {
        Ok(translated) => translated,
        Err(wrong) => panic!("{spec}: {wrong:?}"),
    }
}

/// All mistakes, as they are shown.
fn mistakes(request: &Request) -> String {
    let wrong = translate(request).unwrap_err();
    wrong
        .iter()
        .map(|mistake| mistake.render(request))
        .collect()
}

fn shape(spec: &str, shapes: &[&[u64]]) -> Vec<u64> {
    einsum(spec, shapes).shape
}

#[test]
fn a_product_of_matrices_is_written_as_one() {
    assert_snapshot!(einsum("ij,jk->ik", &[&[2, 3], &[3, 4]]).text);
}

#[test]
fn results_have_the_shapes_that_numpy_gives_them() {
    assert_eq!(shape("ij,jk", &[&[2, 3], &[3, 4]]), [2, 4]);
    assert_eq!(shape("ba", &[&[2, 3]]), [3, 2]);
    assert_eq!(shape("bA", &[&[2, 3]]), [3, 2]);
    assert_eq!(shape("...ba", &[&[5, 2, 3]]), [5, 3, 2]);
    assert_eq!(shape("ii", &[&[3, 3]]), [] as [u64; 0]);
    assert_eq!(shape("ii->i", &[&[3, 3]]), [3]);
    assert_eq!(shape("i j , j k -> i k", &[&[2, 3], &[3, 4]]), [2, 4]);
    assert_eq!(shape("", &[&[]]), [] as [u64; 0]);
    assert_eq!(shape(",", &[&[], &[]]), [] as [u64; 0]);
    assert_eq!(shape("i,", &[&[2], &[]]), [2]);
    assert_eq!(shape("->", &[&[]]), [] as [u64; 0]);
    assert_eq!(shape("i", &[&[0]]), [0]);
    assert_eq!(shape("αβ,βγ", &[&[2, 3], &[3, 4]]), [2, 4]);
    assert_eq!(shape("i×->×i", &[&[2, 3]]), [3, 2]);
}

#[test]
fn extents_of_one_are_broadcast() {
    assert_eq!(shape("ij,jk->ij", &[&[2, 1], &[3, 4]]), [2, 3]);
    assert_eq!(shape("ij->ij", &[&[2, 1]]), [2, 1]);
    assert_eq!(shape("ii,i->i", &[&[1, 1], &[3]]), [3]);
    assert_eq!(shape("i,ii->i", &[&[3], &[1, 1]]), [3]);
    assert_eq!(shape("i,i", &[&[1], &[0]]), [] as [u64; 0]);
    assert_eq!(shape("...,...", &[&[2, 1, 3], &[4, 3]]), [2, 4, 3]);
    assert_eq!(
        shape("ij...,j...->i...", &[&[2, 3, 4], &[3, 5, 1]]),
        [2, 5, 4]
    );
    assert_eq!(shape("...i,i->...", &[&[2, 3], &[3]]), [2]);
    assert_eq!(shape("i->...i", &[&[2]]), [2]);
    assert_eq!(shape("i...->i", &[&[2]]), [2]);
    assert_eq!(shape("...->", &[&[]]), [] as [u64; 0]);
    let text = einsum("ij,jk->ik", &[&[2, 1], &[3, 4]]).text;
    assert!(
        text.contains("op1 = %op1[i, 0] : tensor<2x1xf32>"),
        "{text}"
    );
}

#[test]
fn what_is_wrong_is_said_at_its_character() {
    let matrix: &[u64] = &[2, 3];
    let mistakes_of = |spec: &str, shapes: &[&[u64]]| mistakes(&request(spec, shapes));
    let shown = [
        mistakes_of("i0", &[matrix]),
        mistakes_of("i..j", &[matrix]),
        mistakes_of("i. ..", &[matrix]),
        mistakes_of("......", &[matrix]),
        mistakes_of("ij - > i", &[matrix]),
        mistakes_of("ij->i->j", &[matrix]),
        mistakes_of("ij->,", &[matrix]),
        mistakes_of("i\tj;k", &[matrix]),
        mistakes_of("ij,jk", &[matrix]),
        mistakes_of("ij", &[matrix, matrix]),
        mistakes_of("ijk", &[matrix]),
        mistakes_of("i", &[matrix]),
        mistakes_of("ij,jk->ik", &[matrix, &[4, 5]]),
        mistakes_of("ii", &[matrix]),
        mistakes_of("ii", &[&[1, 3]]),
        mistakes_of("...,...", &[matrix, &[4]]),
        mistakes_of("i...->i", &[matrix]),
        mistakes_of("...->", &[matrix]),
        mistakes_of("ij->ii", &[matrix]),
        mistakes_of("ij->ik", &[matrix]),
        mistakes_of("", &[]),
        mistakes_of("ä€\u{0},", &[matrix]),
    ];
    assert_snapshot!(shown.join("\n"));
}

#[test]
fn sizes_that_nothing_holds_are_refused() {
    let large: &[u64] = &[1 << 62, 2];
    let vector: &[u64] = &[1 << 40];
    let shown = [
        mistakes(&request("ij", &[large])),
        mistakes(&request("i,j->ij", &[vector, vector])),
        mistakes(&request("i,j->", &[&[u64::MAX], &[1]])),
        mistakes(&Request {
            path: Some(vec![vec![0, 1], vec![0, 2], vec![0, 1]]),
            ..request(
                "ai,bi,a,b->i",
                &[&[1 << 31, 2], &[1 << 31, 2], &[1 << 31], &[1 << 31]],
            )
        }),
        mistakes(&Request {
            path: Some(vec![vec![0, 2], vec![0, 1]]),
            ..request("a,ab,c->b", &[&[1 << 32], &[1 << 32, 2], &[1 << 32]])
        }),
    ];
    assert_snapshot!(shown.join("\n"));
}

#[test]
fn the_cheapest_order_is_taken() {
    let chain = einsum("ij,jk,k->i", &[&[50, 60], &[60, 70], &[70]]);
    assert_eq!(chain.path, [[1, 2], [0, 1]]);
    assert_eq!(chain.flops, 2.0 * (60.0 * 70.0 + 50.0 * 60.0));
    assert_eq!(chain.largest, 60.0);
    // What one operand alone has is summed there first.
    let alone = einsum("ij,jk->k", &[&[50, 60], &[60, 70]]);
    assert_eq!(alone.path, [vec![0], vec![0, 1]]);
    // A product of what has the same indices is stored before it is multiplied by a matrix.
    let scaled = einsum("ik,ik,kj->ij", &[&[50, 60], &[50, 60], &[60, 70]]);
    assert_eq!(scaled.path, [[0, 1], [0, 1]]);
    // What sums nothing is one computation.
    let elementwise = einsum("ij,ij,ij,i->ij", &[&[5, 6], &[5, 6], &[5, 6], &[5]]);
    assert_eq!(elementwise.path, [[0, 1, 2, 3]]);
    // Nothing is divided where there is nothing.
    let empty = einsum("ij,jk,kl->il", &[&[5, 6], &[6, 0], &[0, 7]]);
    assert_eq!(empty.path, [[0, 1, 2]]);
}

#[test]
fn a_given_path_is_followed() {
    let shapes: &[&[u64]] = &[&[2, 3], &[3, 4], &[4, 5]];
    let given = |path: &[Vec<usize>]| Request {
        path: Some(path.to_vec()),
        ..request("ij,jk,kl->il", shapes)
    };
    for path in [
        vec![vec![0, 1], vec![0, 1]],
        vec![vec![2, 0], vec![1, 0]],
        vec![vec![0, 1, 2]],
        vec![vec![0], vec![2], vec![0, 2], vec![0, 1]],
    ] {
        let einsum = translate(&given(&path)).unwrap();
        let sorted: Vec<Vec<usize>> = path
            .iter()
            .map(|step| {
                let mut step = step.clone();
                step.sort_unstable();
                step
            })
            .collect();
        assert_eq!(einsum.path, sorted);
        assert_eq!(einsum.text.matches("mdh.compute").count(), path.len());
    }
    let wrong = [
        mistakes(&given(&[])),
        mistakes(&given(&[vec![0, 1]])),
        mistakes(&given(&[vec![0, 1], vec![0, 2]])),
        mistakes(&given(&[vec![0, 0], vec![0, 1]])),
        mistakes(&given(&[vec![0, 1, 2], vec![]])),
        mistakes(&Request {
            combine: Operator::Named(Name::Max),
            ..given(&[vec![0, 1], vec![0, 1]])
        }),
    ];
    assert_snapshot!(wrong.join("\n"));
}

#[test]
fn paths_are_read_as_python_prints_them() {
    let expected = vec![vec![0, 1], vec![2], vec![0, 1]];
    for text in [
        "(0, 1) (2,) (0, 1)",
        "0,1 2 0,1",
        "['einsum_path', (0, 1), (2,), (0, 1)]",
        "[(0,1),(2,),(0,1)]",
        "((0, 1), (2,), (0, 1))",
        "[[0, 1], [2], [0, 1]]",
    ] {
        assert_eq!(parse_path(text).unwrap(), expected, "{text}");
    }
    assert_eq!(parse_path(&path_text(&expected)).unwrap(), expected);
    for text in [
        "(0, 1",
        "0,1 x",
        "(0, x)",
        "(0) y",
        "(-1, 0)",
        "99999999999999999999,0",
        "ä(0)",
        "(0,,1)",
    ] {
        assert!(parse_path(text).is_err(), "{text}");
    }
}

#[test]
fn many_operands_are_no_single_step() {
    // A chain, a star, a ring of squares: each step has few factors.
    let letter = |n: usize| char::from_u32(0x4E00 + n as u32).unwrap();
    for count in [12, 70, 150] {
        let chain: Vec<String> = (0..count)
            .map(|n| [letter(n), letter(n + 1)].iter().collect())
            .collect();
        let star: Vec<String> = (0..count)
            .map(|n| [letter(0), letter(n + 1)].iter().collect())
            .collect();
        for (terms, output) in [(chain, String::new()), (star, letter(0).to_string())] {
            let shapes = vec![&[3u64, 3][..]; count];
            let spec = format!("{}->{output}", terms.join(","));
            let einsum = einsum(&spec, &shapes);
            let most = einsum.path.iter().map(Vec::len).max();
            assert!(most <= Some(16), "{most:?}");
            assert!(einsum.largest <= 9.0, "{}", einsum.largest);
            assert!(einsum.flops < 100.0 * count as f64, "{}", einsum.flops);
        }
    }
}

#[test]
fn types_are_promoted_as_numpy_does() {
    use Element::*;
    let promoted = |a: Element, b: Element| {
        assert_eq!(a.promoted(b), b.promoted(a));
        a.promoted(b)
    };
    for element in Element::all() {
        assert_eq!(promoted(element, element), element);
        assert_eq!(promoted(Bool, element), element);
    }
    assert_eq!(promoted(I8, U8), I16);
    assert_eq!(promoted(I8, U32), I64);
    assert_eq!(promoted(I64, U32), I64);
    assert_eq!(promoted(U64, I8), F64);
    assert_eq!(promoted(U8, U16), U16);
    assert_eq!(promoted(F16, U8), F16);
    assert_eq!(promoted(F16, I16), F32);
    assert_eq!(promoted(F16, Bf16), F32);
    assert_eq!(promoted(Bf16, I8), Bf16);
    assert_eq!(promoted(F32, U16), F32);
    assert_eq!(promoted(F32, I32), F64);
    assert_eq!(promoted(Complex64, I16), Complex64);
    assert_eq!(promoted(Complex64, I32), Complex128);
    assert_eq!(promoted(Complex64, F64), Complex128);
    assert_eq!("u8".parse(), Ok(U8));
    assert_eq!("float32".parse(), Ok(F32));
    assert!("f8".parse::<Element>().is_err());
}

#[test]
fn operators_are_those_of_the_type() {
    let text = |combine: &str, scalar: &str, elements: [Element; 2]| {
        let shapes: [&[u64]; 2] = [&[2, 3], &[3, 4]];
        let operands = shapes.iter().zip(elements);
        let operands = operands.map(|(shape, element)| Operand::new(shape, element));
        let request = Request {
            combine: combine.parse().unwrap(),
            scalar: scalar.parse().unwrap(),
            ..Request::new("ij,jk->ik", operands.collect())
        };
        match translate(&request) {
            Ok(translated) => translated.text,
            Err(_) => mistakes(&request),
        }
    };
    use Element::*;
    let region = "commutative associative neutral(0.0 : f32) (%a: f32, %b: f32) {
      %c = arith.maxnumf %a, %b : f32
      mdh.yield %c : f32
    }";
    let shown = [
        text("add", "mul", [Bool, Bool]),
        text("min", "add", [U16, U16]),
        text("max", "min", [I32, I64]),
        text("xor", "and", [U8, I8]),
        text("add", "mul", [F16, F16]),
        text("max", "pow", [Bf16, I8]),
        text("logaddexp", "add", [F64, F64]),
        text("add", "mul", [Complex64, F32]),
        text("mul", "first", [Complex128, Complex128]),
        text("add", "first", [I8, I8]),
        text(region, region, [F32, F32]),
        text("add", region, [I8, F32]),
        text("sub", "div", [Bool, Bool]),
        text("and", "logaddexp", [F32, I32]),
        text("min", region, [Complex64, F32]),
    ];
    assert_snapshot!(shown.join("\n"));
}

#[test]
fn orders_are_free_in_semirings_only() {
    let shapes: &[&[u64]] = &[&[2, 3], &[3, 4], &[4, 5]];
    let steps = |combine: &str, scalar: &str, element: Element| {
        let request = Request {
            combine: combine.parse().unwrap(),
            scalar: scalar.parse().unwrap(),
            ..Request::new("ij,jk,kl->il", operands(element, shapes))
        };
        translate(&request).unwrap().path.len()
    };
    for (combine, scalar) in [
        ("min", "add"),
        ("max", "min"),
        ("or", "and"),
        ("xor", "and"),
        ("or", "or"),
    ] {
        assert_eq!(
            steps(combine, scalar, Element::I32),
            2,
            "{combine} {scalar}"
        );
    }
    for (combine, scalar) in [
        ("max", "mul"),
        ("add", "add"),
        ("add", "first"),
        ("min", "sub"),
        ("mul", "add"),
    ] {
        assert_eq!(
            steps(combine, scalar, Element::I32),
            1,
            "{combine} {scalar}"
        );
    }
    assert_eq!(steps("logaddexp", "add", Element::F64), 2);
    assert_eq!(steps("max", "mul", Element::Bool), 2);
    let region = |laws: &str| {
        format!("{laws} (%a: f32, %b: f32) {{ %c = arith.addf %a, %b : f32 mdh.yield %c : f32 }}")
    };
    let scalar = region("commutative associative distributes");
    assert_eq!(steps("max", &scalar, Element::F32), 2);
    assert_eq!(
        steps("max", &region("commutative associative"), Element::F32),
        1
    );
    assert_eq!(
        steps("max", &region("associative distributes"), Element::F32),
        1
    );
}

#[test]
fn operands_keep_their_order_outside_of_semirings() {
    let request = Request {
        scalar: Operator::Named(Name::Sub),
        ..request("j,i,k->ik", &[&[2], &[3], &[4]])
    };
    let text = translate(&request).unwrap().text;
    let places: Vec<usize> = ["(op1 = ", ", op2 = ", ", op3 = "]
        .iter()
        .filter_map(|name| text.find(name))
        .collect();
    assert!(places.len() == 3 && places.is_sorted(), "{text}");
}

#[test]
fn regions_are_read_with_their_laws() {
    let wrong = |text: &str| match text.parse::<Operator>() {
        Ok(_) => panic!("{text}"),
        Err(wrong) => render_all(&[wrong], "<combine>", text),
    };
    let shown = [
        wrong("plus"),
        wrong(""),
        wrong("(%a: f32, %b: f32)"),
        wrong("(%a: f32, %b: f32 { mdh.yield %a : f32 }"),
        wrong("comutative (%a: f32) { mdh.yield %a : f32 }"),
        wrong("neutral 0 (%a: f32) { mdh.yield %a : f32 }"),
        wrong("(%a: f32) { mdh.yield %a : f32 } }"),
        wrong("() { mdh.yield }"),
        wrong("associative {"),
        mistakes(&Request {
            combine: "(%a: f32, %b: f32) { mdh.yield %a : f32 }".parse().unwrap(),
            ..request("i->", &[&[3]])
        }),
        mistakes(&Request {
            combine: "associative (%a: f32) { mdh.yield %a : f32 }"
                .parse()
                .unwrap(),
            scalar: "(%a: f32, %b: f32, %c: f32) { mdh.yield %a : f32 }"
                .parse()
                .unwrap(),
            ..request("i->", &[&[3]])
        }),
        mistakes(&Request {
            combine: "associative (%a: f32, %b: f32) { mdh.yield %a : f32 }"
                .parse()
                .unwrap(),
            ..request("ij->", &[&[3, 4]])
        }),
    ];
    assert_snapshot!(shown.join("\n"));
}

/// Characters of einsums, and some that are none.
const CHARACTERS: [&str; 22] = [
    "i", "j", "k", "A", "ä", "×", ",", ",", "...", ".", "->", "-", ">", " ", "0", "\t", "\u{0}",
    "€", "(", "i", "j", "\u{301}",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 3_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn texts_of_all_kinds_are_read_or_refused(seed in any::<u64>()) {
        let mut random = Random::new(seed);
        let mut pick = |below: u64| random.below(below) as usize;
        let text: String = (0..pick(12)).map(|_| CHARACTERS[pick(22)]).collect();
        let operands = (0..pick(4)).map(|_| {
            let shape: Vec<u64> = (0..pick(4)).map(|_| [0, 1, 2, 2, 3, u64::MAX][pick(6)]).collect();
            let elements: Vec<Element> = Element::all().collect();
            Operand::new(&shape, elements[pick(15)])
        });
        let operands: Vec<Operand> = operands.collect();
        let mut request = Request::new(&text, operands);
        let names: Vec<Name> = Name::all().collect();
        request.combine = Operator::Named(names[pick(12)]);
        request.scalar = Operator::Named(names[pick(12)]);
        if pick(3) == 0 {
            request.path = Some((0..pick(4)).map(|_| (0..pick(4)).map(|_| pick(4)).collect()).collect());
        }
        if let Err(wrong) = translate(&request) {
            prop_assert!(!wrong.is_empty());
            for mistake in wrong {
                let place = mistake.diagnostic.place().clone();
                let text = request.text(mistake.subject);
                prop_assert!(text.get(place).is_some(), "{mistake:?}");
                prop_assert!(mistake.render(&request).starts_with("error: "));
            }
        }
        let _ = (text.parse::<Operator>(), parse_path(&text));
    }

    #[test]
    fn operators_and_paths_of_all_kinds_are_read_or_refused(seed in any::<u64>()) {
        const WORDS: [&str; 16] = ["(", ")", "{", "}", "%a", "commutative", "associative", "neutral", "(0)", "[", "]",
            "0", ",", " ", "einsum_path", "ä"];
        let mut random = Random::new(seed);
        let text: String = (0..random.below(12)).map(|_| WORDS[random.below(16) as usize]).collect();
        for wrong in [text.parse::<Operator>().err(), parse_path(&text).err()].into_iter().flatten() {
            prop_assert!(text.get(wrong.place().clone()).is_some(), "{wrong:?}");
            render_all(&[wrong], "<combine>", &text);
        }
    }
}

#[test]
fn operands_lie_in_memory_as_they_are_given() {
    let transposed = Operand::new(&[3, 4], Element::F32).with_order(vec![1, 0]);
    let rows = Operand::new(&[4, 5], Element::F32).with_order(vec![0, 2]);
    let request = Request::new("ij,jk->ik", vec![transposed, rows]);
    let text = translate(&request).unwrap().text;
    assert!(
        text.contains("%op1: tensor<4x3xf32>, %op2: tensor<4x5xf32>"),
        "{text}"
    );
    assert!(
        text.contains("op1 = %op1[j, i] : tensor<4x3xf32>"),
        "{text}"
    );
}
