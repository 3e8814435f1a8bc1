//! Prints the random loops of a seed: `loops SEED [OVERRIDES]`.

use mdh_compiler::cli::CheckHow;
use mdh_testing::choices::{Choices, Overrides};
use mdh_testing::loops;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let seed = arguments.next().and_then(|text| text.parse().ok());
    let overrides = arguments.next().unwrap_or_default().parse::<Overrides>();
    match (seed, overrides) {
        (Some(seed), Ok(overrides)) => {
            let program = loops::program(&mut Choices::new(seed, overrides));
            print!("// {}\n{}", program.flags(CheckHow::All), program.text);
        }
        (_, overrides) => eprintln!(
            "expected a seed and, if any, overrides: 7 s0/drop=1; {}",
            overrides.err().unwrap_or_default()
        ),
    }
}
