//! Programs that grow in one way each: what a compiler does too often for each part of a program shows
//! in one of them.

use std::fmt::Write;

use mdh_compiler::cli::Stage;

/// Programs of any size.
pub struct Family {
    /// The name in tables and pictures.
    pub name: &'static str,
    /// The part of a program that there are `n` of.
    pub of: &'static str,
    /// The program with so many parts.
    pub program: fn(usize) -> String,
    /// The stages that it is compiled to, and what tables call them.
    pub stages: [(Stage, &'static str); 2],
}

const STAGES: [(Stage, &str); 2] = [
    (Stage::Scheduled, "scheduled"),
    (Stage::Obj, "machine code"),
];

/// The families.
pub const FAMILIES: [Family; 6] = [
    Family {
        name: "functions",
        of: "functions of one small computation",
        program: functions,
        stages: STAGES,
    },
    Family {
        name: "folding chain",
        of: "computations that become one",
        program: folding_chain,
        stages: STAGES,
    },
    Family {
        name: "chain",
        of: "sums, each of what the one before it gives",
        program: chain,
        stages: STAGES,
    },
    Family {
        name: "scalar code",
        of: "operations of one scalar function",
        program: scalar_code,
        stages: STAGES,
    },
    Family {
        name: "order",
        of: "levels in the order of a schedule",
        program: order,
        stages: STAGES,
    },
    Family {
        name: "linalg",
        of: "operations of linalg, as a network has them",
        program: linalg,
        stages: [(Stage::Raised, "raised"), STAGES[1]],
    },
];

/// Source text, written line by line, which cannot fail.
struct SourceLines(String);

impl SourceLines {
    fn line(&mut self, line: std::fmt::Arguments) {
        let SourceLines(text) = self;
        // Writing to a string does not fail.
        let _ = text.write_fmt(line);
        text.push('\n');
    }
}

fn functions(n: usize) -> String {
    let mut program = SourceLines(String::new());
    for f in 0..n {
        program.line(format_args!(
            "func.func @f{f}(%a: tensor<64xf32>, %b: tensor<64xf32>, %init: tensor<64xf32>) -> tensor<64xf32> {{
  %w = mdh.compute (i = 64)
    out_view(w = %init[i] : tensor<64xf32>)
    md_hom(addf, (cc))
    inp_view(a = %a[i] : tensor<64xf32>, b = %b[i] : tensor<64xf32>)
  return %w : tensor<64xf32>
}}"
        ));
    }
    program.0
}

fn folding_chain(n: usize) -> String {
    let mut program = SourceLines(String::new());
    program.line(format_args!(
        "func.func @f(%x0: tensor<64xf32>, %v: tensor<64xf32>) -> tensor<64xf32> {{
  %init = tensor.empty() : tensor<64xf32>"
    ));
    for k in 1..=n {
        let (operation, before) = (["mulf", "addf"][k % 2], k - 1);
        program.line(format_args!(
            "  %x{k} = mdh.compute (i = 64)
    out_view(w = %init[i] : tensor<64xf32>)
    md_hom({operation}, (cc))
    inp_view(x = %x{before}[i] : tensor<64xf32>, v = %v[i] : tensor<64xf32>)"
        ));
    }
    program.line(format_args!("  return %x{n} : tensor<64xf32>\n}}"));
    program.0
}

fn chain(n: usize) -> String {
    let mut program = SourceLines(String::new());
    program.line(format_args!(
        "func.func @f(%x0: tensor<32xf32>, %m: tensor<32x32xf32>) -> tensor<32xf32> {{
  %init = tensor.empty() : tensor<32xf32>"
    ));
    for k in 1..=n {
        let before = k - 1;
        program.line(format_args!(
            "  %x{k} = mdh.compute (i = 32, j = 32)
    out_view(w = %init[i] : tensor<32xf32>)
    md_hom(mulf, (cc, pw(addf)))
    inp_view(m = %m[i, j] : tensor<32x32xf32>, x = %x{before}[j] : tensor<32xf32>)"
        ));
    }
    program.line(format_args!("  return %x{n} : tensor<32xf32>\n}}"));
    program.0
}

