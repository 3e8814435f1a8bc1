//! Account of the statements of a program in the tensor language: which of them run in place and
//! why, which temporaries that saves, and how many threads they get.

use std::fmt::Write;

use mdh_algebra::amounts::bytes;
use mdh_dialect::ir::{self, Op, Val};
use mdh_dialect::location::SourceLocation;
use mdh_dialect::{read, types};
use mdh_frontend::memory::Account;
use melior::ir::ValueLike;
use melior::ir::operation::OperationLike;

/// A computation, and the threads that its schedule gives it.
pub struct Threads<'c> {
    /// Its operation.
    pub op: Op<'c>,
    /// Number of threads, and the model's reason if it has one; `None` where no schedule is known.
    pub chosen: Option<(i64, Option<String>)>,
}

/// Of each statement a paragraph. `function` is on memory, before its computations become loops.
pub fn text(accounts: &[Account], function: Op, threads: &[Threads]) -> String {
    let apart = accounts
        .iter()
        .fold(0, |sum: u64, own| sum.saturating_add(own.apart));
    let allocated = temporaries(&ir::find_all(function, &["memref.alloc"]));
    let mut text = format!(
        "{}: {} of temporaries, {} if each step had memory of its own\n",
        ir::count(accounts.len(), "statement"),
        bytes(allocated as f64),
        bytes(apart as f64)
    );
    for (number, account) in accounts.iter().enumerate() {
        let _ = write!(
            text,
            "\nstatement {number}: {} ({}:{})\n  {}\n",
            account.text, account.line, account.column, account.verdict
        );
        text += &compiled(account, accounts, function, threads);
    }
    text
}

/// Describes its compiled code.
fn compiled(account: &Account, accounts: &[Account], function: Op, threads: &[Threads]) -> String {
    let ops_of_kind = |kind: &str| -> Vec<Op> {
        let mut ops = ir::find_all(function, &[kind]);
        ops.retain(|op| is_at(*op, account));
        ops
    };
    let computations = ops_of_kind("mdh.compute");
    let mut allocations = ir::find_all(function, &["memref.alloc"]);
    allocations.retain(|op| is_at(first_write(*op, function), account));
    let allocated = temporaries(&allocations);
    let mut text = format!(
        "  result: {}\n  temporaries: {}, {} if each step had memory of its own\n",
        result(
            account,
            &computations,
            &ops_of_kind("memref.copy"),
            |memory| { last_writer(memory, accounts, function) }
        ),
        bytes(allocated as f64),
        bytes(account.apart as f64)
    );
    for op in &computations {
        let chosen = threads.iter().find(|entry| entry.op == *op);
        let Some((count, reason)) = chosen.and_then(|entry| entry.chosen.as_ref()) else {
            continue;
        };
        let reason = match reason {
            Some(reason) => format!(" ({reason})"),
            None => String::new(),
        };
        let _ = writeln!(
            text,
            "  threads of '{}': {count}{reason}",
            mdh_dialect::schedule::name(*op)
        );
    }
    text
}

/// Describes the destination of its last computation; `last` is the variable that is left in memory.
fn result<'a>(
    account: &'a Account,
    computations: &[Op],
    copies: &[Op],
    last: impl Fn(Val) -> Option<&'a str>,
) -> String {
    let target = &account.target;
    let parts = computations.last().and_then(|op| read::compute(*op).ok());
    let Some(parts) = parts else {
        return "computed where it is read, and not stored".to_string();
    };
    let memory = parts.outputs.first().map(|buffer| buffer.value);
    let is_read = account.is_read && parts.inputs.iter().any(|own| Some(own.value) == memory);
    let is_argument = memory.is_some_and(|value| ir::block_argument(value).is_some());
    match (is_read, is_argument, copies.is_empty()) {
        (true, _, true) => format!("in place, in the memory of '{target}'"),
        (_, true, true) => match memory.and_then(last).filter(|other| other != target) {
            None => format!("where the caller wants '{target}'"),
            Some(other) => format!("in the memory of '{other}', until that is computed"),
        },
        (_, _, true) => "in a temporary".to_string(),
        (_, _, false) => format!("in a temporary, which is copied to '{target}'"),
    }
}

/// The variable that is in memory when a function ends.
fn last_writer<'a>(memory: Val, accounts: &'a [Account], function: Op) -> Option<&'a str> {
    let computations = ir::find_all(function, &["mdh.compute"]).into_iter().rev();
    let writes = |op: &Op| {
        let parts = read::compute(*op).ok();
        parts.is_some_and(|parts| parts.outputs.iter().any(|own| own.value == memory))
    };
    let last = computations.into_iter().find(writes)?;
    let account = accounts.iter().find(|account| is_at(last, account));
    account.map(|account| account.target.as_str())
}

/// Returns whether an operation is of the statement.
fn is_at(op: Op, account: &Account) -> bool {
    let place = SourceLocation::from_location(op.location());
    place.is_some_and(|place| (place.line, place.column) == (account.line, account.column))
}

/// The operation that first writes into memory that is allocated: the statement of that has it. The
/// allocation itself may be one of several, where tensors without elements were one.
fn first_write<'c>(allocation: Op<'c>, function: Op<'c>) -> Op<'c> {
    let Some(memory) = ir::result(allocation, 0) else {
        return allocation;
    };
    let is_written = |op: &Op| match read::compute(*op) {
        Ok(parts) => parts.outputs.iter().any(|buffer| buffer.value == memory),
        Err(_) => op.operand(1).is_ok_and(|to| ir::value(to) == memory),
    };
    let mut writes = ir::find_all(function, &["mdh.compute", "memref.copy"]).into_iter();
    writes.find(is_written).unwrap_or(allocation)
}

/// The bytes of an allocation, if they are known; in the tensor language they always are.
fn temporaries(allocations: &[Op]) -> u64 {
    let bytes_of = |op: &Op| {
        let ty = op.result(0).ok()?.r#type();
        u64::try_from(types::buffer_type(ty)?.bytes()?).ok()
    };
    allocations.iter().filter_map(bytes_of).sum()
}
