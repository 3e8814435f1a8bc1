//! `mdh bench --compile-time`: compile times, and their growth with the program.
//!
//! Each program of a family is compiled as `mdh compile` does it, without files and the start of the
//! process, to two stages: computations that have their schedules (of linalg: computations), and
//! machine code. Of several times the shortest counts: what else happens on the machine only adds.
//! The exponent is the slope of the line that is nearest to the logarithms of times over those of
//! sizes: 1 where time grows as the program does.

mod families;

use std::time::{Duration, Instant};

use serde::Serialize;

use crate::chart;
use crate::options::BenchArguments;
use families::{FAMILIES, Family};
use mdh_compiler::cli::{CompileArguments, Stage};
use mdh_compiler::compile_command;
use mdh_compiler::error::{Error, Result};
use mdh_compiler::host::Host;
use mdh_compiler::output;
use mdh_compiler::progress::{Progress, Reader};
use mdh_compiler::source::Source;

/// The sizes of programs, and those of a quick run.
const SIZES: [usize; 4] = [32, 100, 320, 1000];
const QUICK: [usize; 2] = [2, 4];

/// Compilations are repeated until they have taken so long together, and so often at most.
const PATIENCE: Duration = Duration::from_millis(500);
const MOST: usize = 20;

/// The times of one family to one stage.
#[derive(Debug, PartialEq, Serialize)]
pub struct Curve {
    /// The family's name.
    pub family: String,
    /// Unit of `n`.
    pub of: String,
    /// The stage.
    pub stage: String,
    /// Numbers of parts, and the times in ms.
    pub times: Vec<Time>,
    /// The power of `n` that the times from 100 on, or all where these are too few, grow with.
    pub exponent: Option<f64>,
}

/// Compile time of a program.
#[derive(Debug, PartialEq, Serialize)]
pub struct Time {
    /// The number of parts.
    pub n: usize,
    /// The time in ms.
    pub ms: f64,
}

/// Runs the command.
pub fn run(host: &Host, command: &BenchArguments) -> Result<()> {
    check(command)?;
    let sizes: &[usize] = match command.quick {
        true => &QUICK,
        false => &SIZES,
    };
    let families: Vec<&Family> = FAMILIES.iter().filter(|f| is_wanted(command, f)).collect();
    let programs: usize = families.iter().map(|family| family.stages.len()).sum();
    let programs = (programs * sizes.len()) as u64;
    let progress = Progress::start(Reader::Person, "compiling");
    command.json.print(heading(sizes))?;
    let (mut curves, mut done) = (Vec::new(), 0);
    for family in families {
        for (stage, name) in family.stages {
            let mut times = Vec::new();
            for n in sizes {
                progress.step(&format!("{} of {n}: {name}", family.name));
                progress.share(done, programs, "programs");
                done += 1;
                times.push(Time {
                    n: *n,
                    ms: time(host, family, *n, stage)?.as_secs_f64() * 1e3,
                });
            }
            let curve = Curve {
                family: family.name.to_string(),
                of: family.of.to_string(),
                stage: name.to_string(),
                exponent: exponent(&times),
                times,
            };
            command.json.print(line(&curve))?;
            curves.push(curve);
        }
    }
    drop(progress);
    let json = || serde_json::to_string_pretty(&curves).unwrap_or_default() + "\n";
    command.json.write(json)?;
    if let Some(path) = &command.svg {
        output::write(path, chart::curves(&curves)?.as_bytes())?;
    }
    Ok(())
}

/// Returns whether a family is among those that are named, or none is.
fn is_wanted(command: &BenchArguments, family: &Family) -> bool {
    command.workloads.is_empty() || command.workloads.iter().any(|name| name == family.name)
}

/// Fails for names of no family, and for files that cannot be written.
fn check(command: &BenchArguments) -> Result<()> {
    let names: Vec<&str> = FAMILIES.iter().map(|family| family.name).collect();
    let mut given = command.workloads.iter().map(String::as_str);
    if let Some(unknown) = given.find(|name| !names.contains(name)) {
        return Err(Error::usage(format!(
            "there is no family of programs '{unknown}': expected some of '{}', or none for all",
            names.join("', '")
        )));
    }
    command.json.check()?;
    command
        .svg
        .as_deref()
        .map_or(Ok(()), output::check_writable)
}

