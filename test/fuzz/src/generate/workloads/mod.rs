//! The computations of the examples and of the paper's evaluation, at random small sizes, in
//! random types and forms.

mod combined;
mod draft;
mod kept;
mod products;
mod records;
mod types;

use mdh_algebra::scalar::ScalarType::{BF16, F16, F32};
use mdh_dialect::types::BufferKind;

use super::generator::{Generator, Purpose, finish};
use super::types::Contents;
use crate::choices::Choices;
use crate::program::RandomProgram;
use types::numbers;

/// Adds the computations of a workload.
type Make = fn(&mut Choices, &mut Generator);

/// Those that are no product: their names, and how often each is chosen.
const OTHERS: [(&str, u64, Make); 20] = [
    ("jacobi1d", 2, |c, g| kept::jacobi(c, g, 1)),
    ("jacobi2d", 2, |c, g| kept::jacobi(c, g, 2)),
    ("jacobi3d", 2, |c, g| kept::jacobi(c, g, 3)),
    ("map", 3, kept::map),
    ("transpose", 3, kept::transpose),
    ("mandelbrot", 2, kept::mandelbrot),
    ("reduce", 4, combined::reduce),
    ("reduce2", 3, combined::reduce2),
    ("scan", 6, combined::scan),
    ("sat", 6, combined::sat),
    ("mbbs", 4, combined::mbbs),
    ("histo", 2, combined::histo),
    ("genhisto", 2, combined::genhisto),
    ("softmax", 3, combined::softmax),
    ("argmax", 3, records::argmax),
    ("logsumexp", 3, records::logsumexp),
    ("prl", 2, records::prl),
    ("rows", 6, combined::rows),
    ("user reduce", 5, records::user_reduce),
    ("user scan", 6, records::user_scan),
];

fn start(c: &mut Choices) -> Generator {
    let kind = match c.chance("memref", 35) {
        true => BufferKind::MemRef,
        false => BufferKind::Tensor,
    };
    let open = c.weighted("sizes", &[65, 17, 18]);
    let is_special = c.chance("special", 12);
    let has_contents = c.chance("contents", 30);
    Generator {
        program: RandomProgram {
            seed: c.below("seed", 1 << 20),
            ..RandomProgram::default()
        },
        kind,
        is_open: open == 1,
        sized: open == 2,
        odd_domains: c.chance("odd domains", 20),
        contents: match (open, is_special, has_contents) {
            (2, _, _) => None,
            (_, true, _) => Some(Contents::Special),
            (_, _, true) => Some(Contents::Plain),
            _ => None,
        },
        arrays: 0,
        results: Vec::new(),
        written: Vec::new(),
        undefined: Vec::new(),
        maps: Vec::new(),
        is_last: true,
        purpose: Purpose::Run,
    }
}

/// A workload, and its name.
pub fn workload(c: &mut Choices) -> (&'static str, RandomProgram) {
    let mut g = start(c);
    let products: u64 = 22;
    let rest = OTHERS.iter().map(|(_, often, _)| *often);
    let weights: Vec<u64> = [products].into_iter().chain(rest).collect();
    let name = match c.weighted("workload", &weights) {
        0 => {
            let row = &products::PRODUCTS[c.weighted("product", &products::OFTEN)];
            let types = numbers(c);
            products::product(c, &mut g, row, types);
            row.name
        }
        n => {
            let (name, _, make) = &OTHERS[n - 1];
            make(c, &mut g);
            name
        }
    };
    finish(c, &mut g);
    (name, g.program)
}

/// A product of matrices of which GPUs have instructions, and its name.
pub fn matrices(c: &mut Choices) -> (&'static str, RandomProgram) {
    let mut g = start(c);
    let row = &products::PRODUCTS[c.weighted("product", &products::OF_MATRICES)];
    let read = c.pick("read", &[F16, BF16]);
    products::product(c, &mut g, row, (read, F32));
    finish(c, &mut g);
    (row.name, g.program)
}

/// Returns whether a workload of this name is a sum of products.
pub fn is_product(name: &str) -> bool {
    products::PRODUCTS
        .iter()
        .any(|product| product.name == name)
}
