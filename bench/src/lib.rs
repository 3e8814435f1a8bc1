//! `mdh bench`: the workloads of the evaluation, ours beside peers, in one run.
//!
//! Owns workloads, and how they are compared fairly. It must not know how a pass works. Start with `bench/README.md`,
//! then `conduct.rs`.
//!
//! The conductor (this process) computes nothing. Whoever takes part is a process of its own
//! ([`mdh_process::Worker`]) and says by its own clock how long its runs took: ours ([`ours`]), upstream's
//! lowering ([`upstream`]), Python packages and libraries in C (`bench/peers`). They take turns, so
//! that what changes on the machine meanwhile hits all of them; before each turn the threads of the
//! one before are asleep ([`idle`]). Beside the times stand the limits of the machine, measured in
//! the same run ([`mod@limits`]).

pub mod agree;
pub mod candidates;
pub mod chart;
pub mod compile_time;
pub mod conduct;
pub mod extents;
pub mod functions;
pub mod gpu;
pub mod idle;
pub mod kernels;
pub mod limits;
pub mod options;
pub mod ours;
pub mod peers;
pub mod programs;
pub mod protocol;
pub mod rows;
pub mod schedules;
pub mod shared;
pub mod signature;
pub mod upstream;
pub mod workloads;

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

use conduct::{Entrant, Measurement, Ours};
use limits::Limits;
use mdh_process::Worker;
use peers::Peers;
use protocol::{Answer, Request};
use rows::Row;
use schedules::OURS;
use upstream::UPSTREAM;
use workloads::{Case, Devices, Scale};

use crate::options::BenchArguments;
use mdh_compiler::devices::NamedDevice;
use mdh_compiler::error::{Error, Result};
use mdh_compiler::host::Host;
use mdh_compiler::output;
use mdh_compiler::progress::{Progress, Reader};

/// Runs the command.
pub fn run(host: &Host, command: &BenchArguments) -> Result<()> {
    if let Some(who) = &command.worker {
        return serve(host, who);
    }
    if command.compile_time {
        return compile_time::run(host, command);
    }
    let (scale, mut plan) = match command.quick {
        true => (Scale::Quick, Measurement::QUICK),
        false => (Scale::Full, Measurement::FULL),
    };
    plan.patience = Duration::from_secs(command.time_limit);
    let cases = cases(scale, command)?;
    if command.list {
        let names: String = cases.iter().map(|case| case.name() + "\n").collect();
        return output::print(names);
    }
    command.json.check()?;
    command
        .svg
        .as_deref()
        .map_or(Ok(()), output::check_writable)?;
    let given = schedules::given(host, command, &cases)?;
    schedules::check(&given.all, &cases)?;
    schedules::hold(&given, &cases)?;
    if command.device.is_gpu() {
        return gpu::run(command, &cases);
    }
    if command.package.is_some() || command.chip.is_some() {
        return Err(Error::usage(
            "--package and --chip are for kernels: expected --device cuda",
        ));
    }
    let rows = measure(command, &plan, &cases, &given)?;
    if let Some(summary) = rows::summary(&rows) {
        command.json.print(summary + "\n")?;
    }
    command.json.write(|| rows::json(&rows))?;
    if let Some(path) = &command.svg {
        output::write(path, chart::shares(&rows)?.as_bytes())?;
    }
    judge(&rows)
}

/// The cases that a command asks for: workloads, then programs of files.
fn cases(scale: Scale, command: &BenchArguments) -> Result<Vec<Case>> {
    let words = command.workloads.iter().cloned();
    let (files, names): (Vec<String>, Vec<String>) =
        words.partition(|word| programs::is_program(word));
    let workloads = match names.is_empty() && !files.is_empty() {
        true => Vec::new(),
        false => workloads::all(scale)?,
    };
    let selected = workloads::select(workloads, &names);
    let cases = selected.and_then(|mut cases| {
        cases.extend(programs::cases(command, &files)?);
        Ok(cases)
    });
    let is_there = |word: &String| Path::new(word).exists();
    let cases = cases.map_err(|error| match &command.tuned {
        _ if command.workloads.iter().any(is_there) => error,
        Some(None) => error.help(
            "--tuned takes a folder that is there, and `mdh tune WORKLOAD --tuned DIR` makes one with a \
             database; `mdh bench --list` lists the workloads",
        ),
        _ => error,
    })?;
    measured_on(command.device, cases, &command.workloads)
}

/// Measures the cases on this machine, and prints a row of each.
fn measure(
    command: &BenchArguments,
    plan: &Measurement,
    cases: &[Case],
    given: &schedules::Given,
) -> Result<Vec<Row>> {
    let progress = Progress::start(Reader::Person, "starting peers");
    let mut peers = Peers::start(&command.peers, cases, plan.patience)?;
    for missing in &peers.missing {
        mdh_compiler::error::say(&format!("note: {missing}\n"));
    }
    if let Some(load) = load().filter(|load| *load > BUSY) {
        mdh_compiler::error::say(&format!(
            "note: other programs are running (the load is {load}): times and limits mean little\n"
        ));
    }
    progress.step("measuring the machine's limits");
    let limits = limits()?;
    let json = &command.json;
    json.print(format!("{}\n{}\n", limits.text(), rows::HEADING))?;
    let mut rows = Vec::new();
    for (number, case) in cases.iter().enumerate() {
        progress.step(&case.name());
        progress.share(number as u64, cases.len() as u64, "rows");
        let tell = |what: &str| progress.part(what);
        let mut ours = ours(given, case)?;
        let mut row = conduct::case(case, &mut ours, &mut peers, &limits, plan, tell)?;
        row.tuned = given.tuned.get(&case.name()).cloned();
        json.print(format!("{row}\n"))?;
        rows.push(row);
    }
    Ok(rows)
}

