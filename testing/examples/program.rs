//! Prints the random program of a seed: `program SEED [OVERRIDES]`.

use mdh_testing::choices::{Choices, Overrides};
use mdh_testing::generate;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let seed = arguments.next().and_then(|text| text.parse().ok());
    let overrides = arguments.next().unwrap_or_default().parse::<Overrides>();
    match (seed, overrides) {
        (Some(seed), Ok(overrides)) => {
            print!("{}", generate::program(&mut Choices::new(seed, overrides)));
        }
        (_, overrides) => eprintln!(
            "expected a seed and, if any, overrides: 7 step0/dim1/drop=1,steps=0; {}",
            overrides.err().unwrap_or_default()
        ),
    }
}
