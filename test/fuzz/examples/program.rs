//! Prints the random program of a seed: `program KIND SEED [OVERRIDES]`.

use mdh_compiler::cli::CheckHow;
use mdh_fuzz::choices::{Choices, Overrides};
use mdh_fuzz::{generate, linalg, loops};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let kind = arguments.next().unwrap_or_default();
    let seed = arguments.next().and_then(|text| text.parse().ok());
    let overrides = arguments.next().unwrap_or_default().parse::<Overrides>();
    let why = match (seed, overrides) {
        (Some(seed), Ok(overrides)) => match print(&kind, &mut Choices::new(seed, overrides)) {
            true => return,
            false => format!("found '{kind}'"),
        },
        (_, overrides) => overrides.err().unwrap_or_default(),
    };
    eprintln!(
        "expected a kind (program, linalg, loops), a seed and, if any, overrides: \
         program 7 step0/dim1/drop=1,steps=0; {why}"
    );
}

/// Prints a program of a kind, with what it is run with; `false` for an unknown kind.
fn print(kind: &str, choices: &mut Choices) -> bool {
    match kind {
        "program" => print!("{}", generate::program(choices)),
        "linalg" => {
            let program = linalg::program(choices);
            print!("// --random {}\n{}", program.seed, program.text);
        }
        "loops" => {
            let program = loops::program(choices);
            print!("// {}\n{}", program.flags(CheckHow::All), program.text);
        }
        _ => return false,
    }
    true
}
