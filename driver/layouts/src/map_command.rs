//! `mdh map`: a space of indices, as blocks and threads of a device.

use std::fmt::Write;

use mdh_algebra::index::simplify::simplify;
use mdh_algebra::index::{Expr, Facts, Interval, Name};
use mdh_algebra::layout::Answer;
use mdh_algebra::mapping::{
    self, Back, Device, Discard, Launch, Mapping, Strategy, choose, equivalence,
};

use crate::cli::{Assumed, Choice, MapArguments, Mode};
use mdh_compiler::devices;
use mdh_compiler::host::Host;

use crate::{map_code, map_picture};
use mdh_compiler::error::{Error, Result};

/// Runs the command: the code if it is asked for, else all that is to be seen.
pub fn run(arguments: &MapArguments) -> Result<()> {
    arguments.out.check()?;
    arguments.json.check()?;
    let launch = launch(arguments)?;
    let code = |code| map_code::code(&launch, code, discard(arguments), arguments.bits);
    let code = arguments.emit.map(code).transpose()?;
    let answer = arguments.check.then(|| checked(&launch));
    if !arguments.json.is_printed() {
        let mut text = match &code {
            Some(code) => code.clone(),
            None => summary(&launch, discard(arguments))?,
        };
        if answer == Some(Answer::Proved) {
            text += "proved\n";
        }
        arguments.out.write(text)?;
    }
    arguments
        .json
        .write(|| json(&launch, code.as_deref(), answer.as_ref()))?;
    match answer {
        None | Some(Answer::Proved) => Ok(()),
        Some(answer) => Err(Error::check(answer.to_string())),
    }
}

/// The launch, its index, and the code and the answer that are asked for, as one object.
fn json(launch: &Launch, code: Option<&str>, answer: Option<&Answer>) -> String {
    let number = |e: &Expr| match e.as_constant() {
        Some(number) => serde_json::Value::from(number),
        None => e.to_string().into(),
    };
    let numbers = |list: &[Expr]| list.iter().map(number).collect::<Vec<_>>();
    let mapping = launch.mapping();
    let Back { index, exits } = simplified(launch);
    let names = launch.names();
    let names: Vec<&str> = names.iter().map(|name| &**name).collect();
    let steps: Vec<String> = mapping.chain().iter().map(ToString::to_string).collect();
    let mut object = serde_json::json!({
        "space": mapping.original().to_string(),
        "mappings": steps,
        "device": launch.device().name,
        "blocks": numbers(&launch.blocks()),
        "threads": numbers(&launch.block()),
        "launched": number(&launch.launched()),
        "wasted": number(&launch.wasted()),
        "place": names,
        "index": numbers(&index),
        "only_if": numbers(&exits),
    });
    if let Some(code) = code {
        object["code"] = code.into();
    }
    if let Some(answer) = answer {
        object["bijection"] = answer.to_string().into();
    }
    format!("{object:#}\n")
}

fn discard(arguments: &MapArguments) -> Discard {
    match arguments.discard {
        Mode::Branching => Discard::Branching,
        Mode::Branchless => Discard::Branchless,
    }
}

fn launch(arguments: &MapArguments) -> Result<Launch> {
    let given = read(&arguments.space, &arguments.size)?;
    let device = device(arguments)?;
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
fn read(source: &str, sizes: &[Assumed]) -> Result<Mapping> {
    let (mut facts, mut values) = (Facts::new(), Vec::new());
    for assumed in sizes {
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
    for assumed in sizes {
        if !mapping.symbols().iter().any(|s| **s == *assumed.symbol) {
            let known: Vec<String> = mapping.symbols().iter().map(|s| format!("'{s}'")).collect();
            let known = match known.is_empty() {
                true => "the space has no symbols".to_string(),
                false => format!("expected {}", known.join(", ")),
            };
            let symbol = &assumed.symbol;
            return Err(Error::usage(format!(
                "found --size of '{symbol}', but {known}"
            )));
        }
    }
    match values.is_empty() {
        true => Ok(mapping),
        false => mapping.bind(&values).map_err(|e| Error::input(e.message)),
    }
}

/// The device that is named; any of cuda if none is.
fn device(arguments: &MapArguments) -> Result<Device> {
    let asm = match arguments.machine.option() {
        None => devices::machine("cuda")?,
        Some(_) => arguments.machine.asm(&Host::this()?.machine)?,
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
