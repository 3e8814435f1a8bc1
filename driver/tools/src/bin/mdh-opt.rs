//! `mdh-opt`: mlir-opt with the mdh dialect, passes and pipelines.

fn main() {
    mdh_passes::register(mdh_machine::find);
    std::process::exit(mdh_dialect::tools::opt());
}
