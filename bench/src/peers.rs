//! Peers, which compute the same things: Python packages, libraries in C that Python calls, and
//! upstream's lowering. Each is a process that is kept alive from case to case.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::functions::{self, PeerFunction};
use super::protocol::{Answer, Request};
use super::workloads::Case;
use mdh_compiler::error::{Error, Result};
use mdh_process::Worker;
use tempfile::TempDir;

/// Interface to a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PeerKind {
    /// By a process of this command, which compiles the program in another way.
    Command,
    /// By the Python runner, which imports a package or loads a library.
    Package,
    /// The same, and it compiles or even searches for long: only where it is asked for by name.
    Compiler,
    /// A function of a Python file, which somebody has written for this.
    Function,
}

impl PeerKind {
    /// It has so long to prepare a case, where others have this time to answer.
    fn patience(self, usual: Duration) -> Duration {
        match self {
            PeerKind::Command | PeerKind::Package | PeerKind::Function => usual,
            PeerKind::Compiler => usual.max(Duration::from_secs(3600)),
        }
    }

    /// Returns whether it may have something for a program that is no workload.
    pub fn takes_programs(self) -> bool {
        matches!(self, PeerKind::Command | PeerKind::Function)
    }
}

/// All peers.
const PEERS: [(&str, PeerKind); 14] = [
    ("upstream", PeerKind::Command),
    ("openblas", PeerKind::Package),
    ("mkl", PeerKind::Package),
    ("onednn", PeerKind::Package),
    ("numpy", PeerKind::Package),
    ("torch", PeerKind::Package),
    ("jax", PeerKind::Package),
    ("numba", PeerKind::Package),
    ("torch_compile", PeerKind::Compiler),
    ("iree", PeerKind::Compiler),
    ("tvm", PeerKind::Compiler),
    ("halide", PeerKind::Compiler),
    ("polly", PeerKind::Compiler),
    ("clang", PeerKind::Compiler),
];

/// The peers that take part, and why others do not.
pub struct Peers {
    present: Vec<Peer>,
    /// A line for each that is missing.
    pub missing: Vec<String>,
    /// True if they were asked for by their names: then each answers for what it does not have.
    pub are_named: bool,
    patience: Duration,
    /// The runner of functions, as long as they run.
    _runner: Option<TempDir>,
}

struct Peer {
    name: String,
    kind: PeerKind,
    worker: Worker,
}

/// A peer that is there for a case.
pub struct PresentPeer<'p> {
    /// Its name.
    pub name: &'p str,
    /// Its kind.
    pub kind: PeerKind,
    /// It has so long to prepare a case.
    pub patience: Duration,
    /// Its process.
    pub worker: &'p mut Worker,
}

/// A peer that is asked for.
#[derive(Debug, PartialEq, Eq)]
enum WantedPeer {
    Known(&'static str, PeerKind),
    Function(PeerFunction),
}

/// A peer has so long to load its libraries, at most.
const START: Duration = Duration::from_secs(120);

impl Peers {
    /// Starts the peers that are asked for: `none`, `all`, or names with commas in between. Each has so long to answer.
    ///
    /// # Errors
    /// If there is no such peer, or the file of a function cannot be read.
    pub fn start(wanted: &str, cases: &[Case], patience: Duration) -> Result<Peers> {
        let chosen = chosen(wanted, cases)?;
        let is_function = |wanted: &WantedPeer| matches!(wanted, WantedPeer::Function(_));
        let runner = chosen.iter().any(is_function).then(functions::runner);
        let runner = runner.transpose()?;
        let mut peers = Peers {
            present: Vec::new(),
            missing: Vec::new(),
            are_named: !matches!(wanted, "none" | "all"),
            patience,
            _runner: None,
        };
        for peer in chosen {
            let (name, kind, command) = match peer {
                WantedPeer::Known(name, kind) => (name.to_string(), kind, known(name, kind)),
                WantedPeer::Function(function) => {
                    let folder = runner.as_ref().map(TempDir::path).unwrap_or(Path::new(""));
                    let command =
                        functions::python().map(|python| function.command(&python, folder));
                    (function.name, PeerKind::Function, command)
                }
            };
            match command.and_then(|command| start(command, patience.min(START))) {
                Ok(worker) => peers.present.push(Peer { name, kind, worker }),
                Err(why) => peers.missing.push(format!("{name} is not here: {why}")),
            }
        }
        peers._runner = runner;
        Ok(peers)
    }

    /// Those that are there; who was lost in the case before is started again.
    pub fn present(&mut self) -> impl Iterator<Item = PresentPeer<'_>> {
        let usual = self.patience;
        self.present.iter_mut().filter_map(move |peer| {
            let is_there =
                peer.worker.is_running() || hello(&mut peer.worker, usual.min(START)).is_ok();
            is_there.then_some(PresentPeer {
                name: &peer.name,
                kind: peer.kind,
                patience: peer.kind.patience(usual),
                worker: &mut peer.worker,
            })
        })
    }
}

