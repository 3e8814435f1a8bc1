//! `mdh-opt`: mlir-opt with the mdh dialect, passes and pipelines.

fn main() {
    mdh_passes::support::machine::find_by(mdh_machine::find);
    mdh_passes::register();
    std::process::exit(mdh_dialect::tools::opt());
}
