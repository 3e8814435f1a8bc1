//! One case: everybody prepares, results are compared, and all take turns.

use std::time::{Duration, Instant};

use super::agree::{self, Agreement};
use super::idle;
use super::limits::Limits;
use super::peers::{PeerKind, Peers};
use super::protocol::{Answer, Array, Compiled, Request, Task};
use super::rows::{OtherTime, PeerTime, Row};
use super::shared::Shared;
use super::signature::{self, Port};
use super::workloads::{Case, FileProgram, Variant};
use mdh_compiler::error::Result;
use mdh_exec::stats::Median;
use mdh_process::{Silence, Worker};

/// Durations and repetitions of measurements.
#[derive(Clone, Copy, Debug)]
pub struct Measurement {
    /// The fewest rounds; in each, everybody has a turn.
    pub least: usize,
    /// The most.
    pub most: usize,
    /// A turn has as many calls as fit into this, and at least one.
    pub turn: Duration,
    /// No new round starts after this.
    pub budget: Duration,
    /// Nobody is waited for any longer.
    pub patience: Duration,
}

impl Measurement {
    /// The plan of an evaluation.
    pub const FULL: Measurement = Measurement {
        least: 9,
        most: 31,
        turn: Duration::from_millis(30),
        budget: Duration::from_secs(12),
        patience: Duration::from_secs(180),
    };

    /// One round of short turns, to see that everything runs.
    pub const QUICK: Measurement = Measurement {
        least: 1,
        most: 1,
        turn: Duration::from_millis(1),
        budget: Duration::ZERO,
        patience: Duration::from_secs(180),
    };
}

/// More calls in a turn say nothing more.
const MOST_CALLS: f64 = 1000.0;

/// Precision at which a measurement may end: half the width of a median's interval.
const SURE: f64 = 0.02;

/// After so many times the budget there is no further round, however few there were: then there is
/// no confidence interval.
const OVERTIME: u32 = 4;

/// Threads that spin longer than this do not sleep at all.
const RESTLESS: Duration = Duration::from_millis(500);

/// One of our processes: ours, or ours in another form.
pub struct Ours {
    /// Its name.
    pub name: String,
    /// The program it runs.
    pub form: Entrant,
    /// The process.
    pub worker: Worker,
}

/// Program that one of our processes runs.
#[derive(Clone, Debug)]
pub enum Entrant {
    /// The workload, with the schedule of a file, if it is not the model's.
    Own(Option<String>),
    /// The workload with the schedule of a file, to be measured beside that.
    Schedule(String),
    /// The workload for its sizes alone, with the schedule of a file that was tuned for them.
    Tuned(String),
    /// Another program for the same results.
    Variant(Variant),
    /// The program of another file, for the same results.
    Against(FileProgram),
}

impl Entrant {
    /// The program that a process runs; on these arrays, where its own random ones might be others.
    fn task(&self, case: &Case, inputs: &[Array]) -> Result<Task> {
        Ok(match self {
            Entrant::Own(schedule) => Task {
                schedule: schedule.clone(),
                ..Task::new(case)?
            },
            Entrant::Schedule(file) => Task {
                schedule: Some(file.clone()),
                ..Task::new(case)?
            },
            Entrant::Tuned(file) => Task {
                schedule: Some(file.clone()),
                inputs: Some(inputs.to_vec()),
                ..Task::closed(case)?
            },
            Entrant::Variant(variant) => Task {
                program: case.variant(variant)?,
                ..Task::new(case)?
            },
            Entrant::Against(program) => Task::against(case, program, inputs),
        })
    }
}

/// Somebody who takes part in a case.
struct Player<'p> {
    name: String,
    worker: &'p mut Worker,
    calls: u32,
    samples: Vec<f64>,
    failed: Option<String>,
    /// Its program and its compiled form, if it is ours in another form.
    other: Option<(Entrant, Compiled)>,
    /// Its kind, if it is a peer.
    peer: Option<PeerKind>,
}

