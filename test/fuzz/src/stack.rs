//! The stack of a process that a signal ends.

use std::backtrace::Backtrace;
use std::mem::MaybeUninit;
use std::ptr;

/// First words of a printed stack.
pub const HEADER: &str = "stack of signal ";

const SIGNALS: [i32; 5] = [
    libc::SIGSEGV,
    libc::SIGBUS,
    libc::SIGILL,
    libc::SIGABRT,
    libc::SIGFPE,
];
const STACK_SIZE: usize = 1 << 20;

/// Prints this thread's stack to standard error when a signal ends the process.
///
/// For children of tests only: to find the names of functions, memory is allocated, which a
/// handler should not do; where that never ends, an alarm does.
pub fn print_on_signals() {
    let stack = Box::leak(vec![0u8; STACK_SIZE].into_boxed_slice());
    let stack = libc::stack_t {
        ss_sp: stack.as_mut_ptr().cast(),
        ss_flags: 0,
        ss_size: STACK_SIZE,
    };
    // SAFETY: the stack lives as long as the process; the handler is one for all signals.
    unsafe {
        libc::sigaltstack(&stack, ptr::null_mut());
        for signal in SIGNALS {
            let mut action: libc::sigaction = MaybeUninit::zeroed().assume_init();
            action.sa_sigaction = handle as extern "C" fn(i32) as usize;
            action.sa_flags = libc::SA_ONSTACK | libc::SA_RESETHAND;
            libc::sigemptyset(&mut action.sa_mask);
            libc::sigaction(signal, &action, ptr::null_mut());
        }
    }
}

extern "C" fn handle(signal: i32) {
    // SAFETY: the process ends in any case.
    unsafe { libc::alarm(10) };
    eprintln!("\n{HEADER}{signal}:\n{}", Backtrace::force_capture());
    // SAFETY: the handler has been reset, so that the signal now ends the process.
    unsafe {
        libc::signal(signal, libc::SIG_DFL);
        libc::raise(signal);
    }
}

/// The functions of a stack that was printed, innermost first, without those of the handler.
pub fn frames(errors: &str) -> Vec<&str> {
    let Some((_, printed)) = errors.rsplit_once(HEADER) else {
        return Vec::new();
    };
    let named = printed.lines().filter_map(|line| {
        let (number, name) = line.trim_start().split_once(": ")?;
        number.parse::<usize>().ok()?;
        Some(name)
    });
    let named: Vec<&str> = named.collect();
    let inner = named.iter().position(|name| name.contains("stack::handle"));
    let start = inner.map_or(0, |inner| inner + 1);
    let rest = named[start..].iter();
    // The kernel's return from the handler has no name, or one of these.
    let is_noise = |name: &&&str| name.starts_with("__restore_rt") || name.starts_with("<unknown>");
    rest.skip_while(is_noise).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::frames;

    #[test]
    fn a_stack_starts_below_the_handler() {
        let errors = "some words\nstack of signal 11:\n\
             \x20  0: <std::backtrace::Backtrace>::create\n\
             \x20  1: mdh_fuzz::stack::handle\n             at ./src/stack.rs:47:5\n\
             \x20  2: <unknown>\n   3: mlir::parse\n             at a.cpp:3\n   4: main\n";
        assert_eq!(frames(errors), ["mlir::parse", "main"]);
        assert!(frames("nothing").is_empty());
    }
}
