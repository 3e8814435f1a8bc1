//! Writes random programs, or random schedules of programs, for others to compile and to call:
//! `cases programs|round_trips|schedules FROM..TO FOLDER`. Each seed has a folder of its own with
//!
//! ```text
//! f.mlir         the program
//! schedule.json  its schedules, if it is about them
//! arguments      a line for each argument: its shape, and the file that holds its elements
//!                ("3x5 0.bin"); "-" stands for a scalar, and for random elements
//! 0.bin ..       elements in row-major order, the lowest byte first
//! ```

use std::fs;
use std::io;
use std::path::Path;

use mdh_fuzz::choices::{Choices, Overrides};
use mdh_fuzz::generate;
use mdh_fuzz::program::{Definition, RandomProgram};
use mdh_fuzz::schedules::{self, Machine};

const USAGE: &str = "expected programs, round_trips or schedules, seeds and a folder: schedules 1..101 target/cases";

fn main() -> Result<(), String> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [what, seeds, folder] = &arguments[..] else {
        return Err(USAGE.into());
    };
    let (from, to) = seeds.split_once("..").ok_or(USAGE)?;
    let number = |text: &str| text.parse::<u64>().map_err(|_| USAGE.to_string());
    for seed in number(from)?..number(to)? {
        let choices = &mut Choices::new(seed, Overrides::default());
        let folder = Path::new(folder).join(seed.to_string());
        let (program, schedule) = match what.as_str() {
            "programs" => (generate::program(choices), None),
            "round_trips" => (generate::tileable(choices), None),
            "schedules" => match schedules::case(choices, Machine::Cpu) {
                Ok(case) => (case.program, Some(case.schedules.to_json())),
                // Of some seeds there is no case.
                Err(_) => continue,
            },
            _ => return Err(USAGE.into()),
        };
        write(&program, schedule.as_deref(), &folder)
            .map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    Ok(())
}

fn write(program: &RandomProgram, schedule: Option<&str>, folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    fs::write(folder.join("f.mlir"), program.to_string())?;
    if let Some(schedule) = schedule {
        fs::write(folder.join("schedule.json"), schedule)?;
    }
    let mut lines = String::new();
    for (n, argument) in program.arguments().enumerate() {
        let shape: Vec<String> = argument.ty.shape.iter().map(i64::to_string).collect();
        let shape = match shape.is_empty() {
            true => "-".to_string(),
            false => shape.join("x"),
        };
        let mut file = "-".to_string();
        if let Definition::Argument(Some(contents)) = &argument.definition {
            file = format!("{n}.bin");
            let width = argument.ty.element.byte_width();
            let bytes: Vec<u8> = contents
                .iter()
                .flat_map(|element| element.to_bytes()[..width].to_vec())
                .collect();
            fs::write(folder.join(&file), bytes)?;
        }
        lines += &format!("{shape} {file}\n");
    }
    fs::write(folder.join("arguments"), lines)
}