/// The shortest of several times that a program takes to a stage.
fn time(host: &Host, family: &Family, n: usize, stage: Stage) -> Result<Duration> {
    let name = format!("{}.mlir", family.name.replace(' ', "-"));
    let text = (family.program)(n);
    let arguments = CompileArguments {
        no_warnings: true,
        ..CompileArguments::new(name.as_ref(), stage)
    };
    let (mut best, mut spent) = (Duration::MAX, Duration::ZERO);
    for _ in 0..MOST {
        let start = Instant::now();
        let source = Source::from_text(&name, &text);
        compile_command::compile(host, &source, &arguments)?;
        let taken = start.elapsed();
        (best, spent) = (best.min(taken), spent + taken);
        if spent >= PATIENCE {
            break;
        }
    }
    Ok(best)
}

/// The fewest parts that count for an exponent: before, what each compilation takes hides the rest.
const LARGE: usize = 100;

/// The slope of the line with the least squares of distances to the logarithms.
fn exponent(times: &[Time]) -> Option<f64> {
    let is_large = |time: &&Time| time.n >= LARGE;
    let large = times.iter().filter(is_large).count();
    let counted = times.iter().filter(|time| large < 2 || is_large(time));
    let points: Vec<(f64, f64)> = counted
        .map(|time| ((time.n as f64).ln(), time.ms.ln()))
        .collect();
    let count = points.len() as f64;
    let (x, y) = points
        .iter()
        .fold((0.0, 0.0), |sum, p| (sum.0 + p.0, sum.1 + p.1));
    let (x, y) = (x / count, y / count);
    let above: f64 = points.iter().map(|p| (p.0 - x) * (p.1 - y)).sum();
    let below: f64 = points.iter().map(|p| (p.0 - x).powi(2)).sum();
    (points.len() > 1).then(|| above / below)
}

fn heading(sizes: &[usize]) -> String {
    let columns: String = sizes
        .iter()
        .map(|n| format!(" {:>9}", format!("n = {n}")))
        .collect();
    format!(
        "{:<15} {:<13}{columns}  exponent   (times in ms)\n",
        "family", "to"
    )
}

fn line(curve: &Curve) -> String {
    let times: String = curve
        .times
        .iter()
        .map(|t| format!(" {:>9.2}", t.ms))
        .collect();
    let exponent = curve
        .exponent
        .map(|e| format!("{e:.2}"))
        .unwrap_or_default();
    format!(
        "{:<15} {:<13}{times}  {exponent:>8}   {}\n",
        curve.family, curve.stage, curve.of
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponents_are_those_of_powers() {
        let times = |curve: fn(f64) -> f64| -> Vec<Time> {
            let time = |n: &usize| Time {
                n: *n,
                ms: curve(*n as f64),
            };
            SIZES.iter().map(time).collect()
        };
        let fitted = |curve| exponent(&times(curve)).unwrap();
        assert!((fitted(|n| 3.0 * n) - 1.0).abs() < 1e-9);
        assert!((fitted(|n| 0.1 * n * n) - 2.0).abs() < 1e-9);
        assert!(fitted(|_| 7.0).abs() < 1e-9);
        // What stands at 32 does not count.
        assert!((fitted(|n| if n < 100.0 { 1e9 } else { n.powf(1.5) }) - 1.5).abs() < 1e-9);
        assert_eq!(exponent(&[Time { n: 5, ms: 1.0 }]), None);
    }

    #[test]
    fn lines_are_as_wide_as_the_heading() {
        let times = SIZES.iter().map(|n| Time {
            n: *n,
            ms: *n as f64,
        });
        let curve = Curve {
            family: "functions".into(),
            of: "functions".into(),
            stage: "machine code".into(),
            times: times.collect(),
            exponent: Some(1.0),
        };
        let end = |text: &str, word: &str| text.find(word).map(|at| at + word.len());
        let (heading, line) = (heading(&SIZES), line(&curve));
        assert_eq!(
            end(&heading, "exponent"),
            end(&line, " 1.00"),
            "{heading}{line}"
        );
        assert_eq!(
            end(&heading, "n = 1000"),
            end(&line, "1000.00"),
            "{heading}{line}"
        );
    }
}
