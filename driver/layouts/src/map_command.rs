//! `mdh map`: a space of indices, as blocks and threads of a device.

use std::fmt::Write;
use std::path::Path;

use mdh_algebra::index::simplify::simplify;
use mdh_algebra::index::{Expr, Facts, Interval, Name};
use mdh_algebra::layout::Answer;
use mdh_algebra::mapping::{
    self, Back, Device, Discard, Launch, Mapping, Strategy, choose, equivalence,
};
use mdh_schedule::asm::Asm;

use crate::cli::{Assumed, Choice, MapArguments, Mode};
use mdh_compiler::{asm_command, output};

use crate::{map_code, map_picture};
use mdh_compiler::error::{Error, Result};

/// Runs the command: the code if it is asked for, else all that is to be seen.
pub fn run(arguments: &MapArguments) -> Result<()> {
    let launch = launch(arguments)?;
    let text = match arguments.emit {
        Some(code) => map_code::code(&launch, code, discard(arguments), arguments.bits)?,
        None => summary(&launch, discard(arguments))?,
    };
    if !arguments.check {
        return output::print(text);
    }
    match checked(&launch) {
        Answer::Proved => output::print(text + "proved\n"),
        answer => {
            output::print(text)?;
            Err(Error::check(answer.to_string()))
        }
    }
}

fn discard(arguments: &MapArguments) -> Discard {
    match arguments.discard {
        Mode::Branching => Discard::Branching,
        Mode::Branchless => Discard::Branchless,
    }
}

fn launch(arguments: &MapArguments) -> Result<Launch> {
    let given = read(&arguments.space, &arguments.assume)?;
    let device = device(&arguments.device)?;
    if !given.chain().is_empty() {
        if arguments.strategy.is_some() {
            return Err(Error::usage(
                "found --strategy and mappings, expected one of them: a space, or what it becomes",
            ));
        }
        let threads = arguments.threads.unwrap_or(given.mapped().rank().min(1));
        return Launch::new(given, threads, &device).map_err(Error::input);
    }
    if arguments.threads.is_some() {
        return Err(Error::usage(
            "found --threads and no mapping, expected one, such as '[n].pad_last(32).split_last(32)'",
        ));
    }
    let strategy = match arguments.strategy {
        Some(Choice::Table) => Strategy::Table,
        Some(Choice::Sparse) => Strategy::Sparse,
        Some(Choice::Cost) | None => Strategy::Cost,
    };
    choose(given.original(), given.facts(), &device, strategy).map_err(Error::input)
}

/// The mapping with what is assumed of its symbols.
fn read(source: &str, assume: &[Assumed]) -> Result<Mapping> {
    let (mut facts, mut values) = (Facts::new(), Vec::new());
    for assumed in assume {
        let (min, max) = (i128::from(assumed.min), assumed.max.map(i128::from));
        facts.within(
            &assumed.symbol,
            Interval::new(min, max.unwrap_or(i128::MAX)),
        );
        if max == Some(min) {
            values.push((Name::from(assumed.symbol.as_str()), assumed.min));
        }
    }
    let read = mapping::mapping(source, &facts);
    let mapping = read.map_err(|e| Error::input(e.in_source(source)))?;
    for assumed in assume {
        if !mapping.symbols().iter().any(|s| **s == *assumed.symbol) {
            let known: Vec<String> = mapping.symbols().iter().map(|s| format!("'{s}'")).collect();
            let known = match known.is_empty() {
                true => "the space has no symbols".to_string(),
                false => format!("expected {}", known.join(", ")),
            };
            let symbol = &assumed.symbol;
            return Err(Error::usage(format!(
                "found --assume of '{symbol}', but {known}"
            )));
        }
    }
    match values.is_empty() {
        true => Ok(mapping),
        false => mapping.bind(&values).map_err(|e| Error::input(e.message)),
    }
}

fn device(name: &str) -> Result<Device> {
    let asm = match Asm::builtin(name) {
        Some(asm) => asm,
        None => asm_command::read(Path::new(name))?,
    };
    asm.device().map_err(Error::input)
}

/// By its construction, and point by point where the points are few: of both the worse answer.
fn checked(launch: &Launch) -> Answer {
    let mapping = launch.mapping();
    let names = launch.names();
    let tried = equivalence(&mapping::Claim {
        original: mapping.original(),
        mapped: mapping.mapped(),
        names: &names,
        back: &launch.back(),
        facts: mapping.facts(),
        conditions: mapping.conditions(),
    });
    match (tried, mapping.answer()) {
        (Answer::Refuted(why), Answer::Proved) => Answer::Refuted(format!("{why}: a bug")),
        (_, answer) => answer,
    }
}

/// The spaces from left to right, the launch, and the index.
fn summary(launch: &Launch, discard: Discard) -> Result<String> {
    let mapping = launch.mapping();
    let facts = mapping.facts();
    let count = mapping.original().count(facts);
    let mut text = format!("{}: {}\n", mapping.original(), counted(&count, "point"));
    text += &map_picture::picture(mapping, 0)?;
    for (n, (step, space)) in mapping
        .chain()
        .iter()
        .zip(&mapping.spaces()[1..])
        .enumerate()
    {
        let _ = writeln!(text, "{step}: {space}");
        text += &map_picture::picture(mapping, n + 1)?;
    }
    let device = &launch.device().name;
    let (blocks, block) = (extents(&launch.blocks()), extents(&launch.block()));
    let _ = writeln!(text, "launch on {device}: blocks {blocks}, threads {block}");
    let (launched, wasted) = (launch.launched(), launch.wasted());
    let _ = match (launched.as_constant(), wasted.as_constant()) {
        (Some(all @ 1..), Some(lost)) => {
            let percent = lost as f64 / all as f64 * 100.0;
            writeln!(text, "threads: {all}, wasted: {lost} ({percent:.1} %)")
        }
        _ => writeln!(text, "threads: {launched}, wasted: {wasted}"),
    };
    for condition in launch.conditions() {
        let _ = writeln!(text, "asked before the launch: {condition}");
    }
    let Back { index, exits } = simplified(launch);
    let names = launch.names().join(", ");
    let _ = writeln!(text, "index({names}):");
    match discard {
        Discard::Branching => exits
            .iter()
            .for_each(|exit| text += &format!("  leave unless {exit}\n")),
        Discard::Branchless => {
            if let Some(operative) = (Back {
                index: vec![],
                exits,
            })
            .operative()
            {
                text += &format!("  only if {operative}\n");
            }
        }
    }
    index.iter().for_each(|i| text += &format!("  {i}\n"));
    Ok(text)
}

/// Index and conditions in few operations; what always holds is left out.
pub fn simplified(launch: &Launch) -> Back {
    let back = launch.back();
    let outputs = [back.index.as_slice(), &back.exits].concat();
    let mut index = simplify(&launch.facts(), &outputs);
    let mut exits = index.split_off(back.index.len());
    exits.retain(|exit| exit.as_constant() != Some(1));
    Back { index, exits }
}

fn counted(count: &Expr, what: &str) -> String {
    match count.as_constant() {
        Some(1) => format!("1 {what}"),
        _ => format!("{count} {what}s"),
    }
}

/// `4 x 2` along x and y; 1 if there is no dimension.
fn extents(sizes: &[Expr]) -> String {
    let sizes: Vec<String> = sizes.iter().map(Expr::to_string).collect();
    match sizes.is_empty() {
        true => "1".to_string(),
        false => sizes.join(" x "),
    }
}
