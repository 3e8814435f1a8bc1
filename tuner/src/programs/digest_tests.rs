//! Programs that are the same, and programs that are not.

use mdh_compiler::source::Source;
use mdh_dialect::context;
use mdh_schedule::SearchedParts;

use crate::programs::program::SearchedProgram;

/// Two computations, of which the second one reads the result of the first.
const CHAIN: &str = "\
func.func @f(%x: memref<32x32xf32>, %y: memref<32x32xf32>, %z: memref<32x32xf32>) {
  mdh.compute (i = 32, j = 32)
    out_view(y = %y[i, j] : memref<32x32xf32>)
    md_hom(id, (cc, cc))
    inp_view(x = %x[i, j] : memref<32x32xf32>)
  mdh.compute (i = 32, j = 32)
    out_view(z = %z[i, j] : memref<32x32xf32>)
    md_hom(addf, (cc, cc))
    inp_view(a = %y[i, j] : memref<32x32xf32>, b = %x[j, i] : memref<32x32xf32>)
  return
}
";

fn read(text: &str) -> SearchedProgram {
    mdh_passes::register_all();
    let context = context::program_context();
    let source = Source::from_text("f.mlir", text);
    let asm = mdh_machine::this().unwrap();
    let program = SearchedProgram::read(&context, &source, None, &asm, SearchedParts::Model);
    program.unwrap_or_else(|error| panic!("{}: {text}", error.message()))
}

fn with(changes: &[(&str, &str)]) -> SearchedProgram {
    let mut text = CHAIN.to_string();
    for (from, to) in changes {
        assert!(text.contains(from), "{from}");
        text = text.replace(from, to);
    }
    read(&text)
}

#[test]
fn names_of_values_and_sizes_are_none_of_it() {
    let chain = read(CHAIN);
    let named = with(&[("@f", "@g"), ("%x", "%first"), ("%z", "%0")]);
    assert_eq!((&chain.digest, &chain.sizes), (&named.digest, &named.sizes));
    let larger = with(&[("32x32", "64x128"), ("i = 32, j = 32", "i = 16, j = 64")]);
    let larger_transposed = with(&[("32x32", "64x64"), ("i = 32, j = 32", "i = 64, j = 64")]);
    assert_eq!(
        (&chain.digest, &chain.digest),
        (&larger.digest, &larger_transposed.digest)
    );
    assert_ne!(chain.sizes, larger.sizes);
    let unused = with(&[(
        "  return",
        "  %n = arith.constant 7 : index\n  %m = memref.alloc(%n) : memref<?xf32>\n  return",
    )]);
    assert_eq!(chain.digest, unused.digest);
    let open = with(&[
        ("32x32", "?x?"),
        ("i = 32, j = 32", "i = %n, j = %m"),
        (
            " {\n",
            " {\n  %0 = arith.constant 0 : index\n  %n = memref.dim %x, %0 : memref<?x?xf32>\n  \
             %m = memref.dim %y, %0 : memref<?x?xf32>\n",
        ),
    ]);
    assert_eq!(chain.digest, open.digest);
}

#[test]
fn what_is_computed_is_part_of_it() {
    let chain = read(CHAIN).digest;
    let changed: [(&str, &[(&str, &str)]); 11] = [
        ("types", &[("f32", "f64")]),
        ("which result is read", &[("a = %y", "a = %x")]),
        ("memory that is read and written", &[("z = %z", "z = %y")]),
        (
            "the order of inputs",
            &[
                ("a = %y[i, j]", "a = %x[j, i]"),
                ("b = %x[j, i]", "b = %y[i, j]"),
            ],
        ),
        ("an index function", &[("b = %x[j, i]", "b = %x[i, j]")]),
        ("a scalar function", &[("addf", "mulf")]),
        ("a parameter's name", &[("b = %x", "c = %x")]),
        ("strides", &[("32x32xf32", "32x32xf32, strided<[1, 32]>")]),
        (
            "open strides",
            &[("32x32xf32", "32x32xf32, strided<[?, 1]>")],
        ),
        (
            "arguments that may overlap",
            &[(") {", ") attributes {mdh.may_alias} {")],
        ),
        (
            "a loop around",
            &[
                (
                    "  mdh.compute (i = 32, j = 32)\n    out_view(z",
                    "  %0 = arith.constant 0 : index\n  %1 = arith.constant 1 : index\n  scf.for %t = %0 to %1 step %1 {\n  mdh.compute (i = 32, j = 32)\n    out_view(z",
                ),
                ("  return", "  }\n  return"),
            ],
        ),
    ];
    for (what, changes) in changed {
        assert_ne!(chain, with(changes).digest, "{what}");
    }
}

/// Checks: strides that are numbers are sizes, which of them are larger is not.
#[test]
fn strides_have_a_form_and_sizes() {
    let rows = with(&[("32x32xf32", "32x32xf32, strided<[32, 1]>")]);
    let apart = with(&[("32x32xf32", "32x32xf32, strided<[100, 1]>")]);
    assert_eq!(rows.digest, apart.digest);
    assert_eq!(
        (rows.sizes.0["0.x.stride0"], apart.sizes.0["0.x.stride0"]),
        (32, 100)
    );
    let columns = with(&[("32x32xf32", "32x32xf32, strided<[1, 100]>")]);
    let twice = with(&[("32x32xf32", "32x32xf32, strided<[64, 2]>")]);
    let further = with(&[("32x32xf32", "32x32xf32, strided<[2, 64]>")]);
    let moved = with(&[("32x32xf32", "32x32xf32, strided<[32, 1], offset: 8>")]);
    let digests = [
        &read(CHAIN).digest,
        &rows.digest,
        &columns.digest,
        &twice.digest,
        &further.digest,
        &moved.digest,
    ];
    for (n, digest) in digests.iter().enumerate() {
        assert!(!digests[..n].contains(digest), "{n}");
    }
}
