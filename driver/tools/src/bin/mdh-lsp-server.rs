//! `mdh-lsp-server`: diagnostics, definitions and completion for .mlir files with mdh in them.

fn main() {
    mdh_passes::register(mdh_machine::find);
    std::process::exit(mdh_dialect::tools::lsp_server());
}