/// Measures a case: the first of `ours`, which all others are compared with, the other ones and
/// peers. What goes wrong with it is in its row.
pub fn case(
    case: &Case,
    ours: &mut [Ours],
    peers: &mut Peers,
    limits: &Limits,
    plan: &Measurement,
    tell: impl Fn(&str),
) -> Result<Row> {
    let mut row = Row::new(case);
    let Some((first, others)) = ours.split_first_mut() else {
        return Ok(row.failed("nobody takes part"));
    };
    tell("compiling");
    let compiled = match compile(case, first, &[], plan)? {
        Ok(Answer::Compiled(compiled)) => compiled,
        Ok(Answer::No(why)) => return Ok(row.skipped(&why)),
        Ok(answer) => return Ok(row.failed(&unexpected(answer))),
        Err(why) => return Ok(row.failed(&why)),
    };
    row.compile_ms = Some(compiled.compile_ms);
    row.checked = compiled.checked;
    let mut players = vec![Player::new(&first.name, &mut first.worker)];
    row.notes.extend(compiled.note.clone());
    players.extend(compile_others(
        (case, &compiled),
        others,
        plan,
        &mut row,
        &tell,
    )?);
    players.extend(load_peers(case, &compiled, peers, &mut row, &tell)?);
    tell("comparing results");
    first_turns(&mut players, plan);
    compare(&mut players, &compiled, plan)?;
    take_turns(&mut players, plan, &tell);
    for player in &mut players {
        if player.failed.is_none() {
            let _ = ask(player.worker, &Request::Drop, plan);
        }
    }
    finish(&mut row, case, &players, &compiled, limits);
    Ok(row)
}

/// Has our other forms compile the case. Those that do not are in the row.
fn compile_others<'p>(
    (case, ours): (&Case, &Compiled),
    others: &'p mut [Ours],
    plan: &Measurement,
    row: &mut Row,
    tell: &impl Fn(&str),
) -> Result<Vec<Player<'p>>> {
    let mut players = Vec::new();
    for other in others {
        tell(&format!("compiling '{}'", other.name));
        let answer = compile(case, other, &ours.inputs, plan)?;
        let form = other.form.clone();
        let mut player = Player::new(&other.name, &mut other.worker);
        let why = match answer {
            Ok(Answer::Compiled(compiled)) => match differing(ours, &form, &compiled) {
                None => {
                    player.other = Some((form, compiled));
                    players.push(player);
                    continue;
                }
                Some(why) => {
                    let _ = ask(player.worker, &Request::Drop, plan);
                    why
                }
            },
            Ok(Answer::No(why)) | Err(why) => why,
            Ok(answer) => unexpected(answer),
        };
        let time = OtherTime {
            failed: Some(why),
            ..OtherTime::new(&player.name)
        };
        row.add_other(&form, time);
    }
    Ok(players)
}

/// The first result that is of another type than ours. A workload's variant may keep further arrays.
fn differing(ours: &Compiled, form: &Entrant, theirs: &Compiled) -> Option<String> {
    let ports = |compiled: &Compiled| compiled.outputs.iter().map(Port::from).collect::<Vec<_>>();
    let (ours, mut theirs) = (ports(ours), ports(theirs));
    if matches!(form, Entrant::Variant(_)) {
        theirs.truncate(ours.len());
    }
    signature::difference("output", &ours, &theirs)
}

