//! Mutants of the examples: parser, verifier and passes may refuse them, but nothing may crash,
//! hang, or blame itself. `MDH_FUZZ_MUTANTS` says how many (10000), `MDH_FUZZ_SEED` (or
//! `MDH_SEED`) which (1).
//!
//! A crash inside upstream's code alone is not counted if it is in `known_upstream.txt`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use mdh_algebra::random::Random;
use mdh_fuzz::child::{self, Answer, End, Worker};
use mdh_fuzz::environment;
use mdh_fuzz::examine::{self, Verdict};
use mdh_fuzz::failure::Failure;
use mdh_fuzz::mutate;
use mdh_fuzz::stack;

/// Time limit of one mutant.
const TIMEOUT: Duration = Duration::from_secs(60);
/// So many a child examines between two requests.
const BATCH: u64 = 100;
/// A child answers so many requests before it is replaced.
const LIFE: u64 = 10;
/// So many smaller mutants are tried for each that fails, and for so long.
const TRIES: usize = 600;
const PATIENCE: Duration = Duration::from_secs(60);
/// Of so many kinds of failures one mutant each is made smaller.
const SHOWN: usize = 8;

/// All texts that mutants are made of.
fn corpus() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let files = std::fs::read_dir(&folder).expect("the examples are there");
    let mut files: Vec<PathBuf> = files.filter_map(|file| Some(file.ok()?.path())).collect();
    files.retain(|file| file.extension().is_some_and(|e| e == "mlir"));
    files.sort();
    let texts = files
        .iter()
        .map(|f| std::fs::read_to_string(f).expect("an example is text"));
    texts.flat_map(|text| examine::forms(&text)).collect()
}

fn mutant(corpus: &[String], seed: u64, number: u64) -> Vec<u8> {
    let mut random = Random::new(seed.wrapping_mul(0x1_0000_0001) ^ number);
    random.bits();
    // Each text has its turn.
    let text = &corpus[(number % corpus.len() as u64) as usize];
    mutate::mutant(text, corpus, &mut random)
}

/// Bytes as one word.
fn encode(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn decode(word: &str) -> Vec<u8> {
    let digits = word.as_bytes().chunks(2);
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    digits.filter_map(byte).collect()
}

/// Answers `batch SEED FROM TO`, `show SEED NUMBER` and `text HEX`.
#[test]
fn child() {
    if child::is_child() {
        let corpus = corpus();
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        child::serve(move |request| {
            let words: Vec<&str> = request.split(' ').collect();
            let number = |n: usize| {
                words
                    .get(n)
                    .and_then(|w| w.parse().ok())
                    .unwrap_or_default()
            };
            match words[0] {
                "show" => encode(&mutant(&corpus, number(1), number(2))),
                "text" => match examine::examine(&decode(words[1]), folder.path()) {
                    Verdict::Defect(defect) => format!("defect: {}", defect.replace('\n', " ")),
                    _ => "right".to_string(),
                },
                _ => {
                    let mut accepted = 0;
                    for n in number(2)..number(3) {
                        child::report(&format!("at {n}"));
                        let text = mutant(&corpus, number(1), n);
                        match examine::examine(&text, folder.path()) {
                            Verdict::Accepted => accepted += 1,
                            Verdict::Refused => {}
                            Verdict::Defect(defect) => {
                                let defect = defect.replace('\n', " ");
                                child::report(&format!("defect {n} {defect}"));
                            }
                        }
                    }
                    format!("accepted {accepted}")
                }
            }
        });
    }
}

/// A defect that a child found, as a failure.
fn defect(text: &str) -> Option<Failure> {
    Failure::from_answer(&Answer {
        end: End::Answered("defect".into()),
        errors: format!("error: {text}"),
    })
}

/// Returns the failure of one text, if it fails.
fn fate(worker: &mut Worker, text: &[u8]) -> Option<Failure> {
    let answer = worker.ask(&format!("text {}", encode(text)), |_| {});
    match &answer.end {
        End::Answered(line) => defect(line.strip_prefix("defect: ")?),
        _ => Failure::from_answer(&answer),
    }
}

/// Leaves out lines, then tokens, while it fails in the same way.
fn smaller(worker: &mut Worker, text: Vec<u8>, signature: &str) -> Vec<u8> {
    let Ok(start) = String::from_utf8(text.clone()) else {
        return text;
    };
    if signature.starts_with("does not end") {
        worker.timeout = Duration::from_secs(8);
    }
    let (mut tries, until) = (TRIES, Instant::now() + PATIENCE);
    let mut best = start;
    let lines = |text: &str| text.split_inclusive('\n').map(str::to_owned).collect();
    let tokens = |text: &str| {
        mutate::tokens(text)
            .into_iter()
            .map(str::to_owned)
            .collect()
    };
    for split in [&lines as &dyn Fn(&str) -> Vec<String>, &tokens] {
        let mut parts = split(&best);
        let mut size = parts.len().div_ceil(2);
        while size > 0 {
            let mut at = 0;
            while at < parts.len() && tries > 0 && Instant::now() < until {
                let end = (at + size).min(parts.len());
                let candidate = [&parts[..at], &parts[end..]].concat();
                tries -= 1;
                let found = fate(worker, candidate.concat().as_bytes());
                match found.is_some_and(|failure| failure.signature == signature) {
                    true => parts = candidate,
                    false => at = end,
                }
            }
            size = if size == 1 { 0 } else { size.div_ceil(2) };
        }
        best = parts.concat();
    }
    worker.timeout = TIMEOUT;
    best.into_bytes()
}

/// Crashes inside upstream's code that are known: the innermost functions of each.
fn known_upstream() -> Vec<Vec<&'static str>> {
    let text = include_str!("known_upstream.txt");
    let entries = text.split("\n\n").map(|entry| {
        let lines = entry.lines().filter(|line| !line.starts_with('#'));
        lines
            .map(str::trim)
            .filter(|line| !line.is_empty())
            .collect()
    });
    entries
        .filter(|entry: &Vec<&str>| !entry.is_empty())
        .collect()
}

