//! `mdh-opt`: mlir-opt with the mdh dialect, passes and pipelines.

fn main() {
    mdh_passes::machine::find_by(mdh_machine::find);
    mdh_passes::register::passes();
    std::process::exit(mdh_dialect::tools::opt());
}