/// The peers of a list; `all` are those who do not take long, and may have something for one of the cases.
fn chosen(wanted: &str, cases: &[Case]) -> Result<Vec<WantedPeer>> {
    match wanted {
        "none" => return Ok(Vec::new()),
        "all" => {
            let are_programs = cases.iter().all(|case| case.program.is_some());
            let quick = PEERS.iter().filter(|(_, kind)| {
                *kind != PeerKind::Compiler && (kind.takes_programs() || !are_programs)
            });
            return Ok(quick
                .map(|(name, kind)| WantedPeer::Known(name, *kind))
                .collect());
        }
        _ => {}
    }
    let find = |name: &str| {
        if let Some(function) = PeerFunction::parse(name)? {
            return Ok(WantedPeer::Function(function));
        }
        let peer = PEERS.iter().find(|(known, _)| *known == name);
        let peer = peer.map(|(name, kind)| WantedPeer::Known(name, *kind));
        peer.ok_or_else(|| {
            let known: Vec<&str> = PEERS.iter().map(|(name, _)| *name).collect();
            Error::usage(format!("there is no peer '{name}'")).help(format!(
                "expected none, all, or some of {}, or a function of a file (numpy:SCRIPT.py)",
                known.join(",")
            ))
        })
    };
    wanted.split(',').map(|name| find(name.trim())).collect()
}

/// The command that runs a known peer; the text of a failure says what is missing.
fn known(name: &str, kind: PeerKind) -> std::result::Result<Command, String> {
    match kind {
        PeerKind::Command => super::worker(name).map_err(|error| error.message().to_string()),
        _ => package(name, &environment()),
    }
}

/// Starts a peer; the text of a failure says what is missing.
fn start(mut command: Command, patience: Duration) -> std::result::Result<Worker, String> {
    let environment = environment();
    let threads = mdh_jit::pool::thread_count().to_string();
    for variable in THREADS {
        command.env(variable, &threads);
    }
    // Intel's threads spin for 0.2 s, and everybody has to wait for their end.
    command.env("KMP_BLOCKTIME", "20");
    command.env(ENVIRONMENT, &environment);
    if let Some(folder) = environment.join("lib").to_str() {
        command.env("LD_LIBRARY_PATH", folder);
    }
    let mut worker = Worker::new(command);
    hello(&mut worker, patience).map(|()| worker)
}

/// Starts a peer's process and waits for its sign of readiness.
fn hello(worker: &mut Worker, patience: Duration) -> std::result::Result<(), String> {
    worker.start().map_err(|error| error.to_string())?;
    match worker.ask(&Request::Hello, patience) {
        Ok(Answer::Done {}) => Ok(()),
        Ok(Answer::No(why) | Answer::Failed(why) | Answer::Wrong(why)) => Err(why),
        Ok(other) => Err(format!("it answers {other:?}")),
        Err(silence) => Err(silence.to_string()),
    }
}

/// Variables that tell libraries the number of threads.
const THREADS: [&str; 6] = [
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "TVM_NUM_THREADS",
    "HL_NUM_THREADS",
];

/// The variable that names the Python environment of the peers.
pub const ENVIRONMENT: &str = "MDH_PEERS";

/// The Python environment of the peers: what the variable says, else `.venv-peers` in the
/// repository that this was built from.
pub fn environment() -> PathBuf {
    let there = std::env::var_os(ENVIRONMENT).filter(|path| !path.is_empty());
    there.map_or_else(|| repository().join(".venv-peers"), PathBuf::from)
}

/// The repository that this was built from.
pub fn repository() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here)
}

/// The runner, on a package of the environment.
fn package(name: &str, environment: &Path) -> std::result::Result<Command, String> {
    let python = environment.join("bin/python");
    let runner = repository().join("bench/peers/runner.py");
    for path in [&python, &runner] {
        if !path.exists() {
            return Err(format!(
                "there is no '{}' (scripts/peers installs peers)",
                path.display()
            ));
        }
    }
    let mut command = Command::new(python);
    command.arg("-B").arg(runner).arg(name);
    Ok(command)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workloads::{FileProgram, OwnProgram, Scale, all};

    #[test]
    fn lists_of_peers() {
        let workloads = all(Scale::Quick).unwrap();
        let names = |wanted: &str| {
            let name = |peer: &WantedPeer| match peer {
                WantedPeer::Known(name, _) => name.to_string(),
                WantedPeer::Function(function) => function.name.clone(),
            };
            chosen(wanted, &workloads).map(|peers| peers.iter().map(name).collect::<Vec<_>>())
        };
        assert_eq!(names("none").unwrap(), [""; 0]);
        let quick = [
            "upstream", "openblas", "mkl", "onednn", "numpy", "torch", "jax", "numba",
        ];
        assert_eq!(names("all").unwrap(), quick);
        assert_eq!(names("iree,torch").unwrap(), ["iree", "torch"]);
        assert_eq!(names("torch, mkl").unwrap(), ["torch", "mkl"]);
        let errors = ["numpy,tensorflow", "tensorflow:a.py", "numpy:nowhere/a.py"];
        let errors = errors.map(|wanted| names(wanted).unwrap_err().to_string());
        insta::assert_snapshot!(errors.join("\n"));
    }

    #[test]
    fn programs_of_files_have_few_peers() {
        let mut cases = all(Scale::Quick).unwrap();
        cases.truncate(1);
        cases[0].program = Some(OwnProgram {
            program: FileProgram {
                file: "own.mlir".to_string(),
                text: String::new(),
                entry: "own".to_string(),
                is_named: false,
            },
            seed: 0,
            against: Vec::new(),
        });
        let upstream = WantedPeer::Known("upstream", PeerKind::Command);
        assert_eq!(chosen("all", &cases).unwrap(), [upstream]);
    }
}
