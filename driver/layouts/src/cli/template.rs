//! Command line of `mdh template`.

use std::path::PathBuf;

use clap::Args;

use mdh_compiler::cli::OutFile;

/// Arguments of `mdh template`.
#[derive(Args, Debug)]
#[command(after_help = TEMPLATE_EXAMPLES)]
pub struct TemplateArguments {
    /// The template: C, CUDA or Python with {{ A.apply(i, j) }} where an offset belongs.
    pub file: PathBuf,
    /// The layouts by name, the sizes, and the target.
    #[arg(long, value_name = "L.toml")]
    pub layouts: PathBuf,
    /// The file that is written.
    #[command(flatten)]
    pub out: OutFile,
}

const TEMPLATE_EXAMPLES: &str = "\
Examples:
  mdh template examples/templates/matmul.py.j2 --layouts examples/templates/matmul_nn.toml --out matmul.py
  mdh template examples/templates/nw.cu.j2 --layouts examples/templates/nw_antidiag.toml --out nw.cu

In a template, of a layout A:
  {{ A.apply(i, j) }}        the offset of an index: names, expressions, ':' for a whole dimension
  {{ i, j = A.inv(p) }}      statements that compute the index of an offset
  {{ A.mask(i, j) }}         whether an index is one of the layout's
  {{ A.dims }} {{ A.size }}  its sizes, and their product
  {{ A.functions(\"a\") }}     C functions a_apply and a_inv
  {{ A.wrapper(\"Buffer\") }}  a C++ class whose [i][j] goes there";
