//! Peers, which compute the same things: Python packages, libraries in C that Python calls, and
//! upstream's lowering. Each is a process that is kept alive from case to case.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::conduct::Measurement;
use super::protocol::{Answer, Request};
use mdh_compiler::error::{Error, Result};
use mdh_process::Worker;

/// Interface to a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PeerKind {
    /// By a process of this command, which compiles the program in another way.
    Command,
    /// By the Python runner, which imports a package or loads a library.
    Package,
    /// The same, and it compiles or even searches for long: only where it is asked for by name.
    Compiler,
}

impl PeerKind {
    /// It has so long to prepare a case.
    fn patience(self) -> Duration {
        match self {
            PeerKind::Command | PeerKind::Package => Measurement::FULL.patience,
            PeerKind::Compiler => Duration::from_secs(3600),
        }
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
}

struct Peer {
    name: &'static str,
    kind: PeerKind,
    worker: Worker,
}

/// A peer has so long to load its libraries.
const START: Duration = Duration::from_secs(120);

impl Peers {
    /// Starts the peers that are asked for: `none`, `all`, or names with commas in between.
    pub fn start(wanted: &str) -> Result<Peers> {
        let mut peers = Peers {
            present: Vec::new(),
            missing: Vec::new(),
            are_named: !matches!(wanted, "none" | "all"),
        };
        for (name, kind) in chosen(wanted)? {
            match start(name, kind) {
                Ok(worker) => peers.present.push(Peer { name, kind, worker }),
                Err(why) => peers.missing.push(format!("{name} is not here: {why}")),
            }
        }
        Ok(peers)
    }

    /// Those that are there, with how long they have to prepare a case; who was lost in the case
    /// before is started again.
    pub fn present(&mut self) -> impl Iterator<Item = (&str, Duration, &mut Worker)> {
        self.present.iter_mut().filter_map(|peer| {
            let is_there = peer.worker.is_running() || hello(&mut peer.worker).is_ok();
            is_there.then_some((peer.name, peer.kind.patience(), &mut peer.worker))
        })
    }
}

/// The peers of a list; `all` are those who do not take long.
fn chosen(wanted: &str) -> Result<Vec<(&'static str, PeerKind)>> {
    match wanted {
        "none" => return Ok(Vec::new()),
        "all" => {
            let quick = |(_, kind): &(_, PeerKind)| *kind != PeerKind::Compiler;
            return Ok(PEERS.iter().copied().filter(quick).collect());
        }
        _ => {}
    }
    let find = |name: &str| {
        let peer = PEERS.iter().copied().find(|(known, _)| *known == name);
        peer.ok_or_else(|| {
            let known: Vec<&str> = PEERS.iter().map(|(name, _)| *name).collect();
            Error::usage(format!("there is no peer '{name}'")).help(format!(
                "expected none, all, or some of {}",
                known.join(",")
            ))
        })
    };
    wanted.split(',').map(|name| find(name.trim())).collect()
}

/// Starts a peer; the text of a failure says what is missing.
fn start(name: &str, kind: PeerKind) -> std::result::Result<Worker, String> {
    let environment = environment();
    let mut command = match kind {
        PeerKind::Command => super::worker(name).map_err(|error| error.message().to_string())?,
        PeerKind::Package | PeerKind::Compiler => package(name, &environment)?,
    };
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
    hello(&mut worker).map(|()| worker)
}

/// Starts a peer's process and waits for its sign of readiness.
fn hello(worker: &mut Worker) -> std::result::Result<(), String> {
    worker.start().map_err(|error| error.to_string())?;
    match worker.ask(&Request::Hello, START) {
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
const ENVIRONMENT: &str = "MDH_PEERS";

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

    #[test]
    fn lists_of_peers() {
        let names = |wanted: &str| {
            chosen(wanted).map(|peers| peers.iter().map(|p| p.0).collect::<Vec<_>>())
        };
        assert_eq!(names("none").unwrap(), [""; 0]);
        let quick = [
            "upstream", "openblas", "mkl", "onednn", "numpy", "torch", "jax", "numba",
        ];
        assert_eq!(names("all").unwrap(), quick);
        assert_eq!(names("iree,torch").unwrap(), ["iree", "torch"]);
        assert_eq!(names("torch, mkl").unwrap(), ["torch", "mkl"]);
        insta::assert_snapshot!(names("numpy,tensorflow").unwrap_err());
    }
}