fn scalar_code(n: usize) -> String {
    let mut program = SourceLines(String::new());
    program.line(format_args!(
        "func.func @f(%a: tensor<64xf32>, %b: tensor<64xf32>, %init: tensor<64xf32>) -> tensor<64xf32> {{
  %w = mdh.compute (i = 64)
    out_view(w = %init[i] : tensor<64xf32>)
    md_hom((%x0: f32, %y: f32) {{"
    ));
    for k in 1..=n {
        let (operation, before) = (["mulf", "addf"][k % 2], k - 1);
        program.line(format_args!(
            "      %x{k} = arith.{operation} %x{before}, %y : f32"
        ));
    }
    program.line(format_args!(
        "      mdh.yield %x{n} : f32
    }}, (cc))
    inp_view(a = %a[i] : tensor<64xf32>, b = %b[i] : tensor<64xf32>)
  return %w : tensor<64xf32>
}}"
    ));
    program.0
}

/// The layers of `cpu`, of which each dimension has a level: first those that have several parts.
const LAYERS: [&str; 7] = ["main", "L1", "L3", "core", "L2", "register", "simd"];

/// A sum over a domain of as many dimensions as it takes, the first of which has all points but one.
fn order(n: usize) -> String {
    let dimensions: Vec<String> = (0..n.div_ceil(LAYERS.len()))
        .map(|d| format!("d{d}"))
        .collect();
    let sizes = dimensions.iter().enumerate();
    let sizes: Vec<String> = sizes
        .map(|(d, name)| format!("{name} = {}", if d == 0 { 64 } else { 1 }))
        .collect();
    let combine: Vec<&str> = (0..dimensions.len())
        .map(|d| if d == 0 { "cc" } else { "pw(addf)" })
        .collect();
    let levels = LAYERS.iter().flat_map(|layer| {
        let names = dimensions.iter();
        names.map(move |name| format!("{layer}.{name}"))
    });
    let levels: Vec<String> = levels.take(n).collect();
    let mut program = SourceLines(String::new());
    program.line(format_args!(
        "func.func @f(%v: tensor<64xf32>, %init: tensor<64xf32>) -> tensor<64xf32> {{
  %w = mdh.compute ({})
    out_view(w = %init[d0] : tensor<64xf32>)
    md_hom(id, ({}))
    inp_view(v = %v[d0] : tensor<64xf32>)
    schedule(#mdh.schedule<asm = cpu, layers = [main {{d0: *}}, L1 {{d0: 8}}], decompose = {{order: [{}]}}>)
  return %w : tensor<64xf32>
}}",
        sizes.join(", "),
        combine.join(", "),
        levels.join(", ")
    ));
    program.0
}

/// Layers of a network: a product that starts from zeros, a bias, and a rectification by `linalg.generic`.
fn linalg(n: usize) -> String {
    let mut program = SourceLines(String::new());
    program.line(format_args!(
        "func.func @f(%x0: tensor<32x32xf32>, %m: tensor<32x32xf32>) -> tensor<32x32xf32> {{
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<32x32xf32>"
    ));
    let mut last = 0;
    for k in 1..=n {
        let operation = match k % 4 {
            1 => "linalg.fill ins(%zero : f32) outs(%empty : tensor<32x32xf32>)".to_string(),
            2 => format!(
                "linalg.matmul ins(%x{last}, %m : tensor<32x32xf32>, tensor<32x32xf32>) \
                 outs(%x{} : tensor<32x32xf32>)",
                k - 1
            ),
            3 => format!(
                "linalg.add ins(%x{last}, %m : tensor<32x32xf32>, tensor<32x32xf32>) \
                 outs(%empty : tensor<32x32xf32>)"
            ),
            _ => format!(
                "linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, \
                 affine_map<(i, j) -> (i, j)>], iterator_types = [\"parallel\", \"parallel\"]}} \
                 ins(%x{last} : tensor<32x32xf32>) outs(%empty : tensor<32x32xf32>) {{
  ^bb0(%e: f32, %o: f32):
    %r = arith.maximumf %e, %zero : f32
    linalg.yield %r : f32
  }}"
            ),
        };
        program.line(format_args!("  %x{k} = {operation} -> tensor<32x32xf32>"));
        // Zeros are where the next product starts from, not its operand.
        last = if k % 4 == 1 { last } else { k };
    }
    program.line(format_args!("  return %x{n} : tensor<32x32xf32>\n}}"));
    program.0
}
