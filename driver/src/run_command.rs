//! `mdh run`.
/// x
pub fn run(_: &crate::cli::RunArguments) -> crate::error::Result<()> {
    Ok(())
}