/// Returns whether a stack has a function of ours inside the call into upstream's parser or passes.
fn is_ours(frames: &[&str]) -> bool {
    const CALLS: [&str; 3] = ["mdhParseModule", "mlirOperationVerify", "mlirPassManager"];
    let is_call = |name: &&str| CALLS.iter().any(|call| name.contains(call));
    let inside = frames.iter().take_while(|name| !is_call(name));
    inside.into_iter().any(|name| name.contains("mdh"))
}

fn is_known(failure: &Failure) -> bool {
    let frames = stack::frames(&failure.text);
    !is_ours(&frames)
        && known_upstream().iter().any(|known| {
            let pairs = known.iter().zip(&frames);
            frames.len() >= known.len() && pairs.into_iter().all(|(k, f)| f.contains(k))
        })
}

/// Failures: how many mutants have each, and their numbers.
#[derive(Default)]
struct Found {
    failures: BTreeMap<String, Vec<u64>>,
    known: u64,
    accepted: u64,
}

struct Hunt {
    seed: u64,
    next: AtomicU64,
    count: u64,
    found: Mutex<Found>,
}

impl Hunt {
    fn work(&self) {
        let mut worker = Worker::new("child", TIMEOUT);
        let mut requests = 0;
        loop {
            let start = self.next.fetch_add(BATCH, Ordering::SeqCst);
            if start >= self.count {
                return;
            }
            let end = (start + BATCH).min(self.count);
            let mut from = start;
            while from < end {
                from = self.batch(&mut worker, from, end);
            }
            requests += 1;
            if requests % LIFE == 0 {
                worker.restart();
            }
        }
    }

    /// Examines mutants from a number on; gives the number to go on from.
    fn batch(&self, worker: &mut Worker, from: u64, to: u64) -> u64 {
        let (mut at, mut defects) = (from, Vec::new());
        let answer = worker.ask(&format!("batch {} {from} {to}", self.seed), |line| {
            let mut words = line.splitn(3, ' ');
            match (
                words.next(),
                words.next().and_then(|n| n.parse().ok()),
                words.next(),
            ) {
                (Some("at"), Some(number), _) => at = number,
                (Some("defect"), Some(number), Some(text)) => {
                    defects.push((number, text.to_string()));
                }
                _ => {}
            }
        });
        for (number, text) in defects {
            if let Some(failure) = defect(&text) {
                self.failed(worker, number, &failure);
            }
        }
        match &answer.end {
            End::Answered(line) => {
                let accepted = line.strip_prefix("accepted ").and_then(|n| n.parse().ok());
                let mut found = self.found.lock().expect("no thread panics");
                found.accepted += accepted.unwrap_or(0);
                to
            }
            _ => {
                if let Some(failure) = Failure::from_answer(&answer) {
                    self.failed(worker, at, &failure);
                }
                at + 1
            }
        }
    }

    fn failed(&self, worker: &mut Worker, number: u64, failure: &Failure) {
        let is_new = {
            let mut found = self.found.lock().expect("no thread panics");
            if is_known(failure) {
                found.known += 1;
                return;
            }
            let numbers = found.failures.entry(failure.signature.clone()).or_default();
            numbers.push(number);
            numbers.len() == 1 && found.failures.len() <= SHOWN
        };
        if is_new {
            eprintln!("{}", self.explain(worker, number, failure));
        }
    }

    fn explain(&self, worker: &mut Worker, number: u64, failure: &Failure) -> String {
        let shown = worker.ask(&format!("show {} {number}", self.seed), |_| {});
        let End::Answered(word) = shown.end else {
            return format!("== mutant {number} cannot be shown: {failure}");
        };
        let text = smaller(worker, decode(&word), &failure.signature);
        let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("mutant-{number}.mlir"));
        let written = std::fs::write(&file, &text);
        format!(
            "== mutant {number}: {failure}\n\n{}\nfile: {}{}\n",
            String::from_utf8_lossy(&text),
            file.display(),
            written.map_or_else(|error| format!(" ({error})"), |()| String::new())
        )
    }
}

#[test]
fn fuzzed_examples_crash_nothing() {
    if child::is_child() {
        return;
    }
    let hunt = Hunt {
        seed: environment::number(&["MDH_FUZZ_SEED", "MDH_SEED"], 1),
        next: AtomicU64::new(0),
        count: environment::number(&["MDH_FUZZ_MUTANTS"], 3_000),
        found: Mutex::default(),
    };
    let started = Instant::now();
    std::thread::scope(|scope| {
        (0..environment::cores()).for_each(|_| {
            scope.spawn(|| hunt.work());
        });
    });
    let found = hunt.found.into_inner().expect("no thread panics");
    eprintln!(
        "{} mutants of seed {} in {:.1} s: {} are programs, {} crash upstream in known ways",
        hunt.count,
        hunt.seed,
        started.elapsed().as_secs_f64(),
        found.accepted,
        found.known
    );
    let list = |(signature, numbers): (&String, &Vec<u64>)| format!("{signature}: {numbers:?}");
    let lines: Vec<String> = found.failures.iter().map(list).collect();
    assert!(lines.is_empty(), "failures:\n{}", lines.join("\n"));
}
