//! Failures of candidates: they do not compile, crash, hang, or compute something else.

/// Kind of the failure of a candidate of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FailureKind {
    /// It cannot be compiled.
    Compilation,
    /// It ends by a signal or with an exit code.
    Crash,
    /// It does not end in time.
    Hang,
    /// Its result is wrong.
    WrongResult,
    /// Its result cannot be told from a wrong one: rounding may change it by as much.
    Unchecked,
    /// It takes too much memory.
    Memory,
    /// A filter or the measuring side refuses it before it runs.
    Rejected,
}

impl FailureKind {
    /// All kinds.
    pub const ALL: [FailureKind; 7] = [
        FailureKind::Compilation,
        FailureKind::Crash,
        FailureKind::Hang,
        FailureKind::WrongResult,
        FailureKind::Unchecked,
        FailureKind::Memory,
        FailureKind::Rejected,
    ];

    /// Returns whether it may be of the moment, such as of what else the machine does: it is tried
    /// again, as what could not be checked is: on other inputs it may be. What is wrong, crashes or does not
    /// compile stays so.
    pub fn is_transient(self) -> bool {
        match self {
            FailureKind::Hang | FailureKind::Memory | FailureKind::Unchecked => true,
            FailureKind::Compilation
            | FailureKind::Crash
            | FailureKind::WrongResult
            | FailureKind::Rejected => false,
        }
    }

    /// Its name, as it is kept.
    pub fn name(self) -> &'static str {
        match self {
            FailureKind::Compilation => "does not compile",
            FailureKind::Crash => "crash",
            FailureKind::Hang => "hang",
            FailureKind::WrongResult => "wrong result",
            FailureKind::Unchecked => "too inaccurate to be checked",
            FailureKind::Memory => "too much memory",
            FailureKind::Rejected => "rejected",
        }
    }

    /// The kind of that name.
    pub fn named(name: &str) -> Option<FailureKind> {
        FailureKind::ALL
            .into_iter()
            .find(|kind| kind.name() == name)
    }
}
