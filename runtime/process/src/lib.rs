//! Child processes, for whoever measures or tests in them: a crash, work that does not end and a want
//! of memory are outcomes like others.
//!
//! Owns how processes are started, limited, spoken to and ended. It must not know what is asked. Start with [`Worker`].
//!
//! A process answers requests, each a line of JSON: [`Worker`] is the side that asks, [`next()`] and
//! [`say()`] are the other one. Each is the first of a process group of its own, which is ended together
//! with it, and with the thread that started it; an interrupt from the terminal does not reach it.

mod serve;
mod worker;

pub use serve::{next, say};
pub use worker::{Silence, Worker};

use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus};

/// The exit code of programs of ours that lack memory.
pub const NO_MEMORY: u8 = 4;

/// Tells whether a process of ours has ended for want of memory: by its own word, or by the system's, which
/// kills without having been asked to when it has no memory left.
fn is_about_memory(status: ExitStatus) -> bool {
    status.code() == Some(NO_MEMORY.into()) || status.signal() == Some(libc::SIGKILL)
}

/// Has a command start in a process group of its own, which ends with the thread that starts it.
fn set_apart(command: &mut Command) {
    command.process_group(0);
    let limit = || {
        forbid_core_files()?;
        // SAFETY: asks for a signal at the end of the parent.
        unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
        Ok(())
    };
    // SAFETY: between fork and exec it makes system calls only.
    unsafe { command.pre_exec(limit) };
}

fn forbid_core_files() -> io::Result<()> {
    let limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: reads the structure that it is given.
    match unsafe { libc::setrlimit(libc::RLIMIT_CORE, &limit) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Ends a child and all of its group, and waits for it.
fn end_group(child: &mut Child) -> io::Result<ExitStatus> {
    let group = child.id().cast_signed();
    // SAFETY: a signal to the group of our own child, which was not waited for yet. There may be
    // nobody left.
    unsafe { libc::kill(-group, libc::SIGKILL) };
    child.wait()
}

/// Tells whether a child has ended. It stays there to be waited for, so that its number, which is that of its
/// group, is nobody else's when the group is ended.
fn has_ended(process: u32) -> io::Result<bool> {
    let options = libc::WNOHANG | libc::WEXITED | libc::WNOWAIT;
    loop {
        // SAFETY: the structure may be all zero, and is written by the call.
        let mut information: libc::siginfo_t = unsafe { std::mem::zeroed() };
        // SAFETY: as above; nobody waits for the child before this returns.
        match unsafe { libc::waitid(libc::P_PID, process, &mut information, options) } {
            // SAFETY: the call has written of a child, or left zeros.
            0 => return Ok(unsafe { information.si_pid() } != 0),
            _ => {
                let error = io::Error::last_os_error();
                if error.kind() != io::ErrorKind::Interrupted {
                    return Err(error);
                }
            }
        }
    }
}