/// Has peers load the inputs of the case. The reasons of those that do not are in the row.
fn load_peers<'p>(
    case: &Case,
    compiled: &Compiled,
    peers: &'p mut Peers,
    row: &mut Row,
    tell: &impl Fn(&str),
) -> Result<Vec<Player<'p>>> {
    let mut players = Vec::new();
    let are_named = peers.are_named;
    for peer in peers.present() {
        let name = peer.name;
        if case.program.is_some() && !peer.kind.takes_programs() {
            if are_named {
                row.note(&format!(
                    "{name}: has nothing for a program of a file: expected a function, such as --peers \
                     numpy:SCRIPT.py"
                ));
            }
            continue;
        }
        tell(&format!("preparing {name}"));
        let why = match peer
            .worker
            .ask(&Request::load(case, compiled)?, peer.patience)
        {
            Ok(Answer::Done {}) => {
                let mut player = Player::new(name, peer.worker);
                player.peer = Some(peer.kind);
                players.push(player);
                continue;
            }
            Ok(Answer::No(why)) => {
                if are_named {
                    row.note(&format!("{name}: {why}"));
                }
                continue;
            }
            Ok(answer) => unexpected(answer),
            Err(silence) => silence.to_string(),
        };
        row.fail_peer(name, peer.kind, &why);
    }
    Ok(players)
}

/// Has one of our processes compile the case.
fn compile(
    case: &Case,
    ours: &mut Ours,
    inputs: &[Array],
    plan: &Measurement,
) -> Result<std::result::Result<Answer, String>> {
    let request = Request::Compile(ours.form.task(case, inputs)?);
    Ok(ask(&mut ours.worker, &request, plan))
}