/// Our processes for a case: one for each schedule, and for each variant of its program.
fn ours(given: &schedules::Given, case: &Case) -> Result<Vec<Ours>> {
    let schedule = schedules::own(&given.all, case);
    let mut forms = vec![(OURS.to_string(), Entrant::Own(schedule))];
    let scheduled = |file: String| match given.is_tuned(Path::new(&file)) {
        true => Entrant::Tuned(file),
        false => Entrant::Schedule(file),
    };
    let beside = schedules::beside(&given.all, case).into_iter();
    forms.extend(beside.map(|(name, file)| (name, scheduled(file))));
    let variants = case.variants.iter().cloned();
    forms.extend(variants.map(|variant| (variant.name.clone(), Entrant::Variant(variant))));
    let against = case.program.iter().flat_map(|program| &program.against);
    forms.extend(against.map(|program| (program.label(), Entrant::Against(program.clone()))));
    let started = |(name, form)| {
        let worker = started(worker(OURS)?)?;
        Ok(Ours { name, form, worker })
    };
    forms.into_iter().map(started).collect()
}

/// A load from which on others take part of the time.
const BUSY: f64 = 0.5;

/// Returns the average number of running programs in the last minute.
fn load() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/loadavg").ok()?;
    text.split_whitespace().next()?.parse().ok()
}

/// Fails in the end for cases that did not work, after everything else was measured.
fn judge(rows: &[Row]) -> Result<()> {
    let is_failed = |row: &&Row| {
        row.failed
            .as_ref()
            .is_some_and(|why| why.starts_with("failed"))
    };
    let mut failed: Vec<String> = rows.iter().filter(is_failed).map(Row::name).collect();
    failed.extend(rows.iter().flat_map(Row::failed_forms));
    match failed.is_empty() {
        true => Ok(()),
        false => Err(Error::check(format!(
            "there are no times of {}",
            failed.join(", ")
        ))),
    }
}

/// The program that starts this command again, and its first words.
static PROGRAM: OnceLock<(OsString, Vec<OsString>)> = OnceLock::new();

/// Says which program starts this command again, and with which first words. It is for a program that has the command
/// in it, such as Python; if nothing is said, the running one is meant.
pub fn start_by(program: OsString, words: Vec<OsString>) {
    // Whoever says it says it once, before the command runs.
    PROGRAM.get_or_init(|| (program, words));
}

/// This command as a process that answers.
pub fn worker(who: &str) -> Result<Command> {
    let (program, words) = match PROGRAM.get() {
        Some(known) => known.clone(),
        None => {
            let this = std::env::current_exe();
            let bug =
                |error: std::io::Error| Error::bug(format!("this program is not found: {error}"));
            (this.map_err(bug)?.into(), Vec::new())
        }
    };
    let mut command = Command::new(program);
    command.args(words).args(["bench", "--worker", who]);
    Ok(command)
}

/// Starts a process that answers; it ends with this thread.
pub fn started(command: Command) -> Result<Worker> {
    let mut worker = Worker::new(command);
    worker
        .start()
        .map_err(|error| Error::input(error.to_string()))?;
    Ok(worker)
}

/// Answers as one who takes part.
fn serve(host: &Host, who: &str) -> Result<()> {
    match who {
        OURS => ours::serve(host),
        UPSTREAM => upstream::serve(&host.machine),
        _ => Err(Error::usage(format!("there is no worker '{who}'"))),
    }
}

/// Measures the limits of this machine, in a process of its own.
pub fn limits() -> Result<Limits> {
    let mut meter = started(worker(OURS)?)?;
    match meter.ask(&Request::Limits, Measurement::FULL.patience) {
        Ok(Answer::Limits(limits)) => Ok(limits),
        other => Err(Error::bug(format!(
            "the machine's limits cannot be measured: {other:?}"
        ))),
    }
}

/// The cases that are measured on a device; one of another device that was named is an error.
fn measured_on(device: NamedDevice, cases: Vec<Case>, named: &[String]) -> Result<Vec<Case>> {
    let (others, whose, option) = match device.is_gpu() {
        true => (Devices::Cpus, "CPUs", "cpu"),
        false => (Devices::Gpus, "GPUs", "cuda"),
    };
    let (others, cases): (Vec<Case>, Vec<Case>) = cases.into_iter().partition(|c| c.on == others);
    // A workload's name means those of its sizes that there are for the device.
    let is_left = |name: &String| cases.iter().any(|case| workloads::is_meant(case, name));
    let is_named = |case: &&Case| {
        let mut names = named.iter().filter(|name| !is_left(name));
        names.any(|name| workloads::is_meant(case, name))
    };
    match others.iter().find(is_named) {
        None => Ok(cases),
        Some(case) => Err(Error::usage(format!(
            "'{}' is measured on {whose} only: expected --device {option}, or other workloads",
            case.name()
        ))),
    }
}
