//! `mdh-opt`: mlir-opt with the mdh dialect, passes and pipelines.

fn main() {
    mdh_passes::table::register();
    std::process::exit(mdh_dialect::tools::opt());
}