impl<'p> Player<'p> {
    fn new(name: &str, worker: &'p mut Worker) -> Player<'p> {
        Player {
            name: name.to_string(),
            worker,
            calls: 1,
            samples: Vec::new(),
            failed: None,
            other: None,
            peer: None,
        }
    }

    /// Lets it run; the median of this turn in milliseconds.
    fn turn(&mut self, plan: &Measurement) -> Option<f64> {
        let answer = ask(self.worker, &Request::Run { calls: self.calls }, plan);
        idle::rest(self.worker, RESTLESS);
        match answer {
            Ok(Answer::Times(times)) if !times.is_empty() => {
                return Some(Median::new(&times).value / 1e6);
            }
            Ok(answer) => self.failed = Some(unexpected(answer)),
            Err(why) => self.failed = Some(why),
        }
        None
    }
}

/// Everybody runs once, and then knows how often it runs in a turn.
fn first_turns(players: &mut [Player], plan: &Measurement) {
    for player in players.iter_mut() {
        if let Some(ms) = player.turn(plan) {
            let calls = (plan.turn.as_secs_f64() * 1e3 / ms.max(1e-6)).clamp(1.0, MOST_CALLS);
            player.calls = calls as u32;
        }
    }
}

/// Compares what peers compute with what we do: of the given inputs, in a single call.
fn compare(players: &mut [Player], compiled: &Compiled, plan: &Measurement) -> Result<()> {
    let mut expected: Option<Vec<Vec<u8>>> = None;
    for player in players.iter_mut().filter(|player| player.failed.is_none()) {
        let files = compiled
            .outputs
            .iter()
            .map(|_| Shared::new())
            .collect::<Result<Vec<_>>>()?;
        let request = Request::Output {
            files: files.iter().map(Shared::path).collect(),
        };
        match ask(player.worker, &request, plan) {
            Ok(Answer::Done {}) => {}
            Ok(answer) => player.failed = Some(unexpected(answer)),
            Err(why) => player.failed = Some(why),
        }
        if player.failed.is_some() {
            continue;
        }
        let results = files.iter().map(Shared::read).collect::<Result<Vec<_>>>()?;
        let Some(ours) = &expected else {
            expected = Some(results);
            continue;
        };
        let pairs = compiled.outputs.iter().zip(ours.iter().zip(&results));
        let types: Vec<&str> = compiled.inputs.iter().map(|a| a.dtype.as_str()).collect();
        let wrong = pairs.map(|(array, (ours, result))| disagreement(array, &types, ours, result));
        if let Some(wrong) = wrong.flatten().next() {
            player.failed = Some(wrong);
        }
    }
    Ok(())
}

fn disagreement(array: &Array, inputs: &[&str], ours: &[u8], found: &[u8]) -> Option<String> {
    match agree::compare(&array.dtype, inputs, ours, found) {
        Agreement::Close => None,
        Agreement::Far(what) => Some(format!(
            "another result than ours in '{}': {what}",
            array.name
        )),
    }
}

/// Rounds, until all medians are sure enough or the time is over.
fn take_turns(players: &mut [Player], plan: &Measurement, tell: &impl Fn(&str)) {
    let started = Instant::now();
    for round in 0..plan.most {
        if players.first().is_none_or(|ours| ours.failed.is_some()) {
            return;
        }
        let is_sure = |player: &Player| {
            player.failed.is_some()
                || Median::new(&player.samples)
                    .spread()
                    .is_some_and(|s| s <= SURE)
        };
        let is_over = started.elapsed() >= plan.budget || players.iter().all(is_sure);
        let is_late = round > 0 && started.elapsed() >= plan.budget * OVERTIME;
        if is_late || round >= plan.least && is_over {
            return;
        }
        for player in players.iter_mut().filter(|player| player.failed.is_none()) {
            let (least, most) = (plan.least, plan.most);
            let name = &player.name;
            tell(&format!("round {} of {least} to {most}, {name}", round + 1));
            if let Some(ms) = player.turn(plan) {
                player.samples.push(ms);
            }
        }
    }
}

fn finish(row: &mut Row, case: &Case, players: &[Player], compiled: &Compiled, limits: &Limits) {
    let Some((ours, others)) = players.split_first() else {
        return;
    };
    if let Some(why) = &ours.failed {
        *row = row.clone().failed(why);
        return;
    }
    let median = Median::new(&ours.samples);
    row.ours_ms = Some(median.value);
    row.ci = ends(&median);
    row.notes.extend(case.notes.iter().cloned());
    row.set_limit(match &case.program {
        None => limits.bound(compiled.work, &case.dtype, case.bound),
        Some(_) => {
            let types = compiled.inputs.iter().chain(&compiled.outputs);
            let types = types.map(|array| array.dtype.as_str());
            limits.bound_of_program(compiled.work, types, median.value)
        }
    });
    for other in others {
        let Some((form, compiled)) = &other.other else {
            continue;
        };
        let median_of = other.failed.is_none().then(|| Median::new(&other.samples));
        let ms = median_of.map(|median| median.value);
        let time = OtherTime {
            ms,
            ci: median_of.and_then(|median| ends(&median)),
            ratio: ms.map(|ms| ms / median.value),
            compile_ms: Some(compiled.compile_ms),
            failed: other.failed.clone(),
            ..OtherTime::new(&other.name)
        };
        row.add_other(form, time);
    }
    for peer in others {
        let Some(kind) = peer.peer else {
            continue;
        };
        match &peer.failed {
            Some(why) => row.fail_peer(&peer.name, kind, why),
            None => {
                let median = Median::new(&peer.samples);
                row.add_peer(PeerTime {
                    name: peer.name.clone(),
                    ms: median.value,
                    ci: ends(&median),
                });
            }
        }
    }
}

/// The ends of a median's confidence interval.
fn ends(median: &Median) -> Option<[f64; 2]> {
    median.interval.map(|(low, high)| [low, high])
}

fn ask(
    worker: &mut Worker,
    request: &Request,
    plan: &Measurement,
) -> std::result::Result<Answer, String> {
    let answer = worker.ask(request, plan.patience);
    answer.map_err(|silence: Silence| silence.to_string())
}

fn unexpected(answer: Answer) -> String {
    match answer {
        Answer::Failed(why) if why.is_empty() => "it fails, as said above".to_string(),
        Answer::Failed(why) | Answer::Wrong(why) => why,
        other => format!("it answers {other:?}"),
    }
}
